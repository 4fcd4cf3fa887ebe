"""A key goes to its endpoint in that one's own header, and neither to another endpoint nor into anything written."""

from contextlib import AsyncExitStack

import pytest

from tests.core.models.asking import ask, prompt, text
from tests.fakes.anthropic import FakeAnthropic
from tests.fakes.provider import FakeProvider
from tests.fakes.responses import FakeResponses
from tests.opened import opened
from wisp_core.errors import AuthenticationError, BadRequestError
from wisp_core.models.catalogue import open_backend
from wisp_core.settings import Endpoint, Settings

KEYS = {name: f"sk-{name}-0123456789abcdef" for name in ("chat", "anthropic", "responses")}
ENVIRON = {f"{name.upper()}_TEST_KEY": key for name, key in KEYS.items()}


@pytest.fixture
async def providers():
    async with AsyncExitStack() as stack:
        found = {
            "chat": await stack.enter_async_context(FakeProvider()),
            "anthropic": await stack.enter_async_context(FakeAnthropic(key=KEYS["anthropic"])),
            "responses": await stack.enter_async_context(FakeResponses(key=KEYS["responses"])),
        }
        yield found
        assert [provider.refused for provider in found.values()] == [[], [], []]


def endpoints(providers):
    return {
        name: Endpoint(url=provider.url, api=name, key_env=f"{name.upper()}_TEST_KEY")
        for name, provider in providers.items()
    }


async def test_a_key_goes_to_its_endpoint_alone_and_in_its_own_header(providers):
    settings = Settings(endpoints=endpoints(providers))
    for name in providers:
        backend = open_backend(f"local/{name}", settings, environ=ENVIRON)
        assert text(await ask(backend)) == "ok"
        assert KEYS[name] not in repr(vars(backend))
        await backend.close()
    seen = {name: provider.requests[0].headers for name, provider in providers.items()}
    assert seen["chat"]["authorization"] == f"Bearer {KEYS['chat']}"
    assert seen["responses"]["authorization"] == f"Bearer {KEYS['responses']}"
    assert seen["anthropic"]["x-api-key"] == KEYS["anthropic"]
    assert "authorization" not in seen["anthropic"]
    for name, provider in providers.items():
        others = [key for other, key in KEYS.items() if other != name]
        assert not any(key in str(request) for request in provider.requests for key in others)


async def test_a_key_is_not_followed_to_where_a_server_sends(providers):
    elsewhere = f"http://127.0.0.1:{providers['chat'].port}/v1/chat/completions"
    providers["anthropic"].answer(status=307, body="", headers={"location": elsewhere})
    backend = open_backend("local/anthropic", Settings(endpoints=endpoints(providers)), environ=ENVIRON)
    with pytest.raises(BadRequestError, match="sends elsewhere"):
        await ask(backend, prompt())
    assert providers["chat"].requests == []
    await backend.close()


@pytest.mark.parametrize("name", ["anthropic", "responses"])
async def test_a_refused_key_is_in_no_error_and_in_nothing_of_the_home(tmp_path, monkeypatch, providers, name):
    for variable, key in ENVIRON.items():
        monkeypatch.setenv(variable, key)
    echo = {"error": {"type": "authentication_error", "message": f"invalid key {KEYS[name]}"}}
    providers[name].answer(status=401, body=echo)
    given = {"model": f"local/{name}", "endpoints": {n: e.model_dump() for n, e in endpoints(providers).items()}}
    async with opened(tmp_path, **given) as home:
        await home.thread.send("hello")
        await home.thread.send("once more")
        assert [end.outcome for end in home.events("turn.end")] == ["failed", "done"]
        assert KEYS[name] not in str(home.heard)
    assert providers[name].requests
    written = b"".join(path.read_bytes() for path in tmp_path.rglob("*") if path.is_file())
    assert b"once more" in written
    assert KEYS[name].encode() not in written


async def test_a_key_that_is_not_set_is_named_before_anything_is_sent(providers):
    with pytest.raises(AuthenticationError, match="ANTHROPIC_TEST_KEY"):
        open_backend("local/anthropic", Settings(endpoints=endpoints(providers)), environ={})
    assert providers["anthropic"].paths == []
