"""Knows where runs of lines stand in many texts, within a bound on what it looks through. Pure."""

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from itertools import accumulate, pairwise, repeat

# One character of a string stands for one line, so that a run of lines is found as a string in a string.
MOST_LINES = 0x10FFFF
_BREAK = "\0"


class Occurrences:
    """Finds runs of lines in `texts`; a line that is not `wanted`, of which there are at most MOST_LINES, is in no run.

    `room` bounds all searches together, in lines looked at; once it is used up nothing is found any more.
    """

    def __init__(self, texts: Iterable[Iterable[str]], *, wanted: Iterable[str], room: int) -> None:
        self._symbols = dict(zip(wanted, map(chr, range(1, MOST_LINES + 1)), strict=False))
        encoded = [self.encode(lines) for lines in texts]
        self._starts = list(accumulate((len(each) + 1 for each in encoded), initial=0))
        self._text = "".join(each + _BREAK for each in encoded)
        self._neighbours: set[tuple[str, str]] | None = None
        self._room = room

    @property
    def room(self) -> int:
        """The lines that may still be looked at."""
        return max(0, self._room)

    def encode(self, lines: Iterable[str]) -> str:
        """Return lines as what `longest` takes."""
        return "".join(map(self._symbols.get, lines, repeat(_BREAK)))

    def longest(self, blocks: Sequence[str], first: int, *, texts: int) -> tuple[int, int]:
        """Return the end of the longest run of blocks from `first` on that one text has whole, and that text's number.

        Only the first `texts` texts are looked at, the earliest is given; the end is `first` where none has any.
        """
        stop = self._starts[texts]
        at, end, size = 0, first, 0
        while end < len(blocks):
            if not (size and self._text.startswith(blocks[end], at + size, stop)):
                further = self._find(self._text[at : at + size] + blocks[end], at, stop=stop)
                if further < 0:
                    break
                at = further
            size += len(blocks[end])
            end += 1
        return end, bisect_right(self._starts, at) - 1

    def _find(self, run: str, start: int, *, stop: int) -> int:
        self._room -= len(run)
        if self._room <= 0 or not (self._neighbours is None or self._neighbours.issuperset(pairwise(run))):
            return -1
        at = self._text.find(run, start, stop)
        self._room -= (at if at >= 0 else stop) - start
        if at < 0 and self._neighbours is None:
            # What nearly matches most often has two lines together that nowhere are: from now on no search is spent.
            self._neighbours = set(pairwise(self._text))
        return at
