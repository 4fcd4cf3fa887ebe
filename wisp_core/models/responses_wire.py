"""The shapes of OpenAI's Responses API: items on the way out, events on the way in. Pure."""

from collections.abc import Sequence
from typing import Any

from wisp_core.errors import BadRequestError
from wisp_core.models.failures import DETAIL_CHARACTERS, failure, report_of, withheld
from wisp_core.models.wire import Chunk, read_count, write_arguments, write_name, write_text
from wisp_core.records import JsonObject, Usage
from wisp_core.requests import Message, Role, ToolSchema, WireCall
from wisp_core.text import one_line, sound

_INCOMPLETE = {"max_output_tokens": "length", "max_tokens": "length"}
_STATUSES = {
    "server_error": 500,
    "rate_limit_exceeded": 429,
    "insufficient_quota": 429,
    "invalid_prompt": 400,
    "data_residency_mismatch": 400,
}


def write_instructions(messages: Sequence[Message]) -> str:
    """Return the instructions, which the API takes apart from the input; empty for none."""
    texts = (sound(message.text) for message in messages if message.role is Role.SYSTEM)
    return "\n\n".join(text for text in texts if text.strip())


def write_input(messages: Sequence[Message]) -> list[JsonObject]:
    """Return the messages as items: calls and their results are items of their own; an empty text never goes out."""
    items: list[JsonObject] = []
    for message in messages:
        text = sound(message.text)
        if message.role is Role.SYSTEM:
            continue
        if message.role is Role.TOOL:
            output = text or "(no output)"
            items.append({"type": "function_call_output", "call_id": message.call_id, "output": output})
            continue
        if text.strip():
            items.append({"type": "message", "role": message.role.value, "content": text})
        items += [_write_call(call) for call in message.calls]
    return items


def _write_call(call: WireCall) -> JsonObject:
    name, arguments = write_name(call.name), write_arguments(call)
    return {"type": "function_call", "call_id": call.id, "name": name, "arguments": arguments}


def write_tools(tools: Sequence[ToolSchema]) -> list[JsonObject]:
    """Return the tools as the API takes them; their schemas are not of the strict kind that it assumes."""
    return [
        {
            "type": "function",
            "name": tool.name,
            "description": tool.description,
            "parameters": tool.parameters,
            "strict": False,
        }
        for tool in tools
    ]


class ResponseReader:
    """Reads the events of one response; its last event holds it whole, which counts where its parts did not come."""

    def __init__(self, endpoint: str) -> None:
        self._endpoint = endpoint
        self._saying: int | None = None
        self._thought = False
        self._begun: set[Any] = set()
        self._argued: set[Any] = set()

    def read(self, value: Any) -> Chunk:
        """Return what an event holds; whatever is of an unknown shape in it is passed over.

        Raises:
            ModelError: it reports a failure, or that the provider withholds the answer.
        """
        event = _object(value)
        kind = event.get("type")
        match kind:
            case "response.output_text.delta" | "response.refusal.delta":
                return self._say(event, _said(event.get("delta")))
            case "response.reasoning_summary_text.delta" | "response.reasoning_text.delta":
                return self._think(_said(event.get("delta")))
            case "response.reasoning_summary_part.added" if self._thought:
                # Each part of a summary begins with a title of its own.
                return Chunk(reasoning="\n\n")
            case "response.output_item.added":
                return self._begin(event, _object(event.get("item")))
            case "response.function_call_arguments.delta":
                return self._argue(event, _said(event.get("delta")))
            case "response.function_call_arguments.done" if _index(event) not in self._argued:
                return self._argue(event, _said(event.get("arguments")))
            case "response.output_item.done":
                return self._finish_item(event, _object(event.get("item")))
            case "response.completed" | "response.incomplete" | "response.failed":
                return self._end(_object(event.get("response")), str(kind).removeprefix("response."))
        if event.get("object") == "response":
            return self._end(event, _said(event.get("status")))
        if kind == "error" or event.get("error"):
            raise self._failed(event if event.get("error") is None else event["error"])
        return Chunk()

    def _say(self, event: JsonObject, text: str) -> Chunk:
        if not text:
            return Chunk()
        before, self._saying = self._saying, _index(event)
        return Chunk(text=text if before in (None, self._saying) else f"\n\n{text}")

    def _think(self, text: str) -> Chunk:
        self._thought = self._thought or bool(text)
        return Chunk(reasoning=text)

    def _begin(self, event: JsonObject, item: JsonObject) -> Chunk:
        index = _index(event)
        if item.get("type") != "function_call" or index in self._begun:
            return Chunk()
        self._begun.add(index)
        function = {"name": item.get("name"), "arguments": _said(item.get("arguments"))}
        if function["arguments"]:
            self._argued.add(index)
        return Chunk(calls=[{"index": index, "id": _said(item.get("call_id")), "function": function}])

    def _argue(self, event: JsonObject, arguments: str) -> Chunk:
        index = _index(event)
        self._argued.add(index)
        return Chunk(calls=[{"index": index, "function": {"arguments": arguments}}])

    def _finish_item(self, event: JsonObject, item: JsonObject) -> Chunk:
        """Return of an item that is done what its parts did not bring."""
        if item.get("type") != "function_call":
            return Chunk()
        if _index(event) not in self._begun:
            return self._begin(event, item)
        missing = "" if _index(event) in self._argued else _said(item.get("arguments"))
        return self._argue(event, missing) if missing else Chunk()

    def _end(self, response: JsonObject, status: str) -> Chunk:
        if status == "failed" or response.get("error"):
            raise self._failed(response.get("error") or response)
        reason = "stop"
        if status == "incomplete":
            reason = one_line(_said(_object(response.get("incomplete_details")).get("reason")), 40) or "length"
            reason = _INCOMPLETE.get(reason, reason)
        if reason == "content_filter" or "policy" in reason:
            raise self._withheld(reason, {})
        given = response.get("output")
        items = [_object(item) for item in given] if isinstance(given, list) else []
        calls = [self._finish_item({"output_index": at}, item) for at, item in enumerate(items)]
        return Chunk(
            text="" if self._saying is not None else "\n\n".join(filter(None, map(_read_text, items))),
            reasoning="" if self._thought else "\n\n".join(filter(None, map(_read_summary, items))),
            calls=[call for chunk in calls for call in chunk.calls or ()] or None,
            finish=reason,
            usage=read_usage(response),
        )

    def _failed(self, error: Any) -> Exception:
        fields = _object(error)
        code = str(fields.get("code") or fields.get("type"))
        if "policy" in code:
            return self._withheld(code, fields)
        return failure(self._endpoint, report_of(_STATUSES.get(code, 200), {"error": error}))

    def _withheld(self, why: str, error: JsonObject) -> BadRequestError:
        detail = sound(write_text(error))[:DETAIL_CHARACTERS] if error else ""
        return withheld(self._endpoint, why, said=_said(error.get("message")), detail=detail)


def read_usage(response: JsonObject) -> Usage | None:
    """Return the usage of a response, None where the prompt was not counted."""
    usage = _object(response.get("usage"))
    prompt = read_count(usage.get("input_tokens")) or None
    if prompt is None:
        return None
    cached = read_count(_object(usage.get("input_tokens_details")).get("cached_tokens"))
    completion = read_count(usage.get("output_tokens"))
    total = read_count(usage.get("total_tokens")) or (prompt + completion if completion is not None else None)
    return Usage(prompt, completion, total, cached)


def _read_text(item: JsonObject) -> str:
    parts = item.get("content") if item.get("type") == "message" else None
    given = [_object(part) for part in parts] if isinstance(parts, list) else []
    return "".join(_said(part.get("text")) or _said(part.get("refusal")) for part in given)


def _read_summary(item: JsonObject) -> str:
    parts = item.get("summary") if item.get("type") == "reasoning" else None
    return "\n\n".join(_said(_object(part).get("text")) for part in parts) if isinstance(parts, list) else ""


def _index(event: JsonObject) -> int:
    index = event.get("output_index")
    return index if isinstance(index, int) and not isinstance(index, bool) else 0


def _object(value: Any) -> JsonObject:
    return value if isinstance(value, dict) else {}


def _said(value: Any) -> str:
    return sound(value) if isinstance(value, str) else ""
