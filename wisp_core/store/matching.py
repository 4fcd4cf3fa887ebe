"""Finds the lines that match a pattern, whoever wrote it: a regular expression in bounded time, else its letters.

`regex` stops a search by the clock, which `re` cannot. What would take it too much memory to prepare is taken
literally.
"""

import re
import time
from functools import lru_cache
from typing import Any

from wisp_core.parts import Matching
from wisp_core.text import head_bytes, one_line, shorten

MATCH_SECONDS = 2.0
PATTERN_CHARACTERS = 1000
# What `regex` unrolls when it compiles: repeats inside repeats multiply, and repeated groups double.
MOST_REPEATS = 10_000
MOST_REPEATED_GROUPS = 8
SHOWN_CHARACTERS = 400
BEFORE_CHARACTERS = 100
# A line that comes in pieces is searched with this much of the piece before, so a match may lie across.
OVERLAP_CHARACTERS = 2000

_COUNTS = re.compile(r"\{\s*(\d*)\s*(?:,\s*(\d*)\s*)?\}")
_REPEATED_GROUP = re.compile(r"\)\s*[*+?{]")
_RECURSION = re.compile(r"\(\?(?:R|&|P>|[+-]?\d)")


class Finder:
    """Takes texts in order and keeps the matching lines with their numbers, as many as fit `limit` bytes."""

    def __init__(self, pattern: str, *, limit: int) -> None:
        self._pattern = pattern
        self._limit = limit
        self._deadline = time.monotonic() + MATCH_SECONDS
        self._why, self._compiled = _compile(pattern)
        self._shown: list[str] = []
        self._size = 0
        self._count = 0
        self._line = 0
        self._held: int | None = None
        self._slow = False
        self._before = ""
        self._before_matched = False
        self.stopped = False

    def take(self, text: str, number: int) -> None:
        """Search the lines of `text`, of which `number` is the first; one without an end goes on in the next text."""
        lines = text.split("\n")
        ended = lines[-1] == ""
        if ended:
            lines.pop()
        last = len(lines) - 1
        for at, line in enumerate(lines):
            self._line = number + at
            goes_on = bool(at == 0 and self._before)
            if not (goes_on and self._before_matched):
                matched = self._search((self._before + line) if goes_on else line)
                self._before_matched = matched
                if self.stopped:
                    return
            self._before = line[-OVERLAP_CHARACTERS:] if at == last and not ended else ""

    def text(self) -> str:
        """Return the lines, each with its number and a tab before it."""
        return "".join(self._shown)

    def note(self) -> str:
        """Return what was found, how the pattern was taken, and how far the search came, in one sentence."""
        shown = len(self._shown)
        found = "no line matches" if not self._count else f"{self._count:,} line{'s match' * (self._count > 1)}"
        if self._count == 1:
            found = "1 line matches"
        if shown < self._count:
            found += f", the first {shown:,} are shown"
        if self._why:
            found = f"{self._why}, so it is taken literally; {found}"
        if self._slow:
            found += f"; the search took over {MATCH_SECONDS:g} s at line {self._line:,} and goes on from the next"
        return found

    def next(self) -> Matching | None:
        """Return the search to go on with, None where everything was seen and shown."""
        if self._held is not None:
            return Matching(self._pattern, self._held)
        return Matching(self._pattern, self._line + 1) if self._slow else None

    def _search(self, line: str) -> bool:
        span = self._span(line)
        if span is None:
            return False
        self._count += 1
        if self._held is None:
            shown = f"{self._line}\t{_around(line.removesuffix(chr(13)), span)}\n"
            if not self._shown:
                shown = head_bytes(shown, self._limit)
            self._size += len(shown.encode())
            if self._size > self._limit:
                self._held = self._line
            else:
                self._shown.append(shown)
        return True

    def _span(self, line: str) -> tuple[int, int] | None:
        left = self._deadline - time.monotonic()
        if left <= 0:
            self._slow = self.stopped = True
            # This line was not searched.
            self._line -= 1
            return None
        if self._compiled is None:
            at = line.find(self._pattern)
            return None if at < 0 else (at, at + len(self._pattern))
        try:
            match = self._compiled.search(line, timeout=left)
        except (TimeoutError, MemoryError):
            self._slow = self.stopped = True
            return None
        return None if match is None else match.span()


def _around(line: str, span: tuple[int, int]) -> str:
    if len(line) <= SHOWN_CHARACTERS:
        return line
    start = max(0, min(span[0] - BEFORE_CHARACTERS, len(line) - SHOWN_CHARACTERS))
    end = start + SHOWN_CHARACTERS
    return ("…" if start else "") + line[start:end] + ("…" if end < len(line) else "")


@lru_cache(maxsize=16)
def _compile(pattern: str) -> tuple[str, Any]:
    """Return the compiled pattern, or why there is none."""
    import regex  # 30 ms that most conversations never need

    name = f"`{one_line(pattern, 60)}`"
    if _costly(pattern):
        return f"{name} repeats too much for a regular expression", None
    try:
        return "", regex.compile(pattern)
    except regex.error as error:
        return f"{name} is no regular expression ({shorten(str(error), 80)})", None
    except (RecursionError, MemoryError, OverflowError, ValueError, TypeError, KeyError, IndexError):
        return f"{name} is no regular expression", None


def _costly(pattern: str) -> bool:
    if len(pattern) > PATTERN_CHARACTERS or _RECURSION.search(pattern):
        return True
    product = 1
    for least, most in _COUNTS.findall(pattern):
        product *= max(1, int((most or least or "1")[:9]))
    return product > MOST_REPEATS or len(_REPEATED_GROUP.findall(pattern)) > MOST_REPEATED_GROUPS
