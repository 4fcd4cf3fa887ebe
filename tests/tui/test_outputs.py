"""Ctrl-O in the real app: over what runs, what is stored, and what the tool returned."""

import json
import os
from pathlib import Path
from typing import Any

from textual.pilot import Pilot

from tests.tui.face import conversation, script, shown, until
from tests.tui.test_conversation import ANSWER, done, send
from wisp_core.records import CommandContent
from wisp_tui.screens.conversation import ConversationScreen
from wisp_tui.screens.pager import PagerScreen, PageView


def runs(command: str) -> dict[str, Any]:
    return {"when": "run it", "calls": [{"name": "run_command", "arguments": {"command": command}}]}


def allow_all(wisp_home: Path) -> None:
    wisp_home.mkdir(mode=0o700)
    (wisp_home / "config.json").write_text(json.dumps({"permissions": {"allow": ["run_command"]}}))


def ran(screen: ConversationScreen) -> bool:
    record = screen.link.thread.record
    return any(isinstance(entry.content, CommandContent) for entry in record.entries.values())


async def opened(pilot: Pilot[None]) -> PageView:
    """Press Ctrl-O and return the pager's view."""
    await pilot.press("ctrl+o")
    await until(pilot, lambda: isinstance(pilot.app.screen, PagerScreen) and pilot.app.screen.view.shown)
    return pilot.app.screen.view


async def test_the_pager_of_a_running_call_grows_and_becomes_the_whole_stored_output(
    tmp_path: Path, wisp_home: Path
) -> None:
    allow_all(wisp_home)
    gate = tmp_path / "gate"
    os.mkfifo(gate)
    command = f"echo begun; cat {gate}; seq 30000"
    async with conversation(script(tmp_path, runs(command), ANSWER)) as (pilot, screen):
        send(screen, "run it")
        await until(pilot, lambda: "begun" in shown(screen) and screen.live.newest())
        view = await opened(pilot)
        await until(pilot, lambda: view.rows == ["begun"] and "still running" in shown(pilot.app.screen))
        gate.write_text("")
        await until(pilot, lambda: done(screen, 1))
        await until(pilot, lambda: "still running" not in shown(pilot.app.screen) and view.rows[-1:] == ["30000"])
        assert view.pages.lines == 30003
        assert not screen.live.newest()
        await pilot.press("escape")
        await until(pilot, lambda: pilot.app.screen is screen)
        view = await opened(pilot)
        assert view.rows[:4] == ["exit status: 0", "stdout:", "begun", "1"]


async def test_an_output_of_which_nothing_more_is_kept_says_so(tmp_path: Path, wisp_home: Path) -> None:
    allow_all(wisp_home)
    async with conversation(script(tmp_path, runs("echo short"), ANSWER)) as (pilot, screen):
        send(screen, "run it")
        await until(pilot, lambda: done(screen, 1))
        view = await opened(pilot)
        assert "short" in view.rows
        assert "nothing more is kept" in shown(pilot.app.screen)


async def test_the_persons_own_command_is_paged_from_its_block(tmp_path: Path) -> None:
    async with conversation(script(tmp_path, ANSWER)) as (pilot, screen):
        send(screen, "!seq 20000")
        await until(pilot, lambda: ran(screen) and not screen.live.newest())
        screen.transcript.focus()
        await until(pilot, lambda: screen.focused is screen.transcript)
        await pilot.press("o")
        await until(pilot, lambda: isinstance(pilot.app.screen, PagerScreen) and pilot.app.screen.view.shown)
        await pilot.press("G")
        await until(pilot, lambda: pilot.app.screen.view.rows[-1:] == ["20000"])
        assert "nothing more is kept" not in shown(pilot.app.screen)
