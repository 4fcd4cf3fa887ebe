"""U1: `--resume NAME` and `--list`: what a thread or a transcript is called at the start."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.tui.face import conversation, script, shown, until
from tests.tui.shelves import held, make_thread
from tests.tui.test_conversation import ANSWER, done, send
from wisp_tui.app import WispApp
from wisp_tui.screens.start import Start


@pytest.mark.parametrize("by", ["id", "start", "title"])
async def test_a_thread_is_resumed_by_its_id_the_start_of_it_or_its_title(tmp_path: Path, by: str) -> None:
    model = script(tmp_path, ANSWER)
    thread = await make_thread(tmp_path, model, "how is it?")
    name = {"id": thread, "start": thread[:20], "title": "how is it?"}[by]
    async with conversation(model, resume=name) as (pilot, screen):
        await until(pilot, lambda: "how is it?" in shown(screen))
        assert screen.link.thread.record.id == thread


async def test_a_saved_transcript_is_resumed_by_its_name_and_saved_again_on_leaving(
    tmp_path: Path, wisp_home: Path
) -> None:
    model = script(tmp_path, ANSWER)
    async with conversation(model) as (pilot, screen):
        send(screen, "remember this")
        await until(pilot, lambda: done(screen, 1))
        send(screen, "/save notes")
        await until(pilot, lambda: "saved as" in shown(screen))
    async with conversation(model, resume="notes") as (pilot, screen):
        await until(pilot, lambda: "remember this" in shown(screen))
        send(screen, "and this")
        await until(pilot, lambda: done(screen, 2))
    assert "and this" in (wisp_home / "transcripts" / "notes.json").read_text()


async def test_a_transcript_without_its_links_starts_nothing_and_says_so(tmp_path: Path, wisp_home: Path) -> None:
    folder = wisp_home / "transcripts"
    folder.mkdir(parents=True)
    wisp_home.chmod(0o700)
    (folder / "old.json").write_text("[]")
    app = WispApp(Start(model=script(tmp_path, ANSWER), resume="old", cwd=tmp_path))
    async with app.run_test() as pilot:
        await until(pilot, lambda: app._exit)
    assert app.return_code == 64
    assert "transcript 'old' was saved by an older wisp and cannot be resumed" in app.parting
    assert not (wisp_home / "audit").exists()


async def test_the_list_has_the_threads_then_the_transcripts_and_never_a_sidecar(
    tmp_path: Path, wisp_home: Path
) -> None:
    model = script(tmp_path, ANSWER)
    async with conversation(model) as (pilot, screen):
        send(screen, "remember\x1b[2J this")
        await until(pilot, lambda: done(screen, 1))
        send(screen, "/save notes")
        await until(pilot, lambda: "saved as" in shown(screen))
        thread = screen.link.thread.record.id
    async with held(thread) as pid:
        command = [sys.executable, "-m", "wisp_tui", "--list"]
        listed = subprocess.run(command, capture_output=True, text=True, check=True, env=os.environ).stdout
    first, second = listed.splitlines()
    assert first.startswith(thread)
    assert f"1 turns, open in process {pid}" in first
    assert "\x1b" not in listed
    assert second.split()[0] == "notes"
    assert second.endswith("saved transcript")
