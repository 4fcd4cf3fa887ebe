"""Joins the fragments of tool calls, and recognises a call that a model printed as text. Pure."""

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from wisp_core.models.wire import write_text
from wisp_core.requests import CallRequested
from wisp_core.text import load_json, load_object, sound

MAX_PRINTED_CHARACTERS = 64 * 1024
"""A reply longer than this is no printed call and is not held back further."""


@dataclass(slots=True)
class _Call:
    id: str = ""
    name: str = ""
    arguments: str = ""

    def whole(self) -> bool:
        return load_object(self.arguments) is not None


@dataclass(slots=True)
class CallAssembly:
    """The calls of one reply as they arrive: by index, else by id, else in order."""

    _calls: list[_Call] = field(default_factory=list)
    _by_index: dict[int, _Call] = field(default_factory=dict)
    _by_id: dict[str, _Call] = field(default_factory=dict)

    def feed(self, fragments: Any) -> None:
        """Take one `tool_calls` list; what is no object in it is passed over."""
        if isinstance(fragments, dict):
            fragments = [fragments]
        if not isinstance(fragments, list):
            return
        for position, fragment in enumerate(fragments):
            if isinstance(fragment, dict):
                self._take(fragment, position)

    def finish(self) -> list[CallRequested]:
        """Return the calls in the order in which they began; arguments that were left out, or never came, are empty."""
        return [
            CallRequested(
                sound(call.name.strip()) or "unnamed", sound(call.arguments) if call.arguments.strip() else ""
            )
            for call in self._calls
            if call.name.strip() or call.arguments.strip()
        ]

    def _take(self, fragment: dict[str, Any], position: int) -> None:
        inner = fragment.get("function")
        function: dict[str, Any] = inner if isinstance(inner, dict) else fragment
        given = function.get("name")
        name = given if isinstance(given, str) else ""
        id_ = fragment["id"] if isinstance(fragment.get("id"), str) else ""
        call = self._find(fragment.get("index"), id_, name=name, position=position)
        call.id = call.id or id_
        if name != call.name:
            # Some servers repeat the whole name in every fragment; others send it in pieces.
            call.name += name
        arguments = function.get("arguments")
        if isinstance(arguments, str):
            call.arguments += arguments
        elif arguments is not None:
            call.arguments += write_text(arguments)

    def _find(self, index: Any, id_: str, *, name: str, position: int) -> _Call:
        if isinstance(index, int) and not isinstance(index, bool):
            call = self._by_index.get(index)
            if call is None or self._begins_another(call, id_, name=name):
                call = self._by_index[index] = self._begin(id_)
            return call
        if id_ and id_ in self._by_id and not self._begins_another(self._by_id[id_], id_, name=name):
            return self._by_id[id_]
        last = self._calls[-1] if self._calls else None
        if last is None or position > 0 or (id_ and last.id and last.id != id_):
            return self._begin(id_)
        return self._begin(id_) if name and (last.arguments or self._begins_another(last, id_, name=name)) else last

    def _begins_another(self, call: _Call, id_: str, *, name: str) -> bool:
        """Tell whether a fragment that names a known call is a new one: servers repeat indexes and ids."""
        if not name or not call.name:
            return False
        return bool(id_ and call.id and id_ != call.id) or call.whole()

    def _begin(self, id_: str) -> _Call:
        call = _Call(id_)
        self._calls.append(call)
        if id_:
            self._by_id[id_] = call
        return call


class PrintedCall:
    """Holds a reply back while it may be a tool call printed as text, which only the whole reply can be."""

    _MARKS = ("{", "```", "<tool_call>")

    def __init__(self, tools: Iterable[str]) -> None:
        self._tools = frozenset(tools)
        self._held = ""
        self._open = bool(self._tools)

    def feed(self, text: str) -> str:
        """Return what may be shown now."""
        if not self._open:
            return text
        self._held += text
        start = self._held.lstrip()[:200]
        if len(self._held) <= MAX_PRINTED_CHARACTERS and self._may_be(start):
            return ""
        return self._release()

    def finish(self, *, alone: bool = True) -> tuple[str, CallRequested | None]:
        """Return the text still held, or the call that it is; `alone` tells that no other call was made."""
        call = printed_call(self._held, self._tools) if self._open and alone else None
        return ("", call) if call else (self._release(), None)

    def _release(self) -> str:
        held, self._held, self._open = self._held, "", False
        return held

    def _may_be(self, start: str) -> bool:
        if any(mark.startswith(start[: len(mark)]) for mark in self._MARKS if len(start) <= len(mark)):
            return True
        return bool(_PRINTED_START.match(start))


# A fence or tag, an opening brace, and the beginning of one of the keys of a call.
_PRINTED_START = re.compile(
    r"""(?:```(?:\w{0,12}$|\w{0,12}\s*)|<tool_call>\s*)?
        (?:$|\{\s*(?:$|"(?:$|(?:name|tool|function|arguments|parameters|args|id|type)(?:$|"))|"[a-z]{1,9}$))""",
    re.VERBOSE,
)
_WRAPPED = re.compile(r"(?:```\w*\s*(.*?)\s*```|<tool_call>\s*(.*?)\s*</tool_call>)", re.DOTALL)


def printed_call(text: str, tools: Iterable[str]) -> CallRequested | None:
    """Return the call that `text` is, when it is nothing else and names one of `tools`."""
    text = text.strip()
    wrapped = _WRAPPED.fullmatch(text)
    value = _load((wrapped.group(1) or wrapped.group(2) or "") if wrapped else text)
    if not isinstance(value, dict):
        return None
    if isinstance(value.get("function"), dict):
        value = value["function"]
    name = next((value[key] for key in ("name", "tool", "function") if isinstance(value.get(key), str)), "")
    arguments: Any = next((value[key] for key in ("arguments", "parameters", "args") if key in value), {})
    if isinstance(arguments, str):
        arguments = _load(arguments)
    if name not in tools or not isinstance(arguments, dict):
        return None
    return CallRequested(name, sound(json.dumps(arguments)))


def _load(text: str) -> Any:
    try:
        return load_json(text)
    except ValueError:
        return None
