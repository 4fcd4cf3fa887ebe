"""M12: an effort goes to a model that takes one, can be changed in a conversation, and is left out where refused."""

import pytest

from tests.fakes.ollama import FakeOllama
from tests.fakes.provider import FakeProvider
from tests.opened import opened
from wisp_core.commands.registry import run
from wisp_core.errors import SettingsError, UsageError
from wisp_core.settings import load_settings

QUIET = {"facts": {"enabled": False}}  # what is made of a turn beside it asks the model too


def given(provider, **settings):
    endpoints = {"fake": {"url": provider.url}}
    return {
        "model": "local/fake",
        "endpoints": endpoints,
        "models": {"local/fake": {"effort": True}},
        **QUIET,
    } | settings


async def test_the_command_changes_it_from_the_next_request_on(tmp_path):
    async with FakeProvider() as provider, opened(tmp_path, **given(provider, effort="low")) as here:
        for line in ("", "/effort high", "/effort off"):
            if line:
                said = await run(line, thread=here.thread, wisp=here.wisp)
                assert said.text.startswith("effort ")
            provider.answer("ok")
            await here.thread.send("hi")
        sent = [request.body.get("reasoning_effort") for request in provider.requests]
        assert sent == ["low", "high", None]


async def test_a_model_that_is_not_known_to_take_one_is_not_sent_one(tmp_path):
    async with FakeProvider() as provider, opened(tmp_path, **given(provider, effort="low", models={})) as here:
        provider.answer("ok")
        await here.thread.send("hi")
        assert "reasoning_effort" not in provider.requests[0].body


async def test_a_server_that_does_not_know_it_is_asked_once_without_it(tmp_path):
    async with FakeProvider() as provider, opened(tmp_path, **given(provider, effort="low")) as here:
        provider.answer(status=400, body={"error": {"message": "Unsupported parameter: 'reasoning_effort'"}})
        provider.answer("ok")
        await here.thread.send("hi")
        assert [("reasoning_effort" in request.body) for request in provider.requests] == [True, False]
        assert here.events("response")[0].text == "ok"


async def test_an_ollama_thinks_by_it(tmp_path, monkeypatch):
    async with FakeOllama(can=("completion", "tools", "thinking")) as ollama:
        monkeypatch.setenv("OLLAMA_HOST", ollama.url)
        ollama.answer("ok")
        async with opened(tmp_path, model="ollama/granite:8b", effort="high") as here:
            await here.thread.send("hi")
        assert ollama.requests[0].body["think"] == "high"


async def test_another_word_is_told(tmp_path, monkeypatch):
    async with FakeProvider() as provider, opened(tmp_path, **given(provider)) as here:
        with pytest.raises(UsageError, match="no effort `huge`"):
            await run("/effort huge", thread=here.thread, wisp=here.wisp)
    monkeypatch.setenv("WISP_EFFORT", "huge")
    with pytest.raises(SettingsError, match="`effort` is wrong"):
        load_settings(tmp_path)
