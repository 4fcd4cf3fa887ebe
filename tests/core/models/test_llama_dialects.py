"""llama.cpp's server speaks Anthropic's and OpenAI's other API too, and both backends are right for a real server."""

import secrets

import pytest
from pydantic import BaseModel

from tests.core.models.asking import READ, ask, finish, prompt, text, usage
from wisp_core.errors import AuthenticationError, BadRequestError, ContextOverflowError, CutStreamError
from wisp_core.models.catalogue import open_backend
from wisp_core.models.embedded import find_weights
from wisp_core.models.embedded_process import Child
from wisp_core.requests import Message, ModelRequest, Role, WireCall
from wisp_core.settings import Endpoint, Settings

pytestmark = [pytest.mark.embedded, pytest.mark.asyncio(loop_scope="module")]

LONG = "one two three four five six seven eight nine ten " * 300


class Verdict(BaseModel):
    keep: bool


@pytest.fixture(scope="module")
def server():
    config = {"path": str(find_weights()), "window": 2048, "threads": 1, "batch": 128, "cache_mib": 64}
    child = Child(config | {"key": secrets.token_hex(8)})
    yield child.start(), child
    child.stop()


def connect(server, api, key=None):
    address, child = server
    settings = Settings(endpoints={"llama": Endpoint(url=f"{address}/v1", api=api, key_env="LLAMA_KEY")})
    return open_backend("local/llama", settings, environ={"LLAMA_KEY": key or child._config["key"]})


@pytest.fixture(params=["anthropic", "responses"])
async def backend(server, request):
    backend = connect(server, request.param)
    yield backend
    await backend.close()


async def test_it_streams_with_usage_and_knows_its_window(backend):
    found = await ask(backend, prompt("Count from one to five.", max_output=24, temperature=0.0))
    assert text(found).strip()
    assert finish(found) in ("stop", "length")
    assert usage(found).prompt > 10
    assert usage(found).completion >= 1
    window = await backend.window()
    assert (window.tokens, window.source) == (2048, "server")


async def test_its_limit_ends_the_reply(backend):
    found = await ask(backend, prompt("Tell me a very long story.", max_output=16))
    assert usage(found).completion == 16


async def test_a_conversation_with_calls_is_taken(backend):
    messages = (
        Message(Role.SYSTEM, "Be brief."),
        Message(Role.USER, "# Earlier\n\nRead a."),
        Message(Role.ASSISTANT, "I look.", (WireCall("c1", "read_file", '{"path": "a"}'),)),
        Message(Role.TOOL, "it says hello", call_id="c1", name="read_file"),
    )
    assert finish(await ask(backend, ModelRequest(messages, tools=(READ,), max_output=16, stable=9)))


async def test_a_prompt_that_does_not_fit_is_an_overflow_with_its_figures(backend):
    with pytest.raises(ContextOverflowError) as caught:
        await ask(backend, prompt(LONG, max_output=16))
    assert caught.value.limit in (None, 2048)
    assert caught.value.count is None or caught.value.count > 2048


async def test_guided_generation_that_the_server_does_not_keep_to_is_typed(backend):
    # Of these two APIs llama.cpp reads neither the form nor, for this model's template, the tool.
    with pytest.raises((BadRequestError, CutStreamError)):
        await backend.guided(prompt("Answer with a poem.", max_output=40, temperature=0.0), Verdict)


@pytest.mark.parametrize("api", ["anthropic", "responses"])
async def test_a_wrong_key_is_refused(server, api):
    backend = connect(server, api, key="wrong")
    with pytest.raises(AuthenticationError):
        await ask(backend)
    await backend.close()
