"""Makes the unified diff of two texts, in time that stays bounded for large ones. Pure."""

import difflib
import re
from collections.abc import Sequence

CONTEXT_LINES = 3
# Where more pairs of lines than this would be compared, what differs is shown as one change.
COMPARED_PAIRS = 4_000_000
CR_MARK = "␍"

Opcode = tuple[str, int, int, int, int]
_LINE = re.compile(r"[^\n]*\n|[^\n]+")


def split_ends(text: str) -> list[str]:
    """Return the lines with their ends, LF or CRLF; a CR alone is text. Joined they are `text`."""
    return _LINE.findall(text)


def opcodes(before: Sequence[str], after: Sequence[str]) -> list[Opcode]:
    """Return how `before` becomes `after`, as difflib says it: (`equal`, `replace`, `delete` or `insert`, ranges)."""
    most = min(len(before), len(after))
    start = next((i for i in range(most) if before[i] != after[i]), most)
    end = next((i for i in range(most - start) if before[-1 - i] != after[-1 - i]), most - start)
    old, new = before[start : len(before) - end], after[start : len(after) - end]
    if len(old) * len(new) <= COMPARED_PAIRS:
        inner: list[Opcode] = list(difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes())
    else:
        inner = [("replace", 0, len(old), 0, len(new))]
    codes = [(tag, a + start, b + start, c + start, d + start) for tag, a, b, c, d in inner]
    first: list[Opcode] = [("equal", 0, start, 0, start)] if start else []
    last: list[Opcode] = [("equal", len(before) - end, len(before), len(after) - end, len(after))] if end else []
    return first + codes + last


def unified(before: str | None, after: str | None, *, name: str) -> str:
    """Return the unified diff, empty where nothing differs; None is no file.

    Where CRLF and LF both end lines, a CRLF is marked; a last line without an end is said.
    """
    old, new = split_ends(before or ""), split_ends(after or "")
    marked = _mixed(old) or _mixed(new) or _crlf(old) != _crlf(new)
    lines: list[str] = []
    for group in _groups(opcodes(old, new)):
        lines.append(_range_line(group))
        for tag, a, b, c, d in group:
            if tag == "equal":
                lines += [_shown(" ", line, marked=marked) for line in old[a:b]]
                continue
            lines += [_shown("-", line, marked=marked) for line in old[a:b]]
            lines += [_shown("+", line, marked=marked) for line in new[c:d]]
    if not lines:
        return ""
    header = [f"--- {'/dev/null' if before is None else name}", f"+++ {'/dev/null' if after is None else name}"]
    return "\n".join([*header, *lines]) + "\n"


def changed_lines(before: str | None, after: str) -> tuple[int, int]:
    """Return how many lines were added and how many removed."""
    codes = [code for code in opcodes(split_ends(before or ""), split_ends(after)) if code[0] != "equal"]
    return sum(d - c for _, _, _, c, d in codes), sum(b - a for _, a, b, _, _ in codes)


def _groups(codes: list[Opcode]) -> list[list[Opcode]]:
    """Return the changes with at most three equal lines around each, those that meet together."""
    groups: list[list[Opcode]] = [[]]
    for index, (tag, a, b, c, d) in enumerate(codes):
        first, last = index == 0, index == len(codes) - 1
        if tag != "equal" or (b - a <= 2 * CONTEXT_LINES and not first and not last):
            groups[-1].append((tag, a, b, c, d))
            continue
        size = min(CONTEXT_LINES, b - a)
        if not first:
            groups[-1].append((tag, a, a + size, c, c + size))
        if not last:
            groups += [[]] if groups[-1] else []
            groups[-1].append((tag, b - size, b, d - size, d))
    return [group for group in groups if any(code[0] != "equal" for code in group)]


def _range_line(group: list[Opcode]) -> str:
    first, last = group[0], group[-1]
    return f"@@ -{_range(first[1], last[2])} +{_range(first[3], last[4])} @@"


def _range(start: int, end: int) -> str:
    length = end - start
    if length == 1:
        return f"{start + 1}"
    return f"{start + 1 if length else start},{length}"


def _shown(sign: str, line: str, *, marked: bool) -> str:
    if not line.endswith("\n"):
        return f"{sign}{line}\n\\ No newline at end of file"
    if line.endswith("\r\n"):
        return f"{sign}{line[:-2]}{CR_MARK if marked else ''}"
    return f"{sign}{line[:-1]}"


def _mixed(lines: list[str]) -> bool:
    return _crlf(lines) and any(line.endswith("\n") and not line.endswith("\r\n") for line in lines)


def _crlf(lines: list[str]) -> bool:
    return any(line.endswith("\r\n") for line in lines)
