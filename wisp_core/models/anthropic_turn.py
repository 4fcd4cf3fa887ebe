"""What the turn that runs must give back to Anthropic's Messages API as it came. Pure."""

import json
from collections.abc import Mapping, Sequence
from typing import TypeAlias

from wisp_core.models.wire import read_arguments
from wisp_core.records import JsonObject
from wisp_core.requests import Message, Role, ToolSchema, WireCall

THOUGHTS = ("thinking", "redacted_thinking")
"""The kinds of blocks that a model thinks in."""

CallsKey: TypeAlias = tuple[tuple[str, str], ...]


class RunningTurn:
    """The answers of one turn that made calls, in order, and its `tools`; it is kept in memory alone.

    Thoughts are signed for their place, so an answer's blocks go back verbatim and in order. `thinks` turns False where
    the turn can only go on without asking for thinking.
    """

    def __init__(self) -> None:
        self.tools: tuple[ToolSchema, ...] = ()
        self.thinks = True
        self._answers: list[tuple[CallsKey, Sequence[JsonObject]]] = []

    def keep(self, calls: Sequence[WireCall], blocks: Sequence[JsonObject]) -> None:
        """Keep the blocks of an answer that made calls; not those of one whose calls were no blocks."""
        whole = sum(block["type"] == "tool_use" for block in blocks) == len(calls)
        self._answers.append((_key(calls), blocks if whole else ()))

    def find(self, messages: Sequence[Message]) -> Mapping[int, Sequence[JsonObject]]:
        """Return the blocks of the messages that are answers of the turn, by their position.

        The same calls may be made twice, and the first answers may be condensed away: they are told from the last one.
        """
        found: dict[int, Sequence[JsonObject]] = {}
        left = list(self._answers)
        for at in reversed(range(find_start(messages), len(messages))):
            if not messages[at].calls:
                continue
            key = _key(messages[at].calls)
            kept = next((place for place in reversed(range(len(left))) if left[place][0] == key), None)
            if kept is not None:
                found[at] = left[kept][1]
                del left[kept:]
        return {at: blocks for at, blocks in found.items() if blocks}

    def begins_with_thoughts(self, messages: Sequence[Message]) -> bool:
        """Tell whether the first answer of the turn is at hand and begins with thoughts, as a budget of them demands.

        True where the turn has no answer yet.
        """
        start = find_start(messages)
        return start == len(messages) or self.find(messages).get(start, [{"type": ""}])[0]["type"] in THOUGHTS

    def forget(self) -> bool:
        """Give no answer back as it came any more, and tell whether there was one."""
        had, self._answers = bool(self._answers), []
        return had


def find_start(messages: Sequence[Message]) -> int:
    """Return the position after the last message of the user, where the calls so far of the turn that runs begin."""
    return max((at + 1 for at, message in enumerate(messages) if message.role is Role.USER), default=0)


def _key(calls: Sequence[WireCall]) -> CallsKey:
    """Return what tells the calls of one answer from those of another, whatever ids they are given."""
    return tuple((call.name, json.dumps(read_arguments(call), sort_keys=True)) for call in calls)
