"""`wisp.db`: one writer that projects what the fold says, one reader that gives records back."""

import asyncio
import json
import os
import sqlite3
from collections.abc import AsyncIterator, Callable, Collection, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Concatenate, ParamSpec, TypeVar

import aiosqlite

from wisp_core.records import Content, EntryKind, Plan, ThreadRecord
from wisp_core.requests import FoundPassage, TurnChanges
from wisp_core.store import rows
from wisp_core.store.changes import Change
from wisp_core.store.connect import Connection, Writer, open_reader, open_writer, telling
from wisp_core.store.migrations import STEPS, Step
from wisp_core.store.opening import load_plans, load_thread
from wisp_core.store.recall import LookedUp, look_up
from wisp_core.store.search import ThreadRow, find_passages, list_changes, list_threads

__all__ = ["Database", "Indexed", "ThreadRow", "remove_files", "replace_file"]

P = ParamSpec("P")
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Indexed:
    """Where an event's line stands: file name in the audit's folder, offset in bytes."""

    id: str
    file: str
    offset: int


class Database:
    """The projection of every thread, and the tables that are no part of a record."""

    def __init__(self, path: Path, *, writer: Writer, reader: Connection) -> None:
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
                try:
                    await self._writer.execute("BEGIN IMMEDIATE")
                    yield self._writer
                    await self._writer.execute("COMMIT")
                except BaseException:
                    # Who is cancelled while it waits has a statement that runs yet, which this one stands behind.
                    await asyncio.shield(self._writer.undo())
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
        return await self._visit(load_thread, thread)

    async def _visit(
        self, work: Callable[Concatenate[sqlite3.Connection, P], T], *args: P.args, **named: P.kwargs
    ) -> T:
        with telling(self.path):
            return await self._reader.visit(work, *args, **named)

    async def content(self, thread: str, entry: int) -> Content | None:
        """Return the content of one entry, dropped ones included."""
        return (await self.contents(thread, (entry,))).get(entry)

    async def contents(self, thread: str, entries: Sequence[int]) -> dict[int, Content]:
        """Return the contents of entries by their ids, dropped ones included."""
        sql = (
            "SELECT id, kind, content FROM entries WHERE thread = ? AND content IS NOT NULL "
            "AND id IN (SELECT value FROM json_each(?))"
        )
        found = await self.fetch(sql, thread, json.dumps(list(entries)))
        return {id: rows.load_content(EntryKind(kind), content) for id, kind, content in found}

    async def plans(self, thread: str, turn: int | None = None) -> tuple[Plan, ...]:
        """Return the plans of one turn's requests, of all where it is None, in order."""
        return await self._visit(load_plans, thread, turn=turn)

    async def turn_changes(self, thread: str) -> list[TurnChanges]:
        """Return what each turn changed, in order, failed ones included."""
        return await self._visit(list_changes, thread)

    async def search(self, thread: str | None, text: str, *, limit: int) -> list[FoundPassage]:
        """Return the passages that hold every word of `text`, newest first, of one thread or of all (A15).

        The last word may be the start of one. Whatever is typed is words; where there is none, nothing is found.
        """
        return await self._visit(find_passages, text, thread=thread, limit=limit)

    async def look_up(
        self, thread: str, starts: Sequence[str], *, own: int, literal: Collection[int], limit: int
    ) -> LookedUp:
        """Return the passages of a thread that hold words that begin so, none of them `literal`.

        There are at most `limit` for all of the words, and for the first `own` of them.
        """
        return await self._visit(look_up, thread, starts=starts, own=own, literal=literal, limit=limit)

    async def threads(self, limit: int, *, cwd: str | None = None, text: str = "") -> list[ThreadRow]:
        """Return the threads that have a prompt and are not deleted, of one directory or of all, newest first.

        With a `text` those that hold its words, in the title or in what was said.
        """
        return await self._visit(list_threads, limit, cwd=cwd, text=text)

    async def newest(self, cwd: str) -> str | None:
        """Return the id of the directory's newest thread (A24)."""
        found = await self.threads(1, cwd=cwd)
        return found[0].id if found else None

    async def place(self, event: str) -> tuple[str, int] | None:
        """Return file name and offset of an event's line in the audit, None where it is not known."""
        sql = "SELECT name, offset FROM events JOIN files ON files.id = events.file WHERE events.id = ?"
        found = await self.fetch(sql, event)
        return (str(found[0][0]), int(found[0][1])) if found else None

    async def sessions_of(self, events: Sequence[str]) -> list[str]:
        """Return the sessions whose audit holds the events, in order."""
        sql = (
            "SELECT DISTINCT name FROM files WHERE id IN "
            "(SELECT file FROM events WHERE id IN (SELECT value FROM json_each(?)))"
        )
        # A file is named after its session, with a number where it is not the first.
        return sorted({str(name).split(".")[0] for (name,) in await self.fetch(sql, json.dumps(list(events)))})

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
