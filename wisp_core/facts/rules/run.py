"""A command's run as the rules see it: its words, its exit status, and the lines that it printed. Pure."""

import re
from collections.abc import Callable
from dataclasses import dataclass

from wisp_core.facts.rules.command import Command, read_line
from wisp_core.facts.rules.found import LINE_CHARACTERS, NAME_CHARACTERS, Found, flat, uncoloured

# run_command's own frame.
_STATUS = re.compile(r"exit status: (\d{1,3})")
_HOLE = re.compile(r"\[… (?:[\d,]+ lines|1 line) \([\d.]+ \w+\) held back …\]")
_BROKEN = (
    "[timed out after ",
    "[could not be ended: ",
    "[ended by ",
    "[still running in the background",
    "[cancelled by ",
)
_NOTES = 5
# A shell's own statuses: not found, not to be run, ended by a signal; and those of `timeout`.
SHELL_STATUSES = range(124, 256)


@dataclass(frozen=True, slots=True)
class Run:
    """One run of a command: `status` is None where a pipe hides it, `lines` are without colours and frame.

    `holes` are the places in `lines` before which something is held back, 0 for the start.
    """

    command: Command
    status: int | None
    lines: tuple[str, ...]
    holes: frozenset[int] = frozenset()

    @property
    def words(self) -> tuple[str, ...]:
        """The program's name and its words."""
        return self.command.words

    @property
    def failed(self) -> bool:
        """Whether the program itself said by its exit status that it failed."""
        return self.status is not None and self.status != 0 and self.status not in SHELL_STATUSES

    def find(self, fits: Callable[[str], object], after: int = -1) -> int | None:
        """Return the place of the first line past `after` that fits, None where one before it may be held back."""
        for place in range(after + 1, len(self.lines)):
            if place in self.holes:
                return None
            if fits(self.lines[place]):
                return place
        return None

    def found(self, subject: str, value: str) -> list[Found]:
        """Return the command's outcome as a fact; nothing for a command that is no name."""
        name = flat(self.command.name, NAME_CHARACTERS + 1)
        return [Found(subject, name, flat(value))] if len(name) <= NAME_CHARACTERS else []

    def ended(self, word: str, details: str = "") -> str:
        """Return an outcome's value: `word` where it is well, else that it failed with its exit status."""
        how = word if not self.failed else f"failed (exit status {self.status})"
        return f"{how}: {details}" if details else how


def read_runs(text: str, output: str, *, status: int | None) -> list[Run]:
    """Return the runs of a command line and its output; none where it is not certain what printed the output."""
    line = read_line(text)
    if line is None or status is None:
        return []
    lines = _unframed(output, status)
    if lines is None:
        return []
    shown, holes = _whole(lines)
    if line.tailed:
        holes |= {0}
    if len(line.commands) > 1 and (status != 0 or any(each.words[0] != "git" for each in line.commands)):
        return []
    return [Run(each, None if line.piped else status, shown, holes) for each in line.commands]


def _unframed(output: str, status: int) -> list[str] | None:
    """Return the lines of the streams, None for an output of another form or one that ended before its program."""
    lines = [_seen(line) for line in output.split("\n")]
    if lines[-1].startswith("held back: "):
        lines.pop()
    stated = _STATUS.fullmatch(lines[0]) if lines else None
    if stated is None or int(stated.group(1)) != status:
        return None
    if any(line.startswith(_BROKEN) for line in lines[-_NOTES:]):
        return None
    return [line for line in lines[1:] if line not in ("stdout:", "stderr:", "[no output]")]


def _seen(line: str) -> str:
    """Return a line as a terminal shows it."""
    return uncoloured(line).rstrip("\r").rpartition("\r")[2][:LINE_CHARACTERS].rstrip()


def _whole(lines: list[str]) -> tuple[tuple[str, ...], frozenset[int]]:
    """Return the lines without markers and without what stands beside one, which may be half a line."""
    marked = {place for place, line in enumerate(lines) if _HOLE.fullmatch(line)}
    shown: list[str] = []
    holes: list[int] = []
    for place, line in enumerate(lines):
        if place in marked:
            holes.append(len(shown))
        elif place - 1 not in marked and place + 1 not in marked:
            shown.append(line)
    return tuple(shown), frozenset(holes)
