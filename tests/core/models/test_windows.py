"""A model's window is found where it is told, and learnt from a refusal; its source is kept beside it."""

import pytest

from tests.core.models.asking import READ, ask, connect, prompt, text
from tests.fakes.provider import FakeProvider, delta, end
from wisp_core.errors import ContextOverflowError
from wisp_core.requests import PromptProgress, Window

LLAMA = {"default_generation_settings": {"n_ctx": 4096}}


@pytest.fixture
async def provider():
    async with FakeProvider() as provider:
        yield provider
        assert provider.refused == []


@pytest.fixture
async def backend(provider):
    backend = connect(provider)
    yield backend
    await backend.close()


async def test_the_window_of_the_config_comes_first(provider):
    provider.props = LLAMA
    backend = connect(provider, window=2048)
    assert await backend.window() == Window(2048, "config")
    await backend.close()


async def test_a_llama_server_tells_its_window_counts_and_progress(provider, backend):
    provider.props = LLAMA
    provider.input_tokens = lambda body: {"input_tokens": 10 * len(body["messages"]) + len(body.get("tools", ()))}
    assert await backend.window() == Window(4096, "server")
    assert backend.capabilities.counts
    assert await backend.count(prompt().messages, (READ,)) == 21
    provider.answer(
        chunks=[{"choices": [], "prompt_progress": {"total": 20, "processed": 8}}, delta(content="a"), end()]
    )
    found = await ask(backend)
    assert found[0] == PromptProgress(8, 20)
    assert provider.requests[0].body["return_progress"] is True


async def test_a_server_that_cannot_count_is_asked_once(provider, backend):
    provider.props = LLAMA
    for _ in range(2):
        assert await backend.count(prompt().messages, ()) is None
    assert provider.paths.count("/v1/chat/completions/input_tokens") == 1


@pytest.mark.parametrize(
    "extra",
    [{"max_model_len": 4096}, {"context_length": 4096}, {"meta": {"n_ctx": 4096}}, {"loaded_context_length": 4096}],
)
async def test_the_window_is_read_from_the_list_of_models(provider, extra):
    provider.models = {"data": [{"id": "other", "max_model_len": 999999}, {"id": "mine", **extra}]}
    backend = connect(provider, "local/fake/mine")
    assert await backend.window() == Window(4096, "server")
    await backend.close()


@pytest.mark.parametrize(
    "models", [None, [], {"data": None}, {"data": [{"id": "x", "context_length": 100}]}, {"data": [5]}]
)
async def test_a_server_that_tells_nothing_believable_has_an_unknown_window(provider, backend, models):
    provider.models = models
    assert await backend.window() is None
    assert text(await ask(backend)) == "ok"


async def test_a_limit_learnt_from_an_overflow_lowers_the_window_and_never_raises_it(provider, backend):
    async def overflow(limit):
        fields = {"type": "exceed_context_size_error", "message": "too long", "n_ctx": limit, "n_prompt_tokens": 99999}
        provider.answer(status=400, body={"error": fields})
        with pytest.raises(ContextOverflowError) as caught:
            await ask(backend)
        assert caught.value.limit == limit
        return await backend.window()

    provider.props = LLAMA
    assert await backend.window() == Window(4096, "server")
    assert await overflow(8192) == Window(4096, "server")
    assert await overflow(300) == Window(4096, "server")
    assert await overflow(2048) == Window(2048, "error")
    assert await overflow(3000) == Window(2048, "error")


async def test_an_unknown_window_is_learnt_from_an_overflow(provider, backend):
    provider.answer(
        status=400,
        body={"error": {"message": "maximum context length is 4097 tokens. However, you requested 9000 tokens"}},
    )
    with pytest.raises(ContextOverflowError):
        await ask(backend)
    assert await backend.window() == Window(4097, "error")


async def test_a_server_that_is_still_loading_is_asked_for_its_window_again(provider, backend):
    provider.busy = True
    assert await backend.window() is None
    provider.busy = False
    provider.props = LLAMA
    assert await backend.window() == Window(4096, "server")
