"""Making the database anew from the audit of a long thread beside reading its lines as JSON and nothing else."""

import asyncio
import json
import tempfile
import time
from pathlib import Path

from tests.benchmarks.conversation import said
from tests.benchmarks.figures import Figure, in_turns
from wisp_core.audit.log import AuditLog
from wisp_core.events import Event, now
from wisp_core.journal import AUDIT, Journal, rebuild
from wisp_core.records import new_id
from wisp_core.settings import Settings

ROUNDS = 3
TURNS = 10_000


def measure() -> tuple[list[Figure], str]:
    """Return the figure of a rebuild."""
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        asyncio.run(furnish(home))
        count = write_audit(home / AUDIT)
        ours, its = in_turns(lambda: rebuilding(home), lambda: reading(home / AUDIT), rounds=ROUNDS)
    what, against = f"rebuild {TURNS:,} turns ({count:,} events)", "`json.loads` of its lines"
    return [Figure(what, against, "s", ours, its, goal=10)], ""


async def furnish(home: Path) -> None:
    """Make an empty home."""
    await (await Journal.open(home, Settings())).close()


def write_audit(folder: Path) -> int:
    """Write the audit of one long thread; return how many events it has."""
    session, thread = new_id(), new_id()
    events = [
        Event(new_id(), seq, now(), session, thread, turn, None, data)
        for seq, (turn, data) in enumerate(said(TURNS), 1)
    ]
    log = AuditLog.open(folder, session, max_bytes=Settings().audit.max_bytes)
    for event in events:
        log.append(event.line(), durable=False)
    log.close()
    return len(events)


def rebuilding(home: Path) -> float:
    """Return the seconds that a rebuild takes."""
    began = time.perf_counter()
    asyncio.run(rebuild(home, Settings()))
    return time.perf_counter() - began


def reading(folder: Path) -> float:
    """Return the seconds that reading every line as JSON takes."""
    began = time.perf_counter()
    for path in folder.iterdir():
        for line in path.read_bytes().splitlines():
            json.loads(line)
    return time.perf_counter() - began
