"""Bounds a result to the budget: first and last lines of each stream, a marker between, a note at the end. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass

from wisp_core.requests import KeptOutput
from wisp_core.text import byte_size, decode

# A cut moves to a line's end unless that would give up more than this share of what could be shown.
LINE_LOSS_SHARE = 0.5
# However large the other stream is, one with something to show has this share of the room.
LEAST_SHARE = 0.2
# What the marker inside a line takes at most.
LINE_MARKER_BYTES = 48


@dataclass(frozen=True, slots=True)
class Stretch:
    """What is at hand of one stream: its first bytes and its last, of `size` bytes with `newlines` line ends.

    `head` is the whole where it is as long as `size`; `ended` tells that the stream ends with a line's end.
    """

    name: str
    head: bytes
    tail: bytes
    size: int
    newlines: int
    ended: bool

    @property
    def lines(self) -> int:
        """The lines, an unfinished last one included."""
        return self.newlines + (0 if self.ended or not self.size else 1)


@dataclass(frozen=True, slots=True)
class Keeping:
    """What the note says of the rest: `kept` in the store or `failure` why not; a `command` is not to be run again.

    `memory` tells that the model has the memory tool, which the note then names.
    """

    call: str
    kept: KeptOutput | None = None
    failure: str = ""
    command: bool = False
    memory: bool = False


@dataclass(frozen=True, slots=True)
class Held:
    """What is not shown of a stream: its lines `first` to `last`, counted in the whole output, in `size` bytes."""

    name: str
    first: int
    last: int
    size: int


Part = str | Stretch


def whole_text(parts: Sequence[Part], limit: int) -> str | None:
    """Return the parts as they read unbounded, None where they take more than `limit` bytes."""
    stretches = [part for part in parts if isinstance(part, Stretch)]
    if any(part.size > len(part.head) for part in stretches) or sum(part.size for part in stretches) > limit:
        return None
    text = "".join(part if isinstance(part, str) else _ended(decode(part.head)) for part in parts)
    return text if len(text.encode()) <= limit else None


def bound_text(parts: Sequence[Part], limit: int, *, keeping: Keeping) -> str:
    """Return the parts in at most `limit` bytes (512 at least), each stream cut with a marker, a note at the end.

    Literal parts are shown whole. Line numbers are those of what is stored.
    """
    brief = False
    room = limit - sum(len(part.encode()) for part in parts if isinstance(part, str))
    while True:
        text = _render(parts, max(0, room), keeping=keeping, brief=brief)
        over = len(text.encode()) - limit
        if over <= 0:
            return text
        if room <= 0 and brief:
            return text
        brief = brief or room <= 0
        room -= over


def _render(parts: Sequence[Part], room: int, *, keeping: Keeping, brief: bool) -> str:
    rooms = iter(_share(room, [part for part in parts if isinstance(part, Stretch)]))
    shown: list[str] = []
    held: list[Held] = []
    line = 0
    for part in parts:
        if isinstance(part, str):
            shown.append(part)
            line += part.count("\n")
            continue
        text, left_out = _cut(part, next(rooms), before=line)
        shown.append(text)
        held += [left_out] if left_out else []
        line += part.lines
    return "".join(shown) + (_note(held, keeping, brief=brief) if held else "")


def _share(room: int, stretches: Sequence[Stretch]) -> list[int]:
    """Return each stream's room in bytes: by size, never under a fifth, what one does not need to the other."""
    needs = [_need(stretch) for stretch in stretches]
    total = sum(needs)
    if total <= room or len(needs) < 2:
        return [min(need, room) if total <= room else room for need in needs]
    least = int(room * LEAST_SHARE)
    fair = [min(need, max(least, room * need // total)) for need in needs]
    spare = room - sum(fair)
    largest = fair.index(max(fair))
    # What the least share added is taken from the largest stream, what is left over goes to it.
    fair[largest] = max(0, fair[largest] + spare)
    return fair


def _need(stretch: Stretch) -> int:
    whole = stretch.size == len(stretch.head)
    return len(_ended(decode(stretch.head)).encode()) if whole else stretch.size + 1


def _cut(stretch: Stretch, room: int, *, before: int) -> tuple[str, Held | None]:
    """Return what is shown of a stream in about `room` bytes, and what is not; `before` lines stand above it."""
    if stretch.size == len(stretch.head) and _need(stretch) <= room:
        return _ended(decode(stretch.head)), None
    head = _head(stretch.head, room // 2)
    rest = stretch.size - len(head)
    tail, at_line_start = _tail(stretch.tail[-rest:] if rest else b"", room - room // 2)
    first = head.count(b"\n") + 1
    tail_lines = tail.count(b"\n") + (1 if tail and not stretch.ended else 0)
    last = max(first, stretch.lines - tail_lines + (0 if at_line_start or not tail else 1))
    held = Held(stretch.name, before + first, before + last, rest - len(tail))
    if not held.size:
        return _ended(decode(head) + decode(tail)), None
    return _ended(decode(head)) + _marker(held) + _ended(decode(tail)), held


def _marker(held: Held) -> str:
    lines = held.last - held.first + 1
    what = f"{lines:,} lines" if lines > 1 else "1 line"
    return f"[… {what} ({byte_size(held.size)}) held back …]\n"


def _note(held: Sequence[Held], keeping: Keeping, *, brief: bool) -> str:
    kept = keeping.kept
    ranges = ", ".join(_range(each, kept, brief=brief) for each in held)
    if kept is None:
        return f"held back: {ranges}; not kept{f' ({keeping.failure})' if keeping.failure else ''}"
    if brief:
        return f"held back: {ranges}; kept as output {kept.call} ({kept.lines:,} lines)"
    what = "the output is kept without its middle" if kept.cut else "the whole output is kept"
    note = f"held back: {ranges}; {what} as output {kept.call} ({kept.lines:,} lines)"
    if keeping.memory:
        line, call = stored_first(held[0].first, kept), kept.call
        note += (
            f'; memory "recall output {call} from line {line}" pages it, "recall output {call} matching PATTERN" '
            f'filters it, "summarise output {call}" gives the notable lines, "condense output {call}: QUESTION" '
            "answers from all of it"
        )
    return note + ("; do not run the command again to see it" if keeping.command else "")


def _range(held: Held, kept: KeptOutput | None, *, brief: bool) -> str:
    first, last = (stored_first(held.first, kept), stored_last(held.last, kept)) if kept else (held.first, held.last)
    lines = f"line {first:,}" if first == last else f"lines {first:,}–{last:,}"
    name = f"{held.name} " if held.name else ""
    return f"{name}{lines}" if brief else f"{name}{lines} ({byte_size(held.size)})"


def cut_line(head: bytes, tail: bytes, *, size: int, room: int) -> str:
    """Return a line of `size` bytes in at most `room` bytes: its start, a marker, its end, no character split."""
    room -= LINE_MARKER_BYTES
    start = _fitting(_without_part(head[: room // 2]), room // 2, from_end=False)
    rest = size - len(start)
    end, _ = _tail(tail[-rest:] if rest else b"", room - room // 2)
    return decode(start) + _line_marker(rest - len(end)) + decode(end)


def _line_marker(size: int) -> str:
    return f"[… {byte_size(size)} of this line held back …]"


def stored_first(line: int, kept: KeptOutput) -> int:
    """Return where line `line` of the whole output starts in what is stored; a line that was left out is the marker."""
    if not kept.cut or line <= kept.cut_after:
        return line
    return kept.cut_after + 1 if line < kept.cut_until else line - kept.cut_until + kept.cut_after + 2


def stored_last(line: int, kept: KeptOutput) -> int:
    """Return where line `line` of the whole output ends in what is stored; a line that was left out is the marker."""
    if not kept.cut or (line <= kept.cut_after and line < kept.cut_until):
        return line
    return kept.cut_after + 1 if line < kept.cut_until else line - kept.cut_until + kept.cut_after + 2


def _head(data: bytes, room: int) -> bytes:
    """Return the first bytes of `data` that take at most `room` as text, to a line's end where one is near."""
    piece = data[:room]
    piece = _fitting(piece if len(piece) == len(data) else _without_part(piece), room, from_end=False)
    end = piece.rfind(b"\n") + 1
    return piece[:end] if end and end >= len(piece) * LINE_LOSS_SHARE else piece


def _tail(data: bytes, room: int) -> tuple[bytes, bool]:
    """Return the last bytes of `data` that take at most `room` as text, and whether they start a line."""
    piece = _fitting(_from_whole(data[-room:] if room else b""), room, from_end=True)
    start = piece.find(b"\n") + 1
    if start and len(piece) - start >= len(piece) * LINE_LOSS_SHARE:
        return piece[start:], True
    return piece, False


def _fitting(piece: bytes, room: int, *, from_end: bool) -> bytes:
    """Return the part of `piece` whose text takes at most `room` bytes; what is no UTF-8 grows when it is replaced."""
    while (size := len(_ended(decode(piece)).encode())) > room and piece:
        count = min(len(piece) - 1, len(piece) * room // size)
        piece = _from_whole(piece[len(piece) - count :]) if from_end else _without_part(piece[:count])
    return piece


def _without_part(data: bytes) -> bytes:
    """Return `data` without an unfinished last character."""
    for back in range(1, min(3, len(data)) + 1):
        byte = data[-back]
        if byte >= 0xC0:
            size = 4 if byte >= 0xF0 else 3 if byte >= 0xE0 else 2
            return data[:-back] if size > back else data
        if byte < 0x80:
            break
    return data


def _from_whole(data: bytes) -> bytes:
    """Return `data` without the rest of a character at its start."""
    start = 0
    while start < min(3, len(data)) and 0x80 <= data[start] < 0xC0:
        start += 1
    return data[start:]


def _ended(text: str) -> str:
    return text if not text or text.endswith("\n") else text + "\n"
