"""Cuts a page of numbered lines out of a text of any size in bounded memory. Pure."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from wisp_core.text import decode
from wisp_core.tools.bound import cut_line

# A line takes at most this share of a page; a longer one is cut inside.
LINE_SHARE = 0.5
# A number, a tab, a line's end and the mark of a CR take at most this.
FRAME_BYTES = 24


@dataclass(frozen=True, slots=True)
class Line:
    """A shown line: its number, its text without its end, and that end: CRLF, LF, or none at the end of the text."""

    number: int
    text: str
    end: str


@dataclass(slots=True)
class Page:
    """The shown lines, the number of the `next` (None at the end of the text), and the lines `read` so far.

    `unsound` tells that something shown is no UTF-8 and was replaced.
    """

    shown: list[Line] = field(default_factory=list)
    next: int | None = None
    read: int = 0
    unsound: bool = False


class _Reading:
    """One line as it comes, of which the first and the last `room` bytes are held."""

    def __init__(self, room: int) -> None:
        self._room = room
        self.head = bytearray()
        self.tail = bytearray()
        self.size = 0

    def add(self, data: bytes) -> None:
        self.size += len(data)
        self.head += data[: self._room - len(self.head)]
        self.tail += data[-self._room :]
        if len(self.tail) > 2 * self._room:
            del self.tail[: -self._room]

    def clear(self) -> None:
        self.size = 0
        self.head.clear()
        self.tail.clear()


class _Paging:
    """A page that is being filled with at most `limit` lines in `room` bytes."""

    def __init__(self, *, offset: int, limit: int | None, room: int) -> None:
        self.page = Page()
        self.line = _Reading(room)
        self._offset = offset
        self._limit = limit
        self._room = room
        self._used = 0

    def add(self, data: bytes) -> bool:
        """Take more of the line after those read; False where the page is full without it."""
        number = self.page.read + 1
        if number < self._offset:
            return True
        self.line.add(data)
        full = len(self.page.shown) == self._limit
        if full or (self.page.shown and self._used + self.line.size > self._room):
            self.page.next = number
            return False
        return True

    def end_line(self, *, newline: bool) -> bool:
        """Put the line on the page; False where it does not fit any more."""
        self.page.read += 1
        number, line = self.page.read, self.line
        if number < self._offset:
            return True
        crlf = newline and line.tail.endswith(b"\r")
        if crlf:
            line.size -= 1
            line.head = line.head[: line.size]
            line.tail.pop()
        text = self._text(bytes(line.head), bytes(line.tail), size=line.size)
        size = len(text.encode()) + FRAME_BYTES
        if self.page.shown and self._used + size > self._room:
            self.page.read -= 1
            self.page.next = number
            return False
        self._used += size
        self.page.shown.append(Line(number, text, "\r\n" if crlf else "\n" if newline else ""))
        line.clear()
        return True

    def _text(self, head: bytes, tail: bytes, *, size: int) -> str:
        most = max(64, int(self._room * LINE_SHARE) - FRAME_BYTES)
        if size <= len(head):
            text = decode(head)
            self.page.unsound = self.page.unsound or text.encode() != head
            if len(text.encode()) <= most:
                return text
        return cut_line(head, tail, size=size, room=most)


def cut_page(blocks: Iterable[bytes], *, offset: int, limit: int | None, room: int) -> Page:
    """Return the page that starts with line `offset` (from 1): at most `limit` lines in `room` bytes.

    Only as many of the blocks are taken as the page needs.
    """
    paging = _Paging(offset=offset, limit=limit, room=room)
    unfinished = False
    for block in blocks:
        ends = block.count(b"\n")
        if paging.page.read + ends + 1 < offset:
            # Before the page nothing but line ends counts.
            paging.page.read += ends
            unfinished = not block.endswith(b"\n")
            continue
        *whole, rest = block.split(b"\n")
        for piece in whole:
            if not (paging.add(piece) and paging.end_line(newline=True)):
                return paging.page
        if rest and not paging.add(rest):
            return paging.page
        unfinished = bool(rest) or (unfinished and not whole)
    if unfinished:
        paging.end_line(newline=False)
    return paging.page
