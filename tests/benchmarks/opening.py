"""Opening a thread of 10,000 turns for writing beside one of a single turn: its record read, its tools furnished.

*all carried*: every entry is active, so its content is in the record. *4 carried*: the earlier turns were dropped, as
keep-turns leaves them. Memory is what the process holds more with the thread open, in a process of its own.
"""

import asyncio
import gc
import json
import math
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import psutil

from tests.benchmarks.conversation import said
from tests.benchmarks.figures import Figure
from wisp_core.audit.log import AuditLog
from wisp_core.events import ContextCondensation, Event, EventData, ThreadStart, now
from wisp_core.journal import AUDIT, Journal, rebuild
from wisp_core.records import new_id
from wisp_core.requests import Answer, Approval, Question, Verdict
from wisp_core.settings import Settings
from wisp_core.wisp import Wisp

LENGTHS = (100, 1_000, 10_000)
EMPTY, LONGEST = 1, LENGTHS[-1]
KEPT = 4  # turns
ROUNDS = 9
MIB = 1024 * 1024


def measure() -> tuple[list[Figure], str]:
    """Return the figures of opening, and a table of growth and memory."""
    with tempfile.TemporaryDirectory() as made:
        home, model = Path(made) / "home", f"scripted:{made}/script.json"
        (Path(made) / "script.json").write_text('{"window": 8192, "replies": []}')
        threads = asyncio.run(furnish(home, cwd=made, model=model))
        taken = asyncio.run(opening_each(home, threads, cwd=Path(made), model=model))
        held = {name: memory(home, thread, cwd=made, model=model) for name, thread in threads.items()}
    empty = named(EMPTY, dropped=False)
    figures = [
        Figure(f"open {name}", f"open {empty}", "s", taken[name], taken[empty]) for name in threads if name != empty
    ]
    return figures, "\n".join(grown(taken, held, empty=empty))


def named(turns: int, *, dropped: bool) -> str:
    """Return the name of a thread in the tables."""
    if turns == EMPTY:
        return "a single turn"
    return f"{turns:,} turns, {KEPT if dropped else 'all'} carried"


async def furnish(home: Path, *, cwd: str, model: str) -> dict[str, str]:
    """Make a home with a thread of each length, all active and mostly dropped; return their ids by name."""
    await (await Journal.open(home, Settings())).close()
    log = AuditLog.open(home / AUDIT, new_id(), max_bytes=Settings().audit.max_bytes)
    threads = {}
    for turns, dropped in ((EMPTY, False), *((turns, dropped) for turns in LENGTHS for dropped in (False, True))):
        thread = threads[named(turns, dropped=dropped)] = new_id()
        for event in conversation(thread, turns, dropped=dropped, cwd=cwd, model=model):
            log.append(event.line(), durable=False)
    log.close()
    await rebuild(home, Settings())
    return threads


def conversation(thread: str, turns: int, *, dropped: bool, cwd: str, model: str) -> Iterator[Event]:
    """Yield the events of a thread; where `dropped`, all but its last turns are."""
    seq, session = 0, new_id()
    for seq, (turn, data) in enumerate(said(turns), 1):
        if isinstance(data, ThreadStart):
            data = data.model_copy(update={"cwd": cwd, "model": model})
        yield Event(new_id(), seq, now(), session, thread, turn, None, data)
    if dropped:
        # The instructions are entry 1, and each turn has a prompt and a reply.
        gone = list(range(2, 2 + 2 * (turns - KEPT)))
        condensed: EventData = ContextCondensation(reason="budget", goal=0, before=0, after=0, dropped=gone)
        yield Event(new_id(), seq + 1, now(), session, thread, turns, new_id(), condensed)


async def opening_each(home: Path, threads: dict[str, str], *, cwd: Path, model: str) -> dict[str, list[float]]:
    """Return the CPU seconds of opening each thread, taken in turns, after one round that does not count."""
    wisp = await Wisp.open(face="bench", home=home, cwd=cwd, given={"model": model})
    taken: dict[str, list[float]] = {name: [] for name in threads}
    shortest = next(iter(threads.values()))
    try:
        for number in range(ROUNDS + 1):
            for name, thread in threads.items():
                # Each comes after the shortest, and what was before is not its to clear away.
                for id in (shortest, thread):
                    gc.collect()
                    began = time.process_time()
                    opened = await wisp.open_thread(id, listen=lambda _: None, ask=refuse)
                    seconds = time.process_time() - began
                    await opened.close()
                    del opened
                if number:
                    taken[name].append(seconds)
    finally:
        await wisp.close()
    return taken


async def refuse(_: Approval | Question) -> Answer:
    """Answer no."""
    return Answer(Verdict.NO)


def memory(home: Path, thread: str, *, cwd: str, model: str) -> float:
    """Return the MiB that a process holds more once it has opened the thread."""
    root = str(Path(__file__).parent.parent.parent)
    command = [sys.executable, "-m", "tests.benchmarks.opening", str(home), thread, cwd, model]
    environment = os.environ | {"PYTHONPATH": root}
    told = subprocess.run(command, cwd=cwd, env=environment, check=True, capture_output=True, text=True).stdout
    return float(json.loads(told))


async def hold(home: str, thread: str, *, cwd: str, model: str) -> float:
    """Return the MiB that opening a thread adds to this process."""
    wisp = await Wisp.open(face="bench", home=Path(home), cwd=Path(cwd), given={"model": model})
    try:
        before = psutil.Process().memory_info().rss
        opened = await wisp.open_thread(thread, listen=lambda _: None, ask=refuse)
        held: float = (psutil.Process().memory_info().rss - before) / MIB
        await opened.close()
    finally:
        await wisp.close()
    return held


def grown(taken: dict[str, Sequence[float]], held: dict[str, float], *, empty: str) -> Iterator[str]:
    """Yield the lines of the table of memory, then how the time above that of an empty thread grows."""
    yield "| thread | memory held |\n|---|---|"
    yield from (f"| {name} | {mib:.1f} MiB |" for name, mib in held.items())
    yield ""
    base = statistics.median(taken[empty])
    for dropped in (False, True):
        some, most = (
            statistics.median(taken[named(turns, dropped=dropped)]) - base for turns in (LENGTHS[-2], LONGEST)
        )
        exponent = math.log10(most / some)
        what = f"{KEPT if dropped else 'all'} carried"
        yield (
            f"{what}: the time above that of a single turn grows with turns to the power of {exponent:.2f}, "
            f"{1e6 * most / LONGEST:.1f} µs a turn.\n"
        )


if __name__ == "__main__":
    print(json.dumps(asyncio.run(hold(*sys.argv[1:3], cwd=sys.argv[3], model=sys.argv[4]))))
