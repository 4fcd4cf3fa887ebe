"""Opens a home and a thread in it for a test, and closes both whatever happens: an open database keeps the process."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from wisp_core.events import Event, Live, Published
from wisp_core.requests import Answer, Approval, Question, Verdict
from wisp_core.thread import Thread
from wisp_core.wisp import Wisp

PATIENCE = 20.0  # seconds that a condition may take on a busy machine


@dataclass
class Opened:
    """A thread of a home in `folder`, what it published, and how approvals are answered."""

    folder: Path
    wisp: Wisp
    thread: Thread
    heard: list[Published] = field(default_factory=list)
    verdict: Callable[[Approval | Question], Answer] = lambda _: Answer(Verdict.NO)
    news: asyncio.Event = field(default_factory=asyncio.Event)

    def hear(self, published: Published) -> None:
        self.heard.append(published)
        self.news.set()

    async def until(self, condition: Callable[[], object]) -> None:
        """Wait until what was published makes it so."""
        async with asyncio.timeout(PATIENCE):
            while not condition():
                self.news.clear()
                await self.news.wait()

    def events(self, name: str) -> list[Any]:
        return [e.data for e in self.heard if isinstance(e, Event) and e.name == name]

    def notes(self, kind: str) -> list[str]:
        return [
            e.data["text"] for e in self.heard if isinstance(e, Live) and e.name == "note" and e.data["kind"] == kind
        ]

    async def reopen(self) -> None:
        """Close the thread and open it again."""
        await self.thread.close()
        self.thread = await self.wisp.open_thread(self.thread.record.id, listen=self.hear, ask=self.ask)

    async def ask(self, asked: Approval | Question) -> Answer:
        return self.verdict(asked)


@asynccontextmanager
async def opened(folder: Path, **given: Any) -> AsyncIterator[Opened]:
    """Yield a new thread of the home `folder/home` under the settings `given`."""
    wisp = await Wisp.open(face="test", home=folder / "home", cwd=folder, given=given)
    try:
        found = Opened(folder, wisp, None)  # type: ignore[arg-type]
        found.thread = await wisp.new_thread(listen=found.hear, ask=found.ask)
        try:
            yield found
        finally:
            await found.thread.close()
    finally:
        await wisp.close()
