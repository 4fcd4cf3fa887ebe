"""What a request shows, and where it says that each text came from: literal entries, and the lines of the blocks."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from wisp_core.requests import Item

BLOCKS = ("earlier", "now")

# `- body — from tool run_command, turn 3, entries 9, 10; another source disagrees: …`, as the blocks end their lines.
_LINE = re.compile(
    r"- (?P<body>.*) — (?:from )?(?P<who>[^—]*?)"
    r"(?:, turns? (?P<first>\d+)(?:-(?P<last>\d+))?)?"
    r"(?:, entr(?:y|ies) (?P<entries>\d+(?:, \d+)*))?"
    r"(?P<conflict>; another source disagrees: .*)?"
)


@dataclass(frozen=True, slots=True)
class Shown:
    """A text in a request: `place` orders it; `entries` are those that it is said to come from, `who` the author.

    A literal entry has its kind as `who`. Of a line without entries `turns` may say more.
    """

    place: tuple[int, int]
    text: str
    who: str
    entries: frozenset[int]
    turns: tuple[int, int] | None = None
    literal: bool = False


def shown_in(items: tuple[Item, ...]) -> Iterator[Shown]:
    """Yield what the items of a request show with a source, in order; what has none is nobody's."""
    for at, item in enumerate(items):
        if item.entry is not None:
            yield Shown((at, 0), item.text, item.kind, frozenset({item.entry}), literal=True)
        elif item.kind in BLOCKS:
            for number, line in enumerate(item.text.split("\n")):
                if found := read_line(line, (at, number)):
                    yield found


def read_line(line: str, place: tuple[int, int] = (0, 0)) -> Shown | None:
    """Return what a block's line says and of whom, None for a heading."""
    match = _LINE.fullmatch(line)
    if match is None:
        return None
    entries = frozenset(int(number) for number in (match["entries"] or "").split(", ") if number)
    turns = (int(match["first"]), int(match["last"] or match["first"])) if match["first"] else None
    return Shown(place, match["body"], match["who"], entries, turns)
