"""The status line: what it tells, and what it leaves out first when it is narrow."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from wisp_tui.widgets.status import Condition, duration, line, meter

FULL = Condition(
    doing="run_command",
    since=100.0,
    model="embedded/smollm2-135m",
    mode="ask",
    share=0.53,
    queued=2,
    directory="~/project",
    branch="main",
    tokens=12_345,
)


def test_it_tells_everything_where_there_is_room() -> None:
    text = line(FULL, 200, clock=112.0).plain
    for part in (
        "run_command 12 s",
        "2 queued",
        "context 53%",
        "embedded/smollm2-135m",
        "ask",
        "~/project",
        "main",
        "12.3k tokens",
    ):
        assert part in text


@pytest.mark.parametrize("width", [200, 60, 24])
def test_what_waits_in_the_home_is_counted_however_narrow_it_is(width: int) -> None:
    assert (
        "2 pending"
        in line(Condition(doing="ready", queued=3, pending=2, directory="~/project"), width, clock=0.0).plain
    )
    assert "pending" not in line(Condition(), width, clock=0.0).plain


def test_what_was_added_below_the_view_is_told() -> None:
    assert "↓ more below" in line(Condition(unseen=True), 80, clock=0.0).plain


def test_a_wait_is_counted_down_and_then_what_was_waited_for_runs() -> None:
    waiting = Condition(doing="waiting for the model", since=103.0)
    for clock, text in ((100.0, "trying again in 3 s"), (100.5, "trying again in 3 s"), (102.2, "trying again in 1 s")):
        assert text in line(waiting, 24, clock=clock).plain
    assert line(waiting, 80, clock=103.0).plain == "● waiting for the model"
    assert line(waiting, 80, clock=105.0).plain == "● waiting for the model 2 s"


def test_an_estimate_is_marked() -> None:
    assert "context ~53%" in line(Condition(share=0.53, estimated=True), 80, clock=0.0).plain


def test_a_narrow_line_keeps_what_runs_what_waits_and_the_context() -> None:
    text = line(FULL, 58, clock=112.0).plain
    assert "run_command 12 s" in text
    assert "context 53%" in text
    assert "tokens" not in text


@given(st.integers(min_value=1, max_value=200), st.text(max_size=80), st.text(max_size=80))
def test_it_never_takes_more_than_the_width(width: int, model: str, branch: str) -> None:
    text = line(Condition(model=model, branch=branch, share=0.5, doing="writing", tokens=5), width, clock=0.0).plain
    assert cell_len(text) <= width
    assert "\x1b" not in text


def test_the_bar_marks_target_and_budget() -> None:
    assert meter(0.53, target=0.60, budget=0.85).plain == "━━━━━━─┼──┼─"
    assert meter(0.9, target=0.60, budget=0.85).plain == "━━━━━━━╋━━╋─"


@pytest.mark.parametrize(("seconds", "text"), [(0.4, "0 s"), (12.9, "12 s"), (65, "1 min 05 s")])
def test_times_are_told_as_people_read_them(seconds: float, text: str) -> None:
    assert duration(seconds) == text
