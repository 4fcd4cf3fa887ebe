"""Text from outside in every place: shown character for character, never markup, and a click does nothing."""

import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from textual.app import App, ComposeResult
from textual.screen import Screen

from tests.tui.contexts import Told
from tests.tui.face import conversation, script, shown, until
from tests.tui.test_approvals import Asking, approval
from tests.tui.test_conversation import done, send
from wisp_core.records import Rendering
from wisp_core.requests import Item
from wisp_tui.screens.context import ContextScreen
from wisp_tui.screens.help import HelpScreen
from wisp_tui.screens.history import HistoryScreen
from wisp_tui.screens.pager import PagerScreen, Part
from wisp_tui.widgets.queue import Queue
from wisp_tui.widgets.recall import Draft
from wisp_tui.widgets.status import Condition, Status

MARKUP = "see [/INST] a[0] [=1] z [b + [@click=app.quit]x[/] \\[q] [link=x]"
SEQUENCES = "b\x1b[2Jc\x1b]0;PWN\x07d\x9b31m\u202ee\x00"
HOSTILE = MARKUP + SEQUENCES
RAW = ("\x1b", "\x9b", "\x07", "\u202e", "\x00")


class Host(App[None]):
    """An app that shows one thing."""

    def __init__(self, shows: object) -> None:
        super().__init__()
        self.shows = shows
        self.quits = 0

    def compose(self) -> ComposeResult:
        if not isinstance(self.shows, Screen):
            yield self.shows

    def on_mount(self) -> None:
        if isinstance(self.shows, Screen):
            self.push_screen(self.shows)

    def action_quit(self) -> None:
        self.quits += 1


def queue() -> Queue:
    found = Queue()
    found.hold([HOSTILE], held=True)
    return found


def status() -> Status:
    found = Status()
    found.set_reactive(Status.condition, Condition(doing=HOSTILE, model=HOSTILE, branch=HOSTILE, directory=HOSTILE))
    return found


async def read(_offset: int) -> Part:
    return Part(HOSTILE, None, 1)


def places() -> Iterator[object]:
    item = Item(HOSTILE, None, HOSTILE, HOSTILE, 1, Rendering.WHOLE, HOSTILE)
    yield pytest.param(queue, id="queue")
    yield pytest.param(status, id="status")
    yield pytest.param(lambda: PagerScreen(HOSTILE, read), id="pager")
    yield pytest.param(
        lambda: HistoryScreen([(HOSTILE, HOSTILE)], title="Earlier prompts", enter="takes"), id="history"
    )
    yield pytest.param(lambda: ContextScreen(Told(items=(item,)), expand=lambda a, b: None), id="context")
    yield pytest.param(lambda: HelpScreen([(MARKUP, MARKUP, MARKUP)], [(MARKUP, MARKUP, MARKUP)]), id="help")


@pytest.mark.parametrize("make", places())
async def test_a_place_shows_it_as_text_and_a_click_does_nothing(make: object) -> None:
    app = Host(make())
    async with app.run_test(size=(200, 12)) as pilot:
        await pilot.pause(0.05)
        text = shown(app.screen)
        assert "[/INST]" in text
        assert not [raw for raw in RAW if raw in text]
        for row, line in enumerate(text.split("\n")):
            for column in (line.find("x[/]"), line.find("[@click")):
                if column >= 0:
                    await pilot.click(offset=(column, row))
        assert app.quits == 0


async def test_a_question_shows_it_as_text_in_body_and_title(tmp_path: Path) -> None:
    async with conversation(script(tmp_path), size=(200, 40)) as (pilot, screen):
        asking = Asking(screen, approval(HOSTILE, call=HOSTILE, **{MARKUP: HOSTILE}))
        await until(pilot, lambda: asking.ready and "[@click=app.quit]x[/]" in shown(screen))
        assert not [raw for raw in RAW if raw in shown(screen)]
        await asking.end()


async def test_a_toast_shows_it_as_text(tmp_path: Path) -> None:
    async with conversation(script(tmp_path), toasts=True) as (pilot, screen):
        pilot.app.warn(MARKUP + "\x1b[2J")
        await until(pilot, lambda: "see [/INST]" in shown(screen))
        assert "\x1b" not in shown(screen)


async def test_a_wrong_theme_or_key_in_the_settings_is_said_as_text(tmp_path: Path, wisp_home: Path) -> None:
    wisp_home.mkdir(mode=0o700)
    (wisp_home / "config.json").write_text('{"theme": "[/INST]", "keys": {"[/b]": "f9"}}')
    async with conversation(script(tmp_path), size=(200, 40), toasts=True) as (pilot, screen):
        await until(pilot, lambda: "there is no theme [/INST]" in shown(screen))
        await until(pilot, lambda: "there is no key called [/b]" in shown(screen))


async def test_a_draft_a_queue_and_a_reply_of_it_are_text(tmp_path: Path) -> None:
    replies = [{"text": HOSTILE, "reasoning": HOSTILE, "hang": True}]
    async with conversation(script(tmp_path, *replies)) as (pilot, screen):
        send(screen, HOSTILE.replace("\x00", ""))
        await until(pilot, lambda: screen.link.busy)
        send(screen, HOSTILE)
        screen.box.prompt.put(Draft(HOSTILE))
        await until(pilot, lambda: "▸ see [/INST]" in shown(screen))
        assert not [raw for raw in RAW if raw in shown(screen)]
        await pilot.press("escape")
        await until(pilot, lambda: done(screen, 1))


async def test_a_line_of_a_megabyte_does_not_stall_the_pager() -> None:
    async def long(_offset: int) -> Part:
        return Part("x" * 1_000_000, None, 1_000_000)

    app = Host(PagerScreen("long", long))
    began = time.monotonic()
    async with app.run_test(size=(100, 30)) as pilot:
        await until(pilot, lambda: "xxxx" in shown(app.screen))
    assert time.monotonic() - began < 20
