"""Composing the next request of a long thread beside a short one: it must cost what is active, not what is past.

Both threads carry the same 40 literal turns; the long one has condensed the others away. *preview* is the next request
as a face shows it: the references that it will begin with, the headroom, its size and every share of the window.
"""

import asyncio
import math
import statistics
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from tests.benchmarks.conversation import converse
from tests.benchmarks.figures import Figure, in_turns
from wisp_core.composer.compose import compose
from wisp_core.models.scripted import open_script
from wisp_core.preview import preview
from wisp_core.records import ThreadRecord
from wisp_core.requests import Window
from wisp_core.settings import Context, Settings
from wisp_core.tools.current_date import CurrentDate
from wisp_core.tools.registry import Registry

ROUNDS = 31
ACTIVE = 40
SHORT = 100
LENGTHS = (100, 1_000, 10_000)
WINDOW = 32_768  # tokens


def measure() -> tuple[list[Figure], str]:
    """Return each length beside the shortest, and the exponents of growth."""
    records = {turns: converse(turns, active=ACTIVE) for turns in LENGTHS}
    figures, told = [], []
    with tempfile.TemporaryDirectory() as folder, asyncio.Runner() as runner:
        for name, work in (("compose", composing), ("preview", previewing(Path(folder) / "script.json", runner))):
            each = [beside(name, work, record=records[turns], short=records[SHORT]) for turns in LENGTHS[1:]]
            growth = math.log(statistics.median(each[-1].ratios)) / math.log(LENGTHS[-1] / SHORT)
            told.append(f"{name} grows with turns to the power of {growth:.3f}")
            figures += each
    return figures, f"{'; '.join(told)}. Goal: compose under 0.005 s."


def beside(name: str, work: Callable[[ThreadRecord], object], *, record: ThreadRecord, short: ThreadRecord) -> Figure:
    """Return the CPU seconds of the work on a long record beside those on the short one."""
    ours, its = in_turns(lambda: seconds(work, record), lambda: seconds(work, short), rounds=ROUNDS)
    return Figure(f"{name} at {record.last_turn:,} turns", f"{name} at {SHORT} turns", "s", ours, its, goal=1.2)


def composing(record: ThreadRecord) -> object:
    """Compose the next request."""
    return compose(record, Context())


def previewing(script: Path, runner: asyncio.Runner) -> Callable[[ThreadRecord], object]:
    """Return what takes the preview of the next request and its shares."""
    script.write_text('{"counts": false, "replies": []}')
    backend, toolbox = open_script("scripted", str(script)), Registry([CurrentDate()])

    def work(record: ThreadRecord) -> object:
        seen = replace(preview(record, Settings(), toolbox=toolbox, backend=backend), window=Window(WINDOW, "config"))
        return seen.shares(runner.run(seen.measure()))

    return work


def seconds(work: Callable[[ThreadRecord], object], record: ThreadRecord) -> float:
    """Return the CPU seconds that the work takes."""
    began = time.process_time()
    work(record)
    return time.process_time() - began
