"""The rules for files: what was read and what was changed. Pure."""

import re

from wisp_core.facts.rules.calls import Called
from wisp_core.facts.rules.found import Found

_NUMBERED = re.compile(r"(\d{1,12})\t")
_MORE = re.compile(r"more from offset \d++")
_CHANGED = re.compile(r"([\d,]++) lines? added, ([\d,]++) lines? removed(?:; its other names .*)?")
_NEW = re.compile(r"new file, ([\d,]++) lines?")


def read_file(called: Called) -> list[Found]:
    """Read how many lines a file has, or which of them were read where the page ended before it."""
    path, lines = called.path(), called.lines
    ended = lines[-1] == "[end of file]"
    if not path or not (ended or _MORE.fullmatch(lines[-1])):
        return []
    if "[the file is empty]" in lines[:2]:
        return [Found("file", path, f"0 lines, read at turn {called.turn}")]
    numbers = [int(found.group(1)) for line in lines if (found := _NUMBERED.match(line))]
    if not numbers or not _NUMBERED.match(lines[0]):
        return []
    first, last = numbers[0], numbers[-1]
    count = "1 line" if last == 1 else f"{last} lines"
    what = count if ended else f"lines {first} to {last} of more"
    return [Found("file", path, f"{what}, read at turn {called.turn}")]


def edit_file(called: Called) -> list[Found]:
    """Read how many lines an edit added and removed."""
    path, first = called.path(), called.lines[0]
    what = first.rpartition(": ")[2]
    if not path or not first.startswith("wrote "):
        return []
    if changed := _CHANGED.fullmatch(what):
        return [Found("file", path, f"changed at turn {called.turn} (+{changed.group(1)} −{changed.group(2)} lines)")]
    if new := _NEW.fullmatch(what):
        return [Found("file", path, f"changed at turn {called.turn} (+{new.group(1)} −0 lines)")]
    return []
