"""What the pager costs over 16 MiB beside reading the file once: `python -m tests.benchmarks.pager_bench`."""

import asyncio
import os
import resource
import statistics
import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

from textual.app import App, ComposeResult

from wisp_core.settings import MIB
from wisp_core.settings import Outputs as Limits
from wisp_core.store.outputs import PAGE_BYTES, Outputs
from wisp_tui.widgets.page_lines import Place
from wisp_tui.widgets.page_search import Needle, search
from wisp_tui.widgets.page_view import PageView
from wisp_tui.widgets.pages import Part, Read

SIZE = (120, 40)
BYTES = 16 * MIB
CALL = "3f9a2c1b"
ROUNDS = 3
ABSENT = Needle("never said")
SHAPES = {
    "many lines": b"a line of some words, as many are\n",
    "many coloured lines": b"\x1b[32mok\x1b[0m a line of some words, as many are\n",
    "one line": b"x",
    "one line of wide characters": "漢".encode(),
    "empty lines": b"\n",
}


class Bench(App[None]):
    """A view of one output and nothing else."""

    def __init__(self, read: Read) -> None:
        super().__init__()
        self._read = read

    def compose(self) -> ComposeResult:
        """Hold the view."""
        yield PageView(self._read)


def stored(folder: Path, unit: bytes) -> Outputs:
    """Store an output made of one unit again and again, never whole in memory."""
    outputs = Outputs(folder / "output", "session1", limits=Limits())
    spool = outputs.open(CALL)
    piece = unit * (PAGE_BYTES // len(unit))
    for _ in range(BYTES // len(piece)):
        spool.write("out", piece)
    assert spool.keep(["out"]) is not None
    return outputs


def reader(outputs: Outputs) -> Read:
    """Read as a thread does: each page in a thread of its own."""

    async def read(offset: int) -> Part:
        page = await asyncio.to_thread(outputs.read_page, CALL, offset)
        assert page is not None
        return Part(page.text, page.next, page.total)

    return read


def read_once(path: Path) -> float:
    """Return the seconds of reading the file once, a page at a time, as text."""
    began = time.perf_counter()
    with path.open("rb") as file:
        while data := file.read(PAGE_BYTES):
            data.decode("utf-8", "replace")
    return time.perf_counter() - began


async def seconds(work: Awaitable[object]) -> float:
    """Return the seconds that something takes."""
    began = time.perf_counter()
    await work
    return time.perf_counter() - began


async def walked(read: Read) -> dict[str, float]:
    """Return the seconds of each thing that a person does with the output."""
    app = Bench(read)
    async with app.run_test(size=SIZE) as pilot:
        await pilot.pause()
        view = app.query_one(PageView)

        def quiet(_share: float) -> None:
            pass

        steps: dict[str, Callable[[], Awaitable[object]]] = {
            "first page": lambda: view.open(read),
            "end, all read for it": lambda: view.show_end(quiet),
            "a page up from there": lambda: view.move(-SIZE[1]),
            "the middle line": lambda: view.show_line(max(1, (view.pages.lines or 1) // 2), quiet),
            "search for what is not there": lambda: search(view.lines, ABSENT, start=Place(), back=False, tell=quiet),
            "back at the start": lambda: view.show(Place()),
            "a page down": lambda: view.move(SIZE[1]),
        }
        return {name: await seconds(step()) for name, step in steps.items()}


def peak_mib() -> float:
    """Return the most memory that this process has held."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


async def measure() -> None:
    """Print the figures."""
    await walked(_small)  # what is loaded once is not the output's cost
    before = peak_mib()
    for name, unit in SHAPES.items():
        with tempfile.TemporaryDirectory() as folder:
            outputs = stored(Path(folder), unit)
            path = outputs.path(CALL)
            assert path is not None
            read_once(path)
            yardstick = statistics.median(read_once(path) for _ in range(ROUNDS))
            rounds = [await walked(reader(outputs)) for _ in range(ROUNDS)]
        print(f"{name}: reading the file once takes {yardstick * 1000:.0f} ms here (n={ROUNDS})")
        for step in rounds[0]:
            took = statistics.median(each[step] for each in rounds)
            print(f"    {step}: {took / yardstick:.2f} times it, {took * 1000:.0f} ms here")
    print(f"peak memory grew by {peak_mib() - before:.0f} MiB over all of them, {os.cpu_count()} cpus")


async def _small(_offset: int) -> Part:
    return Part("one\n" * 1000, None, 4000)


def main() -> None:
    """Measure and print."""
    asyncio.run(measure())


if __name__ == "__main__":
    main()
