"""M2: with nothing configured the first model that is there is chosen, and why is said; else nobody is asked."""

import pytest

from tests.fakes.ollama import FakeOllama
from tests.opened import opened
from wisp_core.commands.registry import run
from wisp_core.errors import SettingsError
from wisp_core.models.catalogue import EMBEDDED, PROVIDERS, choose, find, fit_settings, look_around, open_backend
from wisp_core.models.discover import Found
from wisp_core.models.survey import survey
from wisp_core.requests import Window
from wisp_core.settings import Context, Discovery, Endpoint, Known, Settings, load_settings

LLAMA = Found("local/llama-server", ("local/llama-server/m",), "a model server answers at 127.0.0.1:8080", "http://h")
KEY = Found("anthropic", (), "ANTHROPIC_API_KEY is set")
EMPTY = Found("ollama", (), "Ollama runs on this machine, but it has no model: `wisp models pull NAME` gets one", "u")
LOOKING = Settings(discovery=Discovery(seconds=5.0))


def test_the_first_that_was_found_is_chosen_and_says_why():
    choice = choose(Settings(), [LLAMA, KEY])
    assert choice.model == "local/llama-server/m"
    assert "127.0.0.1:8080" in choice.why
    choice = choose(Settings(), [EMPTY, KEY])
    assert choice.model == PROVIDERS["anthropic"].first
    assert "ANTHROPIC_API_KEY" in choice.why


def test_what_is_named_or_configured_goes_before_what_was_found():
    assert choose(Settings(model="ollama/mine"), [LLAMA]).model == "ollama/mine"
    assert choose(Settings(endpoints={"x": Endpoint(url="http://h")}), [LLAMA]).model == "local/x"


def test_what_was_passed_over_is_told_beside_what_was_chosen():
    late = Found("ollama", (), "127.0.0.1:11434 did not answer within 0.3 s", "http://127.0.0.1:11434")
    why = "no model is named, and a model server answers at 127.0.0.1:8080; 127.0.0.1:11434 did not answer within 0.3 s"
    assert choose(Settings(), [late, LLAMA]).why == why
    none = choose(Settings(), [late, EMPTY])
    assert none.model == EMBEDDED
    assert none.why == f"no model is named and no endpoint configured; {late.why}; {EMPTY.why}"


def test_an_ollama_without_a_model_leaves_the_embedded_one_and_says_how_to_get_one():
    choice = choose(Settings(), [EMPTY])
    assert choice.model == EMBEDDED
    assert "wisp models pull NAME" in choice.why


def test_the_model_of_a_key_is_in_the_catalogue():
    for provider in PROVIDERS.values():
        assert find(provider.first, Settings())["window"] >= 100_000


@pytest.mark.parametrize(
    "given",
    [
        {"discovery": {"seconds": 0.0}},
        {"discovery": {"seconds": 5.0}, "model": "embedded/smollm2-135m"},
        {"discovery": {"seconds": 5.0}, "endpoints": {"x": {"url": "http://127.0.0.1:1/v1"}}},
    ],
)
async def test_nobody_is_asked_where_it_is_off_or_something_is_configured(given):
    async with FakeOllama() as ollama:
        assert await look_around(Settings.model_validate(given), {"OLLAMA_HOST": ollama.url}) == []
        assert ollama.asked == []


async def test_an_ollama_that_is_there_answers_the_first_prompt_and_the_first_line_says_so(tmp_path, monkeypatch):
    async with FakeOllama() as ollama:
        monkeypatch.setenv("OLLAMA_HOST", ollama.url)
        ollama.answer("hello")
        async with opened(tmp_path, discovery={"seconds": 5.0}) as here:
            assert here.wisp.model == "ollama/granite:8b"
            assert here.wisp.introduction == ["ollama/granite:8b: no model is named, and OLLAMA_HOST names it"]
            await here.thread.send("hi")
            assert here.events("response")[0].text == "hello"
            told = await run("/model", thread=here.thread, wisp=here.wisp)
            window = here.thread.window
            assert told.text == f"ollama/granite:8b, window {window.tokens:,} tokens ({window.source})\n{here.wisp.why}"
        assert ollama.requests[0].body["options"]["num_ctx"] == here.thread.window.tokens
        assert ollama.refused == []


async def test_a_server_that_goes_in_the_middle_is_told_and_the_next_prompt_finds_it_again(tmp_path, monkeypatch):
    async with FakeOllama() as ollama:
        monkeypatch.setenv("OLLAMA_HOST", ollama.url)
        given = {"model": "ollama/granite:8b", "retries": {"most": 0}}
        async with opened(tmp_path, **given) as here:
            ollama.answer("half", cut=True)
            await here.thread.send("one")
            assert "broke" in here.events("turn.end")[0].error
            ollama.answer("whole")
            await here.thread.send("two")
            assert here.events("response")[-1].text == "whole"


async def test_a_server_that_is_down_at_the_start_is_told_by_the_first_prompt(tmp_path, monkeypatch):
    monkeypatch.setenv("OLLAMA_HOST", "127.0.0.1:1")
    async with opened(tmp_path, model="ollama/granite:8b", retries={"most": 0}) as here:
        await here.thread.warm()
        await here.thread.send("hi")
        assert "127.0.0.1:1 cannot be reached" in here.events("turn.end")[0].error


async def test_an_endpoint_may_be_an_ollama_and_the_config_gives_its_window():
    async with FakeOllama() as ollama:
        settings = Settings(endpoints={"there": Endpoint(url=ollama.url, api="ollama", window=4096)})
        backend = open_backend("local/there", settings, environ={})
        assert await backend.window() == Window(4096, "config")
        await backend.close()


async def test_a_well_known_server_needs_no_config_and_a_configured_one_goes_before_it():
    backend = open_backend("local/lm-studio/m", Settings(), environ={})
    assert backend.endpoint == "http://127.0.0.1:1234/v1"
    await backend.close()
    backend = open_backend(
        "local/lm-studio/m", Settings(endpoints={"lm-studio": Endpoint(url="http://h/v1")}), environ={}
    )
    assert backend.endpoint == "http://h/v1"
    await backend.close()


def test_how_long_to_look_comes_from_the_environment_and_a_wrong_one_is_told_by_its_name(tmp_path, monkeypatch):
    monkeypatch.setenv("WISP_DISCOVERY", "1.5")
    assert load_settings(tmp_path).discovery.seconds == 1.5
    monkeypatch.setenv("WISP_DISCOVERY", "soon")
    with pytest.raises(SettingsError, match=r"^WISP_DISCOVERY: `discovery\.seconds` is wrong"):
        load_settings(tmp_path)


async def test_the_config_adds_to_the_catalogue():
    given = {"ollama/x": Known(window=6144), "openai/gpt-4o": Known(window=50_000), "openai/new": Known(output=9)}
    settings = Settings(models=given)
    for model, window in (("ollama/x", 6144), ("openai/gpt-4o", 50_000)):
        backend = open_backend(model, settings, environ={"OLLAMA_HOST": "127.0.0.1:1", "OPENAI_API_KEY": "k"})
        assert await backend.window() == Window(window, "config")
        await backend.close()
    assert find("openai/gpt-4o", settings)["output"] == 16384
    assert find("openai/new", settings) == {"output": 9}


def test_a_window_is_written_context_length_as_well():
    assert Known.model_validate({"context_length": 6144}).window == 6144


def test_a_model_has_its_own_reserve_and_limit_unless_the_person_set_others():
    settings = Settings(models={"ollama/x": Known(reserve=100, compaction_limit=5000)})
    fitted = fit_settings("ollama/x", settings)
    assert (fitted.context.reserve, fitted.compaction_limit) == (100, 5000)
    assert fit_settings("ollama/y", settings) == settings
    own = settings.model_copy(update={"context": Context(reserve=7)})
    assert fit_settings("ollama/x", own).context.reserve == 7


async def test_every_model_is_listed_with_its_size_where_it_is_known():
    async with FakeOllama() as ollama:
        seen = await survey(LOOKING, {"OLLAMA_HOST": ollama.url, "OPENAI_API_KEY": "k"})
    found = {each.name: each for each in seen}
    assert found["ollama/granite:8b"].size == ollama.size
    assert "8.2B Q4_K_M" in found["ollama/granite:8b"].text
    assert (found["ollama/granite:8b"].window, found["ollama/granite:8b"].source) == (131072, "server")
    assert found["openai/gpt-4o"].window == 128000
    assert not any(name.startswith("anthropic/") for name in found)
