"""The rules for git: commits, branches, merges and pushes. Pure."""

import re
from collections.abc import Callable

from wisp_core.facts.rules.found import Found, flat
from wisp_core.facts.rules.run import Run

_COMMIT = re.compile(r"\[(\S[^\]]*?)(?: \(root-commit\))? ([0-9a-f]{7,40})\] (\S.*)")
_NEW_BRANCH = re.compile(r"Switched to a new branch '(\S+)'")
_BRANCH = re.compile(r"(?:Switched to (?:and reset )?branch|Already on) '(\S+)'")
_DETACHED = re.compile(r"HEAD is now at ([0-9a-f]{7,40})(?: .*)?")
_CONFLICT = re.compile(
    r"CONFLICT \(([^()]++)\): (?:Merge conflict in (\S.*)|(\S.*?) deleted in \S+ and modified in .*|\S.*)"
)
_MERGED = re.compile(r"Merge made by the '[^']++' strategy\.")
_UNFINISHED = "Automatic merge failed; fix conflicts and then commit the result."
_PUSHED = re.compile(
    r" [ *+] (?:\[new (?:branch|tag)\]|[0-9a-f]{7,40}\.{2,3}[0-9a-f]{7,40})\s+(\S+) -> (\S+)(?: \(forced update\))?"
)
_REJECTED = re.compile(r" ! \[(?:remote )?rejected\]\s+(\S+) -> (\S+) (\(.+\))")
_TAKING = {"-C", "-c", "--git-dir", "--work-tree"}
_FLAGS = {"--no-pager", "-P", "-p"}


def git(run: Run) -> list[Found]:
    """Read the git commands whose outcome lasts; each kind of outcome has one name, so the newest stands."""
    words = _subcommand(run.words)
    read = _READ.get(words[0]) if words else None
    return read(run, words) if read is not None else []


def _subcommand(words: tuple[str, ...]) -> tuple[str, ...]:
    if words[0] != "git":
        return ()
    rest = words[1:]
    while rest and (rest[0] in _FLAGS or rest[0] in _TAKING):
        rest = rest[2:] if rest[0] in _TAKING else rest[1:]
    return rest


def _commit(run: Run, words: tuple[str, ...]) -> list[Found]:
    lines = [found for line in run.lines if (found := _COMMIT.fullmatch(line))]
    if run.status not in (0, None) or len(lines) != 1 or "--dry-run" in words:
        return []
    branch, commit, subject = lines[0].groups()
    where = "a detached HEAD" if branch == "detached HEAD" else branch
    facts = _found("commit", f"{commit} on {where}: {subject}")
    # What a merge left open is closed by the commit of it.
    return facts + (_found("merge", f"concluded by commit {commit}") if subject.startswith("Merge ") else [])


def _switch(run: Run, words: tuple[str, ...]) -> list[Found]:
    if run.status not in (0, None):
        return []
    detached = any(line.startswith("Note: switching to ") for line in run.lines) or "--detach" in words
    for line in run.lines:
        if found := _NEW_BRANCH.fullmatch(line):
            return _found("branch", f"{found.group(1)}, created and switched to")
        if found := _BRANCH.fullmatch(line):
            return _found("branch", f"{found.group(1)}, switched to")
        if detached and (found := _DETACHED.fullmatch(line)):
            return _found("branch", f"detached HEAD at {found.group(1)}")
    return []


def _merge(run: Run, words: tuple[str, ...]) -> list[Found]:
    named = [word for word in words[1:] if not word.startswith("-")]
    what = " ".join(named) if words[0] == "merge" and named else "what was pulled"
    if run.status == 1 and _UNFINISHED in run.lines:
        conflicts = [found for line in run.lines if (found := _CONFLICT.fullmatch(line))]
        files = dict.fromkeys(found.group(2) or found.group(3) or f"({found.group(1)})" for found in conflicts)
        more = " and more" if run.holes else ""
        return _found("merge", f"of {what}: conflict in {', '.join(files)}{more}") if files else []
    if run.status not in (0, None):
        return []
    if words == ("merge", "--abort") and run.status == 0 and not any(run.lines):
        return _found("merge", "aborted")
    for line in run.lines:
        if line == "Fast-forward":
            return _found("merge", f"of {what}: done by fast-forward")
        if _MERGED.fullmatch(line):
            return _found("merge", f"of {what}: done by a merge commit")
        if line in ("Already up to date.", "Already up-to-date."):
            return _found("merge", f"of {what}: already up to date")
    return []


def _push(run: Run, words: tuple[str, ...]) -> list[Found]:
    if "--dry-run" in words or "-n" in words:
        return []
    refused = [found for line in run.lines if (found := _REJECTED.fullmatch(line))]
    if run.failed and refused:
        return _found("push", f"{refused[0].group(1)} -> {refused[0].group(2)} rejected {refused[0].group(3)}")
    if run.status != 0:
        return []
    done = [f"{found.group(1)} -> {found.group(2)}" for line in run.lines if (found := _PUSHED.fullmatch(line))]
    if done:
        return _found("push", ", ".join(done))
    return _found("push", "everything up to date") if "Everything up-to-date" in run.lines else []


def _found(name: str, value: str) -> list[Found]:
    return [Found("git", name, flat(value))]


_READ: dict[str, Callable[[Run, tuple[str, ...]], list[Found]]] = {
    "commit": _commit,
    "switch": _switch,
    "checkout": _switch,
    "merge": _merge,
    "pull": _merge,
    "push": _push,
}
