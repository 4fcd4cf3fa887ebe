"""Two wisps on one home, each with its own database and session, as two processes have them."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.opened import Opened
from wisp_core.fact import Fact
from wisp_core.pending import Open
from wisp_core.requests import Answer, Approval, Question
from wisp_core.wisp import Wisp

OFTEN = {"waiting": {"poll_seconds": 0.05}}


def script(folder: Path, *replies: dict[str, Any]) -> str:
    path = folder / "script.json"
    path.write_text(json.dumps({"window": 8192, "loop": True, "replies": list(replies)}))
    return f"scripted:{path}"


def calls(name: str, **arguments: object) -> dict[str, Any]:
    return {"calls": [{"name": name, "arguments": arguments}]}


@dataclass
class Face:
    """A face that answers what it is asked when the test says so, and knows what it was asked and what went away."""

    asked: list[Approval | Question] = field(default_factory=list)
    gone: list[str] = field(default_factory=list)
    answers: "asyncio.Queue[Answer]" = field(default_factory=asyncio.Queue)
    shown: asyncio.Event = field(default_factory=asyncio.Event)

    async def ask(self, asked: Approval | Question) -> Answer:
        self.asked.append(asked)
        self.shown.set()
        try:
            return await self.answers.get()
        except asyncio.CancelledError:
            self.gone.append(asked.call)
            raise


@dataclass
class Two:
    """The wisp that asks, with a thread and a face, and another one on the same home."""

    here: Opened
    face: Face
    other: Wisp
    changed: asyncio.Event

    async def waiting(self, holds: Callable[[list[Open]], bool]) -> list[Open]:
        """Return what the other wisp sees to be waiting, once that `holds`."""
        async with asyncio.timeout(10):
            while True:
                self.changed.clear()
                found = await self.other.pending.list()
                if holds(found):
                    return found
                await self.changed.wait()

    async def one(self) -> Open:
        (found,) = await self.waiting(lambda found: len(found) == 1)
        return found

    async def known(self, name: str, value: str) -> Fact:
        """Return a fact of the asking wisp's thread, as the person stated it."""
        (fact,) = await self.here.thread.knowledge.state("entity", name, value=value)
        return fact


@asynccontextmanager
async def two(folder: Path, model: str = "", **given: Any) -> AsyncIterator[Two]:
    """Yield two wisps of the home `folder/home`."""
    home = folder / "home"
    settings = {"model": model or script(folder, {"text": "well"}), **OFTEN, **given}
    wisp = await Wisp.open(face="asks", home=home, cwd=folder, given=settings)
    other = await Wisp.open(face="other", home=home, cwd=folder, given=settings)
    face, changed = Face(), asyncio.Event()
    here = Opened(folder, wisp, None)  # type: ignore[arg-type]
    other.pending.subscribe(changed.set)
    here.thread = await wisp.new_thread(listen=here.heard.append, ask=face.ask)
    try:
        yield Two(here, face, other, changed)
    finally:
        if here.thread is not None:
            await here.thread.close()
        await other.close()
        await wisp.close()
