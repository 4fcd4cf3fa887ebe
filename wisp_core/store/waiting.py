"""What waits for the person in any process of a home, and what was answered: the table `waiting`, no part of a record.

A row is laid by whoever asks. Any process answers it, once; the one that writes the thread takes it away and records
what was answered.
"""

import json
import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil

from wisp_core.events import now
from wisp_core.records import JsonObject
from wisp_core.redaction import NO_SECRETS, Redaction
from wisp_core.store.database import Database
from wisp_core.store.living import lives

FACT = "fact"
"""The kind of row that is about a fact: of no process, it stays until the fact's thread records the answer."""

_COLUMNS = "id, thread, session, pid, started, kind, target, request, time, answer"
_LAY = (
    "INSERT INTO waiting (id, thread, session, pid, started, kind, target, request, time, announced) "
    "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, 1) ON CONFLICT (id) DO NOTHING"
)
_ORDER = (
    "INSERT INTO waiting (id, thread, session, pid, started, kind, target, request, time, answer) "
    f"VALUES (?1, ?2, ?3, ?4, ?5, '{FACT}', ?1, ?6, ?7, ?8) "
    "ON CONFLICT (id) DO UPDATE SET answer = excluded.answer WHERE answer IS NULL"
)


@dataclass(frozen=True, slots=True)
class WaitingRow:
    """One row: what is asked by the process `pid` (begun at `started`), and the answer, None while it is open.

    `target` is a call's or a fact's id, `time` RFC 3339.
    """

    id: str
    thread: str
    session: str
    pid: int
    started: float
    kind: str
    target: str
    request: JsonObject
    time: str
    answer: JsonObject | None

    @property
    def lives(self) -> bool:
        """Whether the process that asked still runs."""
        return lives(self.pid, self.started)


@dataclass(frozen=True, slots=True)
class ThreadHead:
    """What a list says of the thread that a row is of."""

    title: str = ""
    model: str = ""
    deleted: bool = False


class WaitingTable:
    """The table of one home as one session uses it; nothing with a secret is written."""

    def __init__(self, database: Database, session: str, *, redaction: Redaction = NO_SECRETS) -> None:
        self._database = database
        self._redaction = redaction
        self._session = session
        self._owner = (session, os.getpid(), psutil.Process().create_time())

    async def lay(self, id: str, *, thread: str, kind: str, target: str, request: JsonObject) -> None:
        """Lay a request out; one that lies there under this id stays. Whoever lays it announces it.

        Raises:
            StorageError: it could not be written.
        """
        async with self._database.transaction() as writer:
            await writer.execute(_LAY, (id, thread, *self._owner, kind, target, self._json(request), now()))

    async def answer(self, id: str, answer: JsonObject) -> bool:
        """Write the answer to an open row; False where it is gone, or was answered already."""
        async with self._database.transaction() as writer:
            sql = "UPDATE waiting SET answer = ? WHERE id = ? AND answer IS NULL"
            return (await writer.execute(sql, (self._json(answer), id))).rowcount > 0

    async def order(self, fact: str, *, thread: str, request: JsonObject, answer: JsonObject) -> bool:
        """Write what is to become of a fact, for the process that writes its thread; False where that is said already.

        Raises:
            StorageError: it could not be written.
        """
        values = (fact, thread, *self._owner, self._json(request), now(), self._json(answer))
        async with self._database.transaction() as writer:
            return (await writer.execute(_ORDER, values)).rowcount > 0

    async def take(self, id: str) -> JsonObject | None:
        """Take a row away and return its answer, None where it had none; nobody can answer it any more.

        Raises:
            StorageError: it could not be written.
        """
        async with self._database.transaction() as writer:
            found = list(await writer.execute_fetchall("SELECT answer FROM waiting WHERE id = ?", (id,)))
            await writer.execute("DELETE FROM waiting WHERE id = ?", (id,))
        return None if not found or found[0][0] is None else json.loads(found[0][0])

    async def find(self, id: str) -> WaitingRow | None:
        """Return the row of this id."""
        found = await self._database.fetch(f"SELECT {_COLUMNS} FROM waiting WHERE id = ?", id)
        return _row(found[0]) if found else None

    async def rows(self) -> list[WaitingRow]:
        """Return every row, newest first."""
        found = await self._database.fetch(f"SELECT {_COLUMNS} FROM waiting ORDER BY time DESC, rowid DESC")
        return [_row(row) for row in found]

    async def answered(self) -> list[WaitingRow]:
        """Return the rows that are answered and not taken yet, oldest first."""
        sql = f"SELECT {_COLUMNS} FROM waiting WHERE answer IS NOT NULL ORDER BY rowid"
        return [_row(row) for row in await self._database.fetch(sql)]

    async def threads(self, ids: Iterable[str]) -> dict[str, ThreadHead]:
        """Return what is known of threads by their ids, the deleted ones included."""
        sql = "SELECT id, title, model, deleted FROM threads WHERE id IN (SELECT value FROM json_each(?))"
        found = await self._database.fetch(sql, json.dumps(sorted(set(ids))))
        return {id: ThreadHead(title, model, bool(deleted)) for id, title, model, deleted in found}

    async def unannounced(self) -> list[WaitingRow]:
        """Return the open rows that another process is to announce, oldest first."""
        sql = f"SELECT {_COLUMNS} FROM waiting WHERE answer IS NULL AND announced = 0 ORDER BY rowid"
        return [_row(row) for row in await self._database.fetch(sql)]

    async def set_announced(self, id: str, *, announced: bool) -> bool:
        """Say whether a row was announced; False where that was said before: of several processes one announces."""
        async with self._database.transaction() as writer:
            sql = "UPDATE waiting SET announced = ? WHERE id = ? AND announced <> ?"
            return (await writer.execute(sql, (int(announced), id, int(announced)))).rowcount > 0

    async def version(self) -> int:
        """Return a number that is another one after any process has written to the database; costs next to nothing."""
        return int((await self._database.fetch("PRAGMA data_version"))[0][0])

    async def sweep(self) -> None:
        """Take away what processes asked that are gone: nobody waits for the answer."""
        sql = f"SELECT {_COLUMNS} FROM waiting WHERE kind <> '{FACT}'"
        gone = [row.id for row in map(_row, await self._database.fetch(sql)) if not row.lives]
        if gone:
            async with self._database.transaction() as writer:
                await writer.executemany("DELETE FROM waiting WHERE id = ?", [(id,) for id in gone])

    def _json(self, value: JsonObject) -> str:
        return json.dumps(self._redaction.value(value))


async def carry_over(database: Database, old: Path) -> None:
    """Copy what waits for the owners of facts from another database file; no process waits for the rest any more.

    Raises:
        StorageError: the other file is damaged or of another shape; nothing was copied.
    """
    columns = f"{_COLUMNS}, announced"
    async with database.attached(old) as writer:
        sql = f"INSERT INTO main.waiting ({columns}) SELECT {columns} FROM other.waiting WHERE kind = '{FACT}'"
        await writer.execute(sql)


def _row(row: Any) -> WaitingRow:
    id, thread, session, pid, started, kind, target, request, time, answer = row
    return WaitingRow(
        id,
        thread,
        session,
        pid,
        started,
        kind,
        target,
        request=json.loads(request),
        time=time,
        answer=None if answer is None else json.loads(answer),
    )
