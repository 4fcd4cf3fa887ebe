"""Composing the next request of a long thread beside a short one: it must cost what is active, not what is past.

Both threads carry the same 40 literal turns; the long one has condensed the others away.
"""

import math
import statistics
import time

from tests.benchmarks.conversation import converse
from tests.benchmarks.figures import Figure, in_turns
from wisp_core.composer.compose import compose
from wisp_core.records import ThreadRecord
from wisp_core.settings import Context

ROUNDS = 31
ACTIVE = 40
SHORT = 100
LENGTHS = (100, 1_000, 10_000)


def measure() -> tuple[list[Figure], str]:
    """Return each length beside the shortest, and the exponent of growth."""
    records = {turns: converse(turns, active=ACTIVE) for turns in LENGTHS}
    figures = []
    for turns in LENGTHS[1:]:
        ours, its = in_turns(
            lambda record=records[turns]: seconds(record), lambda: seconds(records[SHORT]), rounds=ROUNDS
        )
        figures.append(Figure(f"compose at {turns:,} turns", f"compose at {SHORT} turns", "s", ours, its, goal=1.2))
    longest = figures[-1]
    growth = math.log(statistics.median(longest.ratios)) / math.log(LENGTHS[-1] / SHORT)
    return figures, f"Growth: turns to the power of {growth:.3f}. Goal: under 0.005 s."


def seconds(record: ThreadRecord) -> float:
    """Return the CPU seconds that composing takes."""
    began = time.process_time()
    compose(record, Context())
    return time.process_time() - began
