"""What lies on the person's desk and is no part of a thread: drafts, the prompts of all sessions, waiting prompts."""

from dataclasses import dataclass
from pathlib import Path

from wisp_core.redaction import NO_SECRETS, Redaction
from wisp_core.store.database import Database

KEPT_HISTORY = 10_000


@dataclass(frozen=True, slots=True)
class Queued:
    """A prompt that waits; `held` tells that it is not sent before the person says so."""

    id: int
    text: str
    held: bool


class Desk:
    """The desk of one home; what is on it is written at once, without secrets, and is no event."""

    def __init__(self, database: Database, redaction: Redaction = NO_SECRETS) -> None:
        self._database = database
        self._redaction = redaction

    async def history_add(self, text: str) -> None:
        """Remember a prompt; one equal to the latest is not repeated, the oldest beyond `KEPT_HISTORY` go."""
        text = self._redaction.text(text)
        latest = "(SELECT text FROM history ORDER BY id DESC LIMIT 1)"
        async with self._database.transaction() as writer:
            await writer.execute(f"INSERT INTO history (text) SELECT ? WHERE ? IS NOT {latest}", (text, text))
            await writer.execute("DELETE FROM history WHERE id <= (SELECT max(id) FROM history) - ?", (KEPT_HISTORY,))

    async def history(self, limit: int) -> list[str]:
        """Return the prompts of all sessions, newest first."""
        found = await self._database.fetch("SELECT text FROM history ORDER BY id DESC LIMIT ?", limit)
        return [str(row[0]) for row in found]

    async def draft_set(self, key: str, text: str) -> None:
        """Keep what is typed and not sent, under a thread's id or a directory; an empty text takes it away."""
        text = self._redaction.text(text)
        async with self._database.transaction() as writer:
            if text:
                await writer.execute("INSERT OR REPLACE INTO drafts VALUES (?, ?)", (key, text))
            else:
                await writer.execute("DELETE FROM drafts WHERE key = ?", (key,))

    async def draft_get(self, key: str) -> str:
        """Return what was typed and not sent, empty where there is nothing."""
        found = await self._database.fetch("SELECT text FROM drafts WHERE key = ?", key)
        return str(found[0][0]) if found else ""

    async def queue_put(self, thread: str, text: str, *, held: bool = False) -> int:
        """Put a prompt behind those that wait for the thread and return its id."""
        text = self._redaction.text(text)
        async with self._database.transaction() as writer:
            sql = "INSERT INTO queue (thread, text, held) VALUES (?, ?, ?)"
            row = await writer.execute_insert(sql, (thread, text, int(held)))
            return 0 if row is None else int(row[0])

    async def queue_list(self, thread: str) -> list[Queued]:
        """Return the prompts that wait for the thread, first to be sent first."""
        found = await self._database.fetch("SELECT id, text, held FROM queue WHERE thread = ? ORDER BY id", thread)
        return [Queued(id, text, bool(held)) for id, text, held in found]

    async def queue_remove(self, id: int) -> None:
        """Take a waiting prompt away."""
        async with self._database.transaction() as writer:
            await writer.execute("DELETE FROM queue WHERE id = ?", (id,))

    async def queue_hold(self, thread: str, held: bool = True) -> None:
        """Hold every prompt that waits for the thread, or let them go."""
        async with self._database.transaction() as writer:
            await writer.execute("UPDATE queue SET held = ? WHERE thread = ?", (int(held), thread))


async def carry_over(database: Database, old: Path) -> None:
    """Copy everything on the desk of another database file into this one, which has none yet.

    Raises:
        StorageError: the other file is damaged or of another shape; nothing was copied.
    """
    async with database.attached(old) as writer:
        for table, columns in (("drafts", "key, text"), ("history", "id, text"), ("queue", "id, thread, text, held")):
            await writer.execute(f"INSERT INTO main.{table} ({columns}) SELECT {columns} FROM other.{table}")
