"""Threads for the tests of their screens: made in the home, held by another process, or told of without a core."""

import asyncio
import subprocess
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

from wisp_core.errors import ThreadLockedError
from wisp_core.requests import FoundPassage
from wisp_core.wisp import Wisp

HOLDER = """
import asyncio, sys
from wisp_core.wisp import Wisp

async def hold():
    wisp = await Wisp.open(face="test")
    thread = await wisp.open_thread(sys.argv[1], listen=lambda heard: None, ask=None)
    print("held", flush=True)
    await asyncio.to_thread(sys.stdin.read)
    await thread.close()
    await wisp.close()

asyncio.run(hold())
"""


async def make_thread(folder: Path, model: str, *prompts: str) -> str:
    """Make a thread of `folder` with a turn for each prompt, close it, and return its id."""
    wisp = await Wisp.open(face="test", cwd=folder, given={"model": model})
    try:
        thread = await wisp.new_thread(listen=lambda _: None, ask=None)  # type: ignore[arg-type]
        for prompt in prompts:
            await thread.send(prompt)
        await thread.close()
        return thread.record.id
    finally:
        await wisp.close()


@asynccontextmanager
async def held(thread: str) -> AsyncIterator[int]:
    """Have another process write a thread, and yield its id."""
    command = [sys.executable, "-c", HOLDER, thread]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            assert await asyncio.to_thread(process.stdout.readline) == b"held\n"
            yield process.pid
        finally:
            process.stdin.close()
            process.wait()


@dataclass(frozen=True)
class Row:
    """A thread as a shelf lists it."""

    id: str
    title: str
    cwd: str
    updated: str
    turns: int
    bytes: int = 0
    open_by: int = 0


@dataclass(frozen=True)
class Saved:
    """A transcript as a shelf lists it."""

    name: str
    bytes: int
    time: str


@dataclass
class Shelved:
    """A library without a core; `did` are the calls that change something, `locked` what another wisp writes."""

    rows: list[Row]
    saved: Sequence[Saved] = ()
    passages: Sequence[FoundPassage] = ()
    locked: str = ""
    did: list[tuple[str, ...]] = field(default_factory=list)

    async def threads(self, limit: int, *, text: str = "") -> list[Row]:
        found = {one.thread for one in await self.find(text, limit=limit)} if text else {row.id for row in self.rows}
        return [row for row in self.rows if row.id in found or (text and text in row.title)][:limit]

    async def find(self, text: str, *, limit: int) -> list[FoundPassage]:
        return [one for one in self.passages if text in one.excerpt][:limit]

    def transcripts(self) -> Sequence[Saved]:
        return self.saved

    async def rename(self, id: str, title: str) -> str:
        self._check(id)
        self.did.append(("rename", id, title))
        self.rows = [replace(row, title=title) if row.id == id else row for row in self.rows]
        return title

    async def delete(self, id: str) -> None:
        self._check(id)
        self.did.append(("delete", id))
        self.rows = [row for row in self.rows if row.id != id]

    async def export(self, id: str, form: str, *, folder: Path) -> Path:
        self.did.append(("export", id, form))
        return folder / f"wisp-{id}.{form}"

    def _check(self, id: str) -> None:
        if id == self.locked:
            raise ThreadLockedError("another wisp (process 7) is writing this conversation", "end it there")
