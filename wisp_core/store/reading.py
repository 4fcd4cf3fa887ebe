"""Reads a part of an output, a file or a text, in bounded memory: a page, the end, what matches, what is notable.

A line ends with LF alone, as the store counts them. A part takes at most the limit that is given, and no character is
split.
"""

import os
from collections.abc import Iterator
from itertools import islice
from typing import Protocol, assert_never

from wisp_core.parts import FromLine, Lines, Matching, Part, Reading, Summary, Tail
from wisp_core.settings import KIB
from wisp_core.store.matching import Finder
from wisp_core.store.notable import summarise
from wisp_core.text import byte_size, decode, whole_end, whole_start

BLOCK_BYTES = 256 * KIB
# Of a longer line the summary sees no more than this.
SUMMARY_LINE_BYTES = 4 * KIB


class Content(Protocol):
    """Bytes that can be read anywhere."""

    size: int

    def read(self, start: int, count: int) -> bytes:
        """Return up to `count` bytes from `start`."""


class TextContent:
    """A text in memory."""

    def __init__(self, text: str) -> None:
        self._data = text.encode("utf-8", "replace")
        self.size = len(self._data)

    def read(self, start: int, count: int) -> bytes:
        """Return a slice."""
        return self._data[start : start + count]


class FileContent:
    """An open file, as long as it was when it was opened."""

    def __init__(self, fd: int) -> None:
        self._fd = fd
        self.size = os.fstat(fd).st_size

    def read(self, start: int, count: int) -> bytes:
        """Read there."""
        return os.pread(self._fd, max(0, min(count, self.size - start)), start)


def read_part(content: Content, part: Part, *, limit: int) -> Reading:
    """Return what `part` asks for of `content`, in at most `limit` bytes (64 at least) as it is stored."""
    limit = max(64, limit)
    match part:
        case FromLine(line, byte):
            return _page(content, Lines(line, 0, byte), limit=limit)
        case Lines():
            return _page(content, part, limit=limit)
        case Tail(count):
            return _tail(content, count, limit=limit)
        case Matching():
            return _matching(content, part, limit=limit)
        case Summary():
            total = count_lines(content)
            found = summarise(_whole_lines(content), total=total, limit=limit)
            return Reading(found.text, f"{_lines(total)}, {byte_size(content.size)}: {found.counts}")
        case _:
            assert_never(part)


def count_lines(content: Content) -> int:
    """Return the number of lines, an unfinished last one included."""
    ends = sum(block.count(b"\n") for block in _raw_blocks(content))
    return ends + (content.size > 0 and content.read(content.size - 1, 1) != b"\n")


def _page(content: Content, asked: Lines, *, limit: int) -> Reading:
    """Return a page of the lines asked for; a `last` of 0 is the end."""
    total = count_lines(content)
    if not total:
        return Reading("", "the output is empty")
    if asked.first > total:
        return Reading("", f"the output has {_lines(total)}, so there is no line {asked.first:,}")
    last = min(asked.last or total, total)
    start = line_start(content, asked.first) + asked.byte
    if asked.byte and start >= line_start(content, asked.first + 1):
        return Reading("", f"line {asked.first:,} has no byte {asked.byte:,}")
    end = content.size if last == total else line_start(content, last + 1, near=(asked.first, start - asked.byte))
    data = content.read(start, max(0, min(limit, end - start)))
    if start + len(data) < end:
        # At a line's end; a line longer than the page is cut inside it.
        data = data[: data.rfind(b"\n") + 1] or whole_end(data)
    ends = data.count(b"\n")
    shown = asked.first + ends - data.endswith(b"\n")
    note = f"lines {asked.first:,}–{shown:,} of {total:,}" if shown > asked.first else f"line {shown:,} of {total:,}"
    if start + len(data) >= end:
        return Reading(decode(data), note)
    line, byte = (asked.first + ends, 0) if ends else (asked.first, asked.byte + len(data))
    if byte:
        note += f", to its byte {byte:,}"
    return Reading(decode(data), note, Lines(line, asked.last, byte) if asked.last else FromLine(line, byte))


def _tail(content: Content, count: int, *, limit: int) -> Reading:
    """Return the last lines that fit; what of those asked for does not stands before them, and is `next`."""
    total = count_lines(content)
    wanted = max(1, total - count + 1)
    size = min(limit, content.size)
    data = content.read(content.size - size, size)
    if size < content.size and content.read(content.size - size - 1, 1) != b"\n":
        cut = data.find(b"\n") + 1
        # Where no line starts in it, a line longer than the page is cut inside it.
        data = data[cut:] if 0 < cut < len(data) else data[whole_start(data) :]
    lines = data.split(b"\n")
    if lines[-1] == b"":
        lines.pop()
    text = b"\n".join(lines[-count:]) + (b"\n" if data.endswith(b"\n") else b"")
    first = total - min(len(lines), count) + 1 if total else 0
    note = f"lines {first:,}–{total:,} of {total:,}" if first < total else f"line {total:,} of {total:,}"
    inside = len(lines) == 1 and len(data) < content.size - line_start(content, max(1, total))
    if inside:
        return Reading(decode(text), f"{note}, its end", Lines(wanted, total))
    return Reading(decode(text), note, Lines(wanted, first - 1) if first > wanted else None)


def _matching(content: Content, asked: Matching, *, limit: int) -> Reading:
    finder = Finder(asked.pattern, limit=limit)
    number = min(asked.line, count_lines(content) + 1)
    for block in _blocks(content, line_start(content, number)):
        finder.take(decode(block), number)
        number += block.count(b"\n")
        if finder.stopped:
            break
    return Reading(finder.text(), finder.note(), finder.next())


def _whole_lines(content: Content) -> Iterator[str]:
    """Yield texts of whole lines; a line longer than a block is cut."""
    inside = False
    for block in _blocks(content, 0):
        ended = block.endswith(b"\n")
        if inside:
            rest = block.find(b"\n") + 1
            inside = rest == 0
            block = block[rest:] if rest else b""
        if block and not ended:
            inside = True
            block = whole_end(block[:SUMMARY_LINE_BYTES]) + b"\n"
        if block:
            yield decode(block)


def line_start(content: Content, line: int, *, near: tuple[int, int] = (1, 0)) -> int:
    """Return the byte at which a line starts, the size where there is none; `near` is an earlier line and its start."""
    number, at = near
    while number < line and at < content.size:
        block = content.read(at, BLOCK_BYTES)
        ends = block.count(b"\n")
        if number + ends < line:
            number, at = number + ends, at + len(block)
            continue
        end = next(islice(_ends(block), line - number - 1, None))
        return at + end
    return content.size if number < line else at


def _ends(block: bytes) -> Iterator[int]:
    end = block.find(b"\n") + 1
    while end:
        yield end
        end = block.find(b"\n", end) + 1


def _raw_blocks(content: Content) -> Iterator[bytes]:
    for start in range(0, content.size, BLOCK_BYTES):
        yield content.read(start, BLOCK_BYTES)


def _blocks(content: Content, start: int) -> Iterator[bytes]:
    """Yield what stands from `start` in whole lines; a longer line than a block comes in pieces, no character split."""
    rest = b""
    while start < content.size:
        data = content.read(start, BLOCK_BYTES)
        start += len(data)
        if not data:
            break
        end = data.rfind(b"\n") + 1
        if end:
            yield rest + data[:end]
            rest = data[end:]
        else:
            piece = whole_end(rest + data)
            yield piece
            rest = (rest + data)[len(piece) :]
    if rest:
        yield rest


def _lines(count: int) -> str:
    return f"{count:,} line" + ("" if count == 1 else "s")
