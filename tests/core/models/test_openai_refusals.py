"""What servers of chat completions refuse of a request is asked for in another way, and remembered."""

import asyncio
from contextlib import suppress

import pytest
from pydantic import BaseModel

from tests.core.models.asking import READ, ask, connect, prompt, text
from tests.fakes.provider import FakeProvider
from wisp_core.models.backend import Server
from wisp_core.models.openai import ChatBackend
from wisp_core.models.profile import Profile
from wisp_core.models.server_backend import THINKING_ROOM


class Verdict(BaseModel):
    keep: bool


@pytest.fixture
async def provider():
    async with FakeProvider() as provider:
        yield provider
        assert provider.refused == []


@pytest.mark.parametrize(
    ("hosted", "refusal"),
    [
        (
            False,
            "Unsupported parameter: 'max_tokens' is not supported here. Use 'max_completion_tokens' instead.",
        ),
        (True, "Unrecognized request argument supplied: max_completion_tokens"),
    ],
)
async def test_the_limit_of_a_reply_goes_by_the_name_that_the_server_knows(provider, hosted, refusal):
    names = ("max_completion_tokens", "max_tokens") if hosted else ("max_tokens", "max_completion_tokens")
    backend = ChatBackend("m", Server(provider.url), model="m", profile=Profile(output_key=names[0], probes=False))
    provider.answer(status=400, body={"error": {"message": refusal}})
    for _ in range(2):
        assert text(await ask(backend, prompt(max_output=99))) == "ok"
    assert [[name for name in names if name in seen.body] for seen in provider.requests] == [
        [names[0]], [names[1]], [names[1]]
    ]  # fmt: skip
    assert provider.requests[-1].body[names[1]] == 99
    await backend.close()


async def test_a_model_that_takes_tools_only_without_reasoning_keeps_its_tools(provider):
    backend = connect(provider)
    said = "Function tools with reasoning_effort are not supported for gpt-5.6 in /v1/chat/completions."
    provider.answer(status=400, body={"error": {"message": said}})
    assert text(await ask(backend, prompt(tools=(READ,)))) == "ok"
    body = provider.requests[-1].body
    assert (body["reasoning_effort"], len(body["tools"])) == ("none", 1)
    await backend.close()


@pytest.mark.parametrize(
    "refusal",
    [
        "This response_format type is unavailable now",
        "response_format value as json_schema is enabled only for api versions 2024-08-01-preview and later",
        "Failed to parse grammar",
    ],
)
async def test_whatever_a_server_has_against_a_form_it_is_asked_in_words(provider, refusal):
    backend = connect(provider)
    provider.answer(status=400, body={"error": {"message": refusal}})
    provider.answer('{"keep": true}')
    provider.answer('{"keep": true}')
    assert await backend.guided(prompt(temperature=0.0), Verdict) == Verdict(keep=True)
    assert "JSON schema" in provider.requests[-1].body["messages"][-1]["content"]
    await backend.close()


async def test_a_server_that_ignores_a_form_is_asked_once_in_words_and_from_then_on(provider):
    backend = connect(provider)
    for reply in ("well, yes", '{"keep": true}', '{"keep": true}'):
        provider.answer(reply)
    for _ in range(2):
        assert await backend.guided(prompt(), Verdict) == Verdict(keep=True)
    assert ["response_format" in seen.body for seen in provider.requests] == [True, False, False]
    await backend.close()


async def test_a_server_that_talks_instead_of_giving_a_form_until_it_is_cut_is_asked_in_words(provider):
    backend = connect(provider)
    provider.answer("well, let me think about", finish="length")
    provider.answer('{"keep": true}')
    assert await backend.guided(prompt(), Verdict) == Verdict(keep=True)
    await backend.close()


async def test_words_that_were_given_up_while_they_were_answered_are_not_kept_to(provider):
    backend = connect(provider)
    provider.answer("well, yes")
    provider.answer("", hang=True)
    asking = asyncio.create_task(backend.guided(prompt(), Verdict))
    while len(provider.requests) < 2:
        await provider.arrived.wait()
        provider.arrived.clear()
    asking.cancel()
    with suppress(asyncio.CancelledError):
        await asking
    provider.answer('{"keep": true}')
    assert await backend.guided(prompt(), Verdict) == Verdict(keep=True)
    assert ["response_format" in seen.body for seen in provider.requests] == [True, False, True]
    await backend.close()


@pytest.mark.parametrize(("effort", "limit"), [(True, 16 + THINKING_ROOM), (False, 16)])
async def test_a_model_that_thinks_has_room_for_it_beside_a_short_answer_of_a_form(provider, effort, limit):
    backend = ChatBackend("m", Server(provider.url), model="m", profile=Profile(effort=effort, probes=False))
    provider.answer('{"keep": true}')
    assert await backend.guided(prompt(max_output=16), Verdict) == Verdict(keep=True)
    assert provider.requests[0].body["max_tokens"] == limit
    await backend.close()
