"""Anthropic's Messages API is spoken to over real HTTP, and each of its faults is typed."""

import asyncio
from contextlib import aclosing

import pytest
from pydantic import BaseModel

from tests.core.models.asking import READ, ask, calls, connect, finish, prompt, reasoning, text, usage
from tests.fakes.anthropic import PING, FakeAnthropic, called, end, events, message, redacted, report, said, start
from wisp_core.errors import (
    AuthenticationError,
    BadRequestError,
    ContextOverflowError,
    CutStreamError,
    ModelTimeoutError,
    NoModelError,
    OverloadedError,
    RateLimitedError,
)
from wisp_core.models.anthropic import DEFAULT_OUTPUT, AnthropicBackend
from wisp_core.models.backend import Server
from wisp_core.models.catalogue import open_backend
from wisp_core.models.profile import Profile
from wisp_core.records import Usage
from wisp_core.requests import Message, ModelRequest, Role, TextDelta, WireCall
from wisp_core.settings import Settings, Timeouts

FAILED = {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}


class Verdict(BaseModel):
    keep: bool
    why: str


@pytest.fixture
async def provider():
    async with FakeAnthropic() as provider:
        yield provider
        assert provider.refused == []


@pytest.fixture
async def backend(provider):
    backend = connect(provider, api="anthropic")
    yield backend
    await backend.close()


async def test_a_reply_streams_with_usage_and_end(provider, backend):
    counts = {"input_tokens": 9, "cache_creation_input_tokens": 100, "cache_read_input_tokens": 2000}
    provider.answer(*message(said("hel", "lo"), counts=counts, output=5))
    found = await ask(backend)
    assert (text(found), finish(found)) == ("hello", "stop")
    assert usage(found) == Usage(prompt=2109, completion=5, total=2114, cached=2000)
    seen = provider.requests[0]
    assert seen.body["model"] == "claude-fake"
    assert seen.body["max_tokens"] == DEFAULT_OUTPUT
    assert seen.headers["anthropic-version"] == "2023-06-01"
    assert not {"tools", "thinking", "temperature"} & set(seen.body)


@pytest.mark.parametrize("size", [1, 2, 7, 64])
async def test_a_reply_is_the_same_in_pieces_of_any_size(provider, backend, size):
    provider.answer(*message(said("café \u2028", "🎈")), split=size)
    assert text(await ask(backend)) == "café \u2028🎈"


async def test_the_instructions_and_the_earlier_block_end_in_breakpoints(provider, backend):
    earlier = "# Earlier\n- the port is 8080"
    messages = (Message(Role.SYSTEM, "Be brief."), Message(Role.USER, f"{earlier}\n\nwhich port?"))
    await ask(backend, ModelRequest(messages, stable=len(earlier)))
    body = provider.requests[0].body
    mark = {"cache_control": {"type": "ephemeral"}}
    assert body["system"] == [{"type": "text", "text": "Be brief."} | mark]
    assert body["messages"][0]["content"] == [
        {"type": "text", "text": earlier} | mark,
        {"type": "text", "text": "\n\nwhich port?"},
    ]


async def test_a_server_without_breakpoints_is_asked_once_without_them(provider, backend):
    provider.rejects = [("cache_control", "messages.0.cache_control: Extra inputs are not permitted")]
    for _ in range(2):
        assert text(await ask(backend, prompt("earlier\n\nnow", stable=7))) == "ok"
    assert ["cache_control" in str(seen.body) for seen in provider.requests] == [True, False, False]


async def test_calls_come_whole_and_go_back_with_their_results_in_one_message(provider, backend):
    one, two = called("read_file", '{"pa', 'th": "a"}'), called("run", id="toolu_02")
    provider.answer(*message(said("I look."), one, two))
    found = await ask(backend, prompt(tools=(READ,)))
    assert calls(found) == [("read_file", '{"path": "a"}'), ("run", "")]
    assert (text(found), finish(found)) == ("I look.", "tool_calls")
    assert provider.requests[0].body["tools"][0]["input_schema"] == READ.parameters
    messages = (
        Message(Role.SYSTEM, "Be brief."),
        Message(Role.USER, "read\0 a\ud800"),
        Message(Role.ASSISTANT, "I look.", (WireCall("c1", "read_file", '{"path": "a"}'), WireCall("c2", "r n", "{"))),
        Message(Role.TOOL, " \n", call_id="c1", name="read_file"),
        Message(Role.TOOL, "done", call_id="c2", name="r n"),
        Message(Role.ASSISTANT, ""),
        Message(Role.USER, "and now?"),
    )
    await ask(backend, ModelRequest(messages, tools=(READ,), max_output=7, temperature=0.5))
    body = provider.requests[1].body
    assert (body["max_tokens"], body["temperature"]) == (7, 0.5)
    assert body["messages"][0]["content"][0]["text"] == "read\ufffd a\ufffd"
    assert [block["type"] for block in body["messages"][1]["content"]] == ["text", "tool_use", "tool_use"]
    assert body["messages"][1]["content"][2] == {"type": "tool_use", "id": "c2", "name": "r_n", "input": {}}
    assert body["messages"][2]["content"] == [
        {"type": "tool_result", "tool_use_id": "c1", "content": "(no output)"},
        {"type": "tool_result", "tool_use_id": "c2", "content": "done"},
        {"type": "text", "text": "and now?"},
    ]


async def test_a_history_with_calls_goes_without_tools_as_tools_that_cannot_be_chosen(provider, backend):
    messages = (
        Message(Role.USER, "go"),
        Message(Role.ASSISTANT, calls=(WireCall("c1", "read_file", "{}"),)),
        Message(Role.TOOL, "text", call_id="c1"),
    )
    assert text(await ask(backend, ModelRequest(messages))) == "ok"
    body = provider.requests[0].body
    assert [tool["name"] for tool in body["tools"]] == ["read_file"]
    assert body["tool_choice"] == {"type": "none"}


@pytest.mark.parametrize(("asked", "sent"), [(None, 4096), (150000, 4096), (100, 100)])
async def test_the_reply_is_limited_by_request_and_catalogue_whichever_is_less(provider, asked, sent):
    backend = AnthropicBackend("a/b", Server(provider.url), model="b", profile=Profile(probes=False, most_output=4096))
    await ask(backend, prompt(max_output=asked))
    assert provider.requests[0].body["max_tokens"] == sent
    assert provider.paths == ["/v1/messages"]
    await backend.close()


async def test_a_limit_that_the_server_states_is_kept_to(provider, backend):
    provider.most_output = 4096
    for _ in range(2):
        assert text(await ask(backend, prompt(max_output=150000))) == "ok"
    assert [seen.body["max_tokens"] for seen in provider.requests] == [150000, 4096, 4096]


async def test_guided_generation_forces_a_tool_with_the_schema(provider, backend):
    provider.answer(*message(called("Verdict", '{"keep": tr', 'ue, "why": "x"}')))
    assert await backend.guided(prompt(effort="high"), Verdict) == Verdict(keep=True, why="x")
    body = provider.requests[0].body
    assert body["tool_choice"] == {"type": "tool", "name": "Verdict", "disable_parallel_tool_use": True}
    assert body["tools"][0]["input_schema"]["required"] == ["keep", "why"]
    assert "thinking" not in body


async def test_guided_generation_takes_words_where_no_tool_is_called(provider, backend):
    provider.answer(*message(said('Here: ```json\n{"keep": false, "why": "y"}\n```')))
    assert await backend.guided(prompt("judge"), Verdict) == Verdict(keep=False, why="y")
    provider.answer(*message(called("Verdict", '{"keep": tr'), reason="max_tokens"))
    with pytest.raises(CutStreamError):
        await backend.guided(prompt(), Verdict)
    provider.answer(*message(said("no")))
    provider.answer(*message(said("no")))
    with pytest.raises(BadRequestError, match="no Verdict"):
        await backend.guided(prompt(), Verdict)


def hosted(provider, **facts):
    """Return the backend as of a model of the provider itself."""
    return AnthropicBackend(
        "anthropic/new", Server(f"{provider.url}"), model="new", profile=Profile(probes=False, **facts)
    )


@pytest.mark.parametrize("newest", [True, False])
async def test_a_form_is_asked_for_as_the_model_knows_it_and_its_tools_stay(provider, newest):
    provider.newest = newest
    backend = hosted(provider)
    answer = said('{"keep": true, "why": "x"}') if newest else called("Verdict", '{"keep": true, "why": "x"}')
    provider.answer(*message(answer))
    assert await backend.guided(prompt(temperature=0.0), Verdict) == Verdict(keep=True, why="x")
    taken = provider.requests[-1].body
    assert ("temperature" in taken) is not newest
    assert ("output_config" in taken, "tool_choice" in taken) == (newest, not newest)
    await ask(backend, prompt(tools=(READ,)))
    assert [tool["name"] for tool in provider.requests[-1].body["tools"]] == ["read_file"]
    await backend.close()


@pytest.mark.parametrize("newest", [True, False])
async def test_a_forced_tool_that_does_not_fit_a_model_that_thinks_unasked_costs_no_tools(provider, backend, newest):
    provider.newest = newest
    choice = "tool_choice forces tool use is not compatible with this model"
    provider.rejects = [('"type": "tool"', f"{choice}, which thinks")]
    provider.answer(*message(said('{"keep": true, "why": "x"}')))
    assert await backend.guided(prompt(), Verdict) == Verdict(keep=True, why="x")
    await ask(backend, prompt(tools=(READ,)))
    assert [tool["name"] for tool in provider.requests[-1].body["tools"]] == ["read_file"]


async def test_a_temperature_that_does_not_fit_thoughts_is_left_out(provider, backend):
    provider.rejects = [("temperature", "`temperature` may only be set to 1 when thinking is enabled")]
    for _ in range(2):
        assert text(await ask(backend, prompt(temperature=0.0))) == "ok"
    assert ["temperature" in seen.body for seen in provider.requests] == [True, False, False]


async def test_a_server_that_knows_no_choice_of_none_keeps_its_tools(provider, backend):
    provider.rejects = [('"none"', "tool_choice.type: `none` is not supported")]
    messages = (
        Message(Role.USER, "go"),
        Message(Role.ASSISTANT, calls=(WireCall("c1", "read_file", "{}"),)),
        Message(Role.TOOL, "text", call_id="c1"),
    )
    assert text(await ask(backend, ModelRequest(messages))) == "ok"
    await ask(backend, prompt(tools=(READ,)))
    assert ["tools" in seen.body for seen in provider.requests] == [True, True, True]


async def test_a_server_that_ignores_every_form_is_asked_in_words(provider, backend):
    provider.answer(*message(said("well, yes")))
    provider.answer(*message(said('{"keep": true, "why": "x"}')))
    assert await backend.guided(prompt(), Verdict) == Verdict(keep=True, why="x")
    body = provider.requests[-1].body
    assert "JSON schema" in body["messages"][-1]["content"][0]["text"]
    assert not {"tools", "tool_choice", "output_config"} & set(body)


async def test_a_question_about_a_conversation_with_calls_costs_no_tools(provider, backend):
    call = WireCall("c1", "read_file", '{"path":"a"}')
    made = (Message(Role.ASSISTANT, calls=(call,)), Message(Role.TOOL, "text", call_id="c1", name="read_file"))
    request = ModelRequest((Message(Role.USER, "look"), *made, Message(Role.USER, "judge")))
    for reply in ("well, yes", '{"keep": true, "why": "x"}'):
        provider.answer(*message(said(reply)))
    await backend.guided(request, Verdict)
    provider.rejects = [("JSON schema", "tools: not supported for this model")]
    with pytest.raises(BadRequestError):
        await backend.guided(request, Verdict)
    assert backend.capabilities.tools


async def test_a_gateway_to_a_newest_model_is_asked_without_the_forced_tool_and_keeps_its_tools(provider, backend):
    provider.newest = True
    provider.answer(*message(said('{"keep": true, "why": "x"}')))
    assert await backend.guided(prompt(), Verdict) == Verdict(keep=True, why="x")
    await ask(backend, prompt(tools=(READ,)))
    assert "tools" in provider.requests[-1].body


async def test_a_prompt_that_is_too_long_is_typed_with_its_figures_and_lowers_the_window(provider):
    provider.window = 600
    backend = connect(provider, api="anthropic", window=200000)
    with pytest.raises(ContextOverflowError) as caught:
        await ask(backend, prompt("word " * 1000))
    assert caught.value.limit == 600
    assert caught.value.count > 1000
    window = await backend.window()
    assert (window.tokens, window.source) == (600, "error")
    provider.answer(status=413, body=report(413, "Request exceeds the maximum size"))
    with pytest.raises(ContextOverflowError):
        await ask(backend)
    both = "input length and `max_tokens` exceed context limit: 173298 + 32000 > 200000, decrease input length"
    provider.answer(status=400, body=report(400, both))
    with pytest.raises(ContextOverflowError) as caught:
        await ask(backend)
    assert (caught.value.limit, caught.value.count, caught.value.output) == (200000, 173298, 32000)
    await backend.close()


@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        ({"status": 400, "body": report(400, "bad")}, BadRequestError),
        ({"status": 401, "body": report(401, "invalid x-api-key")}, AuthenticationError),
        ({"status": 403, "body": report(403, "not yours")}, AuthenticationError),
        ({"status": 404, "body": report(404, "model: claude-x")}, NoModelError),
        ({"status": 429, "body": report(429, "slow"), "headers": {"retry-after": "7"}}, RateLimitedError),
        ({"status": 500, "body": report(500, "Internal server error")}, OverloadedError),
        ({"status": 529, "body": report(529, "Overloaded")}, OverloadedError),
        ({"status": 502, "body": "<html>Bad gateway</html>"}, OverloadedError),
        ({"raw": b"<html>", "headers": {"content-type": "text/html"}}, BadRequestError),
        ({"raw": events([start(), PING, FAILED])}, OverloadedError),
        ({"raw": events([start(), report(429, "slow")])}, RateLimitedError),
        ({"raw": events([start(), report(400, "prompt is too long: 9 tokens > 8 maximum")])}, ContextOverflowError),
        ({"raw": events([start()])}, CutStreamError),
        ({"raw": b""}, CutStreamError),
        ({"raw": b"data: {broken\n\n"}, CutStreamError),
        ({"raw": events(message(said("half"))[:5]), "cut": True}, CutStreamError),
        ({"raw": events([start(), end("refusal")])}, BadRequestError),
    ],
)
async def test_every_refusal_and_every_broken_answer_is_typed(provider, backend, answer, kind):
    provider.answer(**answer)
    with pytest.raises(kind) as caught:
        await ask(backend)
    assert type(caught.value) is kind
    assert provider.url in caught.value.message
    assert caught.value.endpoint == provider.url
    if kind is RateLimitedError and answer.get("headers"):
        assert caught.value.wait == 7


async def test_a_model_that_declines_says_so_with_its_reason(provider, backend):
    why = {"stop_details": {"type": "refusal", "explanation": "it asks for harm\x1b[2J"}}
    provider.answer(start(), *message(said("I"))[2:-2], end("refusal", **why))
    with pytest.raises(BadRequestError, match="declined to answer: it asks for harm") as caught:
        await ask(backend)
    assert "\x1b" not in caught.value.sentence()


async def test_an_answer_that_ended_is_whole_even_where_the_connection_breaks(provider, backend):
    provider.answer(*message(said("whole"), reason="max_tokens")[:-1], cut=True)
    found = await ask(backend)
    assert (text(found), finish(found)) == ("whole", "length")


async def test_pings_do_not_put_off_the_end_of_waiting_but_parts_of_a_call_do(provider):
    backend = connect(provider, api="anthropic", timeouts=Timeouts(connect=2, first_token=0.2, between_tokens=5))
    provider.answer(start(), PING, hang=True)
    with pytest.raises(ModelTimeoutError, match=r"0\.2 s"):
        await ask(backend)
    await backend.close()
    backend = connect(provider, api="anthropic", timeouts=Timeouts(connect=2, first_token=5, between_tokens=0.2))
    provider.answer(*message(called("run", '{"a"'))[:5], hang=True)
    with pytest.raises(ModelTimeoutError, match=r"0\.2 s"):
        await ask(backend)
    await backend.close()


async def test_closing_the_stream_closes_the_connection(provider, backend):
    provider.answer(*message(said("a"))[:4], hang=True)
    async with aclosing(backend.stream(prompt())) as stream:
        assert await anext(stream) == TextDelta("a")
    await asyncio.wait_for(provider.disconnected.wait(), 5)
    assert text(await ask(backend)) == "ok"


async def test_a_server_that_does_not_stream_is_understood(provider, backend):
    content = [{"type": "text", "text": "whole"}, {"type": "tool_use", "id": "t", "name": "run", "input": {"a": 1}}]
    given = {"type": "message", "content": content, "stop_reason": "tool_use", "usage": {"input_tokens": 3}}
    provider.answer(body=given)
    found = await ask(backend)
    assert (text(found), calls(found), finish(found)) == ("whole", [("run", '{"a": 1}')], "tool_calls")


async def test_a_model_of_the_provider_needs_the_providers_key_and_has_the_catalogues_window():
    with pytest.raises(AuthenticationError, match="ANTHROPIC_API_KEY"):
        open_backend("anthropic/claude-haiku-4-5", Settings(), environ={"OPENAI_API_KEY": "k"})
    backend = open_backend("anthropic/claude-haiku-4-5", Settings(), environ={"ANTHROPIC_API_KEY": "k"})
    window = await backend.window()
    assert (window.tokens, window.source) == (200000, "catalogue")
    assert await backend.count(prompt().messages, ()) is None
    await backend.close()


async def test_thinking_that_cannot_be_read_is_kept_and_nothing_of_it_shown(provider, backend):
    provider.answer(*message(redacted(), called("read_file", "{}")))
    found = await ask(backend, prompt(tools=(READ,), effort="low"))
    assert (text(found), reasoning(found)) == ("", "")
