"""Recording one event durably beside writing the same bytes to a file and syncing it.

*audit*: the line alone, appended and on the disk. *journal*: the whole of it, as a prompt has it: audit, fold, SQLite
with the index of words, and publishing. *references* are those that a turn begins with, in one append and one
transaction. The table tells what a thread's length adds: a prompt recorded in threads of one home, in turns.
"""

import asyncio
import math
import os
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.benchmarks.figures import Figure, in_turns
from tests.benchmarks.opening import LENGTHS, furnish, named
from wisp_core.audit.log import AuditLog
from wisp_core.events import CallData, ContextReference, EventData, Prompt, Response, ThreadStart, ToolReturned, TurnEnd
from wisp_core.journal import Journal
from wisp_core.records import ThreadRecord, new_id
from wisp_core.settings import Settings

ROUNDS = 101
TEXT = "What is in this folder? " * 8
MAX_BYTES = 64 * 1024 * 1024
REFERENCES = 8


def measure() -> tuple[list[Figure], str]:
    """Return the figures of a durable record, by the audit alone and by the journal, and how it grows."""
    with tempfile.TemporaryDirectory() as folder, plain_file(Path(folder) / "plain") as plain:
        journal, its, line = asyncio.run(in_journal(Path(folder) / "home", plain))
        several, single = asyncio.run(in_one_append(Path(folder) / "home"))
        log = AuditLog.open(Path(folder) / "audit", new_id(), max_bytes=MAX_BYTES)
        try:
            audit, beside = in_turns(
                timed(lambda: log.append(line, durable=True)), timed(lambda: plain(line)), rounds=ROUNDS
            )
        finally:
            log.close()
    against = f"write + fsync of its {len(line)} bytes"
    with tempfile.TemporaryDirectory() as folder:
        table = grown(asyncio.run(in_threads(Path(folder))))
    return [
        Figure("audit: one durable event", against, "s", audit, beside, goal=1.5),
        Figure("journal: one prompt", against, "s", journal, its, goal=1.5),
        Figure(f"journal: {REFERENCES} references at once", "one reference", "s", several, single),
    ], table


async def in_journal(home: Path, plain: Callable[[bytes], None]) -> tuple[list[float], list[float], bytes]:
    """Return the seconds of recording prompts and of writing their lines, in turns, and the last line."""
    journal = await Journal.open(home, Settings())
    ours: list[float] = []
    its: list[float] = []
    try:
        record = await begun(journal)
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


async def in_one_append(home: Path) -> tuple[list[float], list[float]]:
    """Return the seconds of recording several references at once and of recording one, in turns."""
    journal = await Journal.open(home, Settings())
    several: list[float] = []
    single: list[float] = []
    try:
        record = await begun(journal)
        await journal.record(record, Prompt(text=TEXT))
        names = [f"{number:08x}" for number in range(REFERENCES)]
        calls = [CallData(call=name, tool="read_file", arguments="{}") for name in names]
        await journal.record(
            record, Response(request="r", step=1, text="", calls=calls, finish="tool_calls", model="scripted")
        )
        outputs = [ToolReturned(call=name, tool="read_file", text=TEXT * 10, ok=True) for name in names]
        results = await journal.record_each(record, outputs)
        references = [
            ContextReference(entry=entry, tool="read_file", result=result.id, text=TEXT, bytes=1_000, tokens=250)
            for entry, result in zip(record.active[-REFERENCES:], results, strict=True)
        ]
        for _ in range(ROUNDS):
            for count, taken in ((REFERENCES, several), (1, single)):
                began = time.perf_counter()
                await journal.record_each(record, references[:count])
                taken.append(time.perf_counter() - began)
    finally:
        await journal.close()
    return several, single


async def begun(journal: Journal) -> ThreadRecord:
    """Return the record of a new thread that has its instructions."""
    record = await journal.new_thread()
    start: EventData = ThreadStart(cwd="/", model="scripted", mode="ask", instructions=[])
    await journal.record(record, start)
    return record


async def in_threads(folder: Path) -> dict[int, list[float]]:
    """Return the seconds of recording a prompt in threads of each length, in turns."""
    threads = await furnish(folder, cwd="/", model="scripted")
    journal = await Journal.open(folder, Settings())
    taken: dict[int, list[float]] = {turns: [] for turns in LENGTHS}
    try:
        records = {turns: await journal.open_thread(threads[named(turns, dropped=False)]) for turns in LENGTHS}
        for _ in range(ROUNDS):
            for turns, record in records.items():
                began = time.perf_counter()
                await journal.record(record, Prompt(text=TEXT))
                taken[turns].append(time.perf_counter() - began)
                await journal.record(record, TurnEnd(outcome="done"))
    finally:
        await journal.close()
    return taken


def grown(taken: dict[int, list[float]]) -> str:
    """Return the seconds by the turns of the thread, and the exponent between ends."""
    medians = [statistics.median(taken[turns]) for turns in LENGTHS]
    exponent = math.log(medians[-1] / medians[0]) / math.log(LENGTHS[-1] / LENGTHS[0])
    head = " | ".join(f"{turns:,} turns" for turns in LENGTHS)
    cells = " | ".join(f"{1000 * each:.3f} ms" for each in medians)
    return f"| | {head} | exponent |\n{'|---' * (len(LENGTHS) + 2)}|\n| one prompt | {cells} | {exponent:.3f} |"


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
