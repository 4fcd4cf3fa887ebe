"""Going on with a conversation of 5,000 turns in the whole app beside one of 5: `python -m tests.benchmarks.reopening_bench`."""  # noqa: E501  one sentence

import asyncio
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from tests.benchmarks.conversation import said
from wisp_core.audit.log import AuditLog
from wisp_core.events import Event, ThreadStart, now
from wisp_core.journal import AUDIT, Journal, rebuild
from wisp_core.records import new_id
from wisp_core.settings import Settings

MANY, FEW = 5_000, 5
ROUNDS = 5
PATIENCE = 60.0  # seconds


async def furnish(home: Path, cwd: str, *, turns: int) -> None:
    """Make a home with one conversation of `turns` turns of the folder `cwd`."""
    await (await Journal.open(home, Settings())).close()
    session, thread = new_id(), new_id()
    log = AuditLog.open(home / AUDIT, session, max_bytes=Settings().audit.max_bytes)
    for seq, (turn, data) in enumerate(said(turns), 1):
        if isinstance(data, ThreadStart):
            data = data.model_copy(update={"cwd": cwd, "model": f"scripted:{cwd}/script.json"})
        log.append(Event(new_id(), seq, now(), session, thread, turn, None, data).line(), durable=False)
    log.close()
    await rebuild(home, Settings())


async def drive() -> dict[str, float]:
    """Return the seconds of each step in the app over the home that is there."""
    from wisp_tui.app import WispApp  # the program alone needs the screen
    from wisp_tui.screens.conversation import ConversationScreen  # likewise
    from wisp_tui.screens.start import Start  # likewise

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

        await step(
            "open", lambda: None, ready=lambda: isinstance(app.screen, ConversationScreen) and app.screen.link.opened
        )
        screen = app.screen
        assert isinstance(screen, ConversationScreen)
        view = screen.transcript
        await step("to the first turn", lambda: screen.action_edge(-1), ready=lambda: view.scroll_y == 0)
        await step("to the newest", lambda: screen.action_edge(1), ready=lambda: view.scroll_y == view.max_scroll_y)
        await pilot.resize_terminal(60, 16)
        await step("resize", lambda: None, ready=lambda: screen.size.width == 60)
        await step("theme", lambda: setattr(app, "theme", "wisp-light"), ready=lambda: True)
        await app.leave()
    taken["memory, MiB"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return taken


def run(home: Path, cwd: Path) -> dict[str, float]:
    """Return the figures of one run in a process of its own."""
    root = str(Path(__file__).parent.parent.parent)
    environment = os.environ | {"WISP_HOME": str(home), "PYTHONPATH": root}
    command = [sys.executable, "-m", "tests.benchmarks.reopening_bench", "drive"]
    told = subprocess.run(command, cwd=cwd, env=environment, check=True, capture_output=True, text=True)
    figures: dict[str, float] = json.loads(told.stdout)
    return figures


def main() -> None:
    """Measure in turns and print."""
    with tempfile.TemporaryDirectory() as made:
        cwd = Path(made)
        (cwd / "script.json").write_text('{"window": 8192, "replies": []}')
        for turns in (FEW, MANY):
            asyncio.run(furnish(cwd / str(turns), made, turns=turns))
        rounds = [(run(cwd / str(FEW), cwd), run(cwd / str(MANY), cwd)) for _ in range(ROUNDS)]
    print(f"{MANY:,} turns beside {FEW}, n={ROUNDS}: medians, and the ratio's min / median / max")
    for name in rounds[0][0]:
        few, many = [one[name] for one, _ in rounds], [one[name] for _, one in rounds]
        ratios = sorted(mine / its for mine, its in zip(many, few, strict=True))
        shown = f"{ratios[0]:.2f} / {statistics.median(ratios):.2f} / {ratios[-1]:.2f}"
        print(f"{name:<18} {statistics.median(many):8.3f} beside {statistics.median(few):8.3f}; {shown}")


if __name__ == "__main__":
    print(json.dumps(asyncio.run(drive()))) if sys.argv[1:] == ["drive"] else main()
