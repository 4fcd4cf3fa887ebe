"""Going on with a conversation of 10,000 turns in the whole app beside one of a single turn, printed as a page."""

import asyncio
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import psutil

from tests.benchmarks.opening import MIB, conversation
from wisp_core.audit.log import AuditLog
from wisp_core.journal import AUDIT, Journal, rebuild
from wisp_core.records import new_id
from wisp_core.settings import Settings

FEW = "a single turn"
HOMES = {FEW: (1, False), "10,000 turns, all carried": (10_000, False), "10,000 turns, 4 carried": (10_000, True)}
ROUNDS = 5
PATIENCE = 60.0  # seconds


async def furnish(home: Path, cwd: str, *, turns: int, dropped: bool) -> None:
    """Make a home with one conversation of the folder `cwd`; where `dropped`, the model sees its last turns alone."""
    await (await Journal.open(home, Settings())).close()
    log = AuditLog.open(home / AUDIT, new_id(), max_bytes=Settings().audit.max_bytes)
    for event in conversation(new_id(), turns, dropped=dropped, cwd=cwd, model=f"scripted:{cwd}/script.json"):
        log.append(event.line(), durable=False)
    log.close()
    await rebuild(home, Settings())


async def drive(spawned: float) -> dict[str, float]:
    """Return the seconds of each step in the app over the home that is there, in a process `spawned` at a time."""
    from wisp_tui.app import WispApp  # the program alone needs the screen
    from wisp_tui.screens.conversation import ConversationScreen  # likewise
    from wisp_tui.screens.start import Start  # likewise
    from wisp_tui.widgets.transcript import Transcript  # likewise

    app = WispApp(Start(newest=True))
    taken: dict[str, float] = {}
    async with app.run_test(size=(120, 40)) as pilot:

        async def step(name: str, act: Callable[[], object], *, ready: Callable[[], object]) -> None:
            began = time.perf_counter()
            act()
            async with asyncio.timeout(PATIENCE):
                while not ready():
                    await pilot.pause(0.002)
            await pilot.pause()
            taken[name] = time.perf_counter() - began

        async with asyncio.timeout(PATIENCE):
            while not any(view.blocks for view in app.screen.query(Transcript)):
                await asyncio.sleep(0.001)
        painted = asyncio.Event()
        app.screen.call_after_refresh(painted.set)
        await painted.wait()
        taken["start to first paint"] = time.monotonic() - spawned
        taken["the same, cpu"] = time.process_time()
        await step("all of it", lambda: None, ready=lambda: True)
        taken["all of it"] += taken["start to first paint"]
        screen = app.screen
        assert isinstance(screen, ConversationScreen)
        view = screen.transcript
        await step("to the first turn", lambda: screen.action_edge(-1), ready=lambda: view.scroll_y == 0)
        await step("to the newest", lambda: screen.action_edge(1), ready=lambda: view.scroll_y == view.max_scroll_y)
        await pilot.resize_terminal(60, 16)
        await step("resize", lambda: None, ready=lambda: screen.size.width == 60)
        await step("theme", lambda: setattr(app, "theme", "wisp-light"), ready=lambda: True)
        # What the process held at most says nothing: it begins with what its parent held.
        taken["memory, MiB"] = psutil.Process().memory_info().rss / MIB
        await app.leave()
    return taken


def run(home: Path, cwd: Path) -> dict[str, float]:
    """Return the figures of one run in a process of its own."""
    root = str(Path(__file__).parent.parent.parent)
    environment = os.environ | {"WISP_HOME": str(home), "PYTHONPATH": root}
    command = [sys.executable, "-m", "tests.benchmarks.reopening_bench", "drive", str(time.monotonic())]
    told = subprocess.run(command, cwd=cwd, env=environment, check=True, capture_output=True, text=True)
    figures: dict[str, float] = json.loads(told.stdout)
    return figures


def main() -> None:
    """Measure in turns and print."""
    with tempfile.TemporaryDirectory() as made:
        cwd = Path(made)
        (cwd / "script.json").write_text('{"window": 8192, "replies": []}')
        for name, (turns, dropped) in HOMES.items():
            asyncio.run(furnish(cwd / name, made, turns=turns, dropped=dropped))
        rounds = [{name: run(cwd / name, cwd) for name in HOMES} for _ in range(ROUNDS)]
    for name in list(HOMES)[1:]:
        print(f"{name}, beside {FEW}, n={ROUNDS}: medians, and the ratio's min / median / max")
        for step in rounds[0][FEW]:
            few, many = [one[FEW][step] for one in rounds], [one[name][step] for one in rounds]
            ratios = sorted(mine / its for mine, its in zip(many, few, strict=True))
            shown = f"{ratios[0]:.2f} / {statistics.median(ratios):.2f} / {ratios[-1]:.2f}"
            print(f"{step:<22} {statistics.median(many):8.3f} beside {statistics.median(few):8.3f}; {shown}")


if __name__ == "__main__":
    print(json.dumps(asyncio.run(drive(float(sys.argv[2]))))) if sys.argv[1:2] == ["drive"] else main()
