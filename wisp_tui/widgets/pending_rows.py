"""The rows of the pending screen, and what it says of the one at the cursor. Pure."""

import json
from dataclasses import dataclass
from datetime import datetime
from typing import assert_never

from textual.content import Content

from wisp_core.fact import Fact
from wisp_core.requests import Approval, Question
from wisp_core.text import displayable, one_line, revealed_line
from wisp_tui.widgets.asked import Asked
from wisp_tui.widgets.columns import column
from wisp_tui.widgets.fact_rows import title_of
from wisp_tui.widgets.thread_rows import AGE_CELLS, QUIET, age

KIND_CELLS = 9
LEAST_TITLE, MOST_TITLE = 10, 36
TITLE_SHARE = 0.28  # of a row
LINE_CHARACTERS = 300


@dataclass(frozen=True, slots=True)
class PendingLine:
    """A request as its row shows it: `title` is its thread's, `time` RFC 3339, `closed` why it cannot be answered."""

    kind: str
    asked: Asked
    title: str
    time: str
    closed: str = ""


def pending_heads(cells: int) -> Content:
    """Return the names of the columns."""
    what, title = _widths(cells)
    words = f"{column('kind', KIND_CELLS)} {column('asks', what)} {column('conversation', title)} {'age':>{AGE_CELLS}}"
    return Content.styled(words, QUIET)


def pending_row(line: PendingLine, cells: int, *, now: datetime) -> Content:
    """Return a request in so many cells."""
    what, title = _widths(cells)
    dim = QUIET if line.closed else ""
    return Content.assemble(
        (column(line.kind, KIND_CELLS), QUIET),
        (f" {column(summary(line.asked), what)} ", dim),
        (column(line.title or "untitled", title), QUIET),
        (f" {column(age(line.time, now), AGE_CELLS, right=True)}", QUIET),
    )


def summary(asked: Asked) -> str:
    """Return what is asked in one line, with what cannot be seen by code point."""
    match asked:
        case Approval(tool=tool, arguments=arguments):
            command = arguments.get("command")
            said = command if isinstance(command, str) else json.dumps(arguments, ensure_ascii=False)
            text = f"{tool} {said}"
        case Question(text=text):
            pass
        case Fact(value=value):
            text = f"{title_of(asked)}: {value}"
        case _:
            assert_never(asked)
    return one_line(revealed_line(text.replace("\n", " ")), LINE_CHARACTERS)


def who_asks(who: str, why: str, *, where: str, closed: str) -> Content:
    """Return who asks, from where and why, where what is asked does not say it; or why it is past answering."""
    if not closed:
        return Content(one_line(displayable(f"{who} asks, {where}{': ' if why else ''}{why}"), LINE_CHARACTERS))
    return Content.styled(one_line(displayable(f"it cannot be answered: {closed}"), LINE_CHARACTERS), "$text-warning")


def _widths(cells: int) -> tuple[int, int]:
    """Return the cells of what is asked and of the conversation's title."""
    title = max(LEAST_TITLE, min(MOST_TITLE, int(cells * TITLE_SHARE)))
    return max(1, cells - KIND_CELLS - title - AGE_CELLS - 3), title
