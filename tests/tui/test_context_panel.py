"""U6: the context panel: its views, the exact text, any turn, what it follows, and that closed it does nothing."""

import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import pytest
from textual.app import App
from textual.pilot import Pilot

from tests.tui.contexts import WINDOW, Told, items_of
from tests.tui.face import shown, until
from tests.tui.test_hostile_text import HOSTILE, RAW
from wisp_core.errors import UsageError
from wisp_core.records import Rendering, Summary
from wisp_core.requests import Item, Recalled
from wisp_tui.screens.context import ContextScreen
from wisp_tui.screens.context_panel import ContextPanel
from wisp_tui.screens.context_source import Meter

SUMMARIES = tuple(
    Summary(n, f"Version {n} of the story.", turns=3 * n, highest=12 * n, turn=4 * n, time="", event="e")
    for n in (1, 2, 3)
)


@dataclass
class Panel:
    """The panel over an app, and what it was asked to expand."""

    pilot: Pilot[Any]
    told: Told
    expanded: list[tuple[str, str]] = field(default_factory=list)

    @property
    def screen(self) -> ContextScreen:
        screen = self.pilot.app.screen
        assert isinstance(screen, ContextScreen)
        return screen

    @property
    def panel(self) -> ContextPanel:
        return self.screen.panel

    @property
    def text(self) -> str:
        return shown(self.pilot.app.screen)  # type: ignore[arg-type]

    async def shows(self, *words: str) -> None:
        """Wait until all of these are on the screen."""
        await until(self.pilot, lambda: all(word in self.text for word in words))

    def row(self, start: str) -> list[str]:
        """Return the words of the last row whose first word this is."""
        rows = [line.lstrip(" ▌").split() for line in self.text.splitlines()]
        return next(row for row in reversed(rows) if row and row[0] == start)


@asynccontextmanager
async def panel(told: Told, *, size: tuple[int, int] = (120, 40), view: str = "next") -> AsyncIterator[Panel]:
    app: App[None] = App()
    async with app.run_test(size=size) as pilot:
        opened = Panel(pilot, told)
        await app.push_screen(
            ContextScreen(told, expand=lambda title, text: opened.expanded.append((title, text)), view=view)
        )
        await until(pilot, lambda: isinstance(app.screen, ContextScreen) and opened.panel.rows.has_focus)
        yield opened


async def test_each_view_is_reached_by_a_key_that_the_foot_shows() -> None:
    async with panel(Told(5), size=(60, 16)) as opened:
        await opened.shows("esc Close", "t Turn", "u Turns", "s Summary", "14 prompt")
        for key, view, words in (("t", "turn", "turn 5 of 5"), ("u", "turns", "ended"), ("s", "summary", "no summary")):
            await opened.pilot.press(key)
            await opened.shows(words, "n Next")
            assert opened.panel.view == view
        await opened.pilot.press("n")
        assert opened.panel.view == "next"


@pytest.mark.parametrize("keys", [("tab", "shift+tab"), ("right", "left")])
async def test_tab_and_the_arrows_go_round_the_views(keys: tuple[str, str]) -> None:
    async with panel(Told(5)) as opened:
        seen = []
        for key in (keys[0],) * 4 + (keys[1],) * 2:
            await opened.pilot.press(key)
            seen.append(opened.panel.view)
        assert seen == ["turn", "turns", "summary", "next", "summary", "turns"]


async def test_next_lists_each_entry_in_order_with_id_kind_origin_rendering_bytes_and_tokens() -> None:
    async with panel(Told(3)) as opened:
        await opened.shows("~1,062 tokens", "of 8,192")
        assert opened.row("1")[1:5] == ["instructions", "start", "whole", "1,116"]
        assert opened.row("4")[1:7] == ["tool_output", "turn", "1", "reference", "51", "~13"]
        assert opened.row("13")[1:5] == ["reply", "turn", "3", "cut"]
        ids = [line.split()[0] for line in opened.text.splitlines() if " turn " in line]
        assert ids[:3] == ["2", "3", "4"]


BLOCKS = (
    Item("b1", None, "earlier", "turn", 4, Rendering.WHOLE, "Facts from earlier in this conversation.\n- said: tabs"),
    *items_of([3], last=4)[1:],
    Item("b2", None, "now", "turn", 4, Rendering.WHOLE, "Earlier passages that may bear on this request."),
    Item("e20", 20, "prompt", "turn", 4, Rendering.WHOLE, "And the release?"),
)


async def test_the_blocks_stand_in_their_places_with_why_each_passage_was_recollected() -> None:
    recalled = (Recalled(3, 2.31, f"release (2.31){HOSTILE}"), Recalled(7, 1.2, "stands beside entry 3"))
    async with panel(Told(items=BLOCKS, recalled=recalled)) as found:
        rows = [" ".join(row.split()) for row in shown(found.screen).splitlines()]
        kinds = [row.split()[1] for row in rows if row.startswith(("–", "▌–"))]
        assert kinds == ["earlier", "now"]
        at = next(n for n, row in enumerate(rows) if row.startswith("– now"))
        assert rows[at + 1].startswith("↳ entry 3 release (2.31)")
        assert rows[at + 2] == "↳ entry 7 stands beside entry 3"
        assert not [raw for raw in RAW if raw in shown(found.screen)]
        await found.pilot.press("up", "enter")
        assert found.expanded == [("now, b2, whole, turn 4", BLOCKS[-2].text)]


async def test_the_draft_in_the_input_stands_as_the_request() -> None:
    async with panel(Told(3, draft="and now?")) as opened:
        await opened.shows("request ~2")
        assert opened.row("–")[1:] == ["prompt", "draft", "whole", "8", "~2", "and", "now?"]


async def test_a_figure_that_was_counted_stands_without_a_mark_and_one_that_was_estimated_with_it() -> None:
    async with panel(Told(3, counted=True)) as opened:
        await opened.shows("· 1,062 tokens · 13% of 8,192")
    async with panel(Told(3, counted=False)) as opened:
        await opened.shows("· ~1,062 tokens · ~13% of 8,192")


async def test_where_the_status_line_has_another_figure_it_is_told_what_that_is_of() -> None:
    told = Told(3, counted=True, meter=Meter(0.69, estimated=False))
    async with panel(told) as opened:
        await opened.shows("status line 69%: the latest request and its answer")
        size = await (await told.next_request()).measure()
        told.meter = Meter(size.tokens / WINDOW, estimated=False)
        opened.panel.follow()
        await until(opened.pilot, lambda: "status line" not in opened.text)
        told.meter = Meter(0.53, estimated=True)
        opened.panel.follow()
        await opened.shows("status line ~53%: the latest request")


async def test_where_the_window_comes_from_stands_beside_it() -> None:
    async with panel(Told(3, window_source="error")) as opened:
        await opened.shows("· ~13% of 8,192 (error)")


async def test_without_a_known_window_the_size_is_told_and_the_window_is_not() -> None:
    async with panel(Told(3, window=None)) as opened:
        await opened.shows("~1,062 tokens · the window is not known yet")
        assert "▴ target" not in opened.text


async def test_enter_shows_the_exact_text_that_is_sent() -> None:
    async with panel(Told(3)) as opened:
        await opened.shows("13 reply")
        await opened.pilot.press("home", "down", "enter")
        await until(opened.pilot, lambda: opened.expanded)
        assert opened.expanded == [("prompt, entry 2, whole, turn 1", items_of([1], last=9)[1].text)]


async def test_a_turn_is_gone_to_by_number_and_its_neighbours_by_keys() -> None:
    async with panel(Told(40)) as opened:
        await opened.pilot.press("t")
        await opened.shows("turn 40 of 40, request 2 · composed again: the same, cccccccc")
        await opened.pilot.press("comma", "comma")
        await opened.shows("turn 38 of 40")
        await opened.pilot.press("full_stop")
        await opened.shows("turn 39 of 40")
        await opened.pilot.press("g", "1", "2", "enter")
        await opened.shows("turn 12 of 40", "+49 reply")
        await opened.pilot.press("g", "9", "9", "enter")
        await opened.shows("turn 40 of 40")


async def test_what_a_turns_answer_added_stands_apart_from_what_it_was_sent() -> None:
    async with panel(Told(5), view="turn") as opened:
        await opened.shows("+21 reply")
        assert opened.row("+21")[4] == "answer"
        await opened.pilot.press("end", "enter")
        await until(opened.pilot, lambda: opened.expanded)
        assert opened.expanded[0][1].startswith("It fails in turn 5")


async def test_a_request_that_is_not_the_same_when_it_is_composed_again_is_told() -> None:
    async with panel(Told(5, different=True), view="turn") as opened:
        await opened.shows("composed again: another, bbbbbbbb for cccccccc")


async def test_a_turn_of_which_no_request_is_known_says_so_and_its_neighbours_can_be_gone_to() -> None:
    async with panel(Told(150)) as opened:
        await opened.pilot.press("g", "2", "enter")
        await opened.shows("turn 2 of 150: no request of turn 2 is known")
        await opened.pilot.press("full_stop")
        await opened.shows("turn 3 of 150, request 2")


async def test_before_the_first_turn_it_says_that_there_is_none() -> None:
    async with panel(Told(0), view="turn") as opened:
        await opened.shows("no turn was taken yet")
        await opened.pilot.press("comma", "u")
        await opened.shows("no turn was taken yet")


async def test_turns_tells_what_each_changed_and_how_full_it_was_and_enter_opens_its_request() -> None:
    async with panel(Told(24), view="turns") as opened:
        await opened.shows("budget 85%", "target 60%", "▴", "condensed")
        assert opened.row("24")[1:8] == ["done", "4", "1", "1", "·", "·", "·"]
        assert opened.row("23")[5] == "8"
        assert opened.row("23")[8] == "~29%"
        await opened.pilot.press("up", "enter")
        await opened.shows("turn 23 of 24, request 2")


async def test_before_the_first_summary_it_says_that_none_is_written() -> None:
    async with panel(Told(3), view="summary") as opened:
        await opened.shows("no summary is written yet")


async def test_the_summary_is_shown_with_its_earlier_versions() -> None:
    async with panel(Told(12, summaries=SUMMARIES), view="summary", size=(60, 16)) as opened:
        await opened.shows("version 3, current", "version 1", "Version 3 of the story.")
        await opened.pilot.press("down")
        await opened.shows("Version 2 of the story.")
        await opened.pilot.press("enter")
        await until(opened.pilot, lambda: opened.expanded)
        assert opened.expanded == [("summary, version 2", "Version 2 of the story.")]


@pytest.mark.parametrize(
    "name", ["context.reference", "context.cut", "context.condensation", "request.composed", "turn.end"]
)
async def test_it_follows_what_happens_without_losing_the_place(name: str) -> None:
    told = Told(150, kept=150)
    async with panel(told) as opened:
        await opened.shows("601 reply")
        opened.panel.rows.move_to(60)
        await opened.shows("▌   61 reply")
        before = [line.split()[0] for line in opened.text.splitlines() if " turn " in line]
        told.count, told.kept = 151, 147  # the oldest turns went, one came
        opened.panel.hear(name, object())
        await opened.shows("Turn 151", "▌   61 reply")
        after = [line.lstrip("▌ ").split()[0] for line in opened.text.splitlines() if " turn " in line]
        assert after == [word.lstrip("▌") or "61" for word in before]


async def test_what_came_together_is_asked_for_once_and_other_views_not_at_all() -> None:
    told = Told(5)
    async with panel(told) as opened:
        await opened.shows("tokens · ~")
        for _ in range(50):
            opened.panel.hear("context.reference", object())
        told.count = 6
        await opened.shows("Turn 6")
        assert told.asked == {"next": 2}
        opened.panel.hear("delta", {"kind": "reply", "text": "x"})
        assert not opened.panel._pending


async def test_a_condensation_is_followed_step_by_step() -> None:
    async with panel(Told(5)) as opened:
        for step in ("step 1 of 2: reading 8 turns", "step 2 of 2: writing the summary"):
            opened.panel.hear("note", {"kind": "condensing", "text": step})
            await opened.shows(step)
        opened.panel.hear("context.condensation", object())
        await until(opened.pilot, lambda: "writing the summary" not in opened.text)


async def test_escape_closes_it_and_a_closed_panel_does_nothing() -> None:
    told = Told(5)
    async with panel(told) as opened:
        screen = opened.screen
        await opened.pilot.press("g", "escape", "escape")
        await until(opened.pilot, lambda: opened.pilot.app.screen is not screen)
        asked = dict(told.asked)
        screen.panel.hear("turn.end", object())
        await opened.pilot.pause(0.2)
        assert told.asked == asked


async def test_text_from_outside_is_text_in_every_view() -> None:
    item = Item(HOSTILE, None, HOSTILE, HOSTILE, 1, Rendering.WHOLE, HOSTILE)
    summary = Summary(1, HOSTILE, turns=1, highest=1, turn=1, time=HOSTILE, event="e", model=HOSTILE)
    told = Told(3, items=(item,), summaries=(summary,))
    async with panel(told, size=(200, 40)) as opened:
        await opened.shows("[@click=app.quit]")
        opened.panel.hear("note", {"kind": "condensing", "text": HOSTILE})
        await opened.shows("[/INST] a[0] [=1]")
        assert not [raw for raw in RAW if raw in opened.text]
        await opened.pilot.press("s")
        await opened.shows("up to entry 1", "b␛[2Jc")
        assert not [raw for raw in RAW if raw in opened.text]


async def test_an_error_from_outside_is_text() -> None:
    class Failing(Told):
        async def turns(self) -> Any:
            raise UsageError(HOSTILE)

    async with panel(Failing(3), size=(200, 40), view="turns") as opened:
        await opened.shows("see [/INST]")
        assert not [raw for raw in RAW if raw in opened.text]


async def test_wide_characters_leave_the_columns_where_they_are() -> None:
    items = (
        Item("a", 1, "工具輸出很長很長", "turn", 1, Rendering.WHOLE, "👩‍👩‍👧 é שלום\tx"),
        Item("b", 2, "reply", "turn", 1, Rendering.WHOLE, "plain"),
    )
    async with panel(Told(3, items=items)) as opened:
        await opened.shows("plain", "工具")
        strips = opened.screen._compositor.render_strips()
        assert {strip.cell_length for strip in strips} == {120}


async def test_ten_thousand_entries_open_at_once_and_move_at_once() -> None:
    told = Told(2500, kept=2500)
    async with panel(told, view="summary") as opened:
        await opened.pilot.press("n")
        await opened.shows("10001 reply")
        began = time.perf_counter()
        opened.panel.renew()
        await opened.shows("10001 reply")
        for key in ("home", "pagedown", "end"):
            await opened.pilot.press(key)
        assert time.perf_counter() - began < 5
