"""The shapes of chat completions: messages on the way out, chunks on the way in. Pure."""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from wisp_core.records import JsonObject, Usage
from wisp_core.requests import Message, Role, ToolSchema, WireCall
from wisp_core.text import load_object, one_line, sound

LEAST_WINDOW = 512
"""A window under this many tokens is not believed."""

NAME_LENGTH = 64
"""A called tool's name goes back in this many characters at most."""

_FINISHES = {
    "function_call": "tool_calls",
    "tool_use": "tool_calls",
    "max_tokens": "length",
    "model_length": "length",
    "eos": "stop",
    "end_turn": "stop",
    "stop_sequence": "stop",
}


def write_messages(messages: Sequence[Message]) -> list[JsonObject]:
    """Return the messages as the API takes them; one without content and calls never goes out."""
    written: list[JsonObject] = []
    for message in messages:
        text = sound(message.text)
        if message.role is Role.TOOL:
            written.append({"role": "tool", "tool_call_id": message.call_id, "content": text or "(no output)"})
            continue
        one: JsonObject = {"role": message.role.value}
        if text.strip():
            one["content"] = text
        if message.calls:
            one["tool_calls"] = [_write_call(call) for call in message.calls]
        if len(one) > 1:
            written.append(one)
    return written


def write_tools(tools: Sequence[ToolSchema]) -> list[JsonObject]:
    """Return the tools as the API takes them."""
    return [
        {
            "type": "function",
            "function": {"name": tool.name, "description": tool.description, "parameters": tool.parameters},
        }
        for tool in tools
    ]


def _write_call(call: WireCall) -> JsonObject:
    function = {"name": write_name(call.name), "arguments": write_arguments(call)}
    return {"id": call.id, "type": "function", "function": function}


def write_name(name: str) -> str:
    """Return a called tool's name, which may be of the model's own making, in the characters that servers take."""
    return re.sub(r"[^A-Za-z0-9_-]", "_", name)[:NAME_LENGTH] or "unnamed"


def write_arguments(call: WireCall) -> str:
    """Return the arguments of a call as the model gave them; what is no object that any server reads never goes out."""
    arguments = sound(call.arguments)
    value = load_object(arguments)
    if value is None:
        return "{}"
    # Half a character may stand in an escape.
    written = json.dumps(value, ensure_ascii=False)
    return arguments if sound(written) == written else sound(written)


def read_arguments(call: WireCall) -> JsonObject:
    """Return the arguments of a call as the object that goes out, empty where they are none that any server reads."""
    return load_object(sound(call.arguments)) or {}


def write_text(value: Any) -> str:
    """Return what a server sent as JSON text again; what is nested too deeply to be written is told in words."""
    try:
        return json.dumps(value)
    except RecursionError:
        return "something nested too deeply"


@dataclass(frozen=True, slots=True)
class Chunk:
    """What one chunk of a stream holds; `error` is the server's own report of a failure."""

    text: str = ""
    reasoning: str = ""
    calls: Any = None
    finish: str = ""
    usage: Usage | None = None
    progress: tuple[int, int] | None = None
    error: Any = None


def read_chunk(value: Any) -> Chunk:
    """Return what a chunk holds; whatever is of an unknown shape in it is passed over."""
    if not isinstance(value, dict):
        return Chunk()
    if value.get("error"):
        return Chunk(error=value)
    choices = value.get("choices")
    choice = next((c for c in choices if isinstance(c, dict)), {}) if isinstance(choices, list) else {}
    delta: JsonObject = next((choice[key] for key in ("delta", "message") if isinstance(choice.get(key), dict)), {})
    calls = delta.get("tool_calls")
    if not calls and isinstance(delta.get("function_call"), dict):
        calls = [{"index": 0, "function": delta["function_call"]}]
    reasoning = next((t for key in ("reasoning_content", "reasoning", "thinking") if (t := _text(delta.get(key)))), "")
    text, thought = _content(delta.get("content"))
    reason = choice.get("finish_reason")
    return Chunk(
        text=text or _text(delta.get("refusal")),
        reasoning=reasoning or thought,
        calls=calls,
        finish=_finish(reason) if isinstance(reason, str) and reason else "",
        usage=read_usage(value),
        progress=_progress(value.get("prompt_progress")),
    )


def read_usage(value: JsonObject) -> Usage | None:
    """Return the usage of a chunk; figures that are zero for a prompt or no numbers count as not reported."""
    usage = value.get("usage")
    if not isinstance(usage, dict):
        return None
    details = usage.get("prompt_tokens_details")
    cached = details.get("cached_tokens") if isinstance(details, dict) else usage.get("prompt_cache_hit_tokens")
    prompt, total = read_count(usage.get("prompt_tokens")) or None, read_count(usage.get("total_tokens")) or None
    if prompt is None and total is None:
        return None
    return Usage(prompt, read_count(usage.get("completion_tokens")), total, read_count(cached))


def read_count(value: Any) -> int | None:
    """Return a count of tokens, None where the value is none."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**53 else None


def _finish(reason: str) -> str:
    reason = one_line(sound(reason), 40).lower()
    return _FINISHES.get(reason, reason)


def _text(value: Any) -> str:
    return sound(value) if isinstance(value, str) else _content(value)[0]


def _content(value: Any) -> tuple[str, str]:
    """Return text and reasoning of a content, which may be a text, null or a list of parts."""
    if isinstance(value, str):
        return sound(value), ""
    if not isinstance(value, list):
        return "", ""
    parts = [part for part in value if isinstance(part, dict)]
    thoughts = [part.get("thinking") for part in parts if part.get("type") == "thinking"]
    inner = [part for thought in thoughts if isinstance(thought, list) for part in thought if isinstance(part, dict)]
    said = [thought for thought in thoughts if isinstance(thought, str)] + _texts(inner)
    return sound("".join(_texts(parts))), sound("".join(said))


def _texts(parts: Sequence[JsonObject]) -> list[str]:
    return [part["text"] for part in parts if isinstance(part.get("text"), str)]


def _progress(value: Any) -> tuple[int, int] | None:
    if not isinstance(value, dict):
        return None
    done, total = read_count(value.get("processed")), read_count(value.get("total"))
    return (done, total) if done is not None and total else None
