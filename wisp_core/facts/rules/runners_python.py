"""The last words of Python's test runners: pytest, unittest and tox. Pure."""

import re

from wisp_core.facts.rules.outcome import Summary
from wisp_core.facts.rules.run import Run

_PYTEST_END = re.compile(r"=*+ ?(\d[\w, ]*) in \d++(?:\.\d++)?s(?: \([\d:]++\))? ?=*+")
_COUNT = re.compile(r"(\d++) ([a-z]++(?: [a-z]++)?)")
_RAN = {"passed", "failed", "error", "errors", "xfailed", "xpassed", "subtests passed", "subtests failed"}
_BAD = {"failed", "error", "errors", "subtests failed"}
_UNSAID = {"warning", "warnings"}
_PYTEST_FIRST = re.compile(r"(?:FAILED|ERROR|SUBFAIL\S*+) (\S.*)")
_PYTEST_LIST = re.compile(r"=+ short test summary info =+")

_UNITTEST_RAN = re.compile(r"Ran (\d++) tests? in \d++\.\d++s")
_UNITTEST_END = re.compile(r"(OK|FAILED)(?: \(([\w=, ]++)\))?")
_UNITTEST_FIRST = re.compile(r"(?:FAIL|ERROR): (\S.*)")

_TOX_ROW = re.compile(r"  (\S+): (OK|FAIL|SKIP)(?: code -?\d++)? \(.*")
_TOX_OLD_ROW = re.compile(r"(?:ERROR: )?  (\S+): commands (succeeded|failed)")
_TOX_END = re.compile(r"  (congratulations :\)|evaluation failed :\()(?: \([\d.]++ seconds\))?")


def pytest(run: Run) -> list[Summary]:
    """Return what pytest says last: `1 failed, 4 passed in 0.02s`."""
    found: list[Summary] = []
    first = _first_of_pytest(run)
    for line in run.lines:
        end = _PYTEST_END.fullmatch(line)
        counts = [_COUNT.fullmatch(part) for part in end.group(1).split(", ")] if end else []
        whole = [count for count in counts if count is not None]
        kinds = {count.group(2) for count in whole}
        if len(whole) == len(counts) and kinds & _RAN:
            told = ", ".join(count.group() for count in whole if count.group(2) not in _UNSAID)
            found.append(Summary(not kinds & _BAD, told, first))
    return found


def _first_of_pytest(run: Run) -> str:
    headers = [place for place, line in enumerate(run.lines) if _PYTEST_LIST.fullmatch(line)]
    first = run.find(_PYTEST_FIRST.match, after=headers[-1]) if headers else None
    found = _PYTEST_FIRST.match(run.lines[first]) if first is not None else None
    return found.group(1).partition(" - ")[0] if found else ""


def unittest(run: Run) -> list[Summary]:
    """Return what unittest says last: `Ran 5 tests in 0.001s`, then `FAILED (failures=1)`."""
    found: list[Summary] = []
    first = _first_of_unittest(run)
    for place, line in enumerate(run.lines):
        ran = _UNITTEST_RAN.fullmatch(line)
        after = run.find(bool, after=place) if ran else None
        end = _UNITTEST_END.fullmatch(run.lines[after]) if after is not None else None
        if ran is None or end is None or ran.group(1) == "0":
            continue
        more = f", {end.group(2)}" if end.group(2) else ""
        found.append(Summary(end.group(1) == "OK", f"{ran.group(1)} run{more}", first))
    return found


def _first_of_unittest(run: Run) -> str:
    place = run.find(_UNITTEST_FIRST.fullmatch)
    return run.lines[place].partition(": ")[2] if place is not None else ""


def tox(run: Run) -> list[Summary]:
    """Return how each of tox's environments ended."""
    ends = [place for place, line in enumerate(run.lines) if _TOX_END.fullmatch(line)]
    # tox 3 has a last line only where all went well.
    end = ends[-1] if ends else len(run.lines)
    rows: list[str] = []
    place = end - 1
    while place >= 0 and (row := _TOX_ROW.fullmatch(run.lines[place]) or _TOX_OLD_ROW.fullmatch(run.lines[place])):
        rows.append(f"{row.group(1)} {row.group(2)}")
        place -= 1
    well = bool(ends) and "congratulations" in run.lines[end]
    return [Summary(well, ", ".join(reversed(rows)))] if rows else []
