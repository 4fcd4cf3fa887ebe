"""Keys that come all at once: each acts on what the ones before it made of the screen, whatever had to be opened."""

import asyncio
import time
from pathlib import Path
from typing import Any

import pytest
from textual import events
from textual.app import App

import wisp_tui.app
from tests.tui.face import PATIENCE, conversation, script, shown, until
from tests.tui.terminal import terminal
from tests.tui.test_conversation import ANSWER, WAITS, prompts
from wisp_core.records import Outcome
from wisp_tui import in_order
from wisp_tui.escapes import Parser


def burst(app: App[Any], *keys: str) -> None:
    """Post keys in one go, as a program types them: names of keys, and text in quotes."""
    at = time.monotonic()
    for key in keys:
        names = key[1:-1] if key.startswith("'") else [key]
        for name in names:
            character = name[-1] if len(name) == 1 or name.startswith("alt+") else None
            event = events.Key({" ": "space", "/": "slash"}.get(name, name), character)
            event.time = at
            app.post_message(event)


async def two_threads(model: str) -> str:
    """Leave two conversations behind and return the id of the older."""
    async with conversation(model) as (pilot, screen):
        burst(pilot.app, "'the older one'", "enter")
        await until(pilot, lambda: screen.link.thread.record.last_turn == 1 and not screen.link.busy)
        older = screen.link.thread.record.id
        burst(pilot.app, "'/new'", "enter")
        await until(pilot, lambda: screen.link.thread.record.id != older)
        burst(pilot.app, "'the newer one'", "enter")
        await until(pilot, lambda: screen.link.thread.record.last_turn == 1 and not screen.link.busy)
    return older


async def test_text_and_enter_send_the_text(tmp_path: Path) -> None:
    async with conversation(script(tmp_path, ANSWER)) as (pilot, screen):
        burst(pilot.app, "'hello there'", "enter", "left")
        await until(pilot, lambda: prompts(screen) == ["hello there"])
        assert screen.box.prompt.text == ""


@pytest.mark.parametrize("width", [80, 160])
@pytest.mark.parametrize("opens", ["ctrl+t", "ctrl+f", "ctrl+n", "ctrl+l", "ctrl+r", "f1", "ctrl+p"])
async def test_what_comes_behind_the_key_of_a_screen_closes_it_and_goes_on_in_the_input(
    tmp_path: Path, opens: str, width: int
) -> None:
    async with conversation(script(tmp_path, ANSWER), size=(width, 24)) as (pilot, screen):
        burst(pilot.app, opens, "escape", "'and on'")
        await until(pilot, lambda: screen.box.prompt.text == "and on")
        assert pilot.app.screen is screen


@pytest.mark.parametrize("command", ["facts", "pending", "threads", "model"])
async def test_what_comes_behind_a_command_goes_to_the_screen_that_it_opens(tmp_path: Path, command: str) -> None:
    async with conversation(script(tmp_path, ANSWER)) as (pilot, screen):
        burst(pilot.app, f"'/{command}'", "enter", "down", "escape", "'and on'")
        await until(pilot, lambda: screen.box.prompt.text == "and on")
        assert pilot.app.screen is screen


async def test_a_list_that_is_opened_is_full_when_the_next_key_comes(tmp_path: Path) -> None:
    model = script(tmp_path, ANSWER)
    older = await two_threads(model)
    async with conversation(model) as (pilot, screen):
        burst(pilot.app, "'/threads'", "enter", "down", "enter")
        await until(pilot, lambda: screen.link.thread.record.id == older and pilot.app.screen is screen)


async def test_enter_behind_words_goes_to_what_they_find(tmp_path: Path) -> None:
    model = script(tmp_path, ANSWER)
    older = await two_threads(model)
    async with conversation(model) as (pilot, screen):
        burst(pilot.app, "ctrl+l", "'/older'", "enter")
        await until(pilot, lambda: screen.link.thread.record.id == older and pilot.app.screen is screen)


async def test_letters_behind_the_key_of_a_line_are_looked_for(tmp_path: Path) -> None:
    model = script(tmp_path, ANSWER)
    await two_threads(model)
    async with conversation(model) as (pilot, screen):
        await until(pilot, lambda: len(screen.box.recall.past) > 1)
        burst(pilot.app, "ctrl+r", "'older'", "down", "enter", "'!'")
        await until(pilot, lambda: screen.box.prompt.text == "the older one!")


@pytest.mark.parametrize("keys", [("escape", "'no'"), ("alt+n", "'o'")])
async def test_letters_behind_esc_are_text_of_the_input_and_esc_has_acted(
    tmp_path: Path, keys: tuple[str, ...]
) -> None:
    async with conversation(script(tmp_path, WAITS)) as (pilot, screen):
        burst(pilot.app, "'wait'", "enter")
        await until(pilot, lambda: "thinking of it" in shown(screen))
        burst(pilot.app, *keys)
        await until(pilot, lambda: screen.box.prompt.text == "no")
        await until(pilot, lambda: screen.link.thread.record.turns[1].outcome is Outcome.INTERRUPTED)


async def test_alt_and_a_letter_that_moves_by_words_is_no_esc(tmp_path: Path) -> None:
    async with conversation(script(tmp_path, ANSWER)) as (pilot, screen):
        burst(pilot.app, "'one two'", "alt+b", "'and '", "alt+d", "'three'")
        await until(pilot, lambda: screen.box.prompt.text == "one and three")


async def test_a_completion_is_done_before_what_is_typed_behind_it(tmp_path: Path) -> None:
    async with conversation(script(tmp_path, ANSWER)) as (pilot, screen):
        burst(pilot.app, "'/mo'", "down", "up", "tab", "'x'")
        await until(pilot, lambda: screen.box.prompt.text == "/model x")


async def test_only_the_first_key_waits_for_a_screen_that_is_stuck_and_ctrl_c_twice_leaves(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(in_order, "ACT_SECONDS", 1.0)
    monkeypatch.setattr(in_order, "STUCK_SECONDS", 0.0)
    monkeypatch.setattr(wisp_tui.app, "AGAIN_SECONDS", 0.5)
    async with conversation(script(tmp_path, ANSWER)) as (pilot, screen):
        free = asyncio.Event()
        screen.call_later(free.wait)
        try:
            burst(pilot.app, *["left"] * 60, "ctrl+c", "ctrl+c")
            async with asyncio.timeout(PATIENCE):
                while pilot.app.return_code is None:
                    await asyncio.sleep(0)  # a pause of the pilot waits for the screen
        finally:
            free.set()


def test_a_real_terminal_keeps_the_order_too(tmp_path: Path) -> None:
    model = script(tmp_path, {"text": "plainly.", "repeat": True})
    with terminal("--model", model, cwd=tmp_path) as run:
        run.until(b"ready", b"Help")
        run.type(b"hello\r")
        run.until(b"plainly.")
        run.type(b"\x14\x1bmore")
        run.until(b"more")
        run.type(b"\x0c\x1b[B\x1b[A\r and on")
        run.until(b"more and on")
        run.type(b"\x03\x03")
        assert run.end() == 0


def test_alt_enter_breaks_the_line_where_a_terminal_sends_esc_for_alt(tmp_path: Path) -> None:
    model = script(tmp_path, {"text": "plainly.", "repeat": True})
    with terminal("--model", model, cwd=tmp_path) as run:
        run.until(b"ready", b"Help")
        run.type(b"first\x1b\rsecond")
        run.until(b"second")
        assert b"plainly." not in run.seen
        run.type(b"\x03\x03")
        assert run.end() == 0


def test_a_slash_behind_esc_begins_a_command_and_esc_has_acted(tmp_path: Path) -> None:
    model = script(tmp_path, {"text": "plainly.", "repeat": True})
    with terminal("--model", model, cwd=tmp_path) as run:
        run.until(b"ready", b"Help")
        run.type(b"a draft")
        run.until(b"a draft")
        run.type(b"\x1b/mod")
        run.until(b"/mod")
        assert b"a draft/mod" not in run.seen
        run.type(b"\x03\x03")
        assert run.end() == 0


@pytest.mark.parametrize("answer", ["\x1b]11;rgb:1/2/3", "\x1b[99~", "\x1b_Gi=1;OK"])
def test_what_a_terminal_answers_is_no_esc(answer: str) -> None:
    parser = Parser()
    keys = [key.key for key in [*parser.feed(answer), *parser.feed("")] if isinstance(key, events.Key)]
    assert keys
    assert not {"escape", "alt+right_square_bracket", "alt+left_square_bracket"} & {*keys}
