"""A text of any size read a page at a time: where its pages and lines begin, and the few stretches that are held."""

import re
from bisect import bisect_left
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

from wisp_core.text import whole_end, whole_start

PAGE_BYTES = 64 * 1024
# Together no more than four pages' worth.
MOST_PAGES = 2
MOST_CHUNKS = 2
# Characters of the next page in which the end of a line is looked for; a line that goes on is shown in pieces.
LINE_REST = 16 * 1024
# Characters of the next page that a search sees where a line is in pieces.
OVERLAP = 2_000
MOST_COLOURS = 32  # sequences of colour that are carried from page to page
_COLOUR = re.compile(r"\x1b\[([0-9;:]{0,64})m")

K = TypeVar("K")
V = TypeVar("V")


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a text and the offset of the next, None at the end; `total` in bytes; `note` is for a reader."""

    text: str
    next: int | None
    total: int
    note: str = ""


Read = Callable[[int], Awaitable[Part]]


def read_text(text: str, note: str = "") -> Read:
    """Return what reads a text that is in memory."""
    data = text.encode("utf-8", "replace")

    async def read(offset: int) -> Part:
        start = offset + (whole_start(data[offset : offset + 4]) if offset else 0)
        piece = data[start : start + PAGE_BYTES]
        if start + len(piece) < len(data):
            piece = whole_end(piece)
        end = start + len(piece)
        return Part(piece.decode("utf-8", "replace"), end if end < len(data) else None, len(data), note)

    return read


class Held(Generic[K, V]):
    """What was used last, up to a sum of weights; the newest always stays."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._weight = 0
        self._values: OrderedDict[K, tuple[V, int]] = OrderedDict()

    def __len__(self) -> int:
        return len(self._values)

    def get(self, key: K) -> V | None:
        """Return a value that is still held."""
        found = self._values.get(key)
        if found is None:
            return None
        self._values.move_to_end(key)
        return found[0]

    def put(self, key: K, value: V, *, weight: int = 1) -> V:
        """Hold a value and return it; what was used longest ago goes."""
        self.drop(key)
        self._values[key] = (value, weight)
        self._weight += weight
        while self._weight > self._most and len(self._values) > 1:
            self._weight -= self._values.popitem(last=False)[1][1]
        return value

    def drop(self, key: K) -> None:
        """Let a value go."""
        if key in self._values:
            self._weight -= self._values.pop(key)[1]

    def clear(self) -> None:
        """Let everything go."""
        self._values.clear()
        self._weight = 0


@dataclass(frozen=True, slots=True)
class Mark:
    """Where a page begins: its byte, the line ends before it, whether that is inside a line, the colours set there."""

    offset: int
    lines: int
    inside: bool
    colour: str


class Chunk:
    """The whole lines of a page, the last completed from the page after it; `number` is that of its first line.

    `inside` says that its first line goes on from the chunk before, `after` holds what follows where the last goes on.
    """

    def __init__(self, text: str, mark: Mark, *, number: int, inside: bool, after: str) -> None:
        self.text = text
        self.number = number
        self.inside = inside
        self.after = after
        self.colour = mark.colour
        self.lines = text.split("\n")
        if not self.lines[-1]:
            self.lines.pop()


class Pages:
    """The pages of a text; what is known of it grows as pages are read, a mark of some bytes each.

    `lines` is how many there are, None until the end was read; `total` the size in bytes.
    """

    def __init__(self, read: Read) -> None:
        self._read = read
        self._marks = [Mark(0, 0, False, "")]
        self._held: Held[int, str] = Held(MOST_PAGES)
        self._chunks: Held[int, Chunk] = Held(MOST_CHUNKS)
        self.lines: int | None = None
        self.total = 0
        self.note = ""

    @property
    def known(self) -> int:
        """The number of pages of which the start is known; all of them once `lines` is."""
        return len(self._marks)

    @property
    def counted(self) -> int:
        """The lines that are known to be there."""
        return self._marks[-1].lines + 1 if self.lines is None else self.lines

    @property
    def share(self) -> float:
        """How much of the text has been read, from 0 to 1."""
        return 1.0 if self.lines is not None else self._marks[-1].offset / max(1, self.total)

    def offset(self, index: int) -> int:
        """Return the byte at which a page begins, the size where it is not known."""
        return self._marks[index].offset if index < len(self._marks) else self.total

    def grew(self) -> None:
        """Read the last page anew: there may be more."""
        self.lines = None
        last = len(self._marks) - 1
        self._held.drop(last)
        self._chunks.drop(last)
        self._chunks.drop(last - 1)

    async def page(self, index: int) -> str:
        """Return the text of a page whose start is known."""
        held = self._held.get(index)
        if held is not None:
            return held
        mark = self._marks[index]
        try:
            part = await self._read(mark.offset)
        except OSError as error:
            part = Part("", None, self.total, f"it could not be read on: {error.strerror}")
        self.total, self.note = part.total, part.note
        if index + 1 == len(self._marks):
            self._learn(mark, part)
        return self._held.put(index, part.text)

    async def reach(self, index: int) -> bool:
        """Read up to where page `index` begins; tell whether there is such a page."""
        while len(self._marks) <= index and self.lines is None:
            await self.page(len(self._marks) - 1)
        return index < len(self._marks)

    async def chunk(self, index: int) -> Chunk | None:
        """Return the lines that begin in a page, None past the end."""
        held = self._chunks.get(index)
        if held is not None or not await self.reach(index):
            return held
        text = await self.page(index)
        rest = await self.page(index + 1) if await self.reach(index + 1) else ""
        mark = self._marks[index]
        start = text.find("\n", 0, LINE_REST) + 1 if index else 0
        end = rest.find("\n", 0, LINE_REST) + 1
        after = "" if end or text.endswith("\n") else rest[:OVERLAP]
        mark = Mark(mark.offset, mark.lines, mark.inside, colour_after(mark.colour, text[:start]))
        number = mark.lines + (2 if start else 1)
        chunk = Chunk(text[start:] + rest[:end], mark, number=number, inside=mark.inside and not start, after=after)
        return self._chunks.put(index, chunk)

    async def find_line(self, number: int) -> tuple[int, int] | None:
        """Return the chunk in which a line begins and its place there, None where there are not so many lines."""
        while self.lines is None and self._marks[-1].lines < number - 1:
            await self.reach(len(self._marks))
        index = max(0, bisect_left(self._marks, number - 1, key=lambda mark: mark.lines) - 1)
        while (chunk := await self.chunk(index)) is not None:
            if chunk.number <= number < chunk.number + len(chunk.lines):
                return index, number - chunk.number
            index += 1
        return None

    def _learn(self, mark: Mark, part: Part) -> None:
        lines = mark.lines + part.text.count("\n")
        inside = not part.text.endswith("\n") if part.text else mark.inside
        if part.next is None or part.next <= mark.offset:
            self.lines = lines + inside
        else:
            self._marks.append(Mark(part.next, lines, inside, colour_after(mark.colour, part.text)))


def colour_after(before: str, text: str) -> str:
    """Return what sets the colour that stands at the end of `text`, where `before` set the one at its start."""
    at = text.rfind("\x1b[")
    if at < 0:
        return before
    reset = max(text.rfind("\x1b[0m"), text.rfind("\x1b[m"))
    found = [match.group() for match in _COLOUR.finditer(text, max(0, reset))]
    if reset < 0:
        found = [match.group() for match in _COLOUR.finditer(before)] + found
    return "".join(found[-MOST_COLOURS:])
