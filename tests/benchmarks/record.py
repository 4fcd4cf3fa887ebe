"""Recording one event durably beside writing the same bytes to a file and syncing it.

*audit*: the line alone, appended and on the disk. *journal*: the whole of it, as a prompt has it: audit, fold, SQLite
and publishing.
"""

import os
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.benchmarks.figures import Figure, in_turns
from wisp_core.audit.log import AuditLog
from wisp_core.events import Event, Prompt, now
from wisp_core.records import new_id

NEEDS = ("wisp_core/audit/log.py",)
ROUNDS = 101
MAX_BYTES = 64 * 1024 * 1024


def measure() -> tuple[list[Figure], str]:
    """Return the figures of a durable record."""
    line = Event(new_id(), 1, now(), "bench", new_id(), 1, None, Prompt(text="What is in this folder? " * 8)).line()
    with tempfile.TemporaryDirectory() as folder, plain_file(Path(folder) / "plain") as plain:
        log = AuditLog.open(Path(folder) / "audit", new_id(), MAX_BYTES)
        try:
            ours, its = in_turns(
                timed(lambda: log.append(line, durable=True)), timed(lambda: plain(line)), rounds=ROUNDS
            )
        finally:
            log.close()
    return [Figure("audit: one durable event", f"write + fsync of its {len(line)} bytes", "s", ours, its, goal=1.5)], ""


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
