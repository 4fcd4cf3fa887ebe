"""U4: Esc twice on an empty input offers the thread's earlier prompts, and forks it before the one that is chosen."""

from pathlib import Path

from textual.pilot import Pilot

from tests.tui.face import conversation, script, shown, until
from tests.tui.test_conversation import ANSWER, done, prompts, send
from wisp_tui.screens.conversation import ConversationScreen
from wisp_tui.screens.history import HistoryScreen
from wisp_tui.widgets.recall import Draft


async def say(pilot: Pilot[None], screen: ConversationScreen, *texts: str) -> None:
    for number, text in enumerate(texts, screen.link.thread.record.last_turn + 1):
        screen.box.prompt.put(Draft(text, literal=True))
        screen.box.send()
        await until(pilot, lambda number=number: done(screen, number))


async def offered(pilot: Pilot[None]) -> HistoryScreen[object]:
    await pilot.press("escape", "escape")
    await until(pilot, lambda: isinstance(pilot.app.screen, HistoryScreen))
    screen = pilot.app.screen
    assert isinstance(screen, HistoryScreen)
    return screen


async def test_the_chosen_prompt_is_in_the_input_of_a_copy_and_nothing_is_sent(tmp_path: Path) -> None:
    async with conversation(script(tmp_path, ANSWER)) as (pilot, screen):
        await say(pilot, screen, "one", "two", "three")
        before = screen.link.thread.record.id
        await offered(pilot)
        await pilot.press("down", "enter")
        await until(pilot, lambda: screen.box.prompt.text == "two")
        assert screen.link.thread.record.id != before
        assert prompts(screen) == ["one"]
        assert screen.link.queue == []
        assert f"this is a copy of `one` up to turn 1; /resume {before} goes back to it" in " ".join(
            shown(screen).split()
        )
        assert "three" not in shown(screen)
        assert (await screen.link.wisp.library.reader(before)).record.last_turn == 3
        await pilot.press("enter")
        await until(pilot, lambda: done(screen, 2))
        assert prompts(screen) == ["one", "two"]


async def test_a_copy_by_command_says_of_what_it_is_one_and_how_to_go_back(tmp_path: Path) -> None:
    async with conversation(script(tmp_path, ANSWER)) as (pilot, screen):
        await say(pilot, screen, "one", "two")
        before = screen.link.thread.record.id
        send(screen, "/fork")
        told = f"this is a copy of `one`; /resume {before} goes back to it"
        await until(pilot, lambda: told in " ".join(shown(screen).split()))
        send(screen, f"/resume {before}")
        await until(pilot, lambda: screen.link.thread.record.id == before)
        await until(pilot, lambda: "two" in shown(screen))
        assert "a copy of" not in shown(screen)


async def test_the_first_prompt_begins_anew(tmp_path: Path) -> None:
    async with conversation(script(tmp_path, ANSWER)) as (pilot, screen):
        await say(pilot, screen, "one", "two")
        await offered(pilot)
        await pilot.press("down", "enter")
        await until(pilot, lambda: screen.box.prompt.text == "one")
        assert prompts(screen) == []
        await pilot.press("enter")
        await until(pilot, lambda: done(screen, 1))


async def test_they_are_listed_newest_first_and_any_part_in_any_case_is_found(tmp_path: Path) -> None:
    async with conversation(script(tmp_path, ANSWER)) as (pilot, screen):
        await say(pilot, screen, "Fix the Bug", "other", "the bug again")
        listed = await offered(pilot)
        assert [text for text, _ in listed._found] == ["the bug again", "other", "Fix the Bug"]
        await pilot.press(*"BUG")
        await until(pilot, lambda: [text for text, _ in listed._found] == ["the bug again", "Fix the Bug"])
        await pilot.press("escape")
        await until(pilot, lambda: pilot.app.screen is screen)
        assert screen.link.thread.record.last_turn == 3


async def test_a_prompt_that_begins_like_a_command_comes_back_as_text(tmp_path: Path) -> None:
    async with conversation(script(tmp_path, ANSWER)) as (pilot, screen):
        await say(pilot, screen, "one", "/quit is a word here")
        await offered(pilot)
        await pilot.press("enter")
        await until(pilot, lambda: screen.box.prompt.text == "/quit is a word here")
        await pilot.press("enter")
        await until(pilot, lambda: done(screen, 2))
        assert prompts(screen) == ["one", "/quit is a word here"]


async def test_the_footer_says_what_esc_twice_does_only_where_it_does_it(tmp_path: Path) -> None:
    async with conversation(script(tmp_path, ANSWER)) as (pilot, screen):
        assert "edit earlier" not in shown(screen)
        await say(pilot, screen, "one")
        await until(pilot, lambda: "esc Twice: edit earlier" in shown(screen))
        await pilot.press("x")
        await until(pilot, lambda: "esc Clear" in shown(screen))
        await pilot.press("escape", "escape")
        assert not isinstance(pilot.app.screen, HistoryScreen), "the first Esc cleared the input"


async def test_once_is_not_twice(tmp_path: Path) -> None:
    async with conversation(script(tmp_path, ANSWER), toasts=True) as (pilot, screen):
        await say(pilot, screen, "one")
        await pilot.press("escape")
        await until(pilot, lambda: "Esc again: edit an earlier prompt" in " ".join(shown(screen).split()))
        assert pilot.app.screen is screen


async def test_esc_while_a_turn_runs_interrupts_and_offers_nothing(tmp_path: Path) -> None:
    model = script(tmp_path, ANSWER | {"when": "one"}, {"when": "hang here", "text": ["thinking"], "hang": True})
    async with conversation(model) as (pilot, screen):
        await say(pilot, screen, "one")
        send(screen, "hang here")
        await until(pilot, lambda: screen.link.busy and "thinking" in shown(screen))
        await pilot.press("escape")
        await until(pilot, lambda: done(screen, 2))
        assert pilot.app.screen is screen
