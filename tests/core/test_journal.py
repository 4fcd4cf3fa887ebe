"""The one writer: one way for every change, to audit, record, database and listeners."""

import asyncio
import os
import stat
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from tests.core.store.event_streams import fold_audit, start
from wisp_core.audit.files import list_files, read_lines
from wisp_core.errors import HomeError, ResumeError, StorageError, ThreadLockedError
from wisp_core.events import (
    ContextCompactionUndone,
    ContextCondensation,
    FactRecorded,
    Live,
    Prompt,
    Response,
    SessionStart,
    ThreadDeleted,
    TurnEnd,
    now,
    parse_event,
)
from wisp_core.journal import Journal, rebuild
from wisp_core.records import PromptContent, ThreadRecord
from wisp_core.settings import Audit, Settings
from wisp_core.store.desk import Desk

SETTINGS = Settings()
NO_AUDIT = Settings(audit=Audit(enabled=False))
REPLY = Response(request="r", step=1, text="hi", finish="stop", model="m")


@asynccontextmanager
async def opened(home: Path, settings: Settings = SETTINGS) -> AsyncIterator[Journal]:
    journal = await Journal.open(home, settings)
    try:
        yield journal
    finally:
        await journal.close()


async def begin(journal: Journal, *prompts: str) -> ThreadRecord:
    record = await journal.new_thread()
    await journal.record(record, start())
    for prompt in prompts:
        await journal.record(record, Prompt(text=prompt))
        await journal.record(record, REPLY)
        await journal.record(record, TurnEnd(outcome="done"))
    return record


def condensed(*dropped: int) -> ContextCondensation:
    return ContextCondensation(reason="budget", goal=1, before=2, after=1, dropped=list(dropped))


def fact() -> FactRecorded:
    return FactRecorded(fact="f", scope="thread", subject="s", key="k", value="v", source="person", version=1)


@asynccontextmanager
async def full(journal: Journal) -> AsyncIterator[None]:
    """Let the database grow by no page, which SQLite reports as a full disk."""
    async with journal.database.transaction() as writer:
        await writer.execute("CREATE TABLE filler (x)")
        await writer.execute("INSERT INTO filler VALUES (zeroblob(100000))")
        await writer.execute("DROP TABLE filler")
    async with journal.database._turn:
        await journal.database._writer.execute("VACUUM")
        await journal.database._writer.execute("PRAGMA max_page_count=1")
    try:
        yield
    finally:
        async with journal.database._turn:
            await journal.database._writer.execute("PRAGMA max_page_count=1000000")


async def test_everything_in_the_home_is_the_owners_alone_whatever_the_umask(tmp_path):
    for umask in (0, 0o777):
        home = tmp_path / str(umask) / "wisp"
        home.parent.mkdir()
        before = os.umask(umask)
        try:
            async with opened(home) as journal:
                await begin(journal, "hello")
                modes = {path: stat.S_IMODE(path.stat().st_mode) for path in (home, *home.rglob("*"))}
        finally:
            os.umask(before)
        assert {mode for path, mode in modes.items() if path.is_dir()} == {0o700}
        assert {mode for path, mode in modes.items() if path.is_file()} == {0o600}
        assert {"wisp.db", "wisp.db-wal", "wisp.db-shm"} < {path.name for path in modes}


async def test_a_home_that_is_a_file_is_refused_in_one_sentence(tmp_path):
    (tmp_path / "home").write_text("")
    with pytest.raises(HomeError, match=r"home is in the way: .* must be a folder"):
        await Journal.open(tmp_path / "home", SETTINGS)


async def test_a_home_that_cannot_be_made_is_refused_in_one_sentence():
    with pytest.raises(HomeError, match="cannot be used as wisp's home"):
        await Journal.open(Path("/proc/wisp"), SETTINGS)


async def test_an_event_goes_to_audit_record_database_and_listeners_before_it_is_acknowledged(tmp_path):
    async with opened(tmp_path) as journal:
        heard: list[object] = []
        leave = journal.subscribe(heard.append)
        record = await begin(journal, "hello")
        event = await journal.record(record, Prompt(text="again"))
        assert heard[-1] == event
        (file,) = list_files(tmp_path / "audit")
        assert [parse_event(line) for _, line in read_lines(file.path)] == heard
        assert (event.seq, event.turn, event.thread, event.session) == (5, 2, record.id, journal.session)
        assert await journal.read_thread(record.id) == record
        leave()
        await journal.record(record, REPLY)
        assert heard[-1] == event


async def test_an_event_of_the_session_has_no_thread_turn_or_number(tmp_path):
    async with opened(tmp_path) as journal:
        event = await journal.record(None, SessionStart(versions={}, cwd="/"))
        assert (event.thread, event.turn, event.seq) == (None, None, None)
        assert await journal.event(event.id) == event


async def test_what_is_published_live_comes_in_order_with_the_events_and_is_not_written(tmp_path):
    async with opened(tmp_path) as journal:
        record = await begin(journal)
        heard: list[object] = []
        journal.subscribe(heard.append)
        live = Live("delta", record.id, 1, {"kind": "reply", "text": "a"})
        journal.publish(live)
        event = await journal.record(record, Prompt(text="p"))
        assert heard == [live, event]
        assert await journal.read_thread(record.id) == record


async def test_a_listener_that_raises_breaks_neither_the_writer_nor_the_other_listeners(tmp_path):
    async with opened(tmp_path) as journal:
        failures: list[object] = []
        asyncio.get_running_loop().set_exception_handler(lambda _, context: failures.append(context["exception"]))
        heard: list[object] = []
        journal.subscribe(lambda _: {}["nothing"])
        journal.subscribe(heard.append)
        record = await begin(journal, "p")
        assert len(heard) == len(failures) == record.last_seq


async def test_a_cancelled_caller_leaves_a_whole_event_or_none(tmp_path):
    async with opened(tmp_path) as journal:
        record = await begin(journal)
        for rounds in range(30):
            task = asyncio.ensure_future(journal.record(record, Prompt(text=str(rounds))))
            for _ in range(rounds % 10):
                await asyncio.sleep(0)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
        assert await journal.read_thread(record.id) == record == fold_audit(tmp_path, record.id)
        assert len(record.turns) >= 20


async def test_many_writers_at_once_keep_one_order(tmp_path):
    async with opened(tmp_path) as journal:
        records = [await begin(journal) for _ in range(3)]
        await asyncio.gather(*(journal.record(records[i % 3], Prompt(text=str(i))) for i in range(60)))
        for record in records:
            assert record.last_seq == 21
            assert await journal.read_thread(record.id) == record == fold_audit(tmp_path, record.id)


async def test_a_group_takes_effect_with_its_last_event_and_ends_with_one_that_names_the_change(tmp_path):
    async with opened(tmp_path) as journal:
        record = await begin(journal, "p", "q")
        events = await journal.record_group(record, [fact(), condensed(2, 3)])
        assert len({event.group for event in events} - {None}) == 1
        assert record.entries[2].content is None
        assert await journal.database.content(record.id, 2) == PromptContent("p")
        await journal.record_group(record, [ContextCompactionUndone(undone=events[-1].id)])
        assert record.entries[2].content == PromptContent("p")
        assert await journal.read_thread(record.id) == record
        with pytest.raises(ValueError, match="a group ends with"):
            await journal.record_group(record, [condensed(), fact()])


async def test_a_group_without_its_end_is_passed_over_and_its_numbers_are_not_given_again(tmp_path):
    async with opened(tmp_path) as journal:
        record = await begin(journal, "p")
        events = await journal.record_group(record, [fact(), condensed(2, 3)])
    (file,) = list_files(tmp_path / "audit")
    file.path.write_bytes(b"".join(line for _, line in read_lines(file.path) if events[-1].id.encode() not in line))
    (tmp_path / "wisp.db").unlink()
    async with opened(tmp_path) as journal:
        again = await journal.open_thread(record.id)
        assert (again.facts, again.active) == ({}, [1, 2, 3])
        assert again.last_seq == events[0].seq
        assert again == fold_audit(tmp_path, record.id)


async def test_a_lone_surrogate_that_slipped_in_costs_nothing_but_itself(tmp_path):
    async with opened(tmp_path) as journal:
        record = await begin(journal, "a\ud800b\x00\u2028")
        assert record.entries[2].content == PromptContent("a\ufffdb\x00\u2028")
        assert await journal.read_thread(record.id) == record == fold_audit(tmp_path, record.id)


async def test_half_a_surrogate_escaped_in_the_audit_by_another_hand_does_not_stop_a_rebuild(tmp_path):
    async with opened(tmp_path) as journal:
        record = await begin(journal, "MARK \U0001f600 MARK")
        session = journal.session
    path = tmp_path / "audit" / f"{session}.jsonl"
    path.write_bytes(path.read_bytes().replace(b"MARK", rb"\ud800"))
    await rebuild(tmp_path, SETTINGS)
    async with opened(tmp_path) as journal:
        again = await journal.open_thread(record.id)
        assert again.entries[2].content == PromptContent("\ufffd \U0001f600 \ufffd")


async def test_a_deleted_database_loses_nothing_and_the_thread_goes_on(tmp_path):
    async with opened(tmp_path) as journal:
        record = await begin(journal, "hello", "what did I say first?")
    (tmp_path / "wisp.db").unlink()
    async with opened(tmp_path) as journal:
        assert "made anew from the 7 events" in journal.notes[0]
        assert await journal.database.newest("/work") == record.id
        again = await journal.open_thread(record.id)
        assert again == record
        await journal.record(again, Prompt(text="third"))
        assert again.last_turn == 3


async def test_many_starts_at_once_on_a_home_without_its_database_make_the_same_one(tmp_path):
    async with opened(tmp_path) as journal:
        record = await begin(journal, *(f"p{n}" for n in range(30)))
    (tmp_path / "wisp.db").unlink()
    journals = await asyncio.gather(*(Journal.open(tmp_path, SETTINGS) for _ in range(4)))
    try:
        for journal in journals:
            assert await journal.read_thread(record.id) == record
        assert sum(len(journal.notes) for journal in journals) == 1
    finally:
        for journal in journals:
            await journal.close()


async def test_a_torn_last_line_is_cut_off_kept_beside_and_told(tmp_path):
    async with opened(tmp_path) as journal:
        record = await begin(journal, "p")
        session = journal.session
    with (tmp_path / "audit" / f"{session}.jsonl").open("ab") as file:
        file.write(b'{"id":"half')
    async with opened(tmp_path) as journal:
        assert f"it was moved to audit/{session}.torn" in journal.notes[0]
        assert (tmp_path / "audit" / f"{session}.torn").read_bytes() == b'{"id":"half\n'
        assert await journal.open_thread(record.id) == record
    async with opened(tmp_path) as journal:
        assert journal.notes == []


async def test_a_database_that_cannot_be_written_is_told_once_and_follows_when_it_can(tmp_path):
    async with opened(tmp_path) as journal:
        record = await begin(journal, "p")
        heard: list[object] = []
        async with full(journal):
            journal.subscribe(heard.append)
            for _ in range(3):
                await journal.record(record, Prompt(text="x" * 50_000))
        notes = [live for live in heard if isinstance(live, Live)]
        assert len(notes) == 1
        assert "the disk is full" in notes[0].data["text"]
        assert len(record.turns) == 4
        await journal.record(record, REPLY)
        assert await journal.read_thread(record.id) == record == fold_audit(tmp_path, record.id)


async def test_without_audit_nothing_is_written_but_the_database_and_it_is_the_record(tmp_path):
    async with opened(tmp_path, NO_AUDIT) as journal:
        record = await begin(journal, "p")
        await journal.record_group(record, [fact(), condensed(2, 3)])
        with pytest.raises(StorageError, match="the disk is full"):
            async with full(journal):
                await journal.record(record, Prompt(text="x" * 500_000))
        assert record.last_turn == 1
        await journal.record(record, Prompt(text="again"))
    assert list_files(tmp_path / "audit") == []
    with pytest.raises(HomeError, match="the audit is off"):
        await rebuild(tmp_path, NO_AUDIT)
    async with opened(tmp_path, NO_AUDIT) as journal:
        assert await journal.open_thread(record.id) == record


async def test_rebuilding_keeps_the_desk_and_is_refused_while_a_wisp_lives_or_without_an_audit(tmp_path):
    with pytest.raises(HomeError, match="holds no events"):
        await rebuild(tmp_path, SETTINGS)
    async with opened(tmp_path) as journal:
        record = await begin(journal, "p")
        await Desk(journal.database).history_add("typed before")
        with pytest.raises(HomeError, match="another wisp is using"):
            await rebuild(tmp_path, SETTINGS)
    assert "made anew from 4 events" in (await rebuild(tmp_path, SETTINGS))[-1]
    async with opened(tmp_path) as journal:
        assert await journal.open_thread(record.id) == record
        assert await Desk(journal.database).history(5) == ["typed before"]


async def test_a_damaged_database_is_named_with_its_cure_and_cured(tmp_path):
    async with opened(tmp_path) as journal:
        record = await begin(journal, "p")
    (tmp_path / "wisp.db").write_bytes(b"no database at all" * 100)
    with pytest.raises(StorageError, match="is damaged") as told:
        await Journal.open(tmp_path, SETTINGS)
    assert "`wisp doctor --rebuild`" in told.value.hint
    await rebuild(tmp_path, SETTINGS)
    async with opened(tmp_path) as journal:
        assert await journal.open_thread(record.id) == record


async def test_a_thread_is_written_by_one_session_and_read_by_any(tmp_path):
    async with opened(tmp_path) as first, opened(tmp_path) as second:
        record = await begin(first, "p")
        with pytest.raises(ThreadLockedError, match=rf"process {os.getpid()}"):
            await second.open_thread(record.id)
        assert await second.read_thread(record.id) == record
        await first.leave_thread(record.id)
        assert await second.open_thread(record.id) == record


async def test_a_thread_that_is_not_there_or_deleted_cannot_be_opened_and_is_not_left_locked(tmp_path):
    async with opened(tmp_path) as journal:
        record = await begin(journal, "p")
        await journal.record(record, ThreadDeleted())
        assert await journal.database.newest("/work") is None
        for thread in ("nothing", record.id):
            await journal.leave_thread(thread)
            with pytest.raises(ResumeError, match=f"there is no conversation {thread}"):
                await journal.open_thread(thread)
        assert await journal.database.fetch("SELECT * FROM locks") == []


async def test_the_newest_thread_of_a_directory_is_the_one_with_a_prompt_that_was_written_last(tmp_path):
    async with opened(tmp_path) as journal:
        first, second = await begin(journal, "one"), await begin(journal, "two")
        await begin(journal)
        before = now()
        while now() == before:  # the clock that orders them counts milliseconds
            pass
        await journal.record(first, Prompt(text="three"))
        assert await journal.database.newest("/work") == first.id
        assert await journal.database.newest("/other") is None
        rows = await journal.database.threads(10)
        assert [(row.id, row.title, row.turns) for row in rows] == [(first.id, "one", 2), (second.id, "two", 1)]
