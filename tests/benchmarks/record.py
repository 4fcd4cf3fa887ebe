"""Recording one event durably beside writing the same bytes to a file and syncing it.

*audit*: the line alone, appended and on the disk. *journal*: the whole of it, as a prompt has it: audit, fold, SQLite
and publishing.
"""

import asyncio
import os
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.benchmarks.figures import Figure, in_turns
from wisp_core.audit.log import AuditLog
from wisp_core.events import Prompt, ThreadStart, TurnEnd
from wisp_core.journal import Journal
from wisp_core.records import new_id
from wisp_core.settings import Settings

ROUNDS = 101
TEXT = "What is in this folder? " * 8
MAX_BYTES = 64 * 1024 * 1024


def measure() -> tuple[list[Figure], str]:
    """Return the figures of a durable record, by the audit alone and by the journal."""
    with tempfile.TemporaryDirectory() as folder, plain_file(Path(folder) / "plain") as plain:
        journal, its, line = asyncio.run(in_journal(Path(folder) / "home", plain))
        log = AuditLog.open(Path(folder) / "audit", new_id(), max_bytes=MAX_BYTES)
        try:
            audit, beside = in_turns(
                timed(lambda: log.append(line, durable=True)), timed(lambda: plain(line)), rounds=ROUNDS
            )
        finally:
            log.close()
    against = f"write + fsync of its {len(line)} bytes"
    return [
        Figure("audit: one durable event", against, "s", audit, beside, goal=1.5),
        Figure("journal: one prompt", against, "s", journal, its, goal=1.5),
    ], ""


async def in_journal(home: Path, plain: Callable[[bytes], None]) -> tuple[list[float], list[float], bytes]:
    """Return the seconds of recording prompts and of writing their lines, in turns, and the last line."""
    journal = await Journal.open(home, Settings())
    ours: list[float] = []
    its: list[float] = []
    try:
        record = await journal.new_thread()
        await journal.record(record, ThreadStart(cwd="/", model="scripted", mode="ask", instructions=[]))
        for _ in range(ROUNDS):
            began = time.perf_counter()
            event = await journal.record(record, Prompt(text=TEXT))
            ours.append(time.perf_counter() - began)
            began = time.perf_counter()
            plain(event.line())
            its.append(time.perf_counter() - began)
            await journal.record(record, TurnEnd(outcome="done"))
    finally:
        await journal.close()
    return ours, its, event.line()


def timed(act: Callable[[], object]) -> Callable[[], float]:
    """Return `act` as a measure of its wall seconds."""

    def seconds() -> float:
        began = time.perf_counter()
        act()
        return time.perf_counter() - began

    return seconds


@contextmanager
def plain_file(path: Path) -> Iterator[Callable[[bytes], None]]:
    """Yield a function that writes bytes at the end of a file and syncs it."""
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)

    def write(data: bytes) -> None:
        os.write(handle, data)
        os.fsync(handle)

    try:
        yield write
    finally:
        os.close(handle)
