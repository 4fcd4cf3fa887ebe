"""Runs the benchmarks, prints their pages and keeps them under docs/benchmarks: `make bench [ARGS="NAME …"]`.

A benchmark is a module of this folder with `measure() -> tuple[list[Figure], str]`: figures, and a table of its own or
"". `NEEDS` may name files without which there is nothing to measure yet.
"""

import importlib
import sys
from pathlib import Path

from tests.benchmarks.figures import PAGES, page

FOLDER = Path(__file__).parent
ROOT = FOLDER.parent.parent


def main(names: list[str]) -> int:
    """Run the benchmarks named, or all."""
    known = sorted(path.stem for path in FOLDER.glob("*.py") if "def measure(" in path.read_text("utf-8"))
    known = [name for name in known if name != "__main__"]
    if unknown := sorted(set(names) - set(known)):
        print(f"no benchmark is named {', '.join(unknown)}; there are {', '.join(known)}")
        return 2
    PAGES.mkdir(parents=True, exist_ok=True)
    for name in names or known:
        module = importlib.import_module(f"tests.benchmarks.{name}")
        if missing := [path for path in getattr(module, "NEEDS", ()) if not (ROOT / path).exists()]:
            print(f"{name}: not yet, {', '.join(missing)} is not written")
            continue
        figures, more = module.measure()
        text = page(name, module.__doc__ or "", figures, more)
        (PAGES / f"{name}.md").write_text(text, "utf-8")
        print(text)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
