"""How the facts look: each view, a history, an edit; wide and narrow, dark, light and without colour."""

from typing import Any

import pytest
from textual.pilot import Pilot

from tests.tui.face import until
from tests.tui.knowing import NOW, Ledger, Over
from wisp_tui.screens.facts import FactsScreen

LOOKS = [("wisp-dark", (120, 40)), ("wisp-dark", (60, 16)), ("wisp-light", (60, 16)), ("ansi-dark", (120, 40))]


def looks(value: object) -> str:
    return value if isinstance(value, str) else f"{value[0]}x{value[1]}"  # type: ignore[index]


def facts(theme: str) -> Over:
    return Over(FactsScreen(Ledger(), now=lambda: NOW), theme=theme)


def after(*keys: str) -> Any:
    async def run(pilot: Pilot[None]) -> None:
        screen = pilot.app.screen
        assert isinstance(screen, FactsScreen)
        screen.value.cursor_blink = screen.words.cursor_blink = False
        await until(pilot, lambda: screen.rows.count)
        await pilot.press(*keys)
        await pilot.pause()

    return run


@pytest.mark.parametrize(("theme", "size"), LOOKS, ids=looks)
def test_the_facts_look_as_they_did(snap_compare: Any, theme: str, size: tuple[int, int]) -> None:
    assert snap_compare(facts(theme), terminal_size=size, run_before=after("down"))


@pytest.mark.parametrize(("theme", "size"), LOOKS[:2], ids=looks)
def test_what_is_proposed_looks_as_it_did(snap_compare: Any, theme: str, size: tuple[int, int]) -> None:
    assert snap_compare(facts(theme), terminal_size=size, run_before=after("tab", "tab", "down"))


@pytest.mark.parametrize(("theme", "size"), LOOKS[:2], ids=looks)
def test_a_history_looks_as_it_did(snap_compare: Any, theme: str, size: tuple[int, int]) -> None:
    assert snap_compare(facts(theme), terminal_size=size, run_before=after("h", "down"))


@pytest.mark.parametrize(("theme", "size"), LOOKS[1:3], ids=looks)
def test_an_edit_looks_as_it_did(snap_compare: Any, theme: str, size: tuple[int, int]) -> None:
    assert snap_compare(facts(theme), terminal_size=size, run_before=after("e"))


def test_the_facts_are_as_legible_without_colour(snap_compare: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    assert snap_compare(facts("wisp-dark"), terminal_size=(80, 24), run_before=after("down", "down"))
