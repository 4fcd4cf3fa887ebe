"""`wisp.db`: one writer that projects what the fold says, one reader that gives records back."""

import asyncio
import os
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import aiosqlite

from wisp_core.records import Content, EntryKind, EntryState, Plan, ThreadRecord
from wisp_core.store import rows
from wisp_core.store.changes import Change
from wisp_core.store.connect import Writer, open_reader, open_writer, telling
from wisp_core.store.migrations import STEPS, Step

_ACTIVE, _CALL = EntryState.ACTIVE, EntryKind.TOOL_CALL


@dataclass(frozen=True, slots=True)
class Indexed:
    """Where an event's line stands: file name in the audit's folder, offset in bytes."""

    id: str
    file: str
    offset: int


@dataclass(frozen=True, slots=True)
class ThreadRow:
    """A thread as a list shows it: `updated` is RFC 3339, `turns` counts its prompts."""

    id: str
    title: str
    cwd: str
    updated: str
    turns: int


class Database:
    """The projection of every thread, and the tables that are no part of a record."""

    def __init__(self, path: Path, *, writer: Writer, reader: aiosqlite.Connection) -> None:
        self.path = path
        self._writer = writer
        self._reader = reader
        self._turn = asyncio.Lock()

    @classmethod
    async def open(cls, path: Path, *, steps: Sequence[Step] = STEPS) -> "Database":
        """Open the file, made and migrated where due.

        Raises:
            NewerHomeError: a newer wisp wrote it.
            StorageError: it is damaged, or cannot be made or written.
        """
        writer = await open_writer(path, steps)
        try:
            reader = await open_reader(path)
        except BaseException:
            await writer.close()
            raise
        return cls(path, writer=writer, reader=reader)

    async def close(self) -> None:
        """Close the reader, then the writer, so that SQLite takes its side files away."""
        await self._reader.close()
        async with self._turn:
            await self._writer.close()

    @asynccontextmanager
    async def transaction(self) -> AsyncIterator[aiosqlite.Connection]:
        """Give the writer inside one transaction: all or none, also when it is cancelled.

        Raises:
            StorageError: it could not be written.
        """
        async with self._turn:
            with telling(self.path):
                await self._writer.execute("BEGIN IMMEDIATE")
                try:
                    yield self._writer
                    await self._writer.execute("COMMIT")
                except BaseException:
                    # SQLite has already rolled back after some errors.
                    if self._writer.in_transaction:
                        await asyncio.shield(self._writer.execute("ROLLBACK"))
                    raise

    @asynccontextmanager
    async def attached(self, other: Path) -> AsyncIterator[aiosqlite.Connection]:
        """Give the writer inside one transaction, with another database's tables beside as `other`.

        Raises:
            StorageError: the other cannot be read; nothing was written.
        """
        with telling(other):
            await self._writer.execute("ATTACH DATABASE ? AS other", (str(other),))
            try:
                async with self.transaction() as writer:
                    yield writer
            finally:
                await self._writer.execute("DETACH DATABASE other")

    async def fetch(self, sql: str, *values: Any) -> list[Any]:
        """Return the rows that a SELECT gives.

        Raises:
            StorageError: the file is damaged or cannot be read.
        """
        with telling(self.path):
            return list(await self._reader.execute_fetchall(sql, values))

    async def project(
        self,
        record: ThreadRecord | None,
        changes: Iterable[Change],
        *,
        events: Sequence[Indexed] = (),
        positions: Mapping[str, int] | None = None,
    ) -> None:
        """Write in one transaction what a thread's events changed, where they stand, and how far files are projected.

        Raises:
            StorageError: nothing of it was written.
        """
        statements = [_place(name, position) for name, position in (positions or {}).items()]
        statements += [_mention(name) for name in sorted({event.file for event in events} - set(positions or ()))]
        statements += [_index(event) for event in events]
        if record is not None:
            statements.append(rows.put_thread(record))
            puts = [put for change in changes for put in rows.put_change(record.id, change)]
            # Those of one table stay in order and go together, which is what makes a replay fast.
            statements += sorted(puts, key=lambda put: rows.table_of(put[0]))
        async with self._turn:
            with telling(self.path):
                await self._writer.write(statements)

    async def load(self, thread: str) -> ThreadRecord | None:
        """Return a thread's record as its events left it, None where there is no such thread.

        Contents are read of the entries that are not dropped, plans of the latest turn that has any.
        """
        found = await self.fetch(f"SELECT {rows.THREAD_COLUMNS} FROM threads WHERE id = ?", thread)
        if not found:
            return None
        record = rows.thread_of(thread, found[0])
        versions = await self._of(thread, "content", table="instructions", order="version")
        record.instructions = tuple(rows.load_instructions(content) for (content,) in versions)
        shown = "CASE WHEN state = 'dropped' THEN NULL ELSE content END"
        for row in await self._of(thread, f"{rows.ENTRY_COLUMNS}, {shown}", table="entries", order="id"):
            entry = rows.entry_of(row)
            record.entries[entry.id] = entry
            if entry.state is _ACTIVE:
                record.active.append(entry.id)
            if entry.kind is _CALL:
                record.calls[entry.wire_id] = entry.id
        turns = [rows.turn_of(row) for row in await self._of(thread, rows.TURN_COLUMNS, table="turns", order="number")]
        record.turns = {turn.number: turn for turn in turns}
        facts = [
            rows.fact_of(row, thread) for row in await self._of(thread, rows.FACT_COLUMNS, table="facts", order="rowid")
        ]
        record.facts = {fact.id: fact for fact in facts}
        summaries = await self._of(thread, rows.SUMMARY_COLUMNS, table="summaries", order="rowid")
        record.summaries = tuple(rows.summary_of(row) for row in summaries)
        latest = await self.fetch("SELECT max(turn) FROM plans WHERE thread = ?", thread)
        if latest[0][0] is not None:
            record.plans = {latest[0][0]: await self.plans(thread, latest[0][0])}
        return record

    async def _of(self, thread: str, columns: str, *, table: str, order: str) -> list[Any]:
        return await self.fetch(f"SELECT {columns} FROM {table} WHERE thread = ? ORDER BY {order}", thread)

    async def content(self, thread: str, entry: int) -> Content | None:
        """Return the content of one entry, dropped ones included."""
        return (await self.contents(thread, (entry,))).get(entry)

    async def contents(self, thread: str, entries: Sequence[int]) -> dict[int, Content]:
        """Return the contents of entries by their ids, dropped ones included."""
        sql = "SELECT kind, content FROM entries WHERE thread = ? AND id = ? AND content IS NOT NULL"
        found: dict[int, Content] = {}
        for entry in entries:
            for kind, content in await self.fetch(sql, thread, entry):
                found[entry] = rows.load_content(EntryKind(kind), content)
        return found

    async def plans(self, thread: str, turn: int) -> tuple[Plan, ...]:
        """Return the plans of one turn's requests, in order."""
        sql = f"SELECT {rows.PLAN_COLUMNS} FROM plans WHERE thread = ? AND turn = ? ORDER BY rowid"
        return tuple(rows.plan_of(row) for row in await self.fetch(sql, thread, turn))

    async def threads(self, limit: int, *, cwd: str | None = None) -> list[ThreadRow]:
        """Return the threads that have a prompt and are not deleted, of one directory or of all, newest first."""
        where = "deleted = 0 AND last_turn > 0" + ("" if cwd is None else " AND cwd = ?")
        sql = f"SELECT id, title, cwd, updated, last_turn FROM threads WHERE {where} ORDER BY updated DESC, rowid DESC"
        values = () if cwd is None else (cwd,)
        return [ThreadRow(*row) for row in await self.fetch(f"{sql} LIMIT ?", *values, limit)]

    async def newest(self, cwd: str) -> str | None:
        """Return the id of the directory's newest thread (A24)."""
        found = await self.threads(1, cwd=cwd)
        return found[0].id if found else None

    async def place(self, event: str) -> tuple[str, int] | None:
        """Return file name and offset of an event's line in the audit, None where it is not known."""
        sql = "SELECT name, offset FROM events JOIN files ON files.id = events.file WHERE events.id = ?"
        found = await self.fetch(sql, event)
        return (str(found[0][0]), int(found[0][1])) if found else None

    async def positions(self) -> dict[str, int]:
        """Return up to which byte each file of the audit is projected."""
        return {str(name): int(position) for name, position in await self.fetch("SELECT name, position FROM files")}


def remove_files(path: Path) -> None:
    """Take a closed database's file and side files away, whichever there are."""
    for suffix in ("-wal", "-shm", ""):
        Path(f"{path}{suffix}").unlink(missing_ok=True)


def replace_file(path: Path, fresh: Path) -> None:
    """Put a closed, freshly built database in the place of `path`; its old side files must not be read into it."""
    for suffix in ("-wal", "-shm"):
        Path(f"{path}{suffix}").unlink(missing_ok=True)
    os.replace(fresh, path)


def _place(name: str, position: int) -> rows.Statement:
    return (
        "INSERT INTO files (name, position) VALUES (?, ?) "
        "ON CONFLICT (name) DO UPDATE SET position = max(position, excluded.position)",
        (name, position),
    )


def _mention(name: str) -> rows.Statement:
    return "INSERT INTO files (name, position) VALUES (?, 0) ON CONFLICT (name) DO NOTHING", (name,)


def _index(event: Indexed) -> rows.Statement:
    return (
        "INSERT OR REPLACE INTO events (id, file, offset) VALUES (?, (SELECT id FROM files WHERE name = ?), ?)",
        (event.id, event.file, event.offset),
    )
