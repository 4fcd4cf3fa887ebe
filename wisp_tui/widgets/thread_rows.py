"""Rows of the list of threads: a thread, a passage found in one, a saved transcript, a heading. Pure."""

from dataclasses import dataclass
from datetime import UTC, datetime

from rich.cells import cell_len, set_cell_size
from textual.content import Content

from wisp_core.requests import FoundPassage
from wisp_core.text import byte_size, displayable, one_line
from wisp_tui.widgets.columns import column

AGE_CELLS, TURN_CELLS, SIZE_CELLS = 6, 6, 9
LEAST_TITLE, LEAST_PLACE, MOST_PLACE = 12, 10, 40
PLACE_SHARE = 0.38  # of what title and directory have between them
BEFORE_SHARE = 0.4  # of an excerpt's cells that may stand before the match
EXCERPT_CHARACTERS = 400
MATCH_STARTS, MATCH_ENDS = "\ue000", "\ue001"
MINUTE, HOUR, DAY = 60, 3600, 86_400  # seconds
QUIET = "$foreground 60%"


@dataclass(frozen=True, slots=True)
class ThreadLine:
    """A thread as its row shows it: `place` is its directory, `state` is `here`, `open` elsewhere, or empty."""

    title: str
    place: str
    age: str
    turns: int
    bytes: int
    state: str = ""


def age(updated: str, now: datetime) -> str:
    """Return how long ago a time in RFC 3339 was, in at most six cells; `?` where it is none."""
    try:
        then = datetime.fromisoformat(updated)
    except ValueError:
        return "?"
    seconds = (now - (then if then.tzinfo else then.replace(tzinfo=UTC))).total_seconds()
    if seconds < MINUTE:
        return "now"
    if seconds < HOUR:
        return f"{seconds // MINUTE:.0f} min"
    if seconds < DAY:
        return f"{seconds // HOUR:.0f} h"
    days = int(seconds // DAY)
    return f"{days} d" if days < 1000 else f"{days // 365} y"


def heads(cells: int) -> Content:
    """Return the names of a thread's columns."""
    title, place = _widths(cells)
    tail = f"{'turns':>{TURN_CELLS}} {'size':>{SIZE_CELLS}} {'age':>{AGE_CELLS}}"
    return Content.styled(f"{column('title', title)} {column('directory', place)} {tail}", QUIET)


def thread_row(line: ThreadLine, cells: int) -> Content:
    """Return a thread in so many cells."""
    title, place = _widths(cells)
    size = column(byte_size(line.bytes), SIZE_CELLS, right=True)
    when = column(line.state or line.age, AGE_CELLS, right=True)
    return Content.assemble(
        column(line.title or "untitled", title),
        (f" {_end_of(line.place, place)} ", QUIET),
        f"{line.turns:>{TURN_CELLS},} {size} ",
        (when, {"open": "$text-warning", "here": "$accent"}.get(line.state, QUIET)),
    )


def passage_row(found: FoundPassage, cells: int) -> Content:
    """Return a passage with what matched marked, and in view however narrow it is."""
    head = f"    turn {found.turn} · {found.kind.replace('_', ' ')}  "
    before, *rest = one_line(displayable(found.excerpt), EXCERPT_CHARACTERS).split(MATCH_STARTS)
    most = max(1, int((cells - len(head)) * BEFORE_SHARE))
    pieces: list[Content | str | tuple[str, str]] = [
        (head, QUIET),
        (_end_of(before, min(most, cell_len(before))), QUIET),
    ]
    for piece in rest:
        match, _, after = piece.partition(MATCH_ENDS)
        pieces += [(match, "bold underline $accent"), (after, QUIET)]
    return Content.assemble(*pieces)


def saved_row(name: str, size: int, *, cells: int, when: str) -> Content:
    """Return a saved transcript in so many cells; `when` is its age."""
    tail = f" {column(byte_size(size), SIZE_CELLS, right=True)} "
    width = max(LEAST_TITLE, cells - cell_len(tail) - AGE_CELLS - 1)
    return Content.assemble(column(name, width), tail, (column(when, AGE_CELLS, right=True), QUIET))


def _widths(cells: int) -> tuple[int, int]:
    """Return the cells of title and directory."""
    left = cells - TURN_CELLS - SIZE_CELLS - AGE_CELLS - 5
    place = max(LEAST_PLACE, min(MOST_PLACE, int(left * PLACE_SHARE)))
    return max(LEAST_TITLE, left - place), place


def _end_of(text: str, cells: int) -> str:
    """Return text in exactly so many cells, its end where it was longer: a path's end tells most."""
    return set_cell_size(_last_cells(one_line(displayable(text), EXCERPT_CHARACTERS), cells), cells)


def _last_cells(text: str, cells: int) -> str:
    """Return text, an … and its end where it takes more than so many cells."""
    if cell_len(text) <= cells:
        return text
    while text and cell_len(text) >= cells:
        text = text[1:]
    return f"…{text}"
