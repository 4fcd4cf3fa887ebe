"""What a start imports, by package: milliseconds that each package's own modules took, as `-X importtime` tells.

Wall time of `import` in a fresh interpreter, each face beside `import textual.app`, the least that a Textual app needs.
"""

import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

from tests.benchmarks.figures import Figure, in_turns

ROUNDS = 9
ROOT = Path(__file__).parent.parent.parent
SHOWN = 12
MODULES = ("wisp_tui.app", "wisp_core.cli.main", "wisp_core.wisp")


def measure() -> tuple[list[Figure], str]:
    """Return the figures of the faces, and a table of the packages that each loads."""
    figures, tables = [], []
    for module in MODULES:
        if not (ROOT / (module.replace(".", "/") + ".py")).exists():
            continue
        ours, its = in_turns(lambda name=module: seconds(name), lambda: seconds("textual.app"), rounds=ROUNDS)
        figures.append(Figure(f"`import {module}`", "`import textual.app`", "s", ours, its))
        tables.append(table(module))
    return figures, "\n\n".join(tables)


def seconds(module: str) -> float:
    """Return the seconds that a fresh interpreter takes to import `module` and end."""
    began = time.perf_counter()
    subprocess.run([sys.executable, "-c", f"import {module}"], cwd=ROOT, check=True)
    return time.perf_counter() - began


def table(module: str) -> str:
    """Return the packages that importing `module` loads, the dearest first, in milliseconds of their own."""
    run = [sys.executable, "-X", "importtime", "-c", f"import {module}"]
    told = subprocess.run(run, cwd=ROOT, check=True, capture_output=True, text=True).stderr
    cost: Counter[str] = Counter()
    for line in told.splitlines():
        own, _, name = (part.strip() for part in line.removeprefix("import time:").split("|"))
        if own.isdigit():
            cost[name.split(".")[0]] += int(own)
    rows = [f"| {name} | {micro / 1000:.1f} |" for name, micro in cost.most_common(SHOWN)]
    return "\n".join([f"`import {module}`: {cost.total() / 1000:.0f} ms\n", "| package | ms |", "|---|---|", *rows])
