"""What test runners say at their end, and the first line that tells of an error. Pure."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from wisp_core.facts.rules.run import Run


@dataclass(frozen=True, slots=True)
class Summary:
    """A runner's last word: whether all `passed`, its `counts` in words, its `first` failing test if that is known."""

    passed: bool
    counts: str
    first: str = ""


Summaries: TypeAlias = Callable[[Run], list[Summary]]
"""Returns every summary of one runner in an output, in order."""

_PLACE = re.compile(r"\s*--> \S")
_ERROR = re.compile(
    r"(?:^|(?<=[\s:\]]))(?:fatal error|error|ERROR|[A-Z]\w*+(?<=Error))(?:\[\w+\]| TS\d+)?: "
    r"|^✘ \[ERROR\] |^ERROR in "
)


def first_error(run: Run) -> str:
    """Return the first line that tells of an error, with its place where that stands on the next; empty for none."""
    place = run.find(_ERROR.search)
    if place is None:
        return ""
    return with_place(run, place)


def with_place(run: Run, place: int) -> str:
    """Return the line at `place`, with the ` --> file:line` of the next line where there is one."""
    line = run.lines[place].strip()
    after = run.lines[place + 1] if place + 1 < len(run.lines) and place + 1 not in run.holes else ""
    return f"{line} ({after.strip()[4:]})" if _PLACE.match(after) else line
