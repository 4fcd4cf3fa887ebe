"""M8: the window that wisp condenses against is the one that an Ollama is made to use, and what it gives is noticed."""

import asyncio
from contextlib import aclosing

import pytest

from tests.core.models.asking import ask, prompt, text, usage
from tests.core.models.ollamas import connect
from tests.fakes.ollama import FakeOllama
from wisp_core.condensing.silent_cut import seems_cut, tell_cut
from wisp_core.errors import AuthenticationError, ContextOverflowError, OverloadedError
from wisp_core.models.catalogue import open_backend
from wisp_core.models.ollama_window import LEAST_TOKENS, MOST_TOKENS, UNKNOWN_TOKENS, free_memory, size_window
from wisp_core.models.ollama_wire import About, read_about
from wisp_core.requests import PromptProgress, Window
from wisp_core.settings import Endpoint, Settings

GIB = 1024**3
LESS = "server, which allocates less than the 16,384 asked for"


def windows(ollama):
    """Return the window that each chat request carried."""
    return [request.body["options"]["num_ctx"] for request in ollama.requests]


async def test_the_configured_window_is_asked_for_in_every_request_and_loads_the_model_once():
    async with FakeOllama() as ollama:
        backend = connect(ollama, window=16384)
        assert await backend.window() == Window(16384, "config")
        for _ in range(3):
            await ask(backend)
        assert windows(ollama) == [16384] * 3
        assert ollama.loads == [16384]
        assert all(
            body[key] is False for path, body in ollama.asked if path in LOADING for key in ("truncate", "shift")
        )
        await backend.close()


LOADING = ("/api/chat", "/api/generate")


async def test_what_is_allocated_wins_over_the_nominal_window_and_stays_loaded():
    async with FakeOllama(window=131072) as ollama:
        ollama.loaded, ollama.shift = 4096, False
        backend = connect(ollama)
        assert await backend.window() == Window(4096, "server")
        assert PromptProgress(0, 0, loading=True) not in await ask(backend)
        assert (windows(ollama), ollama.loads) == ([4096], [])
        await backend.close()


async def test_a_small_models_own_window_is_used_whole():
    async with FakeOllama(window=2048) as ollama:
        backend = connect(ollama)
        assert await backend.window() == Window(2048, "server")
        await ask(backend)
        assert windows(ollama) == [2048]
        await backend.close()


@pytest.mark.parametrize("warmed", [True, False])
async def test_a_server_that_allocates_less_than_asked_is_noticed_before_the_prompt_goes_out(warmed):
    async with FakeOllama(allocates=4096) as ollama:
        backend = connect(ollama, window=16384)
        if warmed:
            await backend.warm()
            assert await backend.window() == Window(4096, LESS)
        assert text(await ask(backend)) == "ok"
        assert await backend.window() == Window(4096, LESS)
        await ask(backend)
        assert windows(ollama) == [4096, 4096]
        await backend.close()


@pytest.mark.parametrize("old", [True, False])
async def test_a_prompt_that_the_smaller_window_cannot_hold_is_not_cut(old):
    async with FakeOllama(allocates=4096, old=old) as ollama:
        backend = connect(ollama, window=16384)
        with pytest.raises(ContextOverflowError) as caught:
            await ask(backend, prompt("x" * 40_000))
        assert caught.value.limit == 4096
        assert "4,096 tokens, not the 16,384 asked for" in caught.value.message
        assert (ollama.requests, await backend.window()) == ([], Window(4096, LESS))
        await backend.close()


async def test_a_window_learnt_from_an_overflow_lowers_it():
    async with FakeOllama(tells_window=False, allocates=4096) as ollama:
        backend = connect(ollama, window=16384)
        with pytest.raises(ContextOverflowError) as caught:
            await ask(backend, prompt("x" * 40_000))
        assert caught.value.limit == 4096
        assert caught.value.count > 10_000
        assert await backend.window() == Window(4096, "error")
        assert text(await ask(backend)) == "ok"
        assert windows(ollama) == [16384, 4096]
        await backend.close()


async def test_an_old_server_that_cuts_in_silence_raises_the_alarm():
    async with FakeOllama(old=True, tells_window=False, allocates=4096) as ollama:
        backend = connect(ollama, window=16384)
        found = await ask(backend, prompt("x" * 36_000))
        assert usage(found).prompt == 4096
        assert seems_cut(9000, usage(found).prompt, window=16384)
        await backend.close()


@pytest.mark.parametrize(
    ("sent", "read", "window", "cut"),
    [
        (9000, 4096, 131072, True),
        (1000, 849, None, True),
        (1000, 851, None, False),
        (1000, 2000, None, False),
        (1000, None, 8192, False),
        (1000, 0, 8192, False),
        (4600, 4100, 8192, True),
        (4200, 4100, 8192, False),
        (0, 5, 8192, False),
    ],
)
def test_a_count_far_below_what_was_sent_or_near_half_the_window_is_a_cut(sent, read, window, cut):
    assert seems_cut(sent, read, window=window) is cut


def test_a_cut_is_told_in_one_sentence():
    assert tell_cut(9000, 4096) == "the server seems to have cut the prompt (sent about 9,000, read 4,096)"


async def test_the_status_says_that_the_model_is_loaded_only_while_it_is():
    async with FakeOllama() as ollama:
        backend = connect(ollama)
        loading = PromptProgress(0, 0, loading=True)
        assert (await ask(backend))[0] == loading
        assert loading not in await ask(backend)
        ollama.loaded = 0
        assert (await ask(backend))[0] == loading
        await backend.close()


async def test_a_server_that_never_tells_what_it_runs_is_asked_to_load_once():
    async with FakeOllama() as ollama:
        ollama.failures["/api/ps"] = (404, "404 page not found")
        backend = connect(ollama, window=8192, keep_alive="30m")
        for _ in range(3):
            assert text(await ask(backend)) == "ok"
        assert ollama.paths.count("/api/generate") == 1
        assert all(request.body["keep_alive"] == "30m" for request in ollama.requests)
        await backend.close()


@pytest.mark.parametrize("said", [(404, "404 page not found"), (200, "<html>"), (200, [7])])
async def test_a_server_that_only_chats_is_enough(said):
    async with FakeOllama() as ollama:
        for path in ("/api/tags", "/api/show", "/api/ps", "/api/generate"):
            ollama.failures[path] = said
        backend = connect(ollama)
        assert text(await ask(backend)) == "ok"
        assert (await backend.window()).source == "assumed"
        assert windows(ollama) == [LEAST_TOKENS]
        await backend.close()


async def test_a_server_that_does_not_tell_of_itself_now_still_answers():
    async with FakeOllama() as ollama:
        for path in ("/api/tags", "/api/show", "/api/ps"):
            ollama.failures[path] = (503, {"error": "busy"})
        backend = connect(ollama)
        assert text(await ask(backend)) == "ok"
        ollama.failures.clear()
        await ask(backend)
        assert await backend.window() == Window(LEAST_TOKENS, "server")
        await backend.close()


async def test_a_load_that_fails_is_told_by_the_request_and_not_by_warming():
    async with FakeOllama() as ollama:
        ollama.failures["/api/generate"] = (500, {"error": "llama runner process has terminated"})
        backend = connect(ollama)
        await backend.warm()
        with pytest.raises(OverloadedError):
            await ask(backend)
        assert ollama.requests == []
        await backend.close()


async def test_warming_ends_with_the_model_loaded_and_a_request_meanwhile_waits_for_the_same_load():
    async with FakeOllama() as ollama:
        backend = connect(ollama, window=8192)
        await asyncio.gather(backend.warm(), ask(backend))
        assert ollama.loads == [8192]
        assert ollama.paths.count("/api/generate") == 1
        await backend.close()


async def test_cancelling_the_warming_gives_the_load_up():
    async with FakeOllama() as ollama, Slow(ollama) as gate:
        backend = connect(ollama)
        task = asyncio.create_task(backend.warm())
        await asyncio.wait_for(gate.arrived.wait(), 5)
        assert (await backend.window()).tokens >= LEAST_TOKENS
        task.cancel()
        await asyncio.wait_for(gate.left.wait(), 5)
        await backend.close()


async def test_cancelling_while_the_model_loads_gives_the_load_up():
    async with FakeOllama() as ollama, Slow(ollama) as gate:
        backend = connect(ollama)
        async with aclosing(backend.stream(prompt())) as stream:
            assert await anext(stream) == PromptProgress(0, 0, loading=True)
            task = asyncio.ensure_future(anext(stream))
            await asyncio.wait_for(gate.arrived.wait(), 5)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
        await asyncio.wait_for(gate.left.wait(), 5)
        await backend.close()


class Slow:
    """Makes loading take for ever: `arrived` when it was asked for, `left` when the client went."""

    def __init__(self, ollama):
        self.ollama, self.arrived, self.left = ollama, asyncio.Event(), asyncio.Event()

    async def __aenter__(self):
        self.ollama.loading = self._wait
        return self

    async def __aexit__(self, *error):
        self.ollama.loading = None

    async def _wait(self, reader):
        self.arrived.set()
        await reader.read(1)
        self.left.set()


ABOUT = About(context=131072, token_bytes=2 * 40 * 8 * 256)


@pytest.mark.parametrize(
    ("about", "model", "free", "window"),
    [
        (ABOUT, 4 * GIB, 64 * GIB, Window(MOST_TOKENS, "memory")),
        (ABOUT, 4 * GIB, 8 * GIB, Window(12288, "memory")),
        (ABOUT, 4 * GIB, 1 * GIB, Window(LEAST_TOKENS, "memory")),
        (ABOUT, 4 * GIB, None, Window(UNKNOWN_TOKENS, "assumed")),
        (ABOUT, 0, 64 * GIB, Window(UNKNOWN_TOKENS, "assumed")),
        (About(context=131072), 4 * GIB, 64 * GIB, Window(UNKNOWN_TOKENS, "assumed")),
        (About(context=2048, token_bytes=1000), 4 * GIB, 64 * GIB, Window(2048, "server")),
        (About(context=2048), 4 * GIB, None, Window(2048, "server")),
        (About(context=131072, remote=True), 0, 1 * GIB, Window(131072, "server")),
        (About(), 4 * GIB, 64 * GIB, Window(LEAST_TOKENS, "assumed")),
    ],
)
def test_the_window_is_sized_from_the_model_and_the_memory_within_bounds(about, model, free, window):
    assert size_window(about, model_bytes=model, free_bytes=free) == window


def test_the_memory_of_this_machine_is_known():
    assert free_memory() > 0


def test_a_description_is_believed_only_where_it_makes_sense():
    assert read_about(FakeOllama().about) == About(131072, 2 * 40 * 8 * 256, frozenset({"completion", "tools"}))
    hybrid = {
        "general.architecture": "g",
        "g.context_length": 4096.0,
        "g.attention.head_count_kv": [0, 8, 0, 8],
        "g.attention.key_length": 128,
        "g.attention.value_length": 64,
    }
    assert read_about({"model_info": hybrid, "remote_host": "x"}) == About(4096, 2 * 16 * 192, None, remote=True)
    for odd in (None, [], {"model_info": 7, "capabilities": {}}, {"model_info": {"general.architecture": []}}):
        assert read_about(odd) == About()
    for tokens in (-1, 0, 511, True, "4096", 2**60, None):
        assert read_about({"model_info": {"x.context_length": tokens}}).context is None


async def test_a_model_of_ollamas_own_service_has_its_own_window_and_is_not_loaded():
    async with FakeOllama(window=262144) as ollama:
        for path in ("/api/ps", "/api/generate"):
            ollama.failures[path] = (401, {"error": "unauthorized"})
        backend = connect(ollama, hosted=True)
        await backend.warm()
        assert await backend.window() == Window(262144, "server")
        assert PromptProgress(0, 0, loading=True) not in await ask(backend)
        assert not {"/api/ps", "/api/generate"} & set(ollama.paths)
        await backend.close()


async def test_a_server_that_is_asked_about_itself_only_with_a_key_still_answers():
    async with FakeOllama() as ollama:
        for path in ("/api/tags", "/api/show", "/api/ps"):
            ollama.failures[path] = (401, {"error": "unauthorized"})
        backend = connect(ollama)
        assert text(await ask(backend)) == "ok"
        await backend.close()


async def test_a_server_that_does_not_tell_its_models_without_a_key_says_so_where_none_is_named():
    async with FakeOllama() as ollama:
        ollama.failures["/api/tags"] = (401, {"error": "unauthorized"})
        backend = connect(ollama, None)
        with pytest.raises(AuthenticationError):
            await ask(backend)
        await backend.close()


@pytest.mark.parametrize(
    ("url", "hosted"),
    [("https://ollama.com", True), ("https://ollama.com/api", True), ("http://127.0.0.1:1", False)],
)
async def test_ollamas_own_service_is_known_by_its_name(url, hosted):
    backend = open_backend("local/x/m", Settings(endpoints={"x": Endpoint(url=url, api="ollama")}), environ={})
    assert backend._model._profile.hosted is hosted
    await backend.close()
