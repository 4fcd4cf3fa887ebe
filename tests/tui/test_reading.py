"""A thread that is read: the same transcript without an input; and what a reopened conversation shows again."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from textual.pilot import Pilot

from tests.tui.face import conversation, script, shown, until
from tests.tui.shelves import make_thread
from tests.tui.test_conversation import ANSWER, done, send
from wisp_core.records import EntryState
from wisp_tui.screens.conversation import ConversationScreen
from wisp_tui.screens.pager import PagerScreen, PageView
from wisp_tui.screens.reading import ReadingScreen
from wisp_tui.screens.retelling import DROPPED, PIECE, piece_before
from wisp_tui.screens.threads import ThreadsScreen
from wisp_tui.widgets.transcript import Transcript

RUNS = {"calls": [{"name": "run_command", "arguments": {"command": "seq 30000"}}]}


@asynccontextmanager
async def reading(model: str, folder: Path) -> AsyncIterator[tuple[Pilot[None], ConversationScreen, ReadingScreen]]:
    """Read the newest thread that is not open."""
    async with conversation(model, cwd=folder, mode="auto") as (pilot, screen):
        await pilot.press("ctrl+l")
        await until(pilot, lambda: isinstance(pilot.app.screen, ThreadsScreen) and pilot.app.screen._items)
        await pilot.press("v")
        await until(pilot, lambda: isinstance(pilot.app.screen, ReadingScreen))
        read = pilot.app.screen
        assert isinstance(read, ReadingScreen)
        yield pilot, screen, read


async def test_a_thread_is_read_without_an_input_and_left_as_it_was(tmp_path: Path) -> None:
    model = script(tmp_path, ANSWER)
    thread = await make_thread(tmp_path, model, "how is it?")
    async with reading(model, tmp_path) as (pilot, screen, read):
        await until(pilot, lambda: "how is it?" in shown(read) and "All is well." in shown(read))
        assert "read-only" in shown(read)
        assert [name for name in ("Prompt", "InputBox") if read.query(name)] == []
        assert (await screen.link.wisp.library.threads(9))[0].open_by == 0
        await pilot.press(*"typed", "escape")
        await until(pilot, lambda: pilot.app.screen is screen)
        reader = await screen.link.wisp.library.reader(thread)
        assert reader.record.last_turn == 1
        assert screen.link.thread.record.id != thread


async def test_f_goes_on_in_a_copy_of_what_was_read(tmp_path: Path) -> None:
    model = script(tmp_path, ANSWER)
    thread = await make_thread(tmp_path, model, "how is it?")
    async with reading(model, tmp_path) as (pilot, screen, read):
        await until(pilot, lambda: "how is it?" in shown(read))
        await pilot.press("f")
        await until(pilot, lambda: screen.link.thread.record.last_turn == 1 and "how is it?" in shown(screen))
        assert screen.link.thread.record.id != thread


async def test_ctrl_o_pages_an_output_of_the_thread_that_is_read(tmp_path: Path, wisp_home: Path) -> None:
    model = script(tmp_path, RUNS, ANSWER)
    async with conversation(model, cwd=tmp_path, mode="auto") as (pilot, screen):
        send(screen, "count")
        await until(pilot, lambda: screen.panel.open or done(screen, 1))
        if screen.panel.open:
            screen.panel.press("a")
        await until(pilot, lambda: done(screen, 1))
    async with reading(model, tmp_path) as (pilot, _screen, read):
        await until(pilot, lambda: "count" in shown(read))
        await pilot.press("ctrl+o")
        await until(pilot, lambda: isinstance(pilot.app.screen, PagerScreen) and pilot.app.screen.view.shown)
        await pilot.press("end")
        await until(pilot, lambda: "30000" in shown(pilot.app.screen))
        assert pilot.app.screen.query_one(PageView).pages.total > 150_000
        await pilot.press("escape")
        await until(pilot, lambda: pilot.app.screen is read)


async def test_a_reopened_conversation_shows_the_dropped_turns_and_where_the_models_view_begins(
    tmp_path: Path, wisp_home: Path
) -> None:
    wisp_home.mkdir(mode=0o700)
    (wisp_home / "config.json").write_text('{"context": {"policy": "keep-turns", "keep_turns": 1}}')
    model = script(tmp_path, ANSWER, window=6000)
    said = [f"prompt {n} " + "word " * 1500 for n in range(1, 6)]
    thread = await make_thread(tmp_path, model, *said)
    async with conversation(model, cwd=tmp_path, newest=True) as (pilot, screen):
        record = screen.link.thread.record
        assert record.id == thread
        dropped = [entry.turn for entry in record.entries.values() if entry.state is EntryState.DROPPED]
        assert dropped
        await until(pilot, lambda: texts(screen.transcript, "prompt") == said)
        blocks = [block.source()[0] for block in screen.transcript.blocks]
        edge = blocks.index(DROPPED)
        assert sum(text.startswith("prompt ") for text in blocks[:edge]) == len(set(dropped))
        assert blocks[edge + 1] == said[len(set(dropped))]
        assert blocks.count("All is **well**.") == 5


async def test_what_comes_behind_goes_above_and_the_view_stays_where_it_is(tmp_path: Path, wisp_home: Path) -> None:
    wisp_home.mkdir(mode=0o700)
    (wisp_home / "config.json").write_text('{"context": {"policy": "keep-turns", "keep_turns": 1}}')
    model = script(tmp_path, ANSWER, window=6000)
    said = [f"prompt {n} " + "word " * 1500 for n in range(1, 6)]
    await make_thread(tmp_path, model, *said)
    async with conversation(model, cwd=tmp_path, newest=True, size=(60, 16)) as (pilot, screen):
        await until(pilot, lambda: texts(screen.transcript, "prompt") == said)
        reader, view = screen.link.thread.reader, screen.transcript
        last = await reader.entries(len(reader.record.entries) - 1)
        view.show_all(last, reader.record.turns)
        view.go_to(0)
        await until(pilot, lambda: not view.following)
        seen = shown(screen)
        earlier = await reader.entries(1, len(reader.record.entries) - 2)
        view.show_all(earlier, reader.record.turns, above=True)
        await pilot.pause()
        assert texts(view, "prompt") == said
        assert shown(screen).splitlines()[0] == seen.splitlines()[0]


async def test_a_piece_begins_with_a_turn_and_holds_about_as_many_entries_as_are_read_at_once(tmp_path: Path) -> None:
    model = script(tmp_path, ANSWER)
    await make_thread(tmp_path, model, *[f"prompt {n}" for n in range(4)])
    async with conversation(model, cwd=tmp_path, newest=True) as (_, screen):
        record = screen.link.thread.record
        assert piece_before(record, len(record.entries)) == 1, "what the record holds is shown at once"
        assert piece_before(record, 0) == 1
        assert PIECE > 4


def texts(transcript: Transcript, start: str) -> list[str]:
    return [text for block in transcript.blocks if (text := block.source()[0]).startswith(start)]
