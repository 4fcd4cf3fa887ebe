"""What the documents that wisp writes for people and programs share: JSON that is safe to print, fences. Pure."""

import json
import re
from typing import Any

from wisp_core.text import displayable

# What a terminal acts on or a reader does not see, and JSON itself leaves as it is.
_UNSAFE = re.compile("[\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
_BACKTICKS = re.compile("`+")


def dump_json(value: Any, *, indent: int | None = None) -> str:
    """Return JSON text, its characters as they are but for those that a terminal acts on, which are escaped."""
    separators = (",", ":") if indent is None else (",", ": ")
    text = json.dumps(value, ensure_ascii=False, indent=indent, separators=separators)
    # They stand inside of strings alone, where an escape means the same.
    return _UNSAFE.sub(lambda match: f"\\u{ord(match.group()):04x}", text)


def fence(text: str, language: str = "") -> str:
    """Return text from outside as a fenced block of Markdown that nothing in it can end."""
    shown = displayable(text).removesuffix("\n")
    longest = max((len(run) for run in _BACKTICKS.findall(shown)), default=0)
    mark = "`" * max(3, longest + 1)
    return f"{mark}{language}\n{shown}\n{mark}"


def code(text: str) -> str:
    """Return text from outside, on one line, as a code span of Markdown that nothing in it can end."""
    shown = " ".join(displayable(text).split()) or " "
    longest = max((len(run) for run in _BACKTICKS.findall(shown)), default=0)
    mark = "`" * (longest + 1)
    pad = " " if shown.startswith("`") or shown.endswith("`") else ""
    return f"{mark}{pad}{shown}{pad}{mark}"


def chat_message(
    role: str, content: str, *, calls: list[tuple[str, str, str]] | None = None, answers: str = "", name: str = ""
) -> dict[str, Any]:
    """Return a message as chat completions have it: `calls` are (id, tool, arguments), `answers` the id of a call.

    Strict readers refuse a content that is empty, so calls alone have none.
    """
    message: dict[str, Any] = {"role": role}
    if content or not calls:
        message["content"] = content
    if calls:
        message["tool_calls"] = [
            {"id": id, "type": "function", "function": {"name": tool, "arguments": arguments}}
            for id, tool, arguments in calls
        ]
    if answers:
        message["tool_call_id"] = answers
    if name:
        message["name"] = name
    return message
