"""U6 while a tool runs: the next request says that it runs, and what came of it once it has ended."""

import os
from pathlib import Path

from tests.tui.face import conversation, script, shown, until
from tests.tui.test_conversation import ANSWER, done, press, send


async def test_a_call_that_still_runs_is_not_told_as_cancelled(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "gate")
    call = {"name": "run_command", "arguments": {"command": f"cat {tmp_path / 'gate'}"}}
    model = script(tmp_path, {"when": "wait for it", "calls": [call]}, ANSWER)
    async with conversation(model, size=(160, 40)) as (pilot, screen):
        send(screen, "wait for it")
        await until(pilot, lambda: screen.panel.open and screen.panel._visible_since is not None)
        press(screen, "y")
        await until(pilot, screen.live.newest)
        await pilot.press("ctrl+t")
        await until(pilot, lambda: "it runs now" in shown(screen))
        last = (await screen.link.thread.preview()).composition.messages[-1]
        assert last.text == "[it runs now; its output will stand here]"
        assert "cancelled" not in shown(screen)
        (tmp_path / "gate").write_text("through the gate\n")
        await until(pilot, lambda: done(screen, 1))
        await until(pilot, lambda: "through the gate" in shown(screen) and "it runs now" not in shown(screen))
