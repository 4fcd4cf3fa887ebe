"""A strict provider of Anthropic's Messages API on a loopback port, over real HTTP, for tests.

    async with FakeAnthropic() as provider:
        provider.answer(*message(said("hello"), counts={"input_tokens": 3}))
        ... ask provider.url (…/v1) ...
        provider.requests[0].body["messages"]

`message(*blocks)` gives the events of one message; `said`, `called` and `thought` its blocks, each with its deltas.
`key` is the only key that is taken, None for any. `most_output` refuses a larger `max_tokens`, `window` a longer prompt
(a token is four characters of the body).

It refuses what the real one refuses: another header for the key, no version, unknown or missing fields, a first message
that is not the user's, sides that do not alternate, empty texts, calls without their results right after, results of no
call, results after other blocks, repeated ids, more than four breakpoints, thinking without room for the reply or
beside a temperature or a forced tool, calls in the messages without tools, and a budget of thinking in the middle of a
turn that does not begin with what was thought, signed as it was.

A `newest` model knows a form and refuses a forced choice, a temperature, a budget, and to be told not to think: it
thinks unasked, and shows it where that is asked for. It signs what it thinks for the instructions, the tools, the
messages before and the block's place.
"""

import hashlib
import json
import re

from tests.fakes.streaming import FakeStreaming

TOP = {
    "model", "max_tokens", "messages", "system", "stream", "tools", "tool_choice", "temperature", "thinking",
    "output_config",
}  # fmt: skip
BLOCKS = {
    "text": {"type", "text"},
    "tool_use": {"type", "id", "name", "input"},
    "tool_result": {"type", "tool_use_id", "content"},
    "thinking": {"type", "thinking", "signature"},
    "redacted_thinking": {"type", "data"},
}
SIDES = {
    "user": {"text", "tool_result"},
    "assistant": {"text", "tool_use", "thinking", "redacted_thinking"},
}
CHOICES = {"auto": {"type"}, "none": {"type"}, "any": {"type"}, "tool": {"type", "name"}}
TYPES = {
    400: "invalid_request_error", 401: "authentication_error", 403: "permission_error", 404: "not_found_error",
    413: "request_too_large", 429: "rate_limit_error", 500: "api_error", 529: "overloaded_error",
}  # fmt: skip
SIGNATURE = "EqQBCgIYAhIM+signed/"
NAME = re.compile(r"[a-zA-Z0-9_-]{1,128}")


class FakeAnthropic(FakeStreaming):
    """The provider, of a `newest` model or of an older one."""

    path = "/v1/messages"

    def __init__(self, *, key=None, most_output=64000, window=200000, newest=False):
        super().__init__()
        self.newest = newest
        self.key, self.most_output, self.window = key, most_output, window
        self.models = {"data": [{"type": "model", "id": "claude-fake", "display_name": "Fake"}], "has_more": False}

    def usual(self):
        """Return the events of an ordinary answer."""
        return message(thought("hm"), said("ok")) if self.newest else message(said("ok"))

    def events(self, values):
        """Return events as bytes, each under its name."""
        return events(values)

    def report(self, status, what):
        """Return a refusal as it goes out."""
        return status, report(status, what)

    def judge(self, seen):
        """Return how a request is refused, None where it is taken."""
        headers, body = seen.headers, seen.body
        if "authorization" in headers or ("x-api-key" not in headers and self.key):
            return self.report(401, "x-api-key header is required")
        if headers.get("anthropic-version") != "2023-06-01":
            return self.report(400, "anthropic-version: header is required")
        wrong = find_wrong(body)
        return self.report(400, wrong) if wrong else None

    def decline(self, seen):
        """Return how a request that breaks no rule is refused, None where it is taken."""
        asked, size = seen.body["max_tokens"], len(json.dumps(seen.body)) // 4
        if self.key and seen.headers["x-api-key"] != self.key:
            return self.report(401, "invalid x-api-key")
        if asked > self.most_output:
            most = f"max_tokens: {asked} > {self.most_output}, which is the maximum allowed number of output tokens"
            return self.report(400, most)
        unknown = _unknown_to_newest(seen.body) or _moved(seen.body) if self.newest else _unknown_to_older(seen.body)
        if unknown:
            return self.report(400, unknown)
        over = f"prompt is too long: {size} tokens > {self.window} maximum"
        return self.report(400, over) if size > self.window else None

    async def _stream(self, reader, writer, *, planned):
        seen = self.requests[-1].body
        if self.newest:
            planned.pieces = [_hide(_sign_all(b"".join(planned.pieces), seen), seen)]
        return await super()._stream(reader, writer, planned=planned)


def sign(body, place):
    """Return the signature of a block at a place in the answer to a request; breakpoints are no part of it."""
    told = [body.get("system"), body.get("tools"), body["messages"]]
    bare = json.dumps(told).replace(', "cache_control": {"type": "ephemeral"}', "")
    return f"{SIGNATURE}{hashlib.sha256(f'{place} {bare}'.encode()).hexdigest()[:16]}"


def _sign_all(data, body):
    parts = data.split(b"\n\n")
    for at, part in enumerate(parts):
        place = re.search(rb'"index": (\d+)', part)
        if place:
            parts[at] = part.replace(SIGNATURE.encode(), sign(body, int(place.group(1))).encode())
    return b"\n\n".join(parts)


def _hide(data, body):
    shown = body.get("thinking", {}).get("display") == "summarized"
    return data if shown else re.sub(rb'(?<="thinking": )"(?:[^"\\]|\\.)+"', b'""', data)


def _moved(body):
    """Return how thoughts are refused that are not where they were thought."""
    for at, message in enumerate(body["messages"]):
        for place, each in enumerate(message["content"]):
            before = body | {"messages": body["messages"][:at]}
            if each["type"] == "thinking" and each["signature"] != sign(before, place):
                wrong = "Invalid `signature` in `thinking` block. The block is bound to a different conversation."
                return f"messages.{at}.content.{place}: {wrong}"
    return ""


def _unknown_to_newest(body):
    if body.get("tool_choice", {}).get("type") in ("tool", "any"):
        return 'tool_choice: type "tool" and "any" are not supported for this model.'
    if "temperature" in body:
        return "`temperature` is deprecated for this model."
    if body.get("thinking", {}).get("type") == "enabled":
        return '"thinking.type.enabled" is not supported for this model. Use "thinking.type.adaptive".'
    if body.get("thinking", {}).get("type") == "disabled":
        return '"thinking.type.disabled" is not supported for this model.'
    form = body.get("output_config", {}).get("format")
    if form is not None and form["schema"].get("additionalProperties") is not False:
        return "output_config.format.schema: For 'object' type, 'additionalProperties' must be explicitly set to false"
    return ""


def _unknown_to_older(body):
    return "output_config.format: Extra inputs are not permitted" if "format" in body.get("output_config", {}) else ""


def report(status, what):
    """Return the body of a refusal."""
    kind = TYPES.get(status, "api_error")
    return {"type": "error", "error": {"type": kind, "message": what}, "request_id": "req_011"}


def events(values):
    """Return values as the bytes of server-sent events, each under its name."""
    return b"".join(f"event: {value['type']}\ndata: {json.dumps(value)}\n\n".encode() for value in values)


def start(counts=None):
    """Return the first event; `counts` are of the prompt."""
    usage = {"input_tokens": 9, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0, "output_tokens": 1}
    about = {"id": "msg_01", "type": "message", "role": "assistant", "model": "claude-fake", "content": []}
    about |= {"stop_reason": None, "stop_sequence": None, "usage": usage | (counts or {})}
    return {"type": "message_start", "message": about}


def said(*parts):
    """Return a block of text in deltas."""
    return {"type": "text", "text": ""}, [{"type": "text_delta", "text": part} for part in parts]


def called(name, *parts, id="toolu_01"):
    """Return a call whose input comes in pieces of JSON."""
    deltas = [{"type": "input_json_delta", "partial_json": part} for part in ("", *parts)]
    return {"type": "tool_use", "id": id, "name": name, "input": {}}, deltas


def thought(*parts):
    """Return thinking in deltas, signed at its end."""
    deltas = [{"type": "thinking_delta", "thinking": part} for part in parts]
    signed = {"type": "signature_delta", "signature": SIGNATURE}
    return {"type": "thinking", "thinking": "", "signature": ""}, [*deltas, signed]


def redacted(data="b64=="):
    """Return thinking that nobody can read."""
    return {"type": "redacted_thinking", "data": data}, []


def end(reason="end_turn", output=2, **fields):
    """Return the event with which a message tells why it ends."""
    delta = {"stop_reason": reason, "stop_sequence": None} | fields
    return {"type": "message_delta", "delta": delta, "usage": {"output_tokens": output}}


STOP = {"type": "message_stop"}
PING = {"type": "ping"}


def block(index, first, *, deltas):
    """Return the events of one block."""
    yield {"type": "content_block_start", "index": index, "content_block": first}
    for delta in deltas:
        yield {"type": "content_block_delta", "index": index, "delta": delta}
    yield {"type": "content_block_stop", "index": index}


def message(*blocks, counts=None, reason=None, output=2):
    """Return the events of a whole message."""
    calls = any(first["type"] == "tool_use" for first, _ in blocks)
    inner = [event for at, (first, deltas) in enumerate(blocks) for event in block(at, first, deltas=deltas)]
    return [start(counts), PING, *inner, end(reason or ("tool_use" if calls else "end_turn"), output), STOP]


def find_wrong(body):
    """Return what is wrong with the body of a request, "" where nothing is."""
    extra = set(body) - TOP
    if extra:
        return f"{sorted(extra)[0]}: Extra inputs are not permitted"
    if missing := [name for name in ("model", "max_tokens", "messages") if name not in body]:
        return f"{missing[0]}: Field required"
    if type(body["max_tokens"]) is not int or body["max_tokens"] < 1:
        return "max_tokens: Input should be greater than or equal to 1"
    return _system(body) or _tools(body) or _messages(body["messages"]) or _history(body) or _thinking(body)


def _system(body):
    blocks = body.get("system", [])
    wrong = next((wrong for each in blocks if (wrong := _block(each, {"text"}))), "")
    marks = json.dumps(body).count('"cache_control"')
    return wrong or (f"A maximum of 4 blocks with cache_control may be provided. Found {marks}." if marks > 4 else "")


def _tools(body):
    names = []
    for at, tool in enumerate(body.get("tools", [])):
        if set(tool) != {"name", "description", "input_schema"} or tool["input_schema"].get("type") != "object":
            return f"tools.{at}: Field required"
        if not NAME.fullmatch(tool["name"]) or tool["name"] in names:
            return f"tools.{at}.name: Tool names must be unique and match the pattern"
        names.append(tool["name"])
    choice = body.get("tool_choice")
    if choice is None:
        return ""
    kind = choice.get("type")
    if not names or kind not in CHOICES or set(choice) - CHOICES[kind] - {"disable_parallel_tool_use"}:
        return "tool_choice: may only be specified while providing tools"
    return "" if kind != "tool" or choice["name"] in names else "tool_choice: no such tool"


def _messages(messages):
    if not isinstance(messages, list) or not messages:
        return "messages: at least one message is required"
    waiting, used, before = set(), set(), "assistant"
    for at, message in enumerate(messages):
        if set(message) != {"role", "content"} or message["role"] not in SIDES:
            return f"messages.{at}: unknown role or field"
        if message["role"] == before:
            return f"messages.{at}: roles must alternate, and the first must be user"
        before, blocks = message["role"], message["content"]
        wrong = next((wrong for each in blocks if (wrong := _block(each, SIDES[before]))), "")
        if wrong or not blocks:
            return f"messages.{at}: {wrong or 'content must not be empty'}"
        results = [each["tool_use_id"] for each in blocks if each["type"] == "tool_result"]
        if sorted(results) != sorted(waiting) or any(each["type"] == "tool_result" for each in blocks[len(results) :]):
            return f"messages.{at}: `tool_use` ids and `tool_result` blocks do not match: {waiting} and {results}"
        waiting = {each["id"] for each in blocks if each["type"] == "tool_use"}
        if waiting & used or len(waiting) != sum(each["type"] == "tool_use" for each in blocks):
            return f"messages.{at}: `tool_use` ids must be unique"
        used |= waiting
    return "" if before == "user" else "messages: the last message must be of the user"


def _block(each, allowed):
    kind = each.get("type")
    if kind not in allowed:
        return f"unknown block {kind!r}"
    fields = set(each) - ({"cache_control"} if kind == "text" else set())
    if fields != BLOCKS[kind] or each.get("cache_control", {"type": "ephemeral"}) != {"type": "ephemeral"}:
        return f"{kind}: wrong fields {sorted(fields)}"
    if kind == "text" and not each["text"].strip():
        return "text content blocks must contain non-whitespace text"
    if kind == "tool_use" and not (isinstance(each["input"], dict) and NAME.fullmatch(each["name"])):
        return "tool_use: input must be a dictionary and name match the pattern"
    if kind == "tool_result" and not each["content"].strip():
        return "tool_result: empty content"
    if kind == "thinking" and not re.fullmatch(re.escape(SIGNATURE) + "[0-9a-f]*", each["signature"]):
        return "Invalid `signature` in `thinking` block"
    return ""


def _history(body):
    calls = any(each["type"] in ("tool_use", "tool_result") for each in _all_blocks(body["messages"]))
    if calls and not body.get("tools"):
        return "Requests which include `tool_use` or `tool_result` blocks must define tools"
    return ""


def _all_blocks(messages):
    return [each for message in messages for each in message["content"]]


def _thinking(body):
    thinking = body.get("thinking")
    if set(body.get("output_config", {})) - {"effort", "format"}:
        return "output_config: Extra inputs are not permitted"
    if thinking is None:
        return ""
    if thinking["type"] == "enabled" and not 1024 <= thinking["budget_tokens"] < body["max_tokens"]:
        return "`max_tokens` must be greater than `thinking.budget_tokens`"
    if thinking["type"] == "adaptive" and "budget_tokens" in thinking:
        return "thinking.adaptive.budget_tokens: Extra inputs are not permitted"
    if body.get("temperature", 1) != 1:
        return "`temperature` may only be set to 1 when thinking is enabled"
    if body.get("tool_choice", {}).get("type") in ("tool", "any"):
        return "Thinking may not be enabled when tool_choice forces tool use"
    return _turn(body["messages"]) if thinking["type"] == "enabled" else ""


def _turn(messages):
    """Return what is wrong with the turn that runs: it must begin as it was thought."""
    first = len(messages) - 1
    while first > 0 and any(each["type"] == "tool_result" for each in messages[first]["content"]):
        first -= 2
    steps = messages[first + 1 :]
    if steps and steps[0]["content"][0]["type"] not in ("thinking", "redacted_thinking"):
        return "Expected `thinking` or `redacted_thinking`, but found another block: it must precede the last tool_use"
    return ""
