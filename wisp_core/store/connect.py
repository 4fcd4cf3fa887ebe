"""Opening `wisp.db`: its modes, its refusal when it is newer or damaged, its migrations, and SQLite's errors told."""

import asyncio
import os
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import groupby
from pathlib import Path
from typing import Concatenate, ParamSpec, TypeVar
from urllib.parse import quote

import aiosqlite

from wisp_core.errors import HomeError, NewerHomeError, StorageError
from wisp_core.store.migrations import STEPS, Step
from wisp_core.store.rows import Statement
from wisp_core.store.words import spaced

P = ParamSpec("P")
T = TypeVar("T")

BUSY_SECONDS = 5.0
_RETRY_SECONDS = 0.02
_MAGIC = b"SQLite format 3\x00"
_VERSION_AT = 60  # bytes from the start of the file, four of them, big-endian: user_version
_CLOSED = frozenset({"Connection closed", "no active connection"})  # what aiosqlite says with a ValueError
_REBUILD = "run `wisp doctor --rebuild` to make it anew from the audit"


class Connection(aiosqlite.Connection):
    """A connection whose work is done in one visit to its thread: a visit costs as much as a small transaction."""

    def __init__(self, uri: str) -> None:
        super().__init__(lambda: sqlite3.connect(uri, uri=True, isolation_level=None), iter_chunk_size=1)
        # The thread does not keep the process: after a fault nobody closes it. What was committed is safe, and what
        # was not is in the audit.
        self._thread.daemon = True

    async def visit(self, work: Callable[Concatenate[sqlite3.Connection, P], T], *args: P.args, **named: P.kwargs) -> T:
        """Return what `work` makes of the connection, in the connection's own thread."""
        done: T = await self._execute(work, self._conn, *args, **named)  # type: ignore[no-untyped-call]  # for its heirs
        return done


class Writer(Connection):
    """The connection that writes."""

    async def write(self, statements: Sequence[Statement]) -> None:
        """Run statements in one transaction, all or none, also when the caller is cancelled.

        What ran there before must have been read to its end, or SQLite refuses the commit.
        """
        await self.visit(_write, statements)

    async def undo(self) -> None:
        """Roll back the open transaction, where there is one once everything before has run."""
        await self.visit(_undo)


def _undo(connection: sqlite3.Connection) -> None:
    # SQLite has already rolled back after some errors.
    if connection.in_transaction:
        connection.execute("ROLLBACK")


def _write(connection: sqlite3.Connection, statements: Sequence[Statement]) -> None:
    connection.execute("BEGIN IMMEDIATE")
    try:
        for sql, same in groupby(statements, lambda statement: statement[0]):
            connection.executemany(sql, [values for _, values in same])
        connection.execute("COMMIT")
    except BaseException:
        _undo(connection)
        raise


@contextmanager
def telling(path: Path) -> Iterator[None]:
    """Turn what SQLite raises inside into one sentence about `path`.

    Raises:
        StorageError: the disk is full, the file is read-only, busy or damaged, or closed by now.
    """
    try:
        yield
    except sqlite3.Error as error:
        raise _told(path, error) from error
    except ValueError as error:
        if str(error) not in _CLOSED:
            raise
        raise StorageError(f"{path} is closed by now: wisp is leaving") from error


def _told(path: Path, error: sqlite3.Error) -> StorageError:
    text = str(error)
    if "full" in text:
        return StorageError(f"the disk is full: {path} could not be written", "free some space and try again")
    if "readonly" in text or "read-only" in text:
        return StorageError(f"{path} is read-only", "make it writable or set WISP_HOME to another folder")
    if "locked" in text or "busy" in text:
        return StorageError(f"{path} was held by another process for {BUSY_SECONDS:.0f} seconds", "try again")
    if "no such module" in text:
        return StorageError(f"{path} needs SQLite with FTS5, which this Python has not ({text})", "use another Python")
    if "malformed" in text or "not a database" in text or "no such" in text:
        return StorageError(f"{path} is damaged ({text})", _REBUILD)
    return StorageError(f"{path} could not be used ({text})", "see whether its disk is full or failing")


async def open_writer(path: Path, steps: Sequence[Step] = STEPS) -> Writer:
    """Return the writing connection, the file made (0600) and migrated where that is due.

    Raises:
        NewerHomeError: a newer wisp wrote the file; nothing was touched.
        StorageError: the file is damaged, or cannot be made or written.
    """
    check_header(path, len(steps))
    _make(path)
    with telling(path):
        connection = Writer(_uri(path))
        await connection
    try:
        with telling(path):
            await connection.execute(f"PRAGMA busy_timeout={BUSY_SECONDS * 1000:.0f}")
            await _use_wal(connection)
            await connection.execute("PRAGMA synchronous=NORMAL")
            await connection.execute("PRAGMA foreign_keys=ON")
            # The index of passages is kept by triggers, with a function of the program's own.
            await connection.execute("PRAGMA trusted_schema=ON")
            await connection.create_function("spaced", 1, spaced, deterministic=True)
            await migrate(connection, path, steps=steps)
    except BaseException:
        await connection.close()
        raise
    return connection


async def open_reader(path: Path) -> Connection:
    """Return a connection that only reads; the writer must be open."""
    with telling(path):
        connection = Connection(_uri(path) + "?mode=ro")
        await connection
        await connection.execute(f"PRAGMA busy_timeout={BUSY_SECONDS * 1000:.0f}")
    return connection


async def migrate(connection: aiosqlite.Connection, path: Path, *, steps: Sequence[Step]) -> None:
    """Lead the schema on to the last of `steps`, all or none.

    Raises:
        NewerHomeError: the schema is newer than the last step.
    """
    if await _version(connection) == len(steps):
        return
    await connection.execute("BEGIN IMMEDIATE")
    try:
        # Another process may have been faster.
        version = await _version(connection)
        if version > len(steps):
            raise _newer(path, version, known=len(steps))
        for step in steps[version:]:
            for statement in step:
                await connection.execute(statement)
        await connection.execute(f"PRAGMA user_version={len(steps)}")
        await connection.execute("COMMIT")
    except BaseException:
        await connection.execute("ROLLBACK")
        raise
    # The version must stand in the file itself, where the next start reads it before it opens anything.
    await connection.execute_fetchall("PRAGMA wal_checkpoint(TRUNCATE)")


def check_header(path: Path, known: int) -> None:
    """Refuse a file that is newer or no database, by its first bytes: opening it would already touch it."""
    try:
        with path.open("rb") as file:
            head = file.read(_VERSION_AT + 4)
    except FileNotFoundError:
        return
    except OSError as error:
        raise HomeError(f"{path} cannot be read ({error.strerror})") from error
    if not head:
        return
    if not head.startswith(_MAGIC):
        raise StorageError(f"{path} is damaged (it is no SQLite database)", _REBUILD)
    version = int.from_bytes(head[_VERSION_AT:], "big")
    if version > known:
        raise _newer(path, version, known=known)


def _newer(path: Path, version: int, *, known: int) -> NewerHomeError:
    return NewerHomeError(
        f"{path} was written by a newer wisp (schema {version}, this one knows {known}); nothing was touched",
        "use that wisp, or set WISP_HOME to another folder",
    )


def _make(path: Path) -> None:
    """Make the file as 0600 whatever the umask; SQLite gives `-wal` and `-shm` the modes of it."""
    try:
        handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        return
    except OSError as error:
        raise StorageError(f"{path} cannot be made ({error.strerror})") from error
    os.fchmod(handle, 0o600)
    os.close(handle)


async def _use_wal(connection: aiosqlite.Connection) -> None:
    # SQLite does not wait for a lock here, whatever the busy timeout: two first starts at once need the loop.
    for _ in range(int(BUSY_SECONDS / _RETRY_SECONDS)):
        try:
            await connection.execute_fetchall("PRAGMA journal_mode=WAL")
            return
        except sqlite3.OperationalError as error:
            if "locked" not in str(error):
                raise
        await asyncio.sleep(_RETRY_SECONDS)
    await connection.execute_fetchall("PRAGMA journal_mode=WAL")


async def _version(connection: aiosqlite.Connection) -> int:
    rows = list(await connection.execute_fetchall("PRAGMA user_version"))
    return int(rows[0][0])


def _uri(path: Path) -> str:
    return f"file:{quote(str(path))}"
