"""`wisp models`: each model has its window with its source, for which none is loaded, and no server holds it up."""

import asyncio

import pytest

from tests.fakes.ollama import FakeOllama
from tests.fakes.provider import FakeProvider
from wisp_core.models import survey as surveying
from wisp_core.models.survey import LISTED_MODELS, Seen, survey
from wisp_core.settings import Discovery, Endpoint, Known, Settings

LOOKING = Discovery(seconds=5.0)
OFF = Discovery(seconds=0.0)


class Shelf(FakeOllama):
    """An Ollama with many models, whose windows are theirs by name."""

    def __init__(self, windows):
        super().__init__()
        self.windows = windows

    def _describe(self, method, path, *, body):
        if path == "/api/tags":
            return 200, {"models": [{"model": name, "size": 9} for name in self.windows]}
        if path == "/api/show":
            window = self.windows[body["model"]]
            return 200, {"model_info": {"general.architecture": "x", "x.context_length": window}}
        return super()._describe(method, path, body=body)


async def listed(settings, **environ):
    return {each.name: each for each in await survey(settings, environ)}


async def test_each_model_of_an_ollama_has_the_window_that_it_tells_and_none_is_loaded():
    async with Shelf({"a:1": 4096, "b:1": 8192, "c:1": None, "d:1": 16384}) as ollama:
        given = {"ollama/d:1": Known(window=2048)}
        found = await listed(Settings(discovery=LOOKING, models=given), OLLAMA_HOST=ollama.url)
        assert [(found[f"ollama/{name}:1"].window, found[f"ollama/{name}:1"].source) for name in "abcd"] == [
            (4096, "server"),
            (8192, "server"),
            (None, ""),
            (2048, "config"),
        ]
        assert ollama.loads == []
        assert {path for path, _ in ollama.asked} == {"/api/tags", "/api/ps", "/api/show"}


async def test_a_model_that_is_loaded_has_the_window_that_is_allocated():
    async with FakeOllama() as ollama:
        ollama.loaded = 6144
        endpoint = Endpoint(url=ollama.url, api="ollama")
        found = await listed(Settings(discovery=OFF, endpoints={"there": endpoint}))
        assert (found["local/there/granite:8b"].window, found["local/there/granite:8b"].source) == (6144, "server")


async def test_a_bounded_number_of_models_is_asked_about():
    async with Shelf({f"m:{n}": 4096 for n in range(LISTED_MODELS + 5)}) as ollama:
        found = await listed(Settings(discovery=LOOKING), OLLAMA_HOST=ollama.url)
        assert sum(path == "/api/show" for path, _ in ollama.asked) == LISTED_MODELS
        assert found["ollama/m:0"].window == 4096
        assert found[f"ollama/m:{LISTED_MODELS}"].window is None


async def test_a_server_that_describes_nothing_in_time_is_listed_without_windows(monkeypatch):
    monkeypatch.setattr(surveying, "ASKING_SECONDS", 0.2)

    async def never(reader):
        await reader.read(1)

    async with FakeOllama() as ollama:
        ollama.stalls = {"/api/show": never}
        found = await listed(Settings(discovery=LOOKING), OLLAMA_HOST=ollama.url)
    assert found["ollama/granite:8b"].window is None
    assert found["ollama/granite:8b"].text == "3.8 GiB, window unknown, 8.2B Q4_K_M"


@pytest.mark.parametrize("said", [(404, {"error": "no"}), (200, "nonsense"), (200, {"model_info": 7})])
async def test_an_ollama_that_cannot_describe_its_models_lists_them(said):
    async with FakeOllama() as ollama:
        ollama.failures["/api/show"] = said
        found = await listed(Settings(discovery=LOOKING), OLLAMA_HOST=ollama.url)
    assert found["ollama/granite:8b"].usable
    assert found["ollama/granite:8b"].window is None


async def test_a_model_that_cannot_hold_a_conversation_is_listed_as_one():
    async with FakeOllama(can=("embedding",)) as ollama:
        found = await listed(Settings(discovery=LOOKING), OLLAMA_HOST=ollama.url)
    assert not found["ollama/granite:8b"].usable


async def test_each_model_of_a_server_has_a_line_with_the_window_that_the_server_tells_of_it():
    async with FakeProvider() as provider:
        provider.models = {
            "data": [{"id": "a", "max_model_len": 4096}, {"id": "b"}, {"id": "c", "context_length": 999}]
        }
        given = {"local/fake/b": Known(window=2048)}
        endpoints = {"fake": Endpoint(url=provider.url)}
        found = await listed(Settings(discovery=OFF, endpoints=endpoints, models=given))
    assert found["local/fake"] == Seen("local/fake", f"{provider.url} answers: a, b, c", True, None, 4096, "server")
    told = {name: (each.window, each.source) for name, each in found.items() if name.startswith("local/fake/")}
    assert told == {
        "local/fake/a": (4096, "server"),
        "local/fake/b": (2048, "config"),
        "local/fake/c": (999, "server"),
    }


async def test_the_catalogue_says_the_windows_of_a_provider_whose_key_is_there_and_nobody_is_asked():
    found = await listed(Settings(discovery=OFF, models={"openai/mine": Known(window=4096)}), OPENAI_API_KEY="k")
    assert (found["openai/gpt-4o"].window, found["openai/gpt-4o"].source) == (128000, "catalogue")
    assert (found["openai/mine"].window, found["openai/mine"].source) == (4096, "config")
    assert found["openai/gpt-4o"].text == "window 128,000 tokens (catalogue), OPENAI_API_KEY is set"


async def test_a_server_that_is_slow_at_the_start_is_asked_again_for_the_list():
    async with FakeOllama() as ollama:
        begun = asyncio.Event()

        async def once(reader):
            if not begun.is_set():
                begun.set()
                await reader.read(1)

        ollama.stalls = {"/api/tags": once}
        found = await listed(Settings(discovery=Discovery(seconds=0.2)), OLLAMA_HOST=ollama.url)
    assert found["ollama/granite:8b"].usable
