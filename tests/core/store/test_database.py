"""`wisp.db`: its modes and versions, all or none, and what a record costs to read (A13, A14)."""

import asyncio
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from tests.core.store.event_streams import play
from wisp_core.errors import NewerHomeError, StorageError
from wisp_core.journal import Journal
from wisp_core.records import EntryState, PromptContent, ThreadRecord
from wisp_core.settings import Settings
from wisp_core.store.changes import Cleared, EntryPut
from wisp_core.store.database import Database
from wisp_core.store.migrations import STEPS

STORED = Path(__file__).with_name("version-1.sql")
OPS = [
    *(("prompt", 0, "first"), ("compose", 1, ""), ("call", 1, "let me"), ("run", 0, ""), ("return", 1, "out")),
    *(("respond", 1, "done"), ("end", 0, ""), ("fact", 1, "v"), ("summary", 1, "s"), ("segments", 1, "new")),
    *(("prompt", 0, "second"), ("compose", 2, ""), ("respond", 1, "two"), ("condense", 1, ""), ("end", 0, "")),
]


def _stored(path: Path, user_version: int | None = None) -> None:
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(STORED.read_text())
        if user_version is not None:
            connection.execute(f"PRAGMA user_version={user_version}")


async def test_a_database_that_is_closed_by_now_says_so_in_a_sentence(tmp_path: Path) -> None:
    database = await Database.open(tmp_path / "wisp.db")
    await database.close()
    with pytest.raises(StorageError, match="closed by now"):
        await database.fetch("SELECT 1")
    with pytest.raises(StorageError, match="closed by now"):
        await database.threads(10)
    with pytest.raises(StorageError, match="closed by now"):
        async with database.transaction():
            pass


async def _played(home: Path) -> ThreadRecord:
    journal = await Journal.open(home, Settings())
    try:
        record = await journal.new_thread()
        await play(journal, record, ops=OPS)
    finally:
        await journal.close()
    return record


async def test_a_stored_database_of_the_first_version_opens_and_gives_its_thread(tmp_path):
    _stored(tmp_path / "wisp.db")
    database = await Database.open(tmp_path / "wisp.db")
    try:
        (row,) = await database.threads(10)
        record = await database.load(row.id)
        assert record is not None
        assert (row.title, row.turns, record.last_turn) == ("first", 2, 2)
        assert {entry.state for entry in record.entries.values()} == {EntryState.ACTIVE, EntryState.DROPPED}
        assert await database.content(row.id, 2) == PromptContent("first")
        assert (len(record.facts), len(record.summaries), len(record.instructions)) == (1, 1, 2)
        assert (record.reports, record.condensations) == ({}, 0)
        assert {(plan.model, plan.window, plan.bytes, plan.reported) for plan in await database.plans(row.id)} == {
            ("", None, 0, None)
        }
    finally:
        await database.close()


async def test_what_a_stored_database_of_the_first_version_holds_is_found_and_leaves_the_index_with_its_thread(
    tmp_path,
):
    _stored(tmp_path / "wisp.db")
    database = await Database.open(tmp_path / "wisp.db")
    try:
        (row,) = await database.threads(10)
        said = {
            found.kind: found.excerpt
            for word in ("first", "let", "out")
            for found in await database.search(None, word, limit=9)
        }
        assert said == {
            "prompt": "\ue000first\ue001",
            "reply": "\ue000let\ue001 me",
            "tool_output": "\ue000out\ue001",
        }
        (size,) = await database.fetch("SELECT sum(length(CAST(content AS BLOB))) FROM entries")
        assert row.bytes == size[0]
        record = await database.load(row.id)
        assert record is not None
        await database.project(record, [Cleared()])
        assert await database.fetch("SELECT rowid FROM passages WHERE passages MATCH 'first OR let OR out'") == []
    finally:
        await database.close()


async def test_a_later_step_leads_a_stored_database_on_and_keeps_what_it_holds(tmp_path):
    _stored(tmp_path / "wisp.db")
    steps = (*STEPS, ("ALTER TABLE threads ADD COLUMN colour TEXT NOT NULL DEFAULT 'blue'",))
    database = await Database.open(tmp_path / "wisp.db", steps=steps)
    try:
        assert [tuple(row) for row in await database.fetch("SELECT title, colour FROM threads")] == [("first", "blue")]
        assert (await database.fetch("PRAGMA user_version"))[0][0] == len(steps)
    finally:
        await database.close()


async def test_a_step_that_fails_leaves_the_stored_database_as_it_was(tmp_path):
    _stored(tmp_path / "wisp.db")
    steps = (*STEPS, ("CREATE TABLE fresh (x)", "INSERT INTO nothing VALUES (1)"))
    with pytest.raises(StorageError):
        await Database.open(tmp_path / "wisp.db", steps=steps)
    database = await Database.open(tmp_path / "wisp.db")
    try:
        assert await database.fetch("SELECT 1 FROM sqlite_master WHERE name = 'fresh'") == []
    finally:
        await database.close()


async def test_a_newer_database_is_refused_and_touched_by_nothing(tmp_path):
    _stored(tmp_path / "wisp.db", user_version=len(STEPS) + 1)
    before = (tmp_path / "wisp.db").read_bytes(), (tmp_path / "wisp.db").stat().st_mtime_ns
    with pytest.raises(NewerHomeError, match="newer wisp"):
        await Database.open(tmp_path / "wisp.db")
    assert before == ((tmp_path / "wisp.db").read_bytes(), (tmp_path / "wisp.db").stat().st_mtime_ns)
    assert [path.name for path in tmp_path.iterdir()] == ["wisp.db"]


async def test_a_database_made_by_a_newer_wisp_that_still_runs_is_refused_too(tmp_path):
    database = await Database.open(tmp_path / "wisp.db", steps=(*STEPS, ("CREATE TABLE fresh (x)",)))
    try:
        with pytest.raises(NewerHomeError):
            await Database.open(tmp_path / "wisp.db")
    finally:
        await database.close()


async def test_two_first_starts_at_once_make_one_database(tmp_path):
    found = await asyncio.gather(*(Database.open(tmp_path / "wisp.db") for _ in range(4)))
    for database in found:
        await database.close()
    assert [path.name for path in tmp_path.iterdir()] == ["wisp.db"]


async def test_the_database_is_used_as_the_specification_says(tmp_path):
    database = await Database.open(tmp_path / "wisp.db")
    try:
        async with database.transaction() as writer:
            found = {
                name: next(iter(await writer.execute_fetchall(f"PRAGMA {name}")))[0]
                for name in ("journal_mode", "synchronous", "foreign_keys", "busy_timeout")
            }
    finally:
        await database.close()
    assert found == {"journal_mode": "wal", "synchronous": 1, "foreign_keys": 1, "busy_timeout": 5000}


async def test_a_transaction_that_is_cancelled_or_fails_leaves_nothing(tmp_path):
    database = await Database.open(tmp_path / "wisp.db")
    try:
        began = asyncio.Event()

        async def write() -> None:
            async with database.transaction() as writer:
                await writer.execute("INSERT INTO drafts VALUES ('a', 'b')")
                began.set()
                await asyncio.Event().wait()

        task = asyncio.ensure_future(write())
        await began.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

        async def fail() -> None:
            async with database.transaction() as writer:
                await writer.execute("INSERT INTO drafts VALUES ('c', 'd')")
                await writer.execute("INSERT INTO nothing VALUES (1)")

        with pytest.raises(StorageError):
            await fail()
        assert await database.fetch("SELECT * FROM drafts") == []
    finally:
        await database.close()


async def test_a_transaction_that_is_cancelled_at_any_instant_leaves_the_writer_free(tmp_path):
    database = await Database.open(tmp_path / "wisp.db")
    try:

        async def write() -> None:
            async with database.transaction() as writer:
                await writer.execute("INSERT OR REPLACE INTO drafts VALUES ('a', 'b')")

        for turns in range(40):
            task = asyncio.ensure_future(write())
            for _ in range(turns):
                await asyncio.sleep(0)
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
            await write()
    finally:
        await database.close()


async def test_a_projection_is_all_or_none(tmp_path):
    record = await _played(tmp_path)
    database = await Database.open(tmp_path / "wisp.db")
    try:
        stranger = ThreadRecord("x", title="x")
        broken = EntryPut(record.entries[1])
        object.__setattr__(broken, "entry", None)
        with pytest.raises(AttributeError):
            await database.project(stranger, [broken])
        assert await database.load("x") is None
    finally:
        await database.close()


async def test_opening_a_thread_never_decodes_the_content_of_what_was_dropped(tmp_path):
    record = await _played(tmp_path)
    dropped = [entry.id for entry in record.entries.values() if entry.state is EntryState.DROPPED]
    assert dropped
    with closing(sqlite3.connect(tmp_path / "wisp.db")) as connection:
        connection.execute("UPDATE entries SET content = 'no json' WHERE state = 'dropped'")
        connection.commit()
    database = await Database.open(tmp_path / "wisp.db")
    try:
        assert await database.load(record.id) == record
    finally:
        await database.close()


async def test_plans_of_earlier_turns_are_read_when_they_are_asked_for(tmp_path):
    record = await _played(tmp_path)
    database = await Database.open(tmp_path / "wisp.db")
    try:
        assert list(record.plans) == [2]
        assert [plan.settings for plan in await database.plans(record.id, 1)] == [{"n": 1}, {"n": 1}]
        assert await database.plans(record.id, 2) == record.plans[2]
    finally:
        await database.close()
