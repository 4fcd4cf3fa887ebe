"""Markdown source cut where blocks end, so that what is closed is rendered once while the rest still streams. Pure."""

import re
from dataclasses import dataclass

# A block larger than this that is no fence is shown as plain text: rendering a table or list is not bounded otherwise.
MAX_CHUNK_CHARACTERS = 20 * 1024

_FENCE = re.compile(r"( {0,3})(`{3,}(?=[^`]*$)|~{3,})")
_HEADING = re.compile(r"#{1,6}(?:[ \t]|$)")
_ITEM = re.compile(r" {0,3}(?:[-*+]|\d{1,9}[.)])(?:[ \t]|$)")


@dataclass(frozen=True, slots=True)
class Chunk:
    """A stretch of source that stands alone; `fence` is one whole fenced block, `plain` is not to be parsed."""

    source: str
    fence: bool = False
    plain: bool = False


class ChunkScanner:
    """Takes source as it arrives and gives the chunks that have closed; each character is looked at once.

    A chunk closes at a blank line (lists and indented text: at the first line after it that does not go on with
    them), at the end of a heading or a fence, and before a fence or heading.
    """

    def __init__(self) -> None:
        self._lines: list[str] = []
        self._size = 0
        self._partial: list[str] = []
        self._fence: str | None = None
        self._blank = False
        self._oversize = False

    @property
    def in_fence(self) -> bool:
        """Whether the chunk that is still open is a fence."""
        return self._fence is not None

    def feed(self, text: str) -> list[Chunk]:
        """Take more source; return the chunks that closed."""
        closed: list[Chunk] = []
        at = 0
        while (end := text.find("\n", at)) >= 0:
            self._partial.append(text[at:end])
            line = "".join(self._partial)
            self._partial.clear()
            closed.extend(chunk for chunk in self._line(line) if chunk)
            at = end + 1
        if at < len(text):
            self._partial.append(text[at:])
        return closed

    def open_source(self) -> str:
        """Return the source of the chunk that is still open."""
        return "".join(f"{line}\n" for line in self._lines) + "".join(self._partial)

    def finish(self) -> list[Chunk]:
        """Return what is left as chunks, whatever it is; the source ended."""
        closed: list[Chunk] = []
        if self._partial:
            line = "".join(self._partial)
            self._partial.clear()
            closed.extend(chunk for chunk in self._line(line) if chunk)
        if self._lines:
            closed.append(self._close())
        return closed

    def _line(self, line: str) -> tuple[Chunk | None, Chunk | None]:
        """Take one line; return the chunk that closed before it and the chunk that it closed."""
        line = line.removesuffix("\r")
        if self._fence is not None:
            self._add(line)
            mark = line.strip()
            ends = (
                mark.startswith(self._fence) and not mark.strip(self._fence[0]) and len(line) - len(line.lstrip()) < 4
            )
            return None, self._close() if ends else None
        if not line.strip():
            return None, self._take_blank(line)
        before = self._close() if self._lines and self._starts_anew(line) else None
        self._blank = False
        if (opens := _FENCE.match(line)) and not (opens[1] and self._lines):
            self._fence = opens[2]
        self._add(line)
        if self._fence is None and _HEADING.match(line):
            return before, self._close()
        if self._size > MAX_CHUNK_CHARACTERS and self._fence is None:
            self._oversize = True
            return before, self._close(oversize=True)
        return before, None

    def _take_blank(self, line: str) -> Chunk | None:
        if not self._lines:
            self._oversize = False
            return None
        if _ITEM.match(self._lines[0]) or self._lines[0].startswith(("    ", "\t")):
            self._blank = True
            self._add(line)
            return None
        return self._close()

    def _starts_anew(self, line: str) -> bool:
        if _HEADING.match(line):
            return True
        if (mark := _FENCE.match(line)) and not mark[1]:
            return True
        if not self._blank or line.startswith((" ", "\t")):
            return False
        item, first = _ITEM.match(line), _ITEM.match(self._lines[0])
        return not (item and first and item[0].strip()[-1] == first[0].strip()[-1])

    def _add(self, line: str) -> None:
        self._lines.append(line)
        self._size += len(line) + 1

    def _close(self, *, oversize: bool = False) -> Chunk:
        chunk = Chunk("\n".join(self._lines), self._fence is not None, self._oversize)
        self._lines = []
        self._size = 0
        self._fence = None
        self._blank = False
        self._oversize = oversize
        return chunk


def chunks_of(source: str) -> list[Chunk]:
    """Return the chunks of whole source."""
    scanner = ChunkScanner()
    return scanner.feed(source) + scanner.finish()
