"""Looks for a text in all the lines of another, a chunk at a time, from a place on and around."""

import asyncio
import re
from collections.abc import Callable, Iterable

from wisp_core.text import displayable
from wisp_tui.widgets.page_lines import PageLines, Place
from wisp_tui.widgets.pages import Chunk

_SEQUENCE = re.compile(r"\x1b\[[0-?]{0,64}[ -/]{0,4}[@-~]|\x1b[()][0-9A-Za-z]|\x1b[=>78]")
Tell = Callable[[float], None]


def without_sequences(text: str) -> str:
    """Return a stored text without what sets colours and moves the cursor."""
    return _SEQUENCE.sub("", text) if "\x1b" in text else text


class Needle:
    """What is looked for: plain text, case aside unless it has a capital."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._exact = text != text.lower()
        self._pattern = re.compile(re.escape(text), 0 if self._exact else re.IGNORECASE)

    def may_be_in(self, text: str) -> bool:
        """Tell whether a stretch of a text as it is stored is worth a closer look."""
        text = without_sequences(text)
        return self.text in (text if self._exact else text.lower())

    def places(self, text: str, *, start: int = 0, end: int | None = None) -> list[tuple[int, int]]:
        """Return where it stands in a shown line: the characters [first, past) of each."""
        found = self._pattern.finditer(text, start, len(text) if end is None else end)
        return [match.span() for match in found]


async def search(
    lines: PageLines, needle: Needle, *, start: Place, back: bool, tell: Tell
) -> tuple[Place, bool] | None:
    """Return the next place after `start`, or the one before it, and whether the search went around an end for it."""
    pages = lines.pages
    if back:
        ahead: Iterable[int] = range(start.chunk, -1, -1)
    else:
        await pages.reach(start.chunk + 1)
        ahead = _known(lines, start.chunk)
    for index in ahead:
        limit = start if index == start.chunk else None
        if (found := await _look(lines, needle, index=index, limit=limit, back=back)) is not None:
            return found, False
        await _pause(lines, index, tell=tell)
        await pages.reach(index + 2)
    if back:
        await lines.read_to_end(tell)
    around = range(pages.known - 1, start.chunk - 1, -1) if back else range(start.chunk + 1)
    for index in around:
        if (found := await _look(lines, needle, index=index, limit=None, back=back)) is not None:
            return found, True
        await _pause(lines, index, tell=tell)
    return None


def _known(lines: PageLines, first: int) -> Iterable[int]:
    """Yield the chunks from one on; the search itself makes them known."""
    index = first
    while index < lines.pages.known:
        yield index
        index += 1


async def _pause(lines: PageLines, index: int, *, tell: Tell) -> None:
    tell(lines.pages.offset(index) / max(1, lines.pages.total))
    await asyncio.sleep(0)  # a text in memory must not hold up the keys


async def _look(lines: PageLines, needle: Needle, *, index: int, limit: Place | None, back: bool) -> Place | None:
    """Return the first place in a chunk after `limit`, or the last one before it."""
    chunk = await lines.pages.chunk(index)
    if chunk is None or not needle.may_be_in(chunk.text + chunk.after):
        return None
    order = range(len(chunk.lines))
    if limit is not None:
        order = range(min(limit.line + 1, len(chunk.lines))) if back else range(limit.line, len(chunk.lines))
    for line in reversed(order) if back else order:
        places = [Place(index, line, at) for at in await _in_line(lines, needle, chunk=chunk, at=Place(index, line))]
        for place in reversed(places) if back else places:
            if limit is None or (place < limit if back else place > limit):
                return place
    return None


async def _in_line(lines: PageLines, needle: Needle, *, chunk: Chunk, at: Place) -> list[int]:
    """Return the characters of a line at which it stands; it may end in the next piece of the line."""
    after = chunk.after if at.line == len(chunk.lines) - 1 else ""
    if not needle.may_be_in(chunk.lines[at.line] + after):
        return []
    laid = await lines.laid(at)
    if laid is None:
        return []
    size = len(laid.text)
    return [first for first, _ in needle.places(laid.text + displayable(without_sequences(after))) if first < size]
