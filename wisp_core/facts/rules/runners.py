"""The last words of the other test runners: cargo, go, jest, vitest, ctest and swift. Pure."""

import re

from wisp_core.facts.rules.outcome import Summary, first_error
from wisp_core.facts.rules.run import Run

_CARGO_END = re.compile(r"test result: (ok|FAILED)\. (\d{1,9}) passed; (\d{1,9}) failed; (\d{1,9}) ignored; .*")
_CARGO_FIRST = re.compile(r"test (\S.*) \.\.\. FAILED|---- (\S.*) stdout ----")
_CARGO_BROKEN = re.compile(r"error: could not compile ")

_GO_OK = re.compile(r"ok  \t\S++\t(?:\(cached\)|[\d.]++s)(?:\t?.*)")
_GO_FAIL = re.compile(r"FAIL\t(\S++)(?:\t[\d.]++s| \[build failed\])")
_GO_ERROR = re.compile(r"[^\s:]+\.go:\d++:\d++: \S.*")
_GO_FIRST = re.compile(r"\s*--- FAIL: (\S++) \([\d.]++s\)")

_JEST_TESTS = re.compile(r"Tests: {2,}(?:(\d.*), )?(\d++) total")
_JEST_SUITES = re.compile(r"Test Suites: (\d.*), \d++ total")
_JEST_FIRST = re.compile(r" {2}● (\S.* › .*)")
_JEST_FILE = re.compile(r" ?FAIL (\S++)(?: \([\d.]++ m?s\))?")

_VITEST_TESTS = re.compile(r"\s*Tests {2,}(?:(\d.*) \(\d++\)|no tests)")
_VITEST_FILES = re.compile(r"\s*Test Files {2,}(\d.*) \(\d++\)")
_VITEST_FIRST = re.compile(r" FAIL {2}(\S.*)")

_CTEST_END = re.compile(r"\d{1,3}% tests passed, (\d{1,9}) tests? failed out of (\d{1,9})")
_CTEST_LIST = re.compile(r"The following tests FAILED:")
_CTEST_FIRST = re.compile(r"\s*\d++ - (\S.*) \([^()]++\).*")

_XCTEST = re.compile(
    r"\s*Executed (\d++) tests?, with (?:(\d++) tests? skipped and )?(\d++) failures? \(\d++ unexpected\) in .*"
)
_XCTEST_WHOLE = re.compile(r"Test Suite '(?:All|Selected) tests' (?:passed|failed) at .*")
_XCTEST_FIRST = re.compile(r"Test Case '(.+)' failed \([\d.]++ seconds\)\.?")
_SWIFT_TESTING = re.compile(r"\W*Test run with (\d++) tests?(?: in \d++ suites?)? (passed|failed) after .*")
_SWIFT_TESTING_FIRST = re.compile(r"\W*(?!Test run )Test (\S.*) failed after [\d.]++ seconds.*")
_SWIFT_BROKEN = re.compile(r"\S+\.swift:\d++:\d++: error: ")


def cargo(run: Run) -> list[Summary]:
    """Return the sum of cargo's `test result:` lines, or that the tests did not compile."""
    ends = [end for line in run.lines if (end := _CARGO_END.fullmatch(line))]
    passed, failed, ignored = (sum(int(end.group(i)) for end in ends) for i in (2, 3, 4))
    if any(_CARGO_BROKEN.match(line) for line in run.lines):
        return [Summary(False, first_error(run))]
    if not passed + failed:
        return []
    counts = [f"{failed} failed"] * bool(failed) + [f"{passed} passed"] + [f"{ignored} ignored"] * bool(ignored)
    place = run.find(_CARGO_FIRST.fullmatch)
    first = _CARGO_FIRST.fullmatch(run.lines[place]) if place is not None else None
    well = all(end.group(1) == "ok" for end in ends)
    return [Summary(well, ", ".join(counts), (first.group(1) or first.group(2)) if first else "")]


def go(run: Run) -> list[Summary]:
    """Return how many packages go's tests passed in, and in which they failed first."""
    passed = sum(1 for line in run.lines if _GO_OK.fullmatch(line) and "[no tests to run]" not in line)
    failed = [line for line in run.lines if _GO_FAIL.fullmatch(line)]
    if not passed and not failed:
        return []
    counts = [f"{_packages(len(failed))} failed"] * bool(failed) + [f"{_packages(passed)} ok"] * bool(passed)
    setup = any(line.startswith("FAIL\t") and line.endswith("[setup failed]") for line in run.lines)
    return [Summary(not failed and not setup, ", ".join(counts), _first_of_go(run))]


def _first_of_go(run: Run) -> str:
    """Return the first test that failed, or the first error where the tests did not compile."""
    place = run.find(_GO_FIRST.fullmatch)
    first = _GO_FIRST.fullmatch(run.lines[place]) if place is not None else None
    if first:
        return first.group(1)
    place = run.find(_GO_ERROR.fullmatch)
    return run.lines[place] if place is not None else ""


def _packages(count: int) -> str:
    return "1 package" if count == 1 else f"{count} packages"


def jest(run: Run) -> list[Summary]:
    """Return jest's `Tests:` line, or its suites where none came to a test."""
    found: list[Summary] = []
    suites, first = "", _first_of_jest(run)
    for line in run.lines:
        if suite := _JEST_SUITES.fullmatch(line):
            suites = suite.group(1)
        end = _JEST_TESTS.fullmatch(line)
        if end is None or not suites:
            continue
        counts = end.group(1) or f"test suites: {suites}"
        if end.group(1) or "failed" in suites:
            found.append(Summary("failed" not in suites + counts, counts, first))
    return found


def _first_of_jest(run: Run) -> str:
    place = run.find(_JEST_FIRST.fullmatch)
    if place is not None:
        return run.lines[place].strip()[2:]
    place = run.find(_JEST_FILE.fullmatch)
    return run.lines[place].split()[1] if place is not None else ""


def vitest(run: Run) -> list[Summary]:
    """Return vitest's `Tests` line, with the files where one failed without a test."""
    found: list[Summary] = []
    files, first = "", _first_of_vitest(run)
    for line in run.lines:
        if file := _VITEST_FILES.fullmatch(line):
            files = file.group(1).replace(" | ", ", ")
        end = _VITEST_TESTS.fullmatch(line)
        if end is None or not files:
            continue
        tests = (end.group(1) or "no tests").replace(" | ", ", ")
        if end.group(1) or "failed" in files:
            well = "failed" not in files + tests
            alone = not well and "failed" not in tests
            found.append(Summary(well, f"{tests}; files: {files}" if alone else tests, first))
    return found


def _first_of_vitest(run: Run) -> str:
    place = run.find(_VITEST_FIRST.fullmatch)
    return run.lines[place][len(" FAIL  ") :].partition(" [ ")[0] if place is not None else ""


def ctest(run: Run) -> list[Summary]:
    """Return ctest's share of passed tests as counts."""
    found: list[Summary] = []
    first = _first_of_ctest(run)
    for line in run.lines:
        end = _CTEST_END.fullmatch(line)
        if end is None or int(end.group(2)) == 0:
            continue
        failed, total = int(end.group(1)), int(end.group(2))
        counts = f"{failed} failed, {total - failed} passed" if failed else f"{total} passed"
        found.append(Summary(not failed, counts, first))
    return found


def _first_of_ctest(run: Run) -> str:
    headers = [place for place, line in enumerate(run.lines) if _CTEST_LIST.fullmatch(line)]
    place = run.find(_CTEST_FIRST.fullmatch, after=headers[-1]) if headers else None
    first = _CTEST_FIRST.fullmatch(run.lines[place]) if place is not None else None
    return first.group(1) if first else ""


def swift(run: Run) -> list[Summary]:
    """Return what XCTest and Swift Testing say of all tests, or that the tests did not compile."""
    if any(_SWIFT_BROKEN.match(line) for line in run.lines):
        return [Summary(False, first_error(run))]
    counts = [0, 0]
    told = well = False
    well = True
    for place, line in enumerate(run.lines):
        whole = place and _XCTEST_WHOLE.fullmatch(run.lines[place - 1]) and place not in run.holes
        if whole and (end := _XCTEST.fullmatch(line)):
            counts = [counts[0] + int(end.group(1)), counts[1] + int(end.group(3))]
            told, well = True, well and end.group(3) == "0"
        elif end := _SWIFT_TESTING.fullmatch(line):
            counts[0] += int(end.group(1))
            told, well = True, well and end.group(2) == "passed"
    if not told or not counts[0]:
        return []
    failures = f", {counts[1]} failures" if counts[1] > 1 else ", 1 failure" if counts[1] else ""
    return [Summary(well, f"{counts[0]} run{failures}", _first_of_swift(run))]


def _first_of_swift(run: Run) -> str:
    for shape in (_XCTEST_FIRST, _SWIFT_TESTING_FIRST):
        place = run.find(shape.fullmatch)
        found = shape.fullmatch(run.lines[place]) if place is not None else None
        if found:
            return found.group(1)
    return ""
