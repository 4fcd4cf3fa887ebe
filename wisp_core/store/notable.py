"""Picks the notable lines of an output without a model: what failed, what warns, totals, runs, first and last. Pure.

One pass over the text, in bounded memory: what is alike (digits aside) is kept once, with a count.
"""

import heapq
import re
from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass
from enum import IntEnum

FIRST_LINES = 3
LAST_LINES = 5
RUN_LINES = 4
"""How many neighbouring lines must be alike to be folded into one."""
MOST_RUNS = 100
MOST_SHAPES = 2000
JUDGED_CHARACTERS = 1000
SHOWN_CHARACTERS = 240
LEAST_LINE_BYTES = 24


class Kind(IntEnum):
    """Why a line is shown; where room is short, the lower goes first."""

    TOTAL = 1
    TRACEBACK = 2
    ERROR = 3
    END = 4
    WARNING = 5
    RUN = 6


@dataclass(frozen=True, slots=True)
class Notable:
    """The lines worth reading, each with its number, in order; `counts` says how many of each kind, in words."""

    text: str
    counts: str


@dataclass(slots=True)
class _Found:
    kind: Kind
    number: int
    text: str
    alike: int = 0
    last: int = 0


@dataclass(slots=True)
class _Run:
    key: str
    number: int
    last: int
    text: str


# Plain words to look for before any expression is tried: most lines of most outputs hold none of them.
_HINTS = (
    "err", "fail", "warn", "exception", "traceback", "panic", "fatal", "denied", "abort", "segfault", "segmentation",
    "not found", "no such", "cannot", "undefined", "passed", "total", "result", "summary", "finished", "ran ",
    "tests", "packages", "vulnerabilit", "success", "killed", "assert", "caused by", "skipped", "timed out",
)  # fmt: skip
_NONE = re.compile(
    r"\b(?:0|no|without) (?:errors?|failed|failures?|warnings?|failing)\b"
    r"|\b(?:errors?|failures?|warnings?|failed)[:=] ?0\b"
)
_TOTAL = re.compile(
    r"\b\d[\d,]* (?:tests?|passed|passing|failed|failing|errors?|warnings?|failures?|skipped|packages|vulnerabilit\w+"
    r"|targets?|examples?|problems?|previous errors?|files? changed)\b(?! ?:)"
    r"|^\W*(?:total|summary|test result|tests?(?: run)?|test suites|failures|errors)\s*:.*\d"
    r"|^\W*(?:finished|ran \d|build (?:success|fail)|found \d)|^(?:ok|fail)\s+\S+\s+[\d.]+s$|^={3,} .* ={3,}$"
)
_ERROR = re.compile(
    r"(?<![\w./-])(?:errors?|fatal|failed|failures?|fail|panic|panicked|exception|denied|abort(?:ed|ing)?|segfault"
    r"|segmentation fault|killed|err!|undefined reference|no such file|command not found|module not found"
    r"|cannot find|timed out|caused by|assertion)(?!\.\w|[\w/-])"
)
_RAISED = re.compile(r"(?:\b|(?<=\.))[A-Z]\w*(?:Error|Exception|Panic)\b(?!\.\w)|^E {2,}\S")
_WARNING = re.compile(r"(?<![\w./-])(?:warn|warnings?|deprecated)(?!\.\w|[\w/-])")
_TRACEBACK = "Traceback (most recent call last)"
_WORD = re.compile(r"[^\W\d_]+")
# Lines that differ in digits other than nought are of one kind, and a log repeats itself.
_SAME_KIND = {ord(digit): "1" for digit in "23456789"}
_WITHOUT_DIGITS = {ord(digit): None for digit in "0123456789"}


def summarise(texts: Iterable[str], *, total: int, limit: int) -> Notable:
    """Return the notable lines of an output of `total` lines in at most `limit` bytes; each text is whole lines."""
    reader = _Reader(total)
    for text in texts:
        reader.take(text)
    reader.end()
    return Notable(_render(reader.found(), limit), reader.counts())


class _Reader:
    """Goes over the lines once."""

    def __init__(self, total: int) -> None:
        self._total = total
        self._number = 0
        self._shapes: dict[tuple[Kind, str], _Found] = {}
        self._kinds: dict[str, Kind | None] = {}
        self._unshown: dict[Kind, int] = {}
        self._first: list[_Found] = []
        self._last: deque[_Found] = deque(maxlen=LAST_LINES)
        self._raised: list[_Found] = []
        self._trace: _Found | None = None
        self._trace_column = 0
        self._run = _Run("", 0, 0, "")
        self._runs: list[tuple[int, int, _Run]] = []

    def take(self, text: str) -> None:
        """Take whole lines."""
        lines = text.split("\n")
        if lines[-1] == "":
            lines.pop()
        lowered = text.lower()
        hints = [hint for hint in _HINTS if hint in lowered] if len(lines) > 1 else list(_HINTS)
        for line in lines:
            self._number += 1
            notable = self._judge(line, hints) if hints or self._trace else False
            self._follow(line, notable)
            if self._number <= FIRST_LINES:
                self._first.append(_Found(Kind.END, self._number, line[:JUDGED_CHARACTERS]))
            if self._number > self._total - LAST_LINES:
                self._last.append(_Found(Kind.END, self._number, line[:JUDGED_CHARACTERS]))

    def end(self) -> None:
        """Close what is open."""
        self._close_run()

    def counts(self) -> str:
        """Return how many errors and warnings there are, in words."""
        sums = dict(self._unshown)
        for found in self._shapes.values():
            sums[found.kind] = sums.get(found.kind, 0) + 1 + found.alike
        words = [
            f"{sums[kind]:,} {name}{'s' if sums[kind] > 1 else ''}"
            for kind, name in ((Kind.TRACEBACK, "traceback"), (Kind.ERROR, "error line"), (Kind.WARNING, "warning"))
            if sums.get(kind)
        ]
        return ", ".join(words) or "no errors or warnings"

    def found(self) -> list[_Found]:
        """Return everything that may be shown, the more important first, earlier lines before later ones."""
        ends = [*self._first, *self._last]
        every = [*self._shapes.values(), *self._raised]
        for _, _, run in self._runs:
            covered = [end for end in ends if run.number <= end.number <= run.last]
            kind = Kind.END if covered else Kind.RUN
            every.append(_Found(kind, run.number, run.text, run.last - run.number, run.last))
            # A run stands for its lines, but the very last line of an output is shown as it is.
            ends = [end for end in ends if end not in covered or end.number == self._total > run.number]
        every += ends
        return sorted(every, key=lambda found: (found.kind, found.number))

    def _judge(self, line: str, hints: list[str]) -> bool:
        """Keep the line where it is notable, and tell whether it is."""
        if self._trace is not None and self._ends_trace(line):
            return True
        line = line[:JUDGED_CHARACTERS]
        lowered = line.lower()
        if not any(hint in lowered for hint in hints):
            return self._trace is not None
        if (column := line.find(_TRACEBACK)) >= 0:
            self._trace, self._trace_column = self._keep(Kind.TRACEBACK, line), column
            return True
        kind = self._kind(line, lowered)
        if kind is not None:
            self._keep(kind, line)
        return kind is not None or self._trace is not None

    def _kind(self, line: str, lowered: str) -> Kind | None:
        shape = line.translate(_SAME_KIND)
        if shape not in self._kinds:
            if len(self._kinds) >= MOST_SHAPES:
                self._kinds.clear()
            self._kinds[shape] = _kind(line, lowered)
        return self._kinds[shape]

    def _ends_trace(self, line: str) -> bool:
        """Keep the line that says what was raised: the first that is indented no more than the traceback's head."""
        if line[self._trace_column : self._trace_column + 1] in ("", " ", "\t"):
            return False
        assert self._trace is not None
        if not self._trace.alike and len(self._raised) < MOST_SHAPES:
            self._raised.append(_Found(Kind.TRACEBACK, self._number, line[:JUDGED_CHARACTERS]))
        self._trace = None
        return True

    def _keep(self, kind: Kind, line: str) -> _Found:
        """Keep a line, or count it with the one that it is like."""
        shape = line.translate(_WITHOUT_DIGITS)
        known = self._shapes.get((kind, shape))
        if known is not None:
            known.alike, known.last = known.alike + 1, self._number
            return known
        found = _Found(kind, self._number, line)
        if len(self._shapes) < MOST_SHAPES:
            self._shapes[kind, shape] = found
        else:
            self._unshown[kind] = self._unshown.get(kind, 0) + 1
        return found

    def _follow(self, line: str, notable: bool) -> None:
        """Go on with the run of lines that begin alike, or begin another."""
        run = self._run
        if notable:
            self._close_run()
            return
        word = _WORD.search(line)
        key = word.group() if word else ""
        if key == run.key and run.number:
            run.last = self._number
            return
        self._close_run()
        self._run = _Run(key, self._number, self._number, line[:JUDGED_CHARACTERS])

    def _close_run(self) -> None:
        run, self._run = self._run, _Run("", 0, 0, "")
        length = run.last - run.number + 1
        if not run.number or length < RUN_LINES:
            return
        item = (length, -run.number, run)
        if len(self._runs) < MOST_RUNS:
            heapq.heappush(self._runs, item)
        else:
            heapq.heappushpop(self._runs, item)


def _kind(line: str, lowered: str) -> Kind | None:
    if _TOTAL.search(lowered):
        return Kind.TOTAL
    judged = _NONE.sub("", lowered)
    if _RAISED.search(line) or _ERROR.search(judged):
        # A warning that speaks of an error is a warning.
        before = _WARNING.search(judged)
        error = _ERROR.search(judged)
        return Kind.WARNING if before and (error is None or before.start() < error.start()) else Kind.ERROR
    return Kind.WARNING if _WARNING.search(judged) else None


def _render(found: list[_Found], limit: int) -> str:
    """Return as many as fit, in the lines' order; a line that is shown for two reasons is shown once."""
    chosen: dict[int, str] = {}
    room = limit
    for each in found:
        text = _line(each)
        if each.number in chosen:
            continue
        size = len(text.encode())
        if size > room:
            if room < LEAST_LINE_BYTES:
                break
            continue
        room -= size
        chosen[each.number] = text
    return "".join(chosen[number] for number in sorted(chosen))


def _line(found: _Found) -> str:
    text = found.text.rstrip()
    shown = text if len(text) <= SHOWN_CHARACTERS else text[:SHOWN_CHARACTERS] + "…"
    if found.alike and found.kind in (Kind.RUN, Kind.END):
        return f"{found.number}\t{shown}\n\t[… {found.alike:,} more that begin alike, to line {found.last:,} …]\n"
    more = f" [and {found.alike:,} more like it, the last at line {found.last:,}]" if found.alike else ""
    return f"{found.number}\t{shown}{more}\n"
