"""Matches a relative path against a glob, where `**` is any folders; in bounded time. Pure."""

from collections.abc import Sequence
from fnmatch import fnmatchcase

MAGIC = frozenset("*?[")
# Alternatives in braces are taken apart into at most so many globs.
MOST_GLOBS = 64


def split_glob(glob: str) -> tuple[str, str]:
    """Return the folder that a glob starts at, as it is written, and the rest; no rest where nothing in it is magic."""
    parts = glob.split("/")
    first = next((i for i, part in enumerate(parts) if MAGIC & set(part) or "{" in part), len(parts))
    start = "/".join(parts[:first])
    return (start or ("/" if glob.startswith("/") else ".")), "/".join(parts[first:])


def matches(glob: str, path: str) -> bool:
    """Return whether a relative path matches; `{a,b}` is either."""
    names = path.split("/")
    return any(_matches(each.split("/"), names) for each in _alternatives(glob))


def _matches(patterns: Sequence[str], names: Sequence[str]) -> bool:
    # Which ends of the names are matched by the patterns so far, from the first name on: no backtracking.
    reached = {0}
    for pattern in patterns:
        if pattern == "**":
            reached = set(range(min(reached), len(names) + 1))
        else:
            reached = {at + 1 for at in reached if at < len(names) and fnmatchcase(names[at], pattern)}
        if not reached:
            return False
    return len(names) in reached


def _alternatives(glob: str) -> list[str]:
    found: list[str] = []
    waiting = [glob]
    while waiting and len(found) + len(waiting) <= MOST_GLOBS:
        each = waiting.pop()
        end = each.find("}")
        start = each.rfind("{", 0, end) if end >= 0 else -1
        if start < 0:
            found.append(each)
            continue
        waiting += [each[:start] + choice + each[end + 1 :] for choice in each[start + 1 : end].split(",")]
    return found + waiting
