"""A strict provider of OpenAI's Responses API on a loopback port, over real HTTP, for tests.

    async with FakeResponses() as provider:
        provider.answer(*response(said("hello"), usage={"input_tokens": 3, "output_tokens": 1, "total_tokens": 4}))
        ... ask provider.url (…/v1) ...
        provider.requests[0].body["input"]

`response(*items)` gives the events of one response; `said`, `called`, `reasoned` and `declined` its items. `key` is the
only key that is taken, None for any; `window` refuses a longer prompt (a token is four characters of the body).

It refuses what the real one refuses: unknown or missing fields, items of unknown kinds or with fields of others, empty
texts, calls without a result, results of no call, repeated call ids, arguments that are no JSON object, names outside
the pattern, a limit under 16, tools that do not say whether they are strict (which it would take for yes), an effort
that is none; and it refuses to be used as a store.
"""

import json
import re

from tests.fakes.provider import read_json
from tests.fakes.streaming import FakeStreaming

TOP = {
    "model", "input", "instructions", "stream", "store", "tools", "max_output_tokens", "temperature", "reasoning",
    "text",
}  # fmt: skip
ITEMS = {
    "message": {"role", "content"},
    "function_call": {"type", "call_id", "name", "arguments"},
    "function_call_output": {"type", "call_id", "output"},
}
NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")


class FakeResponses(FakeStreaming):
    """The provider."""

    path = "/v1/responses"

    def __init__(self, *, key=None, window=400000):
        super().__init__()
        self.key, self.window = key, window

    def usual(self):
        """Return the events of an ordinary answer."""
        return response(said("ok"))

    def events(self, values):
        """Return events as bytes, each under its name and with its number; there is no `[DONE]`."""
        return events(values)

    def report(self, status, what, *, code=None):
        """Return a refusal as it goes out."""
        kind = "invalid_request_error"
        return status, {"error": {"message": what, "type": kind, "param": None, "code": code}}

    def judge(self, seen):
        """Return how a request is refused, None where it is taken."""
        if "x-api-key" in seen.headers or (
            self.key and not seen.headers.get("authorization", "").startswith("Bearer ")
        ):
            return self.report(401, "You didn't provide an API key.")
        wrong = find_wrong(seen.body)
        return self.report(400, wrong) if wrong else None

    def decline(self, seen):
        """Return how a request that breaks no rule is refused, None where it is taken."""
        if self.key and seen.headers["authorization"] != f"Bearer {self.key}":
            return self.report(401, "Incorrect API key provided", code="invalid_api_key")
        over = "Your input exceeds the context window of this model. Please adjust your input and try again."
        return (
            self.report(400, over, code="context_length_exceeded")
            if len(json.dumps(seen.body)) // 4 > self.window
            else None
        )


def events(values):
    """Return values as the bytes of server-sent events, each under its name and with its number."""
    numbered = [value | {"sequence_number": at} for at, value in enumerate(values)]
    return b"".join(f"event: {value['type']}\ndata: {json.dumps(value)}\n\n".encode() for value in numbered)


def said(*parts):
    """Return a message whose text comes in deltas."""
    return {"type": "message", "role": "assistant"}, "output_text", parts


def declined(*parts):
    """Return a message in which the model refuses."""
    return {"type": "message", "role": "assistant"}, "refusal", parts


def called(name, *parts, call_id="call_1"):
    """Return a call whose arguments come in pieces."""
    return (
        {"type": "function_call", "call_id": call_id, "name": name, "arguments": ""},
        "function_call_arguments",
        parts,
    )


def reasoned(*parts):
    """Return reasoning with a summary in parts, each one delta."""
    return {"type": "reasoning", "summary": []}, "reasoning_summary_text", parts


def response(*items, usage=None, status="completed", reason=None):
    """Return the events of a whole response."""
    about = {"id": "resp_1", "object": "response", "model": "fake", "output": [], "error": None, "usage": None}
    whole, inner = [], []
    for at, (item, kind, parts) in enumerate(items):
        done = finish(item, kind, parts=parts) | {"id": f"item_{at}", "status": "completed"}
        whole.append(done)
        inner.append({"type": "response.output_item.added", "output_index": at, "item": item | {"id": f"item_{at}"}})
        inner += list(deltas(at, kind, parts=parts))
        inner.append({"type": "response.output_item.done", "output_index": at, "item": done})
    usage = usage or {"input_tokens": 9, "output_tokens": 2, "total_tokens": 11}
    last = about | {"status": status, "output": whole, "usage": usage}
    last["incomplete_details"] = {"reason": reason} if reason else None
    first = [{"type": f"response.{kind}", "response": about | {"status": kind}} for kind in ("created", "in_progress")]
    return [*first, *inner, {"type": f"response.{status}", "response": last}]


def finish(item, kind, *, parts):
    """Return an item as it is when it is done."""
    text = "".join(parts)
    if kind == "function_call_arguments":
        return item | {"arguments": text}
    if kind == "reasoning_summary_text":
        return item | {"summary": [{"type": "summary_text", "text": part} for part in parts]}
    return item | {"content": [{"type": kind, "refusal" if kind == "refusal" else "text": text}]}


def deltas(at, kind, *, parts):
    """Yield the events of one item between its beginning and its end."""
    place = {"item_id": f"item_{at}", "output_index": at}
    if kind == "reasoning_summary_text":
        for index, part in enumerate(parts):
            yield {"type": "response.reasoning_summary_part.added", "summary_index": index} | place
            yield {"type": f"response.{kind}.delta", "summary_index": index, "delta": part} | place
            yield {"type": f"response.{kind}.done", "summary_index": index, "text": part} | place
        return
    if kind != "function_call_arguments":
        place["content_index"] = 0
        yield {"type": "response.content_part.added", "part": {"type": kind}} | place
    for part in parts:
        yield {"type": f"response.{kind}.delta", "delta": part} | place
    whole = {"output_text": "text", "refusal": "refusal"}.get(kind, "arguments")
    yield {"type": f"response.{kind}.done", whole: "".join(parts)} | place


def find_wrong(body):
    """Return what is wrong with the body of a request, "" where nothing is."""
    extra = set(body) - TOP
    if extra:
        return f"Unknown parameter: '{sorted(extra)[0]}'."
    if not body.get("model") or not body.get("input"):
        return "Missing required parameter: 'model' or 'input'."
    if body.get("store") is not False:
        return "store must be false here"
    if body.get("max_output_tokens", 16) < 16:
        return "Invalid 'max_output_tokens': integer below minimum value."
    reasoning = body.get("reasoning", {})
    if set(reasoning) - {"effort", "summary"} or reasoning.get("effort", "low") not in ("low", "medium", "high"):
        return "Invalid value: 'reasoning.effort'"
    return _tools(body) or _form(body) or _items(body["input"])


def _tools(body):
    for at, tool in enumerate(body.get("tools", [])):
        if set(tool) != {"type", "name", "description", "parameters", "strict"} or tool["type"] != "function":
            return f"Missing required parameter: 'tools[{at}].name'."
        if not NAME.fullmatch(tool["name"]) or tool["parameters"].get("type") != "object":
            return f"Invalid 'tools[{at}].name'"
    return ""


def _form(body):
    form = body.get("text", {}).get("format")
    if "text" in body and (set(form) != {"type", "name", "schema", "strict"} or form["type"] != "json_schema"):
        return "Missing required parameter: 'text.format.name'."
    return ""


def _items(items):
    waiting, used = [], set()
    for at, item in enumerate(items):
        kind = item.get("type", "message")
        if kind not in ITEMS or set(item) - {"type"} != ITEMS[kind] - {"type"}:
            return f"Invalid value: 'input[{at}]' of {kind!r}"
        wrong = _item(item, kind, waiting=waiting)
        if wrong:
            return f"input[{at}]: {wrong}"
        if kind == "function_call":
            if item["call_id"] in used:
                return f"input[{at}]: call_id is used twice"
            used.add(item["call_id"])
            waiting.append(item["call_id"])
    return f"No tool output found for function call {waiting[0]}." if waiting else ""


def _item(item, kind, *, waiting):
    if kind == "message":
        roles = ("user", "assistant", "system", "developer")
        return "" if item["role"] in roles and item["content"].strip() else "unknown role or empty content"
    if kind == "function_call_output":
        if item["call_id"] not in waiting:
            return "No tool call found for function call output"
        waiting.remove(item["call_id"])
        return "" if item["output"] else "empty output"
    try:
        whole = isinstance(read_json(item["arguments"]), dict)
    except ValueError:
        whole = False
    return "" if whole and NAME.fullmatch(item["name"]) else "arguments are no JSON object, or a wrong name"
