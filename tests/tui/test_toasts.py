"""What is said for a moment never covers the input, the status line or the keys, at any size."""

from pathlib import Path

import pytest

from tests.tui.face import conversation, script, shown, until
from tests.tui.test_conversation import ANSWER


@pytest.mark.parametrize("size", [(60, 16), (120, 40)])
async def test_toasts_stand_above_the_input(tmp_path: Path, size: tuple[int, int]) -> None:
    async with conversation(script(tmp_path, ANSWER), size=size, toasts=True) as (pilot, screen):
        await pilot.press("h", "i")
        await until(pilot, lambda: "│ hi" in shown(screen))
        for number in range(5):
            pilot.app.notify(f"said {number} " + "and more " * 12, timeout=60, markup=False)
        await until(pilot, lambda: "said 0" in shown(screen))
        below = shown(screen).splitlines()[screen.box.region.y :]
        assert below[1].startswith("│ hi")
        assert not [row for row in below if "said" in row or "and more" in row]
