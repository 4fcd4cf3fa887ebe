"""Reading a long thread's record out of the database beside fetching the same rows alone, and how both grow.

All but the last 30 turns are condensed away, as they are in a long conversation: of their entries only what is known
of them is read, not what they say.
"""

import asyncio
import math
import sqlite3
import statistics
import tempfile
from contextlib import closing
from functools import partial
from pathlib import Path

from tests.benchmarks.conversation import said
from tests.benchmarks.figures import Figure, in_turns
from tests.benchmarks.record import timed
from wisp_core.audit.log import AuditLog
from wisp_core.events import ContextCondensation, Event, EventData, RequestComposed, Response, UsageData, now
from wisp_core.journal import AUDIT, DATABASE, Journal, rebuild
from wisp_core.records import new_id
from wisp_core.settings import Settings
from wisp_core.store import rows
from wisp_core.store.opening import load_thread
from wisp_core.store.search import list_changes

ROUNDS = 7
ACTIVE = 30
SIZES = (100, 1_000, 10_000)
_ALONE = (
    f"SELECT {rows.ENTRY_COLUMNS}, CASE WHEN state = 'dropped' THEN NULL ELSE content END FROM entries ORDER BY id",
    f"SELECT {rows.TURN_COLUMNS} FROM turns ORDER BY number",
)


def measure() -> tuple[list[Figure], str]:
    """Return the figures of opening each thread, and a table of the growth."""
    figures: list[Figure] = []
    for size in SIZES:
        with tempfile.TemporaryDirectory() as folder:
            thread = asyncio.run(furnish(Path(folder), size))
            with closing(sqlite3.connect(Path(folder) / DATABASE, isolation_level=None)) as connection:
                its = timed(partial(fetch, connection))
                for what, act in (("its record", load_thread), ("what each turn changed", list_changes)):
                    ours, yard = in_turns(timed(partial(act, connection, thread)), its, rounds=ROUNDS)
                    figures.append(Figure(f"{size:,} turns: {what}", "its entries and turns, fetched", "s", ours, yard))
    return figures, "\n".join(["| what | exponent |", "|---|---|", growth(figures[0::2]), growth(figures[1::2])])


def growth(figures: list[Figure]) -> str:
    """Return a row with the exponent between the shortest thread and the longest."""
    first, last = (statistics.median(figure.ours) for figure in (figures[0], figures[-1]))
    exponent = math.log(last / first) / math.log(SIZES[-1] / SIZES[0])
    return f"| {figures[0].what.partition(': ')[2]} | {exponent:.2f} |"


def fetch(connection: sqlite3.Connection) -> int:
    """Return how many rows there are of entries and turns."""
    return sum(len(connection.execute(sql).fetchall()) for sql in _ALONE)


async def furnish(home: Path, turns: int) -> str:
    """Make a home with one thread and return its id."""
    await (await Journal.open(home, Settings())).close()
    session, thread = new_id(), new_id()
    log = AuditLog.open(home / AUDIT, session, max_bytes=Settings().audit.max_bytes)
    seq = 0

    def write(turn: int | None, data: EventData) -> str:
        nonlocal seq
        seq += 1
        event = Event(new_id(), seq, now(), session, thread, turn, None, data)
        log.append(event.line(), durable=False)
        return event.id

    plan = RequestComposed(
        **{"step": 1, "entries": [(id, "whole") for id in range(1, 2 * ACTIVE)], "instructions": 1, "settings": {}},
        **{"sha256": "0" * 64, "model": "m", "window": 8192, "bytes": 20_000, "tokens": 5_000},
    )
    for turn, data in said(turns):
        if isinstance(data, Response):
            data = data.model_copy(update={"request": write(turn, plan), "usage": UsageData(prompt=4_900)})
        write(turn, data)
    dropped = list(range(2, 2 * (turns - ACTIVE) + 2))
    write(turns, ContextCondensation(reason="budget", goal=0, before=0, after=0, dropped=dropped))
    log.close()
    await rebuild(home, Settings())
    return thread
