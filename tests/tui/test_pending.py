"""U8: what waits in any conversation of the home is shown in full, answered once it was seen, and counted."""

import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from textual.pilot import Pilot

from tests.tui.asker import asker
from tests.tui.face import conversation, press_at, script, shown, until
from tests.tui.knowing import NOW, Desk, Over, Request, command, fact
from tests.tui.test_conversation import done, send
from tests.tui.test_hostile_text import HOSTILE, RAW
from wisp_core.requests import Answer, Approval, Question, ToolKind, Verdict
from wisp_tui.screens.pending import PendingScreen
from wisp_tui.screens.threads import ThreadsScreen
from wisp_tui.widgets.approval import ALONE_FOR, QUIET_BEFORE, VISIBLE_BEFORE, Body
from wisp_tui.widgets.keys import Keys
from wisp_tui.widgets.status import Status

LATER = VISIBLE_BEFORE + QUIET_BEFORE + 0.1  # seconds after which keys are meant for what is asked
QUESTION = Request("q1", Question("c2", "Which colour?", ("red", "blue")), "2026-11-30T11:00:00Z", why="it asks")
KEPT = Request("f1", fact("f1", "preference editor", says="vim", source="caller"), who="a caller", process=0)


@asynccontextmanager
async def pending(
    *requests: Request, size: tuple[int, int] = (120, 40)
) -> AsyncIterator[tuple[Pilot[None], PendingScreen, Desk]]:
    desk = Desk([*requests])
    app = Over(PendingScreen(desk, now=lambda: NOW))
    async with app.run_test(size=size, notifications=True) as pilot:
        await until(pilot, lambda: isinstance(app.screen, PendingScreen))
        screen = app.screen
        assert isinstance(screen, PendingScreen)
        await until(pilot, lambda: screen.rows.count == len(requests))
        await until(pilot, lambda: not screen.panel.open or seen(screen))
        yield pilot, screen, desk


def seen(screen: PendingScreen) -> bool:
    return screen.panel._visible_since is not None and screen.panel.size.height > 0


def ready(screen: PendingScreen) -> bool:
    there = screen.is_mounted and screen.query(Body)
    return bool(there) and screen.panel.open and seen(screen) and screen.panel.query_one(Body).whole


def press(screen: PendingScreen, keys: str, *, later: float = LATER, gap: float = 1.0) -> None:
    for _ in press_at(screen.app, time.monotonic() + later, text=keys, gap=gap):  # type: ignore[arg-type]
        pass


def lines(screen: PendingScreen) -> list[str]:
    return [" ".join(line.split()) for line in shown(screen).splitlines()]  # type: ignore[arg-type]


async def test_everything_that_waits_is_listed_with_who_asks_and_why() -> None:
    async with pending(Request("a1", command("make x")), QUESTION, KEPT) as (pilot, screen, _desk):
        assert "Pending · 3" in lines(screen)
        assert "▌approval run_command make x Fix the build 1 min" in lines(screen)
        assert "the model local/small asks, in process 4321" in lines(screen)
        assert "│ why it runs a command │" in lines(screen)
        assert "│ $ make x │" in lines(screen)
        await pilot.press("end")
        assert "▌fact preference editor: vim Fix the build 1 min" in lines(screen)
        await until(pilot, lambda: any("Keep this for every conversation?" in line for line in lines(screen)))
        assert "a caller asks, and waits without limit: it runs a command" in lines(screen)


@pytest.mark.parametrize(
    ("request_", "key", "answer"),
    [
        (Request("a1", command("make x")), "y", Answer(Verdict.ONCE)),
        (Request("a1", command("make x")), "a", Answer(Verdict.THREAD)),
        (Request("a1", command("make x")), "w", Answer(Verdict.ALWAYS)),
        (Request("a1", command("make x")), "n", Answer(Verdict.NO)),
        (QUESTION, "2", Answer(Verdict.ONCE, text="blue")),
        (KEPT, "k", Answer(Verdict.ONCE)),
        (KEPT, "d", Answer(Verdict.NO)),
    ],
)
async def test_a_letter_answers_what_was_seen_whole(request_: Request, key: str, answer: Answer) -> None:
    async with pending(request_) as (pilot, screen, desk):
        await until(pilot, lambda: screen.panel.query_one(Body).whole)
        press(screen, key)
        await until(pilot, lambda: desk.answers == [(request_.id, answer)])
        await until(pilot, lambda: "nothing waits for you" in shown(screen))  # type: ignore[arg-type]


async def test_what_was_not_visible_for_half_a_second_is_not_answered() -> None:
    async with pending(Request("a1", command("make x"))) as (pilot, screen, desk):
        since = screen.panel._visible_since
        assert since is not None
        for _ in press_at(screen.app, since + VISIBLE_BEFORE - 0.1, text="y"):  # type: ignore[arg-type]
            pass
        await pilot.pause(ALONE_FOR * 2)
        assert not desk.answers


async def test_a_word_answers_nothing() -> None:
    async with pending(Request("a1", command("make x"))) as (pilot, screen, desk):
        press(screen, "yank", gap=0.05)
        await pilot.pause(ALONE_FOR * 2)
        assert not desk.answers


async def test_a_long_command_is_permitted_only_once_all_of_it_was_on_screen() -> None:
    text = "\n".join(f"echo {n}" for n in range(60))
    async with pending(Request("a1", command(text)), size=(60, 16)) as (pilot, screen, desk):
        assert "PageDown shows the rest" in shown(screen)  # type: ignore[arg-type]
        press(screen, "y")
        await pilot.pause(ALONE_FOR * 2)
        assert not desk.answers
        body = screen.panel.query_one(Body)
        while not body.whole:
            await pilot.press("pagedown")
            await pilot.pause()
        press(screen, "y", later=2 * LATER)
        await until(pilot, lambda: desk.answers)


async def test_what_comes_and_goes_shows_at_once_and_never_under_a_key_that_was_meant_for_another() -> None:
    first, second = Request("a1", command("make x")), Request("a2", command("rm -r build"), "2026-11-30T10:00:00Z")
    async with pending(first, second) as (pilot, screen, desk):
        at = time.monotonic()
        desk.become(second)
        await until(pilot, lambda: "Pending · 1" in lines(screen) and "│ $ rm -r build │" in lines(screen))
        for _ in press_at(screen.app, at + 0.2, text="y"):  # type: ignore[arg-type]
            pass
        await pilot.pause(ALONE_FOR * 2)
        assert not desk.answers
        desk.become(first, second)
        await until(pilot, lambda: "Pending · 2" in lines(screen))
        assert any(line.startswith("▌approval run_command rm -r build") for line in lines(screen))
    assert not desk.listeners


async def test_no_with_a_reason_takes_words() -> None:
    async with pending(Request("a1", command("make x"))) as (pilot, screen, desk):
        press(screen, "r")
        await until(pilot, lambda: screen.panel.has_class("-reason"))
        await pilot.press(*"later", "enter")
        await until(pilot, lambda: desk.answers == [("a1", Answer(Verdict.NO, reason="later"))])


async def test_what_can_no_longer_be_answered_says_why() -> None:
    gone = Request("a1", command("make x"), closed="process 12, which asked, has ended")
    async with pending(gone) as (_pilot, screen, _desk):
        assert "Pending · 0" in lines(screen)
        assert "it cannot be answered: process 12, which asked, has ended" in lines(screen)
        assert not screen.panel.open


async def test_hostile_requests_are_text_and_what_cannot_be_seen_is_shown_by_code_point() -> None:
    asked = Approval("c", HOSTILE, ToolKind.COMMAND, {"command": HOSTILE, HOSTILE: HOSTILE}, HOSTILE, HOSTILE, HOSTILE)
    wicked = Request("a1", asked, title=HOSTILE, who=HOSTILE, why=HOSTILE, closed="")
    said = Request("f1", fact("f1", HOSTILE, says=HOSTILE), title=HOSTILE, closed="")
    async with pending(wicked, said) as (pilot, screen, _desk):
        for key in ("home", "end"):
            await pilot.press(key)
            await pilot.pause()
            found = shown(screen)  # type: ignore[arg-type]
            assert not [raw for raw in RAW if raw in found]
            assert "<U+202E>" in found
            assert "[/INST]" in found


CALL = {"calls": [{"name": "run_command", "arguments": {"command": "echo here && touch made"}}]}


async def test_an_approval_of_another_process_is_counted_shown_and_answered_here(tmp_path: Path) -> None:
    folder = tmp_path / "work"
    folder.mkdir()
    model = script(tmp_path, CALL, {"text": "It ran."})
    async with conversation(script(folder), cwd=folder, toasts=True) as (pilot, screen), asker(model, folder) as other:
        await until(pilot, lambda: screen.query_one(Status).condition.pending == 1)
        assert "1 pending" in shown(screen)
        await pilot.press("ctrl+l")
        await until(pilot, lambda: isinstance(pilot.app.screen, ThreadsScreen) and pilot.app.screen.query(Keys))
        await until(pilot, lambda: "1 pending" in str(pilot.app.screen.query_one(Keys).render()))
        await pilot.press("escape", "ctrl+n")
        await until(pilot, lambda: isinstance(pilot.app.screen, PendingScreen))
        waits = pilot.app.screen
        assert isinstance(waits, PendingScreen)
        await until(pilot, lambda: ready(waits))
        assert "│ $ echo here && touch made │" in lines(waits)
        assert f"in process {other.process.pid}" in " ".join(lines(waits))
        press(waits, "y")
        assert await other.outcome() == "done"
        assert (folder / "made").exists()
        await until(pilot, lambda: "nothing waits for you" in shown(waits))  # type: ignore[arg-type]
        await pilot.press("escape")
        await until(pilot, lambda: screen.query_one(Status).condition.pending == 0)


async def test_an_approval_of_this_conversation_is_answered_there_too(tmp_path: Path) -> None:
    model = script(tmp_path, CALL, {"text": "It ran."})
    async with conversation(model, cwd=tmp_path, mode="ask") as (pilot, screen):
        send(screen, "run it")
        await until(pilot, lambda: screen.panel.open and screen.query_one(Status).condition.pending == 1)
        screen.show_screen("pending")
        await until(pilot, lambda: isinstance(pilot.app.screen, PendingScreen))
        waits = pilot.app.screen
        assert isinstance(waits, PendingScreen)
        await until(pilot, lambda: ready(waits))
        assert "in a conversation of this wisp" in " ".join(lines(waits))
        press(waits, "n")
        await until(pilot, lambda: done(screen, 1))
        assert not screen.panel.open
        assert not (tmp_path / "made").exists()
