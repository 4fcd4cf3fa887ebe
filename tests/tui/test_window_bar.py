"""U6: the window as a bar of its parts, and the line of fill over turns: they fill their cells and need no colour."""

from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.cells import cell_len
from textual.app import App, ComposeResult

from wisp_core.requests import Share, TurnChanges
from wisp_tui.widgets.columns import column, short
from wisp_tui.widgets.context_rows import TURN_COLUMNS, heads, turn_row
from wisp_tui.widgets.fill_line import LABEL_CELLS, FillLine, fill_lines
from wisp_tui.widgets.window_bar import LOOKS, Filling, WindowBar, allot, bar, legend, marks

ALL = tuple(Share(part, "", 400) for part in LOOKS)
SEGMENTS = tuple(Share("instructions", name, 100) for name in ("core", "operator", "project", "tools", "boundary"))


@given(st.lists(st.integers(0, 10**6), max_size=20), st.integers(0, 200))
@settings(max_examples=200)
def test_the_parts_take_all_cells_and_each_at_least_one_while_there_are_enough(amounts: list[int], cells: int) -> None:
    found = allot(amounts, cells)
    assert sum(found) == (cells if sum(amounts) else 0)
    if sum(amounts) and len(amounts) <= cells:
        assert min(found) >= 1


@given(st.lists(st.sampled_from(list(LOOKS)), unique=True), st.integers(1, 200))
@settings(max_examples=100)
def test_the_bar_takes_its_width_whatever_the_parts(parts: list[str], width: int) -> None:
    assert bar(Filling(tuple(Share(part, "", 7) for part in parts), 100), width).cell_length == width


def test_each_part_begins_with_a_letter_of_its_own_so_that_no_colour_is_needed() -> None:
    text = bar(Filling(ALL, 3200), 64).plain
    assert [sign for sign in text if sign.isalpha()] == list("ITELNRH")
    assert text.endswith("─" * 8)


def test_segments_of_the_instructions_are_told_one_by_one_and_as_one_where_there_is_no_room() -> None:
    filling = Filling((*SEGMENTS, *ALL[1:]), 4000)
    assert [sign for sign in bar(filling, 80).plain if sign.isalpha()] == list("IiiiiTELNRH")
    assert "I instructions core ~100   i operator ~100" in legend(filling, 200, rows=4).plain
    narrow = legend(filling, 58, rows=3).plain.split("\n")
    assert narrow[0].startswith("I instructions ~500   T tools ~400")
    assert max(len(line) for line in narrow) <= 58


def test_the_legend_of_every_part_fits_sixty_columns_in_three_rows() -> None:
    lines = legend(Filling(ALL, 3200), 58, rows=2).plain.split("\n")
    assert len(lines) <= 3
    assert max(len(line) for line in lines) <= 58


@pytest.mark.parametrize("width", [58, 118])
def test_target_and_budget_stand_under_their_places(width: int) -> None:
    row = marks(Filling(ALL, 3200), width).plain
    assert row.index("▴ target") == int(0.60 * width)
    assert row.index("▴ budget") == int(0.85 * width)


def test_of_a_request_that_is_too_large_the_bar_shows_where_the_window_ends() -> None:
    row = marks(Filling((Share("turns", "", 2000),), 1000), 100).plain
    assert [row.index(name) for name in ("▴ target", "▴ budget", "▴ window")] == [30, 42, 50]


def test_the_line_shows_the_latest_turns_that_fit_and_marks_condensations() -> None:
    turns = [TurnChanges(n, "done", dropped=n % 10 == 0, tokens=n, window=200) for n in range(1, 201)]
    lines = [line.plain for line in fill_lines(turns, 60, rows=4, target=0.6, budget=0.85)]
    room = 60 - LABEL_CELLS
    assert [cell_len(line) <= 60 for line in lines] == [True] * 5
    assert lines[3][:room] == "█" * room
    assert lines[0][room - 1] == "█"
    assert lines[4].index("▴") == (160 - (200 - room)) - 1
    assert "budget 85%" in lines[0]
    assert "target 60%" in lines[1]


def test_a_turn_of_which_nothing_is_known_leaves_its_column_empty() -> None:
    turns = [TurnChanges(1, "done", tokens=50, window=100), TurnChanges(2, "failed"), TurnChanges(3, "done", tokens=1)]
    lines = [line.plain for line in fill_lines(turns, 40, rows=3, target=0.6, budget=0.85)]
    assert lines[-1][:3] == "█  "


def test_a_row_of_turns_and_its_heads_fit_sixty_columns() -> None:
    row = turn_row(TurnChanges(10_000, "interrupted", 99, 9, 99, 999, 99, 99, 9, 8000, 8192), 57).plain
    assert len(row.rstrip()) <= 57
    assert len(heads(TURN_COLUMNS).plain) <= 58


@given(st.text(max_size=40), st.integers(0, 30), st.booleans())
@settings(max_examples=200)
def test_a_column_takes_its_cells_whatever_stands_in_it(text: str, cells: int, right: bool) -> None:
    assert cell_len(column(text, cells, right=right)) == cells


def test_short_figures_keep_their_size() -> None:
    assert [short(n) for n in (0, 999, 1000, 9949, 9950, 128_000, 999_499, 999_500, 2_000_000)] == [
        "0", "999", "1.0k", "9.9k", "10k", "128k", "999k", "1.0M", "2.0M",
    ]  # fmt: skip


class Bare(App[None]):
    """A widget alone on a screen."""

    def __init__(self, widget: WindowBar | FillLine) -> None:
        super().__init__()
        self.widget = widget

    def compose(self) -> ComposeResult:
        yield self.widget


def _show_bar(widget: WindowBar | FillLine) -> None:
    assert isinstance(widget, WindowBar)
    widget.show(Filling(ALL, 4000))


def _show_line(widget: WindowBar | FillLine) -> None:
    assert isinstance(widget, FillLine)
    turns = [TurnChanges(turn, "done", tokens=1_000, window=4_000) for turn in (1, 2)]
    widget.show(turns, target=0.6, budget=0.85)


@pytest.mark.parametrize(("widget", "show"), [(WindowBar, _show_bar), (FillLine, _show_line)])
async def test_what_is_told_just_after_it_was_laid_out_with_nothing_takes_its_rows(
    widget: type[WindowBar | FillLine], show: Callable[[WindowBar | FillLine], None]
) -> None:
    app = Bare(widget())
    async with app.run_test(size=(100, 30)) as pilot:

        def meanwhile() -> None:
            app.widget.refresh(layout=True)
            app.screen._refresh_layout()  # another widget's layout, before this one's own
            show(app.widget)

        app.call_later(meanwhile)
        await pilot.pause()
        assert app.widget.region.height > 2
