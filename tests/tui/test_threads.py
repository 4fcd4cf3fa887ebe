"""U10: the list of every thread of the home, what it finds, and what its keys do."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from textual import events
from textual.pilot import Pilot
from textual.screen import Screen

from tests.tui.face import conversation, script, shown, until
from tests.tui.shelves import Row, Saved, Shelved, held, make_thread
from tests.tui.test_conversation import ANSWER, done, prompts, send
from wisp_core.requests import FoundPassage
from wisp_tui.app import WispApp
from wisp_tui.screens.choice import ChoiceScreen
from wisp_tui.screens.start import Start
from wisp_tui.screens.threads import ThreadsScreen
from wisp_tui.screens.threads_items import Fork, Read, Resume, ResumeSaved

NOW = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)
ROWS = [
    Row("a1", "Fix the build", "/work/app", "2026-11-30T11:59:40.000Z", 12, 40_000),
    Row("b2", "Read the logs", "/work/logs", "2026-11-30T09:00:00.000Z", 1, 900, open_by=4321),
    Row("c3", "", "/work", "2026-10-01T09:00:00.000Z", 1234, 5_000_000),
]
PASSAGES = [FoundPassage("a1", "Fix the build", 17, 6, "tool_output", "", "it said \ue000needle\ue001 and went on")]


class Listing(WispApp):
    """The app over a list of threads."""

    def __init__(self, shelf: Shelved) -> None:
        super().__init__(Start())
        self.shelf = shelf
        self.wish: Any = "nothing yet"
        self.take_keys()

    def get_default_screen(self) -> Screen[None]:
        return Screen()

    def on_mount(self) -> None:
        screen = ThreadsScreen(self.shelf, current="a1", folder=Path("/work"), now=lambda: NOW)
        self.push_screen(screen, lambda wish: setattr(self, "wish", wish))


@asynccontextmanager
async def listing(
    shelf: Shelved | None = None, *, size: tuple[int, int] = (120, 40)
) -> AsyncIterator[tuple[Pilot[None], ThreadsScreen, Listing]]:
    app = Listing(shelf or Shelved(list(ROWS), [Saved("notes", 2048, "2026-11-29T12:00:00.000Z")], PASSAGES))
    async with app.run_test(size=size, notifications=True) as pilot:
        await until(pilot, lambda: isinstance(app.screen, ThreadsScreen))
        screen = app.screen
        assert isinstance(screen, ThreadsScreen)
        await until(pilot, lambda: screen.rows.count or "there is no thread yet" in shown(screen))
        yield pilot, screen, app


async def test_every_thread_has_title_directory_age_turns_size_and_where_it_is_open() -> None:
    async with listing() as (_, screen, _app):
        told = [" ".join(line.split()) for line in shown(screen).splitlines()]
        assert "▌Fix the build /work/app 12 40 KiB here" in told
        assert "Read the logs /work/logs 1 900 bytes open" in told
        assert "untitled /work 1,234 4.8 MiB 60 d" in told
        assert "notes 2 KiB 1 d" in told
        assert "saved transcripts" in shown(screen)


async def test_the_row_of_a_thread_that_another_wisp_writes_says_which_process_does() -> None:
    async with listing() as (pilot, screen, _app):
        await pilot.press("down")
        await until(pilot, lambda: "open in another wisp, process 4321" in shown(screen))


@pytest.mark.parametrize(
    ("keys", "wish"),
    [
        (["enter"], Resume("a1")),
        (["down", "enter"], Resume("b2")),
        (["down", "v"], Read("b2")),
        (["f"], Fork("a1")),
        (["end", "enter"], ResumeSaved("notes")),
        (["escape"], None),
        (["ctrl+l"], None),
    ],
)
async def test_a_key_ends_with_what_the_person_wants(keys: list[str], wish: object) -> None:
    async with listing() as (pilot, _screen, app):
        await pilot.press(*keys)
        await until(pilot, lambda: app.wish == wish)


@pytest.mark.parametrize("keys", [("enter",), ("down", "enter")], ids=["on the thread", "on the passage"])
async def test_words_find_what_was_said_and_enter_goes_to_the_passage(keys: tuple[str, ...]) -> None:
    async with listing() as (pilot, screen, app):
        await pilot.press("slash", *"needle")
        await until(pilot, lambda: "1 found" in shown(screen))
        assert "turn 6 · tool output  it said needle and went on" in shown(screen)
        (row,) = [one for one in range(screen.rows.count) if "needle" in screen._draw(one, 80).plain]
        marked = [span for span in screen._draw(row, 80).spans if "underline" in str(span.style)]
        assert [screen._draw(row, 80).plain[span.start : span.end] for span in marked] == ["needle"]
        await pilot.press(*keys)
        await until(pilot, lambda: app.wish == Resume("a1", 17))


async def test_esc_leaves_the_words_then_forgets_them_then_closes() -> None:
    async with listing() as (pilot, screen, app):
        await pilot.press("slash", *"needle")
        await until(pilot, lambda: "1 found" in shown(screen))
        await pilot.press("escape")
        await until(pilot, lambda: app.focused is screen.rows)
        await pilot.press("escape")
        await until(pilot, lambda: "Threads · 3" in shown(screen) and "found" not in shown(screen))
        await pilot.press("escape")
        await until(pilot, lambda: app.wish is None)


async def test_a_letter_is_text_while_words_are_typed() -> None:
    async with listing() as (pilot, screen, app):
        await pilot.press("slash", *"rfedv")
        await until(pilot, lambda: "nothing that was said holds rfedv" in shown(screen))
        assert screen.words.value == "rfedv"
        assert app.shelf.did == []


async def test_a_thread_is_renamed_in_place_and_esc_leaves_its_title() -> None:
    async with listing() as (pilot, screen, app):
        await pilot.press("r", "space", *"now", "escape")
        assert app.shelf.did == []
        await pilot.press("r", "space", *"now", "enter")
        await until(pilot, lambda: app.shelf.did == [("rename", "a1", "Fix the build now")])
        await until(pilot, lambda: "it is called Fix the build now" in shown(screen))


async def test_a_thread_is_deleted_only_when_the_person_says_so_once_more_and_hears_that_the_audit_stays() -> None:
    async with listing() as (pilot, screen, app):
        await pilot.press("down", "d")
        await until(pilot, lambda: isinstance(app.screen, ChoiceScreen) and "the audit keeps" in shown(app.screen))
        await pilot.press("enter")
        await until(pilot, lambda: app.screen is screen)
        assert app.shelf.did == []
        await pilot.press("d")
        await until(pilot, lambda: isinstance(app.screen, ChoiceScreen))
        await pilot.press("down", "enter")
        await until(pilot, lambda: app.shelf.did == [("delete", "b2")] and "Threads · 2" in shown(screen))
        assert "the audit keeps what was said" in shown(screen)


async def test_a_thread_is_exported_in_the_form_that_is_chosen() -> None:
    async with listing() as (pilot, screen, app):
        await pilot.press("e")
        await until(pilot, lambda: isinstance(app.screen, ChoiceScreen))
        await pilot.press("down", "enter")
        await until(pilot, lambda: "written to /work/wisp-a1.html" in shown(screen))


async def test_what_cannot_be_done_is_one_sentence_and_the_list_stays() -> None:
    async with listing(Shelved(list(ROWS), locked="b2")) as (pilot, screen, _app):
        await pilot.press("down", "r", "x", "enter")
        await until(pilot, lambda: "another wisp (process 7) is writing this conversation" in shown(screen))
        assert "Threads · 3" in shown(screen)


async def test_titles_and_paths_are_text_whatever_they_say() -> None:
    hostile = "[bold red]x[/] \x1b[2J\u202egnp.exe \n[@click=app.quit]go[/]"
    rows = [Row("a", hostile, f"/work/{hostile}", "2026-11-30T11:00:00Z", 1), Row("b", "\t" * 500, "", "never", 1)]
    found = [FoundPassage("a", hostile, 3, 1, "reply", "", f"\ue000{hostile}\ue001 \ue000 \x1b]52;c;x\x07")]
    shelf = Shelved(rows, [Saved("[/]odd", 1, "x")], found)
    for size in ((120, 40), (60, 16)):
        async with listing(shelf, size=size) as (pilot, screen, _app):
            assert "[bold red]x[/]" in shown(screen)
            await pilot.press("slash", *"bold")
            await until(pilot, lambda screen=screen: "1 found" in shown(screen))
            assert not {"\x1b", "\x07", "\u202e", "\t"} & set(shown(screen))


async def test_a_thousand_threads_are_listed_at_once_and_only_those_in_view_are_drawn() -> None:
    rows = [Row(f"{n:032x}", f"thread {n}", "/work", "2026-11-30T11:00:00Z", n) for n in range(1000)]
    async with listing(Shelved(rows), size=(60, 16)) as (pilot, screen, _app):
        drawn: list[int] = []
        draw = screen.rows._draw
        screen.rows._draw = lambda index, cells: drawn.append(index) or draw(index, cells)  # type: ignore[func-returns-value]
        await pilot.press("end")
        await until(pilot, lambda: "thread 999" in shown(screen))
        assert len(set(drawn)) < 40
        assert "Threads · 1,000" in shown(screen)


async def test_an_empty_home_says_that_a_prompt_begins_a_thread() -> None:
    async with listing(Shelved([])) as (_, screen, _app):
        assert "there is no thread yet; the first prompt begins one" in shown(screen)


# Over the core.


async def open_list(pilot: Pilot[None], *keys: str) -> ThreadsScreen:
    await pilot.press(*(keys or ("ctrl+l",)))
    await until(pilot, lambda: isinstance(pilot.app.screen, ThreadsScreen))
    screen = pilot.app.screen
    assert isinstance(screen, ThreadsScreen)
    await until(pilot, lambda: screen._items)
    return screen


async def test_a_key_the_command_and_the_palette_open_the_list(tmp_path: Path) -> None:
    model = script(tmp_path, ANSWER)
    await make_thread(tmp_path, model, "the first of all")
    async with conversation(model) as (pilot, screen):
        assert "threads" in {name.rpartition(" ")[2] for _, name, _ in screen.palette_choices()}
        for keys in (("ctrl+l",), (*"/threads", "enter")):
            listed = await open_list(pilot, *keys)
            assert "the first of all" in shown(listed)
            await pilot.press("escape")
            await until(pilot, lambda: pilot.app.screen is screen)


async def test_a_passage_is_gone_to_in_its_thread(tmp_path: Path) -> None:
    model = script(tmp_path, ANSWER)
    prompts_said = [f"number {n} of many" for n in range(30)]
    prompts_said[3] = "here is the needle"
    thread = await make_thread(tmp_path, model, *prompts_said)
    async with conversation(model, size=(60, 16)) as (pilot, screen):
        listed = await open_list(pilot)
        await pilot.press("slash", *"needle")
        await until(pilot, lambda: listed.rows.count == 2 and "1 found" in shown(listed))
        await pilot.press("down", "enter")
        await until(pilot, lambda: screen.link.thread.record.id == thread and "here is the needle" in shown(screen))
        assert screen.transcript.chosen is not None
        assert screen.transcript.chosen.source()[0] == "here is the needle"


async def test_a_thread_is_renamed_forked_exported_and_deleted_for_good(tmp_path: Path) -> None:
    model = script(tmp_path, ANSWER)
    thread = await make_thread(tmp_path, model, "how is it?")
    async with conversation(model, cwd=tmp_path, toasts=True) as (pilot, screen):
        library = screen.link.wisp.library
        listed = await open_list(pilot)
        await pilot.press("r", "ctrl+u", *"Other", "enter")
        await until(pilot, lambda: "it is called Other now" in shown(listed))
        assert [row.title for row in await library.threads(9)] == ["Other"]
        await pilot.press("e")
        await until(pilot, lambda: isinstance(pilot.app.screen, ChoiceScreen))
        await pilot.press("enter")
        await until(pilot, (tmp_path / f"wisp-{thread}.md").exists)
        await until(pilot, lambda: pilot.app.screen is listed)
        await pilot.press("f")
        await until(pilot, lambda: screen.link.thread.record.last_turn == 1 and "how is it?" in shown(screen))
        assert screen.link.thread.record.id != thread
        listed = await open_list(pilot)
        await pilot.press("end")
        await until(pilot, lambda: listed._thread() is not None and listed._thread().id == thread)
        await pilot.press("d")
        await until(pilot, lambda: isinstance(pilot.app.screen, ChoiceScreen))
        await pilot.press("down", "enter")
        await until(pilot, lambda: listed.rows.count == 1)
        assert thread not in {row.id for row in await library.threads(9)}


async def test_a_saved_transcript_is_resumed_as_a_new_thread_and_saved_again_on_switching_and_on_leaving(
    tmp_path: Path, wisp_home: Path
) -> None:
    model = script(tmp_path, ANSWER)
    saved = wisp_home / "transcripts" / "notes.json"
    async with conversation(model) as (pilot, screen):
        send(screen, "remember this")
        await until(pilot, lambda: done(screen, 1))
        send(screen, "/save notes")
        await until(pilot, saved.exists)
        send(screen, "and that")
        await until(pilot, lambda: done(screen, 2))
        assert "and that" not in saved.read_text()
        send(screen, "/new")
        await until(pilot, lambda: "and that" in saved.read_text())
        await open_list(pilot)
        await pilot.press("end", "enter")
        await until(pilot, lambda: screen.link.thread.record.last_turn == 2 and "remember this" in shown(screen))
        await until(pilot, lambda: pilot.app.screen is screen)
        send(screen, "a third thing")
        await until(pilot, lambda: done(screen, 3))
        assert "a third thing" not in saved.read_text()
    assert "a third thing" in saved.read_text()


async def test_what_waits_for_a_turn_to_end_is_said_and_nothing_is_switched(tmp_path: Path) -> None:
    model = script(tmp_path, {"when": "hang here", "text": ["thinking"], "hang": True}, ANSWER)
    await make_thread(tmp_path, model, "how is it?")
    async with conversation(model, toasts=True) as (pilot, screen):
        send(screen, "hang here")
        await until(pilot, lambda: screen.link.busy and "thinking" in shown(screen))
        thread = screen.link.thread.record.id
        listed = await open_list(pilot)
        await pilot.press("end")
        await until(pilot, lambda: listed._thread() is not None and listed._thread().id != thread)
        await pilot.press("enter")
        await until(pilot, lambda: "that waits until the running turn has ended" in shown(screen))
        assert screen.link.thread.record.id == thread
        assert prompts(screen) == ["hang here"]


async def test_the_list_shows_what_another_process_has_open(tmp_path: Path) -> None:
    model = script(tmp_path, ANSWER)
    thread = await make_thread(tmp_path, model, "how is it?")
    async with held(thread) as pid, conversation(model) as (pilot, _screen):
        listed = await open_list(pilot)
        await until(pilot, lambda: f"open in another wisp, process {pid}" in shown(listed))


async def test_what_is_typed_right_behind_the_key_that_opens_a_line_is_its_text() -> None:
    async with listing() as (pilot, screen, app):
        for key in ("slash", *"needled"):
            app.post_message(events.Key(key, "/" if key == "slash" else key))
        await until(pilot, lambda: screen.words.value)
        await pilot.pause()
        assert screen.words.value == "needled"
        assert app.screen is screen  # neither `e` exported nor `d` asked to delete
        await pilot.press("escape", "escape")
        for key in ("r", *"dev"):
            app.post_message(events.Key(key, key))
        await until(pilot, lambda: screen.asked.value.endswith("dev"))
        assert app.screen is screen
