"""The rules for package installers: pip, npm and cargo. Pure."""

import re

from wisp_core.facts.rules.found import Found
from wisp_core.facts.rules.run import Run

_PIP = re.compile(r"pip[\d.]*")
_PIP_DONE = "Successfully installed "
_PIP_HAD = re.compile(r"Requirement already satisfied: \S.*")
_PIP_ERROR = re.compile(r"ERROR: \S.*")
_NPM_DONE = re.compile(
    r"(?:(?:added|removed|changed) \d++ packages?(?:, (?:and )?)?)++(?:audited \d++ packages? )?.*in [\d.]++m?s"
)
_NPM_HAD = re.compile(r"up to date(?:, audited \d++ packages?)? in [\d.]++m?s")
_NPM_ERROR = re.compile(
    r"npm (?:ERR!|error) (?!(?:code|errno|syscall|path|command|network)\b)(?:[a-z\d]++ )?([A-Z`].*)"
)
_CARGO_DONE = re.compile(r"\s*Installed package `(\S++) v([^\s`]++)(?: \([^`()]*+\))?`.*")
_CARGO_HAD = re.compile(r"\s*Ignored package `(\S++) v([^\s`]++)(?: \([^`()]*+\))?` is already installed.*")
_CARGO_ERROR = re.compile(r"error: \S.*")


def pip(run: Run) -> list[Found]:
    """Read `pip install`."""
    if not _PIP.fullmatch(run.words[0]) or run.words[1:2] != ("install",) or "--dry-run" in run.words:
        return []
    if run.failed:
        return _failed(run, _PIP_ERROR)
    if run.status != 0:
        return []
    for line in reversed(run.lines):
        if line.startswith(_PIP_DONE):
            return run.found("build", f"ok: installed {line[len(_PIP_DONE) :]}")
    had = any(_PIP_HAD.fullmatch(line) for line in run.lines)
    return run.found("build", "ok: already installed") if had else []


def npm(run: Run) -> list[Found]:
    """Read `npm install` and `npm ci`."""
    if (
        run.words[0] != "npm"
        or run.words[1:2] not in (("install",), ("i",), ("ci",), ("add",))
        or "--dry-run" in run.words
    ):
        return []
    if run.failed:
        place = run.find(_NPM_ERROR.fullmatch)
        found = _NPM_ERROR.fullmatch(run.lines[place]) if place is not None else None
        return run.found("build", run.ended("failed", found.group(1))) if found else []
    if run.status != 0:
        return []
    for line in run.lines:
        if _NPM_DONE.fullmatch(line):
            return run.found("build", f"ok: {line.partition(' in ')[0].partition(', and audited')[0]}")
        if _NPM_HAD.fullmatch(line):
            return run.found("build", "ok: already installed")
    return []


def cargo(run: Run) -> list[Found]:
    """Read `cargo install`."""
    if run.words[:2] != ("cargo", "install"):
        return []
    if run.failed:
        return _failed(run, _CARGO_ERROR)
    if run.status != 0:
        return []
    done = [found for line in run.lines if (found := _CARGO_DONE.fullmatch(line))]
    if done:
        return run.found("build", f"ok: installed {', '.join(f'{found.group(1)} {found.group(2)}' for found in done)}")
    had = any(_CARGO_HAD.fullmatch(line) for line in run.lines)
    return run.found("build", "ok: already installed") if had else []


def _failed(run: Run, shape: re.Pattern[str]) -> list[Found]:
    place = run.find(shape.fullmatch)
    return run.found("build", run.ended("failed", run.lines[place])) if place is not None else []
