"""Text from outside as styled lines, and lines as rows of terminal cells. Pure."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from itertools import pairwise
from typing import TypeAlias
from unicodedata import category

from rich.cells import cell_len, split_graphemes
from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip

from wisp_core.text import displayable

TAB_CELLS = 4
# A row takes at most this many characters a cell, so that a flood of combining marks becomes rows, not one endless row.
CHARACTERS_PER_CELL = 8
MIN_CELLS = 2

# A joiner makes one picture of the emoji around it; anywhere else a terminal and the measure of cells disagree about
# what follows it, so a non-joiner, which nobody sees either, takes its place.
_JOINER, _WIDENER, _NON_JOINER = "\u200d", "\ufe0f", "\u200c"
_SEPARATORS = re.compile("[\u2028\u2029]")
_UNFIT = re.compile("[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")

Span: TypeAlias = tuple[str, Style]
Line: TypeAlias = list[Span]


class Wrapping(Enum):
    """Where a line breaks: at words, the space there left out; after words, nothing left out; at the last cell."""

    WORDS = "words"
    CODE = "code"
    CELLS = "cells"


@dataclass(frozen=True, slots=True)
class Row:
    """One row of the screen: styled text and the style that fills what is left of it."""

    spans: Line
    fill: Style


def visible(text: str) -> str:
    """Return text from outside as a terminal may have it; line and paragraph separators stand by code point."""
    text = _SEPARATORS.sub(lambda match: f"<U+{ord(match.group()):04X}>", displayable(text))
    if _JOINER not in text:
        return text
    parts = text.split(_JOINER)
    out = [parts[0]]
    for before, after in pairwise(parts):
        out += [_JOINER if _pictures(before[-1:], after[:1]) else _NON_JOINER, after]
    return "".join(out)


def _pictures(before: str, after: str) -> bool:
    return bool(before and after) and (before == _WIDENER or category(before)[0] == "S") and category(after) == "So"


def lines_of(text: str) -> list[str]:
    """Return the lines of text from outside, displayable and with tabs as spaces."""
    lines = [expand_tabs(line) for line in visible(text).split("\n")]
    if lines and not lines[-1]:
        lines.pop()
    return lines


def expand_tabs(line: str) -> str:
    """Return one line with its tabs as spaces up to the next multiple of `TAB_CELLS` cells."""
    if "\t" not in line:
        return line
    if line.isascii():
        return line.expandtabs(TAB_CELLS)
    parts = line.split("\t")
    out: list[str] = []
    for part in parts[:-1]:
        out.append(part)
        out.append(" " * (TAB_CELLS - cell_len(part) % TAB_CELLS))
    return "".join([*out, parts[-1]])


def width_of(line: Line) -> int:
    """Return the cells that a line takes."""
    return sum(cell_len(text) for text, _ in line)


def breaks(text: str, width: int, *, how: Wrapping) -> Iterator[tuple[int, int, int]]:
    """Yield (start, end, next start) of each row that one line of text takes."""
    width = max(MIN_CELLS, width)
    start, size = 0, len(text)
    while True:
        end = _fit(text, start, width=width)
        if end >= size:
            yield start, size, size
            return
        following = end
        if how is Wrapping.WORDS:
            end, following = _word_break(text, start, end=end)
        elif how is Wrapping.CODE and (space := text.rfind(" ", start, end) + 1) - start > (end - start) // 2:
            end = following = space
        yield start, end, following
        start = following


def _fit(text: str, start: int, *, width: int) -> int:
    """Return the end of the longest stretch from `start` that fits in `width` cells, whole graphemes, at least one."""
    window = text[start : start + width]
    if window.isascii():
        return start + len(window)
    window = text[start : start + width * CHARACTERS_PER_CELL]
    used = end = 0
    for _, stop, cells in split_graphemes(window)[0]:
        if used + cells > width and end:
            break
        used += cells
        end = stop
    return start + end


def _word_break(text: str, start: int, *, end: int) -> tuple[int, int]:
    if text[end] == " ":
        return end, end + 1
    space = text.rfind(" ", start, end)
    # A row that would keep only its indentation is broken inside the word instead.
    if space <= start or not text[start:space].strip():
        return end, end
    return space, space + 1


def wrap(line: Line, width: int, *, how: Wrapping = Wrapping.WORDS) -> list[Line]:
    """Return the rows of at most `width` cells (at least `MIN_CELLS`) that a styled line takes, at least one."""
    if len(line) == 1:
        text, style = line[0]
        return [[(text[start:end], style)] for start, end, _ in breaks(text, width, how=how)]
    line = _sealed(line)
    text = "".join(part for part, _ in line)
    return [_slice(line, start, end=end) for start, end, _ in breaks(text, width, how=how)]


def _sealed(line: Line) -> Line:
    """Return the line with no joiner or widener at the edge of a span: cells are measured span by span."""
    edges = {_JOINER, _WIDENER}
    if not any(text[:1] in edges or text[-1:] == _JOINER for text, _ in line if text):
        return line
    out: Line = []
    for text, style in line:
        stripped = text.lstrip(_JOINER + _WIDENER)
        sealed = _NON_JOINER * (len(text) - len(stripped)) + stripped
        out.append((sealed[:-1] + _NON_JOINER if sealed.endswith(_JOINER) else sealed, style))
    return out


def _slice(line: Line, start: int, *, end: int) -> Line:
    out: Line = []
    at = 0
    for text, style in line:
        if at >= end:
            break
        if at + len(text) > start:
            out.append((text[max(0, start - at) : end - at], style))
        at += len(text)
    return out


def strip_of(row: Row, width: int) -> Strip:
    """Return the row as a strip of exactly `width` cells; the last gate before the terminal, whatever came before."""
    segments = [Segment(_UNFIT.sub("\ufffd", text), style) for text, style in row.spans if text]
    return Strip(segments).adjust_cell_length(width, row.fill)
