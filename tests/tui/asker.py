"""Another wisp on the same home, in a process of its own, whose model asks whether a command may run."""

import asyncio
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

ASKER = """
import asyncio, sys
from pathlib import Path
from wisp_core.wisp import Wisp

async def nobody(asked):
    print("asked", flush=True)
    await asyncio.Event().wait()

async def ask():
    wisp = await Wisp.open(face="test", cwd=Path(sys.argv[2]), given={"model": sys.argv[1]})
    thread = await wisp.new_thread(listen=lambda heard: None, ask=nobody)
    outcome = await thread.send("run it")
    await thread.close()
    await wisp.close()
    print(outcome.value, flush=True)

asyncio.run(ask())
"""


@dataclass
class Asker:
    """The process, which has asked; `outcome` waits for how its turn ended."""

    process: "subprocess.Popen[bytes]"

    async def outcome(self) -> str:
        assert self.process.stdout is not None
        return (await asyncio.to_thread(self.process.stdout.readline)).decode().strip()


@asynccontextmanager
async def asker(model: str, folder: Path) -> AsyncIterator[Asker]:
    """Start it, wait until it asks, and end it."""
    command = [sys.executable, "-c", ASKER, model, str(folder)]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
        try:
            assert process.stdout is not None
            assert await asyncio.to_thread(process.stdout.readline) == b"asked\n"
            yield Asker(process)
        finally:
            process.terminate()
