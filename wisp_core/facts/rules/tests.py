"""The rules for test runners, called by themselves or through make and npm. Pure."""

import re

from wisp_core.facts.rules import runners, runners_python
from wisp_core.facts.rules.found import Found
from wisp_core.facts.rules.make import make_targets
from wisp_core.facts.rules.outcome import Summaries, Summary
from wisp_core.facts.rules.run import Run

# pytest: tests failed, or it was interrupted. Its other statuses say that it did not come to testing.
_PYTEST_STATUSES = (None, 0, 1, 2)
_RUNNERS: tuple[Summaries, ...] = (
    runners_python.pytest,
    runners_python.unittest,
    runners.cargo,
    runners.go,
    runners.jest,
    runners.vitest,
    runners.ctest,
    runners.swift,
)
_NPM = {"npm", "pnpm", "yarn"}
_TEST_TARGET = re.compile(r"(?:test|check|unit|e2e)(?:$|[-_:./])")


def pytest(run: Run) -> list[Found]:
    """Read `pytest` and `python -m pytest`."""
    right = run.words[0] in ("pytest", "py.test") and run.status in _PYTEST_STATUSES
    return _last(run, runners_python.pytest) if right else []


def unittest(run: Run) -> list[Found]:
    """Read `python -m unittest`."""
    return _last(run, runners_python.unittest) if run.words[0] == "unittest" else []


def tox(run: Run) -> list[Found]:
    """Read `tox`."""
    return _last(run, runners_python.tox) if run.words[0] == "tox" else []


def cargo_test(run: Run) -> list[Found]:
    """Read `cargo test`."""
    words = [word for word in run.words[1:] if not word.startswith("+")]
    return _last(run, runners.cargo) if run.words[0] == "cargo" and words[:1] in (["test"], ["t"]) else []


def go_test(run: Run) -> list[Found]:
    """Read `go test`."""
    return _last(run, runners.go) if run.words[:2] == ("go", "test") else []


def jest(run: Run) -> list[Found]:
    """Read `jest`."""
    return _last(run, runners.jest) if run.words[0] == "jest" else []


def vitest(run: Run) -> list[Found]:
    """Read `vitest`."""
    return _last(run, runners.vitest) if run.words[0] == "vitest" else []


def ctest(run: Run) -> list[Found]:
    """Read `ctest`."""
    return _last(run, runners.ctest) if run.words[0] == "ctest" else []


def swift_test(run: Run) -> list[Found]:
    """Read `swift test`."""
    return _last(run, runners.swift) if run.words[:2] == ("swift", "test") else []


def npm_test(run: Run) -> list[Found]:
    """Read `npm test` and `npm run test…` by the runner that they call."""
    words = run.words
    script = words[2:3] if words[1:2] in (("run",), ("run-script",)) else words[1:2]
    if words[0] not in _NPM or not script or not (script[0] == "t" or _TEST_TARGET.match(script[0])):
        return []
    return _only(run)


def make_test(run: Run) -> list[Found]:
    """Read `make test…` and `make check` by the runner that they call."""
    targets = make_targets(run.words)
    return _only(run) if targets and all(_TEST_TARGET.match(target) for target in targets) else []


def _last(run: Run, runner: Summaries) -> list[Found]:
    found = runner(run)
    return _outcome(run, found[-1]) if found else []


def _only(run: Run) -> list[Found]:
    """Return the outcome of the runners that an output tells of; the counts of several are not put together."""
    found = [summary for runner in _RUNNERS for summary in runner(run)]
    if len(found) < 2:
        return _outcome(run, found[0]) if found else []
    well = all(summary.passed for summary in found)
    return _outcome(run, Summary(well, ""))


def _outcome(run: Run, summary: Summary) -> list[Found]:
    # What the program printed and how it ended contradict each other: nothing is certain.
    if run.status == 0 and not summary.passed:
        return []
    if run.status is not None and run.status != 0 and not run.failed:
        return []
    details = summary.counts
    if not summary.passed and summary.first:
        details = f"{details}; first: {summary.first}" if details else f"first: {summary.first}"
    return run.found("tests", run.ended("passed" if summary.passed else "failed", details))
