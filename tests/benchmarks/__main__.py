"""Runs the benchmarks, prints their pages and keeps them under docs/benchmarks: `make bench [ARGS="NAME …"]`.

A benchmark is a module of this folder with `measure() -> tuple[list[Figure], str]`: figures, and a table of its own or
"", or one named `…_bench` that prints a page of its own when it is run as a program.
"""

import importlib
import subprocess
import sys
from pathlib import Path

from tests.benchmarks.figures import PAGES, page

FOLDER = Path(__file__).parent
ROOT = FOLDER.parent.parent
PROGRAM = "_bench"


def main(names: list[str]) -> int:
    """Run the benchmarks named, or all."""
    known = sorted(path.stem for path in FOLDER.glob("*.py") if is_benchmark(path))
    if unknown := sorted(set(names) - set(known)):
        print(f"no benchmark is named {', '.join(unknown)}; there are {', '.join(known)}")
        return 2
    PAGES.mkdir(parents=True, exist_ok=True)
    for name in names or known:
        text = printed(name) if name.endswith(PROGRAM) else measured(name)
        (PAGES / f"{name}.md").write_text(text, "utf-8")
        print(text)
    return 0


def is_benchmark(path: Path) -> bool:
    """Tell whether a file of the folder measures something."""
    return path.stem.endswith(PROGRAM) or "\ndef measure() -> tuple" in path.read_text("utf-8")


def measured(name: str) -> str:
    """Return the page of a benchmark that gives figures."""
    module = importlib.import_module(f"tests.benchmarks.{name}")
    figures, more = module.measure()
    return page(name, module.__doc__ or "", figures=figures, more=more)


def printed(name: str) -> str:
    """Return the page of a benchmark that prints for itself."""
    command = [sys.executable, "-m", f"tests.benchmarks.{name}"]
    told = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout
    return page(name, "", figures=[], more=f"```\n{told.strip()}\n```")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
