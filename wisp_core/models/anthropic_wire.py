"""The shapes of Anthropic's Messages API: messages on the way out, events on the way in. Pure."""

from collections.abc import Mapping, Sequence
from typing import Any

from wisp_core.errors import BadRequestError
from wisp_core.models.failures import failure, quote, report_of
from wisp_core.models.wire import Chunk, read_arguments, read_count, write_name
from wisp_core.records import JsonObject, Usage
from wisp_core.requests import Message, Role, ToolSchema, WireCall
from wisp_core.text import one_line, sound

CACHED = {"type": "ephemeral"}
"""What marks the end of a part that the server keeps for the requests to come."""

_FINISHES = {
    "end_turn": "stop",
    "stop_sequence": "stop",
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "tool_use": "tool_calls",
}
_STATUSES = {
    "invalid_request_error": 400,
    "authentication_error": 401,
    "billing_error": 402,
    "permission_error": 403,
    "not_found_error": 404,
    "request_too_large": 413,
    "rate_limit_error": 429,
    "api_error": 500,
    "timeout_error": 504,
    "overloaded_error": 529,
}
_COUNTS = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens", "output_tokens")


def write_system(messages: Sequence[Message], *, cached: bool) -> list[JsonObject]:
    """Return the instructions as the API takes them, apart from the messages, with a breakpoint at their end."""
    texts = [text for message in messages if message.role is Role.SYSTEM and (text := sound(message.text)).strip()]
    return [_text("\n\n".join(texts), cached=cached)] if texts else []


def write_messages(
    messages: Sequence[Message], *, stable: int = 0, came: Mapping[int, Sequence[JsonObject]] | None = None
) -> list[JsonObject]:
    """Return the messages as the API takes them: sides alternate, and the results of one answer's calls stand together.

    A breakpoint follows the first `stable` characters of the first message, where they are not 0. `came` gives the
    blocks of answers as they came, by the position of the message.
    """
    written: list[JsonObject] = []
    for at, message in enumerate(messages):
        if message.role is Role.SYSTEM:
            continue
        first = not written and message.role is Role.USER
        given = (came or {}).get(at)
        blocks = _blocks(message, stable if first else 0) if given is None else _give_back(message, given)
        side = "assistant" if message.role is Role.ASSISTANT else "user"
        if blocks and written and written[-1]["role"] == side:
            written[-1]["content"] += blocks
        elif blocks:
            written.append({"role": side, "content": blocks})
    return written


def _give_back(message: Message, blocks: Sequence[JsonObject]) -> list[JsonObject]:
    """Return the blocks of an answer as they came, its calls with the ids of their results."""
    calls = iter(message.calls)
    fit = [block for block in blocks if block["type"] != "text" or block["text"].strip()]
    return [_write_call(next(calls)) if block["type"] == "tool_use" else block for block in fit]


def _blocks(message: Message, stable: int) -> list[JsonObject]:
    text = sound(message.text)
    if message.role is Role.TOOL:
        return [
            {"type": "tool_result", "tool_use_id": message.call_id, "content": text if text.strip() else "(no output)"}
        ]
    before, rest = text[:stable], text[stable:]
    if not before.strip() or (rest and not rest.strip()):
        # The server refuses a text of nothing but white space.
        before, rest = "", text
    blocks = [_text(before, cached=True)] if before else []
    if rest.strip():
        blocks.append(_text(rest, cached=False))
    return blocks + [_write_call(call) for call in message.calls]


def _text(text: str, *, cached: bool) -> JsonObject:
    block: JsonObject = {"type": "text", "text": text}
    return block | {"cache_control": CACHED} if cached else block


def _write_call(call: WireCall) -> JsonObject:
    return {"type": "tool_use", "id": call.id, "name": write_name(call.name), "input": read_arguments(call)}


def write_tools(tools: Sequence[ToolSchema]) -> list[JsonObject]:
    """Return the tools as the API takes them."""
    return [{"name": tool.name, "description": tool.description, "input_schema": tool.parameters} for tool in tools]


class MessageReader:
    """Reads the events of one message; `blocks` are those that must go back as they came, calls by their type alone."""

    def __init__(self, endpoint: str) -> None:
        self.blocks: list[JsonObject] = []
        self._endpoint = endpoint
        self._open: dict[Any, JsonObject] = {}
        self._said = False
        self._apart = False
        self._counts: dict[str, int] = {}
        self._reason = ""

    def read(self, value: Any) -> Chunk:
        """Return what an event holds; whatever is of an unknown shape in it is passed over.

        Raises:
            ModelError: it reports a failure, or that the model declined to answer.
        """
        event = _object(value)
        index = event.get("index") if isinstance(event.get("index"), int) else 0
        match event.get("type"):
            case "message_start":
                return Chunk(usage=self._count(_object(event.get("message"))))
            case "content_block_start":
                return self._start(_object(event.get("content_block")), index)
            case "content_block_delta":
                return self._delta(_object(event.get("delta")), index)
            case "message_delta":
                return self._end(_object(event.get("delta")), usage=self._count(event))
            case "message_stop":
                return Chunk(finish=self._reason or "stop")
            case "message":
                return self._whole(event)
        if event.get("error"):
            kind = _object(event.get("error")).get("type")
            raise failure(self._endpoint, report_of(_STATUSES.get(str(kind), 200), event))
        return Chunk()

    def _say(self, text: str) -> Chunk:
        """Return a text; something else between it and what was said before stays visible as a blank line."""
        if not text:
            return Chunk()
        gap = "\n\n" if self._apart else ""
        self._said, self._apart = True, False
        return Chunk(text=gap + text)

    def _start(self, block: JsonObject, index: Any) -> Chunk:
        self._apart = self._apart or (self._said and block.get("type") != "text")
        self._open.pop(index, None)
        match block.get("type"):
            case "text":
                self._keep(index, type="text", text=_said(block.get("text")))
                return self._say(_said(block.get("text")))
            case "tool_use":
                self._keep(index, type="tool_use")
                # The input is empty here and follows in pieces, unless the server knows no pieces.
                function = {"name": block.get("name"), "arguments": block.get("input") or None}
                return Chunk(calls=[{"index": index, "id": block.get("id"), "function": function}])
            case "thinking":
                said, signature = _said(block.get("thinking")), _said(block.get("signature"))
                self._keep(index, type="thinking", thinking=said, signature=signature)
                return Chunk(reasoning=said)
            case "redacted_thinking":
                self._keep(index, type="redacted_thinking", data=_said(block.get("data")))
        return Chunk()

    def _delta(self, delta: JsonObject, index: Any) -> Chunk:
        match delta.get("type"):
            case "text_delta":
                if index not in self._open:
                    self._keep(index, type="text", text="")
                self._grow(index, "text", said=_said(delta.get("text")))
                return self._say(_said(delta.get("text")))
            case "input_json_delta" if self._open.get(index, {}).get("type") == "tool_use":
                # The server has tools of its own, whose calls come alike.
                arguments = _said(delta.get("partial_json"))
                return Chunk(calls=[{"index": index, "function": {"arguments": arguments}}])
            case "thinking_delta":
                said = _said(delta.get("thinking"))
                self._grow(index, "thinking", said=said)
                return Chunk(reasoning=said)
            case "signature_delta":
                self._grow(index, "signature", said=_said(delta.get("signature")))
        return Chunk()

    def _keep(self, index: Any, **block: str) -> None:
        self._open[index] = dict(block)
        self.blocks.append(self._open[index])

    def _grow(self, index: Any, part: str, *, said: str) -> None:
        block = self._open.get(index, {})
        if part in block:
            block[part] += said

    def _end(self, delta: JsonObject, *, usage: Usage | None) -> Chunk:
        reason = one_line(_said(delta.get("stop_reason")), 40).lower()
        if reason == "refusal":
            said = quote(_said(_object(delta.get("stop_details")).get("explanation")))
            raise BadRequestError(
                f"{self._endpoint}: the model declined to answer: {said}",
                "put the prompt differently or choose another model",
                endpoint=self._endpoint,
            )
        self._reason = _FINISHES.get(reason, reason)
        return Chunk(finish=self._reason, usage=usage)

    def _whole(self, message: JsonObject) -> Chunk:
        """Return what a message holds that came in one piece."""
        given = message.get("content")
        parts = [self._start(_object(block), at) for at, block in enumerate(given if isinstance(given, list) else [])]
        end = self._end({"stop_reason": "end_turn"} | message, usage=self._count(message))
        return Chunk(
            text="".join(part.text for part in parts),
            reasoning="".join(part.reasoning for part in parts),
            calls=[call for part in parts for call in part.calls or ()],
            finish=end.finish or "stop",
            usage=end.usage,
        )

    def _count(self, holder: JsonObject) -> Usage | None:
        """Return the usage so far; the prompt is what was read anew, what was kept just now, and what was kept before.

        The output's count grows from event to event; some servers tell of the prompt only at the end.
        """
        given, counts = _object(holder.get("usage")), self._counts
        for name in _COUNTS:
            count = read_count(given.get(name))
            if count is not None:
                counts[name] = count or counts.get(name, 0)
        prompt, completion = sum(counts.get(name, 0) for name in _COUNTS[:3]), counts.get("output_tokens")
        if not prompt:
            return None
        total = prompt + completion if completion is not None else None
        return Usage(prompt, completion, total, counts.get("cache_read_input_tokens"))


def _object(value: Any) -> JsonObject:
    return value if isinstance(value, dict) else {}


def _said(value: Any) -> str:
    return sound(value) if isinstance(value, str) else ""
