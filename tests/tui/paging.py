"""A pager and nothing else, over outputs as the store makes them, and what a person sees of it."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from textual.app import App
from textual.pilot import Pilot

from tests.tui.face import shown, until
from wisp_core.settings import Outputs as Limits
from wisp_core.store.outputs import Outputs
from wisp_tui.screens.pager import PagerScreen
from wisp_tui.widgets.live_output import LiveOutput
from wisp_tui.widgets.page_view import PageView
from wisp_tui.widgets.pages import Part, Read

CALL = "3f9a2c1b"


class Stored:
    """A stored output, and at which offsets it was read."""

    def __init__(self, folder: Path, data: bytes) -> None:
        self._outputs = Outputs(folder / "output", "session1", limits=Limits())
        spool = self._outputs.open(CALL)
        spool.write("out", data)
        assert spool.keep(["out"]) is not None
        self.offsets: list[int] = []

    async def read(self, offset: int) -> Part:
        self.offsets.append(offset)
        page = self._outputs.read_page(CALL, offset)
        assert page is not None
        return Part(page.text, page.next, page.total)


class Stage(App[None]):
    """Holds one pager and what it copied."""

    def __init__(self, pager: PagerScreen) -> None:
        super().__init__()
        self.pager = pager
        self.copied = ""

    def on_mount(self) -> None:
        self.push_screen(self.pager)

    def copy_to_clipboard(self, text: str) -> None:
        self.copied = text


@asynccontextmanager
async def paged(
    read: Read, *, size: tuple[int, int] = (80, 24), live: LiveOutput | None = None, folder: Path | None = None
) -> AsyncIterator[tuple[Pilot[None], PageView]]:
    """Give the pager over what `read` reads, and its view once it shows something."""
    app = Stage(PagerScreen("run_command", read, live=live, folder=folder))
    async with app.run_test(size=size) as pilot:
        await until(pilot, lambda: app.screen is app.pager and (app.pager.view.shown or app.pager.view.at_end))
        await pilot.pause()
        yield pilot, app.pager.view


def numbered(count: int) -> bytes:
    return "".join(f"line {number}\n" for number in range(1, count + 1)).encode()


def state(pilot: Pilot[None]) -> str:
    return shown(pilot.app.screen).split("\n")[-2].strip()


async def settled(pilot: Pilot[None]) -> None:
    """Wait until nothing is done in the background."""
    await pilot.pause()
    pager = pilot.app.screen
    await until(pilot, lambda: pager._walking is None or not pager._walking.is_running)
    await pilot.pause()


async def ask(pilot: Pilot[None], key: str, *, answer: str) -> None:
    """Press a key that asks, answer, and wait for what comes of it."""
    await pilot.press(key)
    pilot.app.screen.line.value = answer
    await pilot.press("enter")
    await settled(pilot)
