"""How sure a mean is: bootstrap intervals that draw whole conversations, since their questions hang together."""

from collections.abc import Sequence
from random import Random

DRAWS = 1000
"""Samples drawn of the conversations."""
TAIL = 0.025
"""The share of the samples that lies beyond each end of the interval."""


def interval(clusters: Sequence[Sequence[float]], *, seed: int = 0) -> tuple[float, float, float]:
    """Return the mean of all values and the ends of its 95% interval; `clusters` are those of each conversation."""
    sums = [(sum(values), len(values)) for values in clusters if values]
    if not sums:
        return 0.0, 0.0, 0.0
    chance = Random(seed)
    means = sorted(_mean(chance.choices(sums, k=len(sums))) for _ in range(DRAWS))
    return _mean(sums), means[int(TAIL * DRAWS)], means[int((1 - TAIL) * DRAWS) - 1]


def _mean(sums: Sequence[tuple[float, int]]) -> float:
    return sum(total for total, _ in sums) / sum(count for _, count in sums)
