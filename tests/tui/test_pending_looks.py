"""How what waits looks: an approval, a question, a fact, nothing; wide and narrow, dark, light and without colour."""

from typing import Any

import pytest
from textual.pilot import Pilot

from tests.tui.face import until
from tests.tui.knowing import NOW, Desk, Over, Request, command, fact
from tests.tui.test_facts_looks import LOOKS, looks
from wisp_core.requests import Question
from wisp_tui.screens.pending import PendingScreen

KEPT = fact("f1", "preference editor", says="vim; ask before you open another", source="caller")
REQUESTS = [
    Request("a1", command("make deploy TARGET=stag\u200bing && echo done \u202e# harmless")),
    Request(
        "a2",
        Question("c2", "Which of the two machines is to be rebooted first?", ("alpha", "beta")),
        "2026-11-30T11:00:00Z",
        "Read the logs of last night",
        why="it asks",
        process=77,
    ),
    Request("a3", KEPT, "2026-11-29T11:00:00Z", "", "a caller", "to be known in every conversation", process=0),
    Request("a4", command("rm -r build"), "2026-11-28T11:00:00Z", closed="process 12, which asked, has ended"),
]


def pending(theme: str, *requests: Request) -> Over:
    return Over(PendingScreen(Desk([*requests]), now=lambda: NOW), theme=theme)


def after(*keys: str) -> Any:
    async def run(pilot: Pilot[None]) -> None:
        screen = pilot.app.screen
        assert isinstance(screen, PendingScreen)
        await until(pilot, lambda: screen.rows.count and screen.panel.has_class("-ready"))
        await pilot.press(*keys)
        await pilot.pause()
        await pilot.pause()

    return run


@pytest.mark.parametrize(("theme", "size"), LOOKS, ids=looks)
def test_what_waits_looks_as_it_did(snap_compare: Any, theme: str, size: tuple[int, int]) -> None:
    assert snap_compare(pending(theme, *REQUESTS), terminal_size=size, run_before=after())


@pytest.mark.parametrize(("theme", "size"), LOOKS[:2], ids=looks)
def test_a_question_and_a_fact_look_as_they_did(snap_compare: Any, theme: str, size: tuple[int, int]) -> None:
    keys = ("down",) if size[0] == 60 else ("down", "down")
    assert snap_compare(pending(theme, *REQUESTS), terminal_size=size, run_before=after(*keys))


def test_what_waits_is_as_legible_without_colour(snap_compare: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    assert snap_compare(pending("wisp-dark", *REQUESTS), terminal_size=(80, 24), run_before=after("end"))


def test_nothing_that_waits_looks_as_it_did(snap_compare: Any) -> None:
    assert snap_compare(pending("wisp-dark"), terminal_size=(60, 16))
