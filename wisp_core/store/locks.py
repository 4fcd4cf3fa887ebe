"""Who writes a thread: one row a thread, held by a living process (A2)."""

import os

import psutil

from wisp_core.errors import ThreadLockedError
from wisp_core.store.database import Database
from wisp_core.store.living import lives


async def lock_thread(database: Database, thread: str, *, session: str) -> None:
    """Take the thread for writing, from a holder that is gone where there is one.

    Raises:
        ThreadLockedError: another living process writes it.
    """
    pid, started = os.getpid(), psutil.Process().create_time()
    async with database.transaction() as writer:
        sql = "SELECT session, pid, started FROM locks WHERE thread = ?"
        for holder, holder_pid, holder_started in await writer.execute_fetchall(sql, (thread,)):
            if holder != session and lives(holder_pid, holder_started):
                raise ThreadLockedError(
                    f"another wisp (process {holder_pid}) is writing this conversation",
                    f"end it there, or go on in a copy with `/fork {thread}`",
                )
        await writer.execute("INSERT OR REPLACE INTO locks VALUES (?, ?, ?, ?)", (thread, session, pid, started))


async def unlock_thread(database: Database, thread: str, *, session: str) -> None:
    """Let go of the thread where the session holds it."""
    async with database.transaction() as writer:
        await writer.execute("DELETE FROM locks WHERE thread = ? AND session = ?", (thread, session))


async def unlock_all(database: Database, session: str) -> None:
    """Let go of every thread that the session holds."""
    async with database.transaction() as writer:
        await writer.execute("DELETE FROM locks WHERE session = ?", (session,))
