"""The end at any moment: whoever leaves while wisp starts, or while something is read, leaves in order."""

import asyncio
from pathlib import Path

import pytest

from tests.tui.face import conversation, script, until
from tests.tui.terminal import terminal
from wisp_tui.app import WispApp
from wisp_tui.screens.conversation import ConversationScreen
from wisp_tui.screens.start import Start


@pytest.mark.parametrize("ticks", [0, 1, 2, 4, 8, 16, 32, 64, 128, 256])
async def test_it_can_be_left_at_any_moment_of_its_start(tmp_path: Path, ticks: int) -> None:
    app = WispApp(Start(model=script(tmp_path)))
    async with app.run_test(size=(120, 40)):
        for _ in range(ticks):
            await asyncio.sleep(0)
        await app.leave()
    assert app.return_code == 0
    assert app.parting == ""


@pytest.mark.parametrize("ticks", range(0, 30, 3))
async def test_a_screen_that_is_closed_while_it_is_put_together_breaks_nothing(tmp_path: Path, ticks: int) -> None:
    app = WispApp(Start(model=script(tmp_path)))
    async with app.run_test(size=(120, 40)) as pilot:
        await until(pilot, lambda: isinstance(app.screen, ConversationScreen))
        await app.screen.leave()  # type: ignore[attr-defined]
        coming = app.push_screen(ConversationScreen(Start(model=script(tmp_path))))
        for _ in range(ticks):
            await asyncio.sleep(0)
        await app.leave()
        del coming


async def test_it_can_be_left_while_the_panel_reads(tmp_path: Path) -> None:
    async with conversation(script(tmp_path, {"text": "Yes."}), size=(160, 40)) as (pilot, screen):
        await pilot.press("ctrl+t")
        await pilot.pause()
        screen.renew_context()
        await asyncio.sleep(0)
        await pilot.app.leave()  # type: ignore[attr-defined]


async def test_what_is_typed_is_kept_by_whoever_leaves_as_soon_as_it_is_open(tmp_path: Path) -> None:
    model = script(tmp_path)
    app = WispApp(Start(model=model))
    async with app.run_test(size=(120, 40)) as pilot:
        await until(pilot, lambda: isinstance(app.screen, ConversationScreen) and app.screen.link.opened)
        assert isinstance(app.screen, ConversationScreen)
        app.screen.box.prompt.text = "half a thought"
        await app.leave()
    async with conversation(model) as (pilot, screen):
        await until(pilot, lambda: screen.box.prompt.text == "half a thought")


def test_ctrl_c_before_there_is_a_screen_ends_without_a_word(tmp_path: Path) -> None:
    program = (
        "import os, signal, sys\n"
        "class Slow:\n"
        "    def find_spec(self, name, *rest):\n"
        "        if name == 'textual.app': os.kill(os.getpid(), signal.SIGINT)\n"
        "sys.meta_path.insert(0, Slow())\n"
        "from wisp_tui.main import main\n"
        "sys.exit(main([]))\n"
    )
    with terminal(program=program, cwd=tmp_path) as run:
        assert run.end() == 130
        assert b"Traceback" not in run.seen
