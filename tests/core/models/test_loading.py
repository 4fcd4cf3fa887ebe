"""M15: a model that its server is still loading is waited for, and the person hears of it, not of an overload."""

import asyncio
from contextlib import aclosing

import pytest

from tests.core.models.asking import ask, connect, prompt, text
from tests.fakes.provider import FakeProvider
from tests.opened import opened
from wisp_core.errors import ModelTimeoutError, OverloadedError, UnreachableError
from wisp_core.records import Outcome
from wisp_core.requests import PromptProgress, Window
from wisp_core.settings import Timeouts

LOADING = PromptProgress(0, 0, loading=True)
REFUSAL = {"status": 503, "body": {"error": {"message": "Loading model", "type": "unavailable_error", "code": 503}}}
LLAMA = {"default_generation_settings": {"n_ctx": 4096}}


@pytest.fixture
async def provider():
    async with FakeProvider() as provider:
        yield provider
        assert provider.refused == []


def given(provider, **more):
    """Return the settings of a thread whose model the provider has."""
    endpoints = {"fake": {"url": provider.url}}
    return {"model": "local/fake", "endpoints": endpoints, "facts": {"enabled": False}} | more


async def test_a_llama_server_that_loads_is_waited_for_and_then_told_what_it_is(provider):
    provider.busy = True
    provider.answer(**REFUSAL)
    backend = connect(provider)
    async with aclosing(backend.stream(prompt())) as stream:
        assert await anext(stream) == LOADING
        provider.busy, provider.props = False, LLAMA
        assert text([event async for event in stream]) == "ok"
    assert [request.body.get("return_progress") for request in provider.requests] == [None, True]
    assert await backend.window() == Window(4096, "server")
    await backend.close()


async def test_loading_takes_no_attempt_of_those_for_an_overload(provider, tmp_path):
    provider.busy = True
    provider.answer(**REFUSAL)
    async with opened(tmp_path, **given(provider, retries={"most": 0})) as here:
        turn = asyncio.create_task(here.thread.send("hello"))
        await here.until(lambda: here.notes("loading"))
        provider.busy = False
        assert await turn is Outcome.DONE
        assert here.notes("loading") == ["loading the model"]
        assert here.events("request.retried") == []


async def test_a_model_that_does_not_load_in_time_is_told_as_that(provider):
    provider.busy = True
    provider.answer(**REFUSAL)
    backend = connect(provider, timeouts=Timeouts(connect=2.0, first_token=1.0))
    with pytest.raises(ModelTimeoutError, match=r"is still loading its model after 1 s"):
        await ask(backend)
    await backend.close()


async def test_a_server_that_goes_away_while_it_loads_is_unreachable(provider):
    provider.busy = True
    provider.answer(**REFUSAL)
    backend = connect(provider)
    async with aclosing(backend.stream(prompt())) as stream:
        assert await anext(stream) == LOADING
        await provider.go_down()
        with pytest.raises(UnreachableError):
            await anext(stream)
    await backend.close()
    await provider.come_up()


@pytest.mark.parametrize("said", ["Loading model", "busy"])
async def test_a_server_that_cannot_be_asked_whether_it_loads_is_overloaded(provider, said):
    provider.answer(status=503, body={"error": {"message": said}})
    backend = connect(provider)
    with pytest.raises(OverloadedError):
        await ask(backend)
    assert provider.paths.count("/health") == (said == "Loading model")
    await backend.close()


async def test_a_silent_server_of_the_persons_own_may_be_loading_and_the_person_is_told(provider, tmp_path):
    provider.hold = asyncio.Event()
    provider.answer("there it is")
    async with opened(tmp_path, **given(provider, timeouts={"silent": 0.05})) as here:
        turn = asyncio.create_task(here.thread.send("hello"))
        await here.until(lambda: here.notes("loading"))
        provider.hold.set()
        assert await turn is Outcome.DONE
        assert here.notes("loading") == ["nothing came for 0.05 s; the model may still be loading"]


@pytest.mark.parametrize("silent", [60.0, 0.05])
async def test_a_server_that_would_say_so_or_is_not_silent_for_long_is_not_suspected(provider, tmp_path, silent):
    if silent < 1:
        provider.props = LLAMA
    provider.answer(["a", "b"])
    waited = asyncio.Event()
    provider.hold = waited
    async with opened(tmp_path, **given(provider, timeouts={"silent": silent})) as here:
        asyncio.get_running_loop().call_later(0.2, waited.set)
        assert await here.thread.send("hello") is Outcome.DONE
        assert here.notes("loading") == []
