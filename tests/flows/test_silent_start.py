"""M2: servers that take a connection and never answer delay no start, and what was chosen says that they did not."""

import asyncio
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.flows.chat import TIMEOUT, Chat
from tests.opened import opened
from tests.tui.face import conversation, shown
from wisp_core.commands.registry import run
from wisp_core.models.catalogue import DEMONSTRATION, EMBEDDED, PROVIDERS
from wisp_core.models.discover import WELL_KNOWN
from wisp_core.settings import Endpoint

NAMES = ("ollama", "llama-server", "lm-studio")
WISP = """
import sys
from wisp_core.cli.main import main
from wisp_core.models.discover import WELL_KNOWN
from wisp_core.settings import Endpoint
WELL_KNOWN |= {name: Endpoint(url=url) for name, url in zip(("llama-server", "lm-studio"), sys.argv[1:3])}
sys.exit(main(sys.argv[3:]))
"""
"""Wisp, with other ports in place of the well-known ones."""


class Silent:
    """A server that reads what it is asked and answers nothing until it is let go."""

    def __init__(self) -> None:
        self.asked: list[bytes] = []
        self.answered = 0
        self.release = asyncio.Event()
        self.tasks: set[asyncio.Task[None]] = set()

    async def start(self) -> None:
        self.server = await asyncio.start_server(self.serve, "127.0.0.1", 0)
        self.place = f"127.0.0.1:{self.server.sockets[0].getsockname()[1]}"

    async def stop(self) -> None:
        self.release.set()
        self.server.close()
        await asyncio.gather(*self.tasks, return_exceptions=True)
        await self.server.wait_closed()

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task
        self.tasks.add(task)
        try:
            self.asked.append(await reader.readuntil(b"\r\n\r\n"))
            await self.release.wait()
            self.answered += 1
        except (OSError, asyncio.IncompleteReadError):
            pass  # it asked and left
        finally:
            writer.close()


@pytest.fixture
async def places() -> AsyncIterator[list[Silent]]:
    places = [Silent() for _ in NAMES]
    for place in places:
        await place.start()
    yield places
    for place in places:
        await place.stop()


@pytest.fixture
def silent(places: list[Silent], monkeypatch: pytest.MonkeyPatch) -> list[Silent]:
    """The three places, in this process."""
    monkeypatch.setenv("OLLAMA_HOST", places[0].place)
    for name, place in zip(NAMES[1:], places[1:], strict=True):
        monkeypatch.setitem(WELL_KNOWN, name, Endpoint(url=f"http://{place.place}/v1"))
    return places


def told(places: list[Silent]) -> str:
    return "; ".join(f"{place.place} did not answer within 0.3 s" for place in places)


async def test_wisp_chat_begins_while_all_three_still_hold_their_answers(tmp_path: Path, places: list[Silent]):
    """Each would answer once the first line was read, so that a start which waits for one would never end."""
    chat = Chat(tmp_path, {"OLLAMA_HOST": places[0].place, "WISP_DISCOVERY": "0.3"})
    urls = [f"http://{place.place}/v1" for place in places[1:]]
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-c", WISP, *urls, "chat"),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        cwd=chat.cwd,
        env=chat.environment(),
    )
    assert process.stderr
    try:
        first = (await asyncio.wait_for(process.stderr.readline(), TIMEOUT)).decode()
        assert [place.answered for place in places] == [0, 0, 0]
        for place in places:
            place.release.set()
        out, rest = await asyncio.wait_for(process.communicate(b"/model\n"), TIMEOUT)
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    why = f"{EMBEDDED}: no model is named and no endpoint configured; {told(places)}"
    assert first == f"· {why}\n"
    assert rest.decode().splitlines()[0] == f"· {DEMONSTRATION}"
    assert rest.decode().endswith(f"\n{why}\n")
    assert (process.returncode, out) == (0, b"")
    assert [b"/api/" in head for head in places[0].asked] == [True, True]
    assert all(place.asked for place in places)


async def test_wisp_tui_begins_too_and_says_why(silent: list[Silent], wisp_home: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("WISP_DISCOVERY", "0.3")
    async with conversation(None, size=(200, 40)) as (_, screen):
        assert [place.answered for place in silent] == [0, 0, 0]
        assert screen.link.wisp is not None
        assert screen.link.wisp.why.endswith(told(silent))
        assert f"{EMBEDDED}: no model is named and no endpoint configured; {silent[0].place} did not" in shown(screen)


async def test_a_key_is_used_where_the_servers_are_silent_and_the_first_line_says_both(
    tmp_path: Path, silent: list[Silent], monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-0123456789abcdef")
    async with opened(tmp_path, discovery={"seconds": 0.3}) as here:
        why = f"{PROVIDERS['anthropic'].first}: no model is named, and ANTHROPIC_API_KEY is set; {told(silent)}"
        assert here.wisp.introduction == [why]
        assert [place.answered for place in silent] == [0, 0, 0]
        said = await run("/model", thread=here.thread, wisp=here.wisp)
        assert said.text.endswith(f"\n{why}")
