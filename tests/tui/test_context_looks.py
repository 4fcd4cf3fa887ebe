"""How the context panel looks: a short and a long conversation, wide and narrow, beside it, light, without colour."""

from typing import Any

import pytest
from textual.screen import Screen

from tests.tui.contexts import Told
from tests.tui.test_looks import Posed
from wisp_core.records import Summary
from wisp_tui.app import WispApp
from wisp_tui.screens.context import ContextScreen
from wisp_tui.screens.context_source import ContextSource
from wisp_tui.screens.start import Start

SHORT = Told(3, draft="And now?")
LONG = Told(
    150,
    kept=40,
    draft="And now?",
    summaries=tuple(
        Summary(n, f"The person mends the build.\n\n- version {n}", 3 * n, 12 * n, 4 * n, "", "e", "local/small")
        for n in (1, 2, 3)
    ),
)
SIZES = ((120, 40), (60, 16))


class Over(WispApp):
    """The app with the panel over it."""

    def __init__(self, told: Told, view: str) -> None:
        super().__init__(Start())
        self.take_keys()
        self._panel = (told, view)

    def get_default_screen(self) -> Screen[None]:
        told, view = self._panel
        return ContextScreen(told, expand=lambda title, text: None, view=view)


class PosedBeside(Posed):
    """The conversation without a core, with something to show beside it."""

    told = LONG

    def _begin(self) -> None:
        super()._begin()
        self.panel.ask(None)
        self.call_later(self.show_context)

    async def action_context(self) -> None:
        await self.show_context()

    def context_source(self) -> ContextSource:
        return self.told


class Beside(WispApp):
    """The app over that."""

    def get_default_screen(self) -> Screen[None]:
        return PosedBeside(Start())


def named(value: object) -> str:
    if isinstance(value, tuple):
        return f"{value[0]}x{value[1]}"
    return value if isinstance(value, str) else "short" if value is SHORT else "long"


@pytest.mark.parametrize("size", SIZES, ids=named)
@pytest.mark.parametrize("told", [SHORT, LONG], ids=named)
@pytest.mark.parametrize("view", ["next", "turn", "turns", "summary"])
def test_the_panel_looks_as_it_did(snap_compare: Any, view: str, told: Told, size: tuple[int, int]) -> None:
    assert snap_compare(Over(told, view), terminal_size=size)


@pytest.mark.parametrize("view", ["next", "turns"])
@pytest.mark.parametrize("theme", ["wisp-light", "ansi-dark", "ansi-light"])
def test_it_takes_its_colours_from_the_theme(snap_compare: Any, theme: str, view: str) -> None:
    app = Over(LONG, view)
    app.theme = theme
    assert snap_compare(app, terminal_size=(80, 24))


@pytest.mark.parametrize("view", ["next", "turns"])
def test_without_colour_its_parts_are_told_apart(snap_compare: Any, monkeypatch: pytest.MonkeyPatch, view: str) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    assert snap_compare(Over(LONG, view), terminal_size=(80, 24))


def test_on_a_wide_terminal_it_stands_beside_the_conversation(snap_compare: Any) -> None:
    assert snap_compare(Beside(Start()), terminal_size=(160, 40))
