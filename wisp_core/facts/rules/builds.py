"""The rules for builds and linters. Pure."""

import re

from wisp_core.facts.rules.found import Found
from wisp_core.facts.rules.make import make_targets
from wisp_core.facts.rules.outcome import first_error, with_place
from wisp_core.facts.rules.run import Run

_BUILD_TARGET = re.compile(r"(?:all|build|compile|dist|bundle|release|debug|install)(?:$|[-_:./])")
_LINT_TARGET = re.compile(
    r"(?:lint|eslint|mypy|ruff|style|types|typecheck|type-check|format-check|fmt-check)(?:$|[-_:./])"
)
_CARGO = {"build": "build", "b": "build", "check": "build", "c": "build", "clippy": "lint"}

_RUFF_END = re.compile(r"Found (\d++) errors?(?:\.| \(\d++ fixed, (\d++) remaining\)\.)")
_RUFF_FIRST = re.compile(r"(?:\S.*:\d++:\d++: )?(?:[A-Z]{1,5}\d{3,4}|invalid-syntax|[a-z-]++:)(?:\s|:\s).*")
_RUFF_FORMAT = re.compile(r"(\d++ files?) would be reformatted(?:, \d++ files? already formatted)?")
_RUFF_FORMATTED = re.compile(
    r"\d++ files? (?:already formatted|reformatted(?:, \d++ files? left unchanged)?|left unchanged)"
)
_MYPY_WELL = re.compile(r"Success: no issues found in (\d++) source files?")
_MYPY_END = re.compile(
    r"Found (\d++) errors? in \d++ files? \((?:checked \d++ source files?|errors prevented further checking)\)"
)
_ESLINT_END = re.compile(r"✖ \d++ problems? \((\d++) errors?, (\d++) warnings?\)")
_ESLINT_ROW = re.compile(r"\s++\d++:\d++\s++error\s++\S.*")
_CARGO_WELL = re.compile(r"\s*Finished .*")
_CARGO_BROKEN = re.compile(r"error: could not compile ")
_MAKE_BROKEN = re.compile(r"g?make(?:\[\d++\])?: \*\*\* \[.*\] Error \d++")
_NPM_HEAD = re.compile(r"> \S++(?: \S++)?(?: \S++)?")
_DOCKER_WELL = re.compile(
    r"(?:#\d++|\s*=> =>) naming to \S++.*|Successfully built [0-9a-f]{12}|\s*=> exporting to image .*"
)
_DOCKER_BROKEN = re.compile(
    r"(?:ERROR|target \S+): (?:failed to build: )?failed to solve: (\S.*)"
    r"|(?:Error response from daemon: )?(The command '.*' returned a non-zero code: \d++)"
)


def ruff(run: Run) -> list[Found]:
    """Read `ruff check` and `ruff format`."""
    if run.words[0] != "ruff" or run.words[1:2] not in (("check",), ("format",)):
        return []
    if run.words[1] == "format":
        return _ruff_format(run)
    if "All checks passed!" in run.lines and not run.failed:
        return run.found("lint", run.ended("ok"))
    end = next((found for line in reversed(run.lines) if (found := _RUFF_END.fullmatch(line))), None)
    if end is None:
        return []
    left = int(end.group(2) or (0 if end.group(2) else end.group(1)))
    if not left and run.status == 0:
        return run.found("lint", run.ended("ok"))
    return _bad(run, "lint", details=f"{_errors(left)}{_first(run, _RUFF_FIRST)}")


def _ruff_format(run: Run) -> list[Found]:
    for line in reversed(run.lines):
        if found := _RUFF_FORMAT.fullmatch(line):
            return _bad(run, "lint", details=f"{found.group(1)} would be reformatted") if "--check" in run.words else []
        if _RUFF_FORMATTED.fullmatch(line):
            return _good(run, "lint")
    return []


def mypy(run: Run) -> list[Found]:
    """Read `mypy`."""
    if run.words[0] not in ("mypy", "dmypy"):
        return []
    for line in reversed(run.lines):
        if _MYPY_WELL.fullmatch(line):
            return _good(run, "lint")
        if found := _MYPY_END.fullmatch(line):
            first = first_error(run)
            return _bad(run, "lint", details=f"{_errors(int(found.group(1)))}{f'; first: {first}' if first else ''}")
    return []


def eslint(run: Run) -> list[Found]:
    """Read `eslint`, which says nothing where all is well."""
    if run.words[0] != "eslint":
        return []
    if run.status == 0 and not any(run.lines):
        return run.found("lint", "ok")
    end = next((found for line in reversed(run.lines) if (found := _ESLINT_END.fullmatch(line))), None)
    if end is None:
        return []
    errors, warnings = int(end.group(1)), int(end.group(2))
    if not errors:
        return run.found("lint", f"ok: {warnings} warning{'s' * (warnings != 1)}") if run.status == 0 else []
    return _bad(run, "lint", details=f"{_errors(errors)}{_first_of_eslint(run)}")


def _first_of_eslint(run: Run) -> str:
    place = run.find(_ESLINT_ROW.fullmatch)
    if place is None:
        return ""
    file = next((line for line in reversed(run.lines[:place]) if line and not line.startswith(" ")), "")
    return f"; first: {file.strip()} {' '.join(run.lines[place].split())}"


def cargo(run: Run) -> list[Found]:
    """Read `cargo build`, `cargo check` and `cargo clippy`."""
    words = [word for word in run.words[1:] if not word.startswith("+")]
    subject = _CARGO.get(words[0], "") if run.words[0] == "cargo" and words else ""
    if not subject:
        return []
    if any(_CARGO_BROKEN.match(line) for line in run.lines):
        return _bad(run, subject, details=first_error(run))
    return _good(run, subject) if any(_CARGO_WELL.fullmatch(line) for line in run.lines) else []


def make(run: Run) -> list[Found]:
    """Read `make` and its targets that build or lint."""
    targets = make_targets(run.words)
    if targets is None:
        return []
    if all(_BUILD_TARGET.match(target) for target in targets):
        subject = "build"
    elif all(_LINT_TARGET.match(target) for target in targets):
        subject = "lint"
    else:
        return []
    if run.failed:
        broken = any(_MAKE_BROKEN.fullmatch(line) for line in run.lines)
        return _bad(run, subject, details=_first_of_any(run)) if broken else []
    return run.found(subject, "ok") if run.status == 0 and any(run.lines) else []


def npm_run(run: Run) -> list[Found]:
    """Read `npm run build…` and `npm run lint…`, which begin with what they run."""
    if run.words[0] not in ("npm", "pnpm") or run.words[1:2] not in (("run",), ("run-script",)) or len(run.words) < 3:
        return []
    script = run.words[2]
    subject = "build" if _BUILD_TARGET.match(script) else "lint" if _LINT_TARGET.match(script) else ""
    heads = [line for line in run.lines if _NPM_HEAD.fullmatch(line)]
    if not subject or not any(line.endswith(f" {script}") or f" {script} " in line for line in heads):
        return []
    if run.failed:
        return _bad(run, subject, details=_first_of_any(run))
    return run.found(subject, "ok") if run.status == 0 else []


def docker(run: Run) -> list[Found]:
    """Read `docker build`."""
    words = run.words[1:]
    if run.words[0] not in ("docker", "podman") or not (
        words[:1] == ("build",) or words[:2] in (("buildx", "build"), ("image", "build"), ("compose", "build"))
    ):
        return []
    for line in reversed(run.lines):
        if found := _DOCKER_BROKEN.fullmatch(line):
            return _bad(run, "build", details=found.group(1) or found.group(2))
    return _good(run, "build") if any(_DOCKER_WELL.fullmatch(line) for line in run.lines) else []


def _good(run: Run, subject: str) -> list[Found]:
    return run.found(subject, "ok") if run.status in (0, None) else []


def _bad(run: Run, subject: str, *, details: str) -> list[Found]:
    """Return a failure, unless the exit status says otherwise or is the shell's."""
    return run.found(subject, run.ended("failed", details)) if run.failed or run.status is None else []


def _first(run: Run, shape: re.Pattern[str]) -> str:
    place = run.find(shape.fullmatch)
    return f"; first: {with_place(run, place)}" if place is not None else ""


def _first_of_any(run: Run) -> str:
    """Return the first error of whatever a script ran."""
    told = first_error(run) or _first_of_eslint(run) or _first(run, _RUFF_FIRST)
    return told.removeprefix("; first: ")


def _errors(count: int) -> str:
    return f"{count} error" if count == 1 else f"{count} errors"
