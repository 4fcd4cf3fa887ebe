"""How the threads look: the list, what was found, the question, and a thread that is read; wide and narrow."""

from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot
from textual.screen import Screen

from tests.tui.face import until
from tests.tui.shelves import Row, Saved, Shelved
from tests.tui.test_threads import Listing
from wisp_core.records import (
    Entry,
    EntryKind,
    EntryState,
    Outcome,
    OutputContent,
    PromptContent,
    ReplyContent,
    ThreadRecord,
    Turn,
)
from wisp_core.requests import FoundPassage
from wisp_tui.app import WispApp
from wisp_tui.screens.choice import ChoiceScreen
from wisp_tui.screens.conversation_threads import WAYS
from wisp_tui.screens.reading import ReadingScreen
from wisp_tui.screens.start import Start
from wisp_tui.screens.threads import ThreadsScreen

ROWS = [
    Row(
        "01a22e792caa653e",
        "Why does the build fail on the second machine?",
        "/work/app",
        "2026-11-30T11:59:40Z",
        12,
        40_000,
    ),
    Row(
        "01a22e792caa6541",
        "Read the logs of last night and say what broke",
        "/work/a/very/long/way/to/logs",
        "2026-11-30T09:00:00Z",
        1,
        900,
        4321,
    ),
    Row(
        "01a22e792caa6542",
        "日本語の題名 that is wide, and goes on for longer than there is room",
        "/work",
        "2026-11-28T09:00:00Z",
        5000,
        5_000_000,
    ),
    Row("01a22e792caa6543", "", "/work", "2025-10-01T09:00:00Z", 3, 12_345),
]
PASSAGES = [
    FoundPassage(
        "01a22e792caa653e",
        "",
        17,
        6,
        "tool_output",
        "",
        "…ld: error: cannot find the \ue000library\ue001 in any of the folders that were named to it…",
    ),
    FoundPassage("01a22e792caa653e", "", 19, 7, "reply", "", "The \ue000library\ue001 is missing."),
]
SAVED = [Saved("notes", 2048, "2026-11-29T12:00:00Z"), Saved("the plan for spring", 51_200, "2026-06-01T12:00:00Z")]
LOOKS = [("wisp-dark", (120, 40)), ("wisp-dark", (60, 16)), ("wisp-light", (60, 16)), ("ansi-dark", (120, 40))]


def looks(value: object) -> str:
    return value if isinstance(value, str) else f"{value[0]}x{value[1]}"  # type: ignore[index]


def listing(theme: str) -> Listing:
    app = Listing(Shelved(list(ROWS), SAVED, PASSAGES))
    app.theme = theme
    return app


async def listed(pilot: Pilot[None]) -> None:
    await until(pilot, lambda: isinstance(pilot.app.screen, ThreadsScreen) and pilot.app.screen.rows.count)
    pilot.app.screen.words.cursor_blink = False  # type: ignore[attr-defined]


async def found(pilot: Pilot[None]) -> None:
    await listed(pilot)
    screen = pilot.app.screen
    assert isinstance(screen, ThreadsScreen)
    await pilot.press("slash", *"library")
    await until(pilot, lambda: screen.rows.count == 3)
    await pilot.press("down")


@pytest.mark.parametrize(("theme", "size"), LOOKS, ids=looks)
def test_the_list_looks_as_it_did(snap_compare: Any, theme: str, size: tuple[int, int]) -> None:
    assert snap_compare(listing(theme), terminal_size=size, run_before=listed)


@pytest.mark.parametrize(("theme", "size"), LOOKS[:2], ids=looks)
def test_what_was_found_looks_as_it_did(snap_compare: Any, theme: str, size: tuple[int, int]) -> None:
    assert snap_compare(listing(theme), terminal_size=size, run_before=found)


def test_the_list_is_as_legible_without_colour(snap_compare: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    assert snap_compare(listing("wisp-dark"), terminal_size=(80, 24), run_before=found)


class Asking(WispApp):
    """The app over the question about a thread that another wisp writes."""

    def get_default_screen(self) -> Screen[None]:
        return Screen()

    def on_mount(self) -> None:
        sentence = "another wisp (process 4321) is writing this conversation"
        self.push_screen(ChoiceScreen(sentence, WAYS, leave="stays here"))


@pytest.mark.parametrize(("theme", "size"), LOOKS[1:3], ids=looks)
def test_the_question_looks_as_it_did(snap_compare: Any, theme: str, size: tuple[int, int]) -> None:
    app = Asking(Start(cwd=Path()))
    app.theme = theme
    assert snap_compare(app, terminal_size=size)


class Told:
    """What reads a thread of two turns of which the model sees the second."""

    def __init__(self) -> None:
        contents = [
            (EntryKind.PROMPT, PromptContent("What did the first run say?")),
            (EntryKind.REPLY, ReplyContent("It said that **two** tests fail.")),
            (EntryKind.PROMPT, PromptContent("And the second?")),
            (EntryKind.TOOL_OUTPUT, OutputContent("c1", "run_command", "all passed", bytes=10, lines=1, seconds=0.3)),
            (EntryKind.REPLY, ReplyContent("All pass now.")),
        ]
        states = [EntryState.DROPPED] * 2 + [EntryState.ACTIVE] * 3
        made = enumerate(zip(contents, states, strict=True), 1)
        entries = {n: Entry(n, f"e{n}", kind, 1 + n // 3, "", said, state=state) for n, ((kind, said), state) in made}
        turns = {1: Turn(1, 1, "", Outcome.DONE), 2: Turn(2, 3, "", Outcome.DONE)}
        self.record = ThreadRecord("a1", title="What [bold]did[/] the first run say?", entries=entries, turns=turns)
        self.record.active = [3, 4, 5]

    async def entries(self, first: int, last: int) -> list[Entry]:
        return [self.record.entries[number] for number in range(first, last + 1)]


class Reading(WispApp):
    """The app over a thread that is read."""

    def get_default_screen(self) -> Screen[None]:
        return Screen()

    def on_mount(self) -> None:
        self.push_screen(ReadingScreen(Told()))  # type: ignore[arg-type]


async def read(pilot: Pilot[None]) -> None:
    await until(pilot, lambda: isinstance(pilot.app.screen, ReadingScreen) and pilot.app.screen.transcript.blocks)


@pytest.mark.parametrize(("theme", "size"), LOOKS[:3], ids=looks)
def test_a_thread_that_is_read_looks_as_it_did(snap_compare: Any, theme: str, size: tuple[int, int]) -> None:
    app = Reading(Start())
    app.theme = theme
    assert snap_compare(app, terminal_size=size, run_before=read)
