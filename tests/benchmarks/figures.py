"""A figure beside its yardstick, both taken in one run, and how a page of figures is written."""

import os
import platform
import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

PAGES = Path(__file__).parent.parent.parent / "docs" / "benchmarks"


@dataclass(frozen=True, slots=True)
class Figure:
    """What was measured, against what, in `unit`; `goal` is the ratio that the project wants, None for none.

    `ours` and `yardstick` are taken in turns, so that the n-th of each met the same machine.
    """

    what: str
    against: str
    unit: str
    ours: Sequence[float]
    yardstick: Sequence[float]
    goal: float | None = None

    @property
    def ratios(self) -> list[float]:
        """The n-th of ours over the n-th of the yardstick's, in order of size."""
        return sorted(mine / its for mine, its in zip(self.ours, self.yardstick, strict=True) if its)

    def row(self) -> str:
        """Return the figure as a row of the table."""
        low, middle, high = spread(self.ratios)
        goal = f"≤ {self.goal:g}" if self.goal is not None else ""
        ours, its = (f"{statistics.median(values):.4g} {self.unit}" for values in (self.ours, self.yardstick))
        ratios = f"{low:.2f} / **{middle:.2f}** / {high:.2f}"
        return f"| {self.what} | {self.against} | {len(self.ratios)} | {ours} | {its} | {ratios} | {goal} |"


HEAD = (
    "| what | yardstick | n | ours, median | yardstick, median | ratio: min / median / max | goal |\n"
    + "|---" * 7
    + "|"
)


def spread(values: Sequence[float]) -> tuple[float, float, float]:
    """Return least, median and greatest."""
    return min(values), statistics.median(values), max(values)


def in_turns(
    ours: Callable[[], float], yardstick: Callable[[], float], *, rounds: int
) -> tuple[list[float], list[float]]:
    """Take both measures `rounds` times in turns, after one round that does not count."""
    ours(), yardstick()
    mine: list[float] = []
    its: list[float] = []
    for _ in range(rounds):
        mine.append(ours())
        its.append(yardstick())
    return mine, its


def page(name: str, about: str, *, figures: Sequence[Figure], more: str = "") -> str:
    """Return the page of one benchmark, and what machine it ran on."""
    load = f", load {os.getloadavg()[0]:.1f}" if hasattr(os, "getloadavg") else ""
    machine = (
        f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores{load}, Python {platform.python_version()}"
    )
    day = datetime.now(UTC).date().isoformat()
    table = "\n".join([HEAD, *(figure.row() for figure in figures)]) if figures else ""
    parts = [f"# {name}", about.strip(), table, more.strip(), f"`make bench ARGS={name}`, {day}, {machine}."]
    return "\n\n".join(part for part in parts if part) + "\n"
