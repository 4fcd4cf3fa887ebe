"""A2: a thread that another living wisp writes is offered to be read or forked, at the start and later."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot

from tests.tui.face import conversation, script, shown, until
from tests.tui.shelves import held, make_thread
from tests.tui.test_conversation import ANSWER, done, send
from wisp_tui.app import WispApp
from wisp_tui.screens.choice import ChoiceScreen
from wisp_tui.screens.conversation import ConversationScreen
from wisp_tui.screens.reading import ReadingScreen
from wisp_tui.screens.start import Start
from wisp_tui.screens.threads import ThreadsScreen


@asynccontextmanager
async def started(**start: Any) -> AsyncIterator[tuple[Pilot[None], WispApp]]:
    """Run the app until it asks about a thread that another process writes."""
    app = WispApp(Start(**start))
    async with app.run_test(size=(100, 30)) as pilot:
        await until(pilot, lambda: isinstance(app.screen, ChoiceScreen) and "go on in a copy" in shown(app.screen))
        yield pilot, app
        await app.leave()


def conversation_of(app: WispApp) -> ConversationScreen:
    (found,) = [screen for screen in app.screen_stack if isinstance(screen, ConversationScreen)]
    return found


@pytest.mark.parametrize("way", ["continue", "resume"])
async def test_a_start_on_a_thread_that_another_process_writes_names_it_and_asks(tmp_path: Path, way: str) -> None:
    model = script(tmp_path, ANSWER)
    thread = await make_thread(tmp_path, model, "how is it?")
    start = {"newest": True} if way == "continue" else {"resume": thread[:20]}
    async with held(thread) as pid, started(model=model, cwd=tmp_path, **start) as (pilot, app):
        assert f"another wisp (process {pid}) is writing this conversation" in " ".join(shown(app.screen).split())
        await pilot.press("escape")
        await until(pilot, lambda: app._exit)
    assert app.return_code == 0


async def test_at_the_start_it_can_be_read_and_then_forked(tmp_path: Path) -> None:
    model = script(tmp_path, ANSWER)
    thread = await make_thread(tmp_path, model, "how is it?")
    async with held(thread), started(model=model, cwd=tmp_path, newest=True) as (pilot, app):
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(app.screen, ReadingScreen) and "how is it?" in shown(app.screen))
        await pilot.press("escape")
        await until(pilot, lambda: isinstance(app.screen, ChoiceScreen))
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(app.screen, ReadingScreen) and "how is it?" in shown(app.screen))
        await pilot.press("f")
        screen = conversation_of(app)
        await until(pilot, lambda: app.screen is screen and screen.link.opened and "how is it?" in shown(screen))
        assert screen.link.thread.record.id != thread
        send(screen, "and now?")
        await until(pilot, lambda: done(screen, 2))


async def test_at_the_start_a_new_thread_can_be_begun_and_what_was_typed_meanwhile_is_sent_there(
    tmp_path: Path,
) -> None:
    model = script(tmp_path, ANSWER)
    thread = await make_thread(tmp_path, model, "how is it?")
    start: dict[str, Any] = {"model": model, "cwd": tmp_path, "newest": True, "prompt": "from the command line"}
    async with held(thread), started(**start) as (pilot, app):
        await pilot.press("down", "down", "enter")
        screen = conversation_of(app)
        await until(pilot, lambda: screen.link.opened and done(screen, 1))
        assert screen.link.thread.record.id != thread
        assert "from the command line" in shown(screen)


async def test_letters_do_not_answer_so_that_nothing_typed_early_does(tmp_path: Path) -> None:
    model = script(tmp_path, ANSWER)
    thread = await make_thread(tmp_path, model, "how is it?")
    async with held(thread), started(model=model, cwd=tmp_path, newest=True) as (pilot, app):
        await pilot.press(*"fnread")
        assert isinstance(app.screen, ChoiceScreen)
        assert not conversation_of(app).link.opened


@pytest.mark.parametrize("way", ["resume", "list"])
async def test_later_the_open_thread_stays_when_the_person_leaves_the_question(tmp_path: Path, way: str) -> None:
    model = script(tmp_path, ANSWER)
    thread = await make_thread(tmp_path, model, "how is it?")
    async with held(thread), conversation(model) as (pilot, screen):
        before = screen.link.thread.record.id
        if way == "resume":
            send(screen, f"/resume {thread}")
        else:
            await pilot.press("ctrl+l")
            await until(pilot, lambda: isinstance(pilot.app.screen, ThreadsScreen) and pilot.app.screen._items)
            await pilot.press("enter")
        await until(pilot, lambda: isinstance(pilot.app.screen, ChoiceScreen))
        await pilot.press("escape")
        await until(pilot, lambda: pilot.app.screen is screen)
        assert screen.link.thread.record.id == before
        send(screen, "still here")
        await until(pilot, lambda: done(screen, 1))


async def test_later_it_can_be_forked_while_the_other_goes_on_writing(tmp_path: Path) -> None:
    model = script(tmp_path, ANSWER)
    thread = await make_thread(tmp_path, model, "how is it?")
    async with held(thread), conversation(model) as (pilot, screen):
        send(screen, f"/resume {thread}")
        await until(pilot, lambda: isinstance(pilot.app.screen, ChoiceScreen))
        await pilot.press("down", "enter")
        await until(pilot, lambda: screen.link.thread.record.last_turn == 1 and "how is it?" in shown(screen))
        assert screen.link.thread.record.id != thread
