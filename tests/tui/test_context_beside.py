"""U6: the context panel of a real conversation, over it and beside it."""

from pathlib import Path
from typing import Any

from textual.pilot import Pilot

from tests.tui.face import conversation, script, shown, until
from tests.tui.test_conversation import ANSWER, done, send
from wisp_tui.screens.context import ContextScreen
from wisp_tui.screens.context_panel import ContextPanel
from wisp_tui.screens.conversation import ConversationScreen

WIDE = (160, 40)


async def shows(pilot: Pilot[Any], *words: str) -> None:
    await until(pilot, lambda: all(word in shown(pilot.app.screen) for word in words))  # type: ignore[arg-type]


def beside(screen: ConversationScreen) -> ContextPanel:
    return screen.query_one(ContextPanel)


async def test_over_a_conversation_every_view_tells_of_it(tmp_path: Path) -> None:
    async with conversation(script(tmp_path, ANSWER, ANSWER, ANSWER)) as (pilot, screen):
        for number, text in enumerate(("one thing", "another"), 1):
            send(screen, text)
            await until(pilot, lambda number=number: done(screen, number))
        screen.box.prompt.insert("and a third")
        await pilot.press("ctrl+t")
        await shows(pilot, "of 8,192", "instructions", "one thing", "another", "and a third", "free", "▴ target 60%")
        await pilot.press("t")
        await shows(pilot, "turn 2 of 2, request 1 · composed again: the same", "All is **well**.")
        await pilot.press("comma")
        await shows(pilot, "turn 1 of 2, request 1 · composed again: the same")
        await pilot.press("u")
        await shows(pilot, "1 done", "2 done")
        await pilot.press("s")
        await shows(pilot, "no summary is written yet")
        assert screen.box.prompt.text == "and a third"
        await pilot.press("n")
        send(screen, "sent meanwhile")
        await until(pilot, lambda: done(screen, 3))
        await shows(pilot, "sent meanwhile", "7 reply")
        await pilot.press("ctrl+t")
        await until(pilot, lambda: pilot.app.screen is screen)
        assert screen.box.prompt.has_focus


async def test_a_slash_command_in_the_input_is_no_request(tmp_path: Path) -> None:
    async with conversation(script(tmp_path, ANSWER), size=WIDE) as (pilot, screen):
        await pilot.press("ctrl+t")
        await shows(pilot, "of 8,192")
        await pilot.press("ctrl+t")
        screen.box.prompt.insert("/hel")
        await until(pilot, lambda: not beside(screen)._pending)
        assert not any(
            item.kind == "prompt" for item in (await screen.context_source().next_request()).composition.items
        )


async def test_beside_it_follows_the_draft_and_the_turn_while_the_person_types_on(tmp_path: Path) -> None:
    async with conversation(script(tmp_path, ANSWER), size=WIDE) as (pilot, screen):
        await pilot.press("ctrl+t")
        await until(pilot, lambda: screen.query(ContextPanel) and beside(screen).rows.has_focus)
        assert pilot.app.screen is screen
        await pilot.press("ctrl+t")
        await until(pilot, lambda: screen.box.prompt.has_focus)
        await pilot.press(*"hello there")
        await shows(pilot, "– prompt")
        await pilot.press("enter")
        await until(pilot, lambda: done(screen, 1))
        await shows(pilot, "Turn 1", "3 reply", "All is **well**.")
        assert screen.box.prompt.has_focus
        await pilot.press("ctrl+t", "escape")
        await until(pilot, lambda: not screen.query(ContextPanel) and screen.box.prompt.has_focus)


async def test_where_there_is_no_longer_room_beside_it_goes_over_the_conversation(tmp_path: Path) -> None:
    async with conversation(script(tmp_path, ANSWER), size=WIDE) as (pilot, screen):
        await pilot.press("ctrl+t")
        await until(pilot, lambda: screen.query(ContextPanel) and beside(screen).rows.has_focus)
        await pilot.press("u")
        await pilot.resize_terminal(60, 16)
        await until(pilot, lambda: isinstance(pilot.app.screen, ContextScreen))
        await shows(pilot, "no turn was taken yet")
        assert not screen.query(ContextPanel)
        await pilot.press("escape")
        await until(pilot, lambda: pilot.app.screen is screen)


async def test_another_conversation_is_shown_when_the_person_goes_to_it(tmp_path: Path) -> None:
    async with conversation(script(tmp_path, ANSWER), size=WIDE) as (pilot, screen):
        send(screen, "the old one")
        await until(pilot, lambda: done(screen, 1))
        await pilot.press("ctrl+t")
        await shows(pilot, "Turn 1", "3 reply")
        send(screen, "/new")
        await until(pilot, lambda: "Turn 1" not in shown(screen) and "3 reply" not in shown(screen))
