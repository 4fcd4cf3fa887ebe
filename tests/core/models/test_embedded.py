"""The embedded model is real: it streams, counts exactly, overflows, is cancelled, dies and comes back."""

import asyncio
import json
import os
import secrets
import signal
import subprocess
import sys
import time
from contextlib import aclosing

import psutil
import pytest
from pydantic import BaseModel

from tests.core.models.asking import READ, ask, finish, prompt, text, usage
from wisp_core.errors import ContextOverflowError, CutStreamError, ModelError, NoModelError, UnreachableError
from wisp_core.models.catalogue import EMBEDDED, open_backend
from wisp_core.models.embedded import find_weights
from wisp_core.models.embedded_process import Child
from wisp_core.requests import PromptProgress, TextDelta, Window
from wisp_core.settings import Embedded, Endpoint, Settings

pytestmark = [pytest.mark.embedded, pytest.mark.asyncio(loop_scope="module")]

LONG = "one two three four five six seven eight nine ten " * 900


class Verdict(BaseModel):
    keep: bool


@pytest.fixture(scope="module")
def server():
    """llama.cpp's HTTP server as anyone may run it: the shipped child, with a key of its own."""
    config = {"path": str(find_weights()), "window": 8192, "threads": 1, "batch": 128, "cache_mib": 64}
    child = Child(config | {"key": secrets.token_hex(8)})
    yield child.start(), child
    child.stop()


@pytest.fixture
async def local(server):
    address, child = server
    settings = Settings(endpoints={"llama": Endpoint(url=f"{address}/v1", key_env="LLAMA_KEY")})
    backend = open_backend("local/llama", settings, environ={"LLAMA_KEY": child._config["key"]})
    yield backend
    await backend.close()


async def wait_idle(backend):
    """Return the seconds until the server takes the next request."""
    begun = time.monotonic()
    await ask(backend, prompt("hi", max_output=1))
    return time.monotonic() - begun


async def test_it_streams_with_the_usage_that_was_counted_before(local):
    request = prompt("Count from one to five.", max_output=24)
    counted = await local.count(request.messages, ())
    found = await ask(local, request)
    assert text(found)
    assert usage(found).prompt == counted
    assert usage(found).total == usage(found).prompt + usage(found).completion
    assert finish(found) in ("stop", "length")
    assert any(isinstance(event, PromptProgress) and event.done == event.total for event in found)
    assert usage(await ask(local, request)).cached > 0


async def test_its_server_tells_the_window_and_a_wrong_key_is_refused(local, server):
    assert await local.window() == Window(8192, "server")
    settings = Settings(endpoints={"llama": Endpoint(url=f"{server[0]}/v1")})
    other = open_backend("local/llama", settings, environ={})
    with pytest.raises(ModelError) as caught:
        await ask(other)
    assert type(caught.value).__name__ == "AuthenticationError"
    await other.close()


async def test_a_prompt_over_the_window_overflows_for_real(local):
    with pytest.raises(ContextOverflowError) as caught:
        await ask(local, prompt(LONG))
    assert caught.value.limit == 8192
    assert caught.value.count == await local.count(prompt(LONG).messages, ()) > 8192


async def test_guided_generation_gives_the_form(local):
    assert isinstance(await local.guided(prompt("Is water wet? JSON.", max_output=40), Verdict), Verdict)


async def test_cancelling_stops_the_model_while_it_writes_and_while_it_reads(local):
    async with aclosing(local.stream(prompt("Write a very long story about the sea."))) as stream:
        async for event in stream:
            if isinstance(event, TextDelta):
                break
    assert await wait_idle(local) < 5
    async with aclosing(local.stream(prompt(LONG[:20_000]))) as stream:
        begun = await anext(stream)
    assert isinstance(begun, PromptProgress)
    assert begun.done < begun.total
    assert await wait_idle(local) < 15


async def test_it_is_loaded_at_the_first_request_killed_started_again_and_ended():
    backend = open_backend(EMBEDDED, Settings(embedded=Embedded(window=2048)), environ={})
    assert await backend.window() == Window(2048, "config")
    assert backend.pid is None
    request = prompt("Write a very long story about the sea.", tools=(READ,))
    async with aclosing(backend.stream(request)) as stream:
        assert await anext(stream) == PromptProgress(0, 0, loading=True)
        while not isinstance(await anext(stream), TextDelta):
            pass
        first = backend.pid
        os.kill(first, signal.SIGKILL)
        with pytest.raises((CutStreamError, UnreachableError), match="embedded model's process ended"):
            await read(stream)
    found = await ask(backend, prompt("hi", max_output=4))
    assert found[0] == PromptProgress(0, 0, loading=True)
    assert finish(found)
    assert backend.pid != first
    assert await backend.window() == Window(2048, "server")
    second = backend.pid
    await backend.close()
    assert not psutil.pid_exists(second)
    await backend.close()


async def test_closing_while_it_loads_or_answers_ends_it():
    backend = open_backend(EMBEDDED, Settings(), environ={})
    warming = asyncio.create_task(backend.warm())
    while backend.pid is None:
        await asyncio.sleep(0)
    await backend.close()
    await warming
    assert backend.pid is None


async def test_weights_that_cannot_be_loaded_are_told_in_one_sentence(tmp_path):
    (tmp_path / "bad.gguf").write_bytes(b"GGUF" + b"\0" * 64)
    backend = open_backend(f"embedded/{tmp_path}/bad.gguf", Settings(), environ={})
    with pytest.raises(NoModelError, match="cannot be loaded"):
        await ask(backend)
    await backend.close()


async def read(stream):
    """Return what is left of a stream."""
    return [event async for event in stream]


PARENT = """
import asyncio, sys
from wisp_core.models.catalogue import EMBEDDED, open_backend
from wisp_core.settings import Settings
from tests.core.models.asking import prompt

async def main():
    backend = open_backend(EMBEDDED, Settings(), environ={})
    async for event in backend.stream(prompt("Write a very long story about the sea.")):
        if type(event).__name__ == "TextDelta":
            print(backend.pid, flush=True)

asyncio.run(main())
"""


async def test_it_ends_when_the_process_that_started_it_is_killed(request):
    environment = os.environ | {"PYTHONPATH": str(request.config.rootpath)}
    parent = subprocess.Popen(
        [sys.executable, "-c", PARENT], stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment
    )
    child = psutil.Process(int(await asyncio.to_thread(parent.stdout.readline)))
    assert json.dumps(child.cmdline()).count("key") == 0
    parent.kill()
    parent.communicate()
    psutil.wait_procs([child], timeout=5)
    assert not child.is_running() or child.status() == psutil.STATUS_ZOMBIE


async def test_a_reply_of_the_embedded_model_ends_by_itself_or_at_its_own_limit():
    settings = Settings(embedded=Embedded(window=2048, most_output=8))
    backend = open_backend(EMBEDDED, settings, environ={})
    found = await ask(backend, prompt("Count from one to one hundred."))
    assert finish(found) == "length"
    assert usage(found).completion == 8
    await backend.close()
