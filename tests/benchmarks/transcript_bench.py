"""What the transcript costs, as ratios in one run: `python -m tests.benchmarks.transcript_bench`."""

import asyncio
import os
import resource
import time
from collections.abc import Awaitable, Callable

from textual.app import App, ComposeResult
from textual.widgets import Markdown

from tests.tui.transcript.samples import MARKDOWN, thread
from wisp_tui.widgets.transcript import Transcript

STREAMED = 200 * 1024
YARDSTICK = 20 * 1024  # larger, it costs more than in proportion; what is scaled up from this is in its favour
TURNS = 5000
SIZE = (120, 40)


class Bench(App[None]):
    """A transcript and nothing else."""

    def compose(self) -> ComposeResult:
        """Hold the widget."""
        yield Transcript()


class Yardstick(App[None]):
    """Textual's own Markdown widget."""

    def compose(self) -> ComposeResult:
        """Hold the widget."""
        yield Markdown()


async def cost(work: Callable[[], Awaitable[None]]) -> float:
    """Return the CPU seconds of this process that `work` takes."""
    before = time.process_time()
    await work()
    return time.process_time() - before


async def stream(text: str, step: int) -> tuple[float, float]:
    """Return the CPU seconds of streaming a text by `step` characters, and the longest stall of the loop in seconds."""
    app = Bench()
    async with app.run_test(size=SIZE) as pilot:
        await pilot.pause()
        widget = app.query_one(Transcript)
        worst = 0.0

        async def work() -> None:
            nonlocal worst
            for at in range(0, len(text), step):
                began = time.perf_counter()
                widget.stream("reply", text[at : at + step])
                await asyncio.sleep(0.005)
                worst = max(worst, time.perf_counter() - began)
            await pilot.pause(0.15)

        return await cost(work), worst


async def update_once(text: str) -> float:
    """Return the CPU seconds of one `Markdown.update`."""
    app = Yardstick()
    async with app.run_test(size=SIZE) as pilot:
        await pilot.pause()

        async def work() -> None:
            await app.query_one(Markdown).update(text)
            await pilot.pause()

        return await cost(work)


async def opened(turns: int) -> dict[str, float]:
    """Return the CPU seconds of opening a thread, going to both ends, another width, and another theme."""
    entries = thread(turns)
    app = Bench()
    async with app.run_test(size=SIZE) as pilot:
        await pilot.pause()
        widget = app.query_one(Transcript)

        async def step(act: Callable[[], object]) -> float:
            async def work() -> None:
                act()
                await pilot.pause()

            return await cost(work)

        figures = {"open": await step(lambda: widget.show_all(entries))}
        figures["to the start"] = await step(lambda: widget.go_to(0))
        figures["to the end"] = await step(widget.follow)
        figures["resize"] = await cost(lambda: pilot.resize_terminal(80, 30))
        figures["theme"] = await step(lambda: setattr(app, "theme", "textual-light"))
        return figures


def peak_mib() -> float:
    """Return the most memory that this process has held."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


async def measure() -> None:
    """Print the figures."""
    shapes = {
        "mixed Markdown": (MARKDOWN * (STREAMED // len(MARKDOWN) + 1))[:STREAMED],
        "one fence": "```python\n" + "x = f(1, 'two')  # three\n" * (STREAMED // 25) + "```\n",
        "one paragraph": "one two three four five\n" * (STREAMED // 24),
        "one table": "| a | b |\n|---|---|\n" + "| one two | three |\n" * (STREAMED // 20),
        "no line break": "1 2 3 four " * (STREAMED // 11),
    }
    used = {name: await stream(text, len(text) // 400) for name, text in shapes.items()}
    few, many = await opened(10), await opened(TURNS)
    peak = peak_mib()
    yardstick = await update_once(shapes["mixed Markdown"][:YARDSTICK]) * STREAMED / YARDSTICK
    print(f"yardstick: Markdown.update of 20 KB once, times ten: {yardstick:.2f} s cpu here (n=1)")
    for name, (seconds, worst) in used.items():
        print(f"stream 200 KB, {name}: {seconds / yardstick:.2f} times it; longest stall {worst * 1000:.0f} ms here")
    for name, seconds in many.items():
        print(f"{TURNS:,} turns, {name}: {seconds:.2f} s cpu here; {seconds / max(few[name], 1e-3):.1f} times 10 turns")
    print(f"peak memory {peak:.0f} MiB before the yardstick, {os.cpu_count()} cpus")


def main() -> None:
    """Measure and print."""
    asyncio.run(measure())


if __name__ == "__main__":
    main()
