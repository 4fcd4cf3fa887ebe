"""Splits a reply into blocks, and brings lines to what they say: formatting apart, character for character. Pure."""

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate

FENCES = ("```", "~~~")
# A closing fence stands at most this many characters further in than the one that it closes.
FENCE_INDENT = 3
# What read_file shows for a CR where a file's line ends are mixed; as much formatting as a space at the end.
CR_MARK = "␍"
# Stands for a cell's own `|` while its row is taken apart; sound text has none.
_ESCAPED = "\0"


@dataclass(frozen=True, slots=True)
class Block:
    """Fenced code or a paragraph: where it stands in its text, in characters, and its normalised lines.

    The fence lines stand inside `start` and `end` but are none of the lines.
    """

    start: int
    end: int
    lines: Sequence[str]

    @property
    def words(self) -> int:
        """The words of its lines."""
        return sum(line.count(" ") + 1 for line in self.lines)


def raw_lines(text: str) -> list[str]:
    """Return the lines of `text`, ended by CR, LF or CRLF; each is as long as in the text, less one end character."""
    text = text.replace("\r\n", " \n").replace("\r", "\n")
    return text.replace(CR_MARK + "\n", " \n").split("\n")


def normalise(lines: Iterable[str]) -> list[str]:
    """Return each line with its runs of white space as one space and its ends trimmed."""
    return [" ".join(line.split()) for line in lines]


def without_blank(lines: Iterable[str]) -> list[str]:
    """Return the lines that say something."""
    return list(filter(None, lines))


def split_blocks(text: str) -> list[Block]:
    """Return the blocks in order: fenced code, taken as it is, and paragraphs with the rows of their tables as cells.

    A fence that nothing closes runs to the end, as it is shown. Between two blocks stand blank lines alone.
    """
    raw = raw_lines(text)
    lines = normalise(raw)
    starts = [0, *accumulate(map(len, raw))]
    tables = "|" in text
    blocks = []
    for first, end, inside in _extents(raw, lines):
        # A fence's indent is the list's that it stands in; a paragraph's is its own.
        start = starts[first] + first + (_indent(raw[first]) if inside else 0)
        stop = starts[end - 1] + end - 1 + len(raw[end - 1].rstrip())
        said = lines[inside or slice(first, end)]
        if inside is None and tables:
            said = fold_tables(said)
        blocks.append(Block(start, stop, without_blank(said)))
    return blocks


def _extents(raw: Sequence[str], lines: Sequence[str]) -> Iterator[tuple[int, int, slice | None]]:
    """Yield first line and end of each block, and what lines stand inside its fence, None for a paragraph."""
    blanks = [i for i, line in enumerate(lines) if not line]
    after = 0
    for opened, closed in [*_fences(raw, lines), (len(lines), len(lines))]:
        stops = blanks[bisect_left(blanks, after) : bisect_left(blanks, opened)]
        for stop in [*stops, opened]:
            if stop > after:
                yield after, stop, None
            after = stop + 1
        if opened < len(lines):
            after = min(closed + 1, len(lines))
            yield opened, after, slice(opened + 1, closed)


def _fences(raw: Sequence[str], lines: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Yield the lines at which a fence opens and closes; the end where nothing closes it."""
    opened, opening = -1, ""
    for at in [i for i, line in enumerate(lines) if line.startswith(FENCES)]:
        if not opening:
            opened, opening = at, _opening(lines[at])
        elif _closes(lines[at], opening) and _indent(raw[at]) <= _indent(raw[opened]) + FENCE_INDENT:
            yield opened, at
            opening = ""
    if opening:
        yield opened, len(lines)


def _opening(line: str) -> str:
    """Return the run of characters with which this line opens a fence, or ""."""
    info = line.lstrip(line[0])
    return "" if line[0] == "`" and "`" in info else line[: len(line) - len(info)]


def _closes(line: str, opening: str) -> bool:
    return line.startswith(opening) and not line.strip(opening[0])


def _indent(raw: str) -> int:
    return len(raw) - len(raw.lstrip())


def fold_tables(lines: list[str]) -> list[str]:
    """Return normalised lines with each row of a table as its cells joined by a space.

    Header and separator rows become blank. A row is what stands under a separator up to a blank line, and any line
    between two `|`: a part of a table may come without its header.
    """
    folded: list[str] = []
    separator = inside = False
    for line, following in zip(lines, [*lines[1:], ""], strict=True):
        said = line
        if separator:
            said, separator, inside = "", False, True
        elif inside and line:
            said = _cells(line)
        else:
            inside = False
            separator = "|" in line and _is_separator(following)
            if separator:
                said = ""
            elif line[:1] == "|" == line[-1:]:
                said = _cells(line)
        folded.append(said)
    return folded


def _is_separator(line: str) -> bool:
    """Tell whether the line is drawn of dashes between header and rows, as Markdown and command line tools do."""
    return "-" in line and ("|" in line or "+" in line) and not line.strip("|:-+ ")


def _cells(line: str) -> str:
    if "|" not in line:
        return line
    cells = line.replace("\\|", _ESCAPED).replace("|", " ")
    return " ".join(cells.split()).replace(_ESCAPED, "|")
