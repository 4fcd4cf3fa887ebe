"""R7, U2: the modes under a key, and the screens that come over the conversation."""

import json
from pathlib import Path

from tests.tui.face import conversation, script, shown, until
from tests.tui.test_conversation import ANSWER, RUNS, done, send
from wisp_tui.screens.context import ContextScreen
from wisp_tui.screens.help import HelpScreen
from wisp_tui.widgets.status import Status


async def test_shift_tab_goes_through_the_modes_and_the_next_request_says_so(tmp_path: Path) -> None:
    async with conversation(script(tmp_path, ANSWER)) as (pilot, screen):
        await until(pilot, lambda: screen.link.opened)
        seen = []
        for mode in ("auto", "plan", "ask", "auto"):
            await pilot.press("shift+tab")
            await until(pilot, lambda mode=mode: screen.link.thread.record.mode.value == mode)
            seen.append(mode)
        assert seen == ["auto", "plan", "ask", "auto"]
        assert "Mode auto" in (await screen.link.thread.preview()).composition.messages[0].text
        await until(pilot, lambda: screen.query_one(Status).condition.mode == "auto")


async def test_the_keys_of_a_screen_that_is_not_up_yet_can_be_changed_too(tmp_path: Path, wisp_home: Path) -> None:
    wisp_home.mkdir(mode=0o700)
    (wisp_home / "config.json").write_text(json.dumps({"keys": {"pager.end": "x", "context.close": "z"}}))
    async with conversation(script(tmp_path, ANSWER), toasts=True) as (pilot, screen):
        await until(pilot, lambda: pilot.app._keymap)
        assert "there is no key called" not in shown(screen)
        await pilot.press("ctrl+t")
        await until(pilot, lambda: isinstance(pilot.app.screen, ContextScreen))
        await pilot.press("z")
        await until(pilot, lambda: pilot.app.screen is screen)


async def test_a_question_that_comes_while_another_screen_is_up_is_told_there(tmp_path: Path) -> None:
    async with conversation(script(tmp_path, RUNS, ANSWER), toasts=True) as (pilot, screen):
        await until(pilot, lambda: screen.link.opened)
        await pilot.press("f1")
        await until(pilot, lambda: isinstance(pilot.app.screen, HelpScreen))
        send(screen, "run it")
        await until(pilot, lambda: screen.panel.open and "waits for your answer" in shown(pilot.app.screen))
        screen.panel.press("escape")
        await until(pilot, lambda: done(screen, 1))


async def test_the_meter_shows_what_was_last_reported_when_a_conversation_is_gone_on_with(tmp_path: Path) -> None:
    reported = {"text": "fine", "usage": {"prompt": 4000, "completion": 120, "total": 4120}}
    path = tmp_path / "model.json"
    path.write_text(json.dumps({"window": 8240, "replies": [reported]}))
    async with conversation(f"scripted:{path}") as (pilot, screen):
        send(screen, "how is it?")
        await until(pilot, lambda: done(screen, 1))
    async with conversation(f"scripted:{path}", newest=True) as (pilot, screen):
        await until(pilot, lambda: screen.query_one(Status).condition.share == 0.5)
        assert not screen.query_one(Status).condition.estimated


async def test_a_conversation_that_is_gone_on_with_is_not_introduced_again(tmp_path: Path) -> None:
    model = script(tmp_path, ANSWER)
    async with conversation(model) as (pilot, screen):
        send(screen, "how is it?")
        await until(pilot, lambda: done(screen, 1))
        assert screen.link.wisp.why[:40] in shown(screen)
    async with conversation(model, newest=True) as (pilot, screen):
        await until(pilot, lambda: "All is well." in shown(screen))
        assert screen.link.wisp.why[:40] not in shown(screen)
