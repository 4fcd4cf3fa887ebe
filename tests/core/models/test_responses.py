"""OpenAI's Responses API is spoken to over real HTTP, and each of its faults is typed."""

import asyncio
from contextlib import aclosing

import pytest
from pydantic import BaseModel

from tests.core.models.asking import READ, ask, calls, connect, finish, prompt, reasoning, text, usage
from tests.fakes.responses import FakeResponses, called, declined, events, reasoned, response, said
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
from wisp_core.models.backend import Server
from wisp_core.models.catalogue import open_backend
from wisp_core.models.profile import Profile
from wisp_core.models.responses import LEAST_OUTPUT, ResponsesBackend
from wisp_core.records import Usage
from wisp_core.requests import Message, ModelRequest, Role, TextDelta, WireCall
from wisp_core.settings import Settings, Timeouts

BEGUN = response(said("half"))[:5]
COUNTS = {"input_tokens": 40, "output_tokens": 5, "total_tokens": 45}


def report(what, *, code=None, kind="invalid_request_error"):
    """Return the body of a refusal."""
    return {"error": {"message": what, "type": kind, "param": None, "code": code}}


def failed(code, what):
    """Return the event with which a response fails."""
    about = {"object": "response", "status": "failed", "error": {"code": code, "message": what}}
    return {"type": "response.failed", "response": about}


class Verdict(BaseModel):
    keep: bool
    why: str


@pytest.fixture
async def provider():
    async with FakeResponses() as provider:
        yield provider
        assert provider.refused == []


@pytest.fixture
async def backend(provider):
    backend = connect(provider, api="responses")
    yield backend
    await backend.close()


async def test_a_reply_streams_with_usage_and_end_and_is_not_stored(provider, backend):
    counts = COUNTS | {"input_tokens_details": {"cached_tokens": 32}}
    provider.answer(*response(said("hel", "lo"), usage=counts))
    found = await ask(backend)
    assert (text(found), finish(found)) == ("hello", "stop")
    assert usage(found) == Usage(40, 5, 45, 32)
    body = provider.requests[0].body
    assert (body["store"], body["instructions"], body["model"]) == (False, "Be brief.", "fake")
    assert body["input"] == [{"type": "message", "role": "user", "content": "hello"}]
    assert not {"tools", "reasoning", "text", "max_output_tokens", "temperature"} & set(body)


@pytest.mark.parametrize("size", [1, 2, 7, 64])
async def test_a_reply_is_the_same_in_pieces_of_any_size(provider, backend, size):
    provider.answer(*response(reasoned("日本"), said("café \u2028", "🎈")), split=size)
    found = await ask(backend)
    assert (text(found), reasoning(found)) == ("café \u2028🎈", "日本")


async def test_calls_come_whole_and_a_conversation_with_them_is_taken(provider, backend):
    provider.answer(*response(said("I look."), called("read_file", '{"pa', 'th": "a"}'), called("run", "{}")))
    found = await ask(backend, prompt(tools=(READ,)))
    assert calls(found) == [("read_file", '{"path": "a"}'), ("run", "{}")]
    assert (text(found), finish(found)) == ("I look.", "tool_calls")
    messages = (
        Message(Role.SYSTEM, "Be brief."),
        Message(Role.USER, "read\0 a\ud800"),
        Message(Role.ASSISTANT, "I look.", (WireCall("c1", "read_file", '{"path": "a"}'), WireCall("c2", "r n", "{"))),
        Message(Role.TOOL, "", call_id="c1", name="read_file"),
        Message(Role.TOOL, "done", call_id="c2", name="r n"),
        Message(Role.ASSISTANT, ""),
        Message(Role.USER, "and now?"),
    )
    await ask(backend, ModelRequest(messages, tools=(READ,), max_output=7, temperature=0.5))
    body = provider.requests[1].body
    assert (body["max_output_tokens"], body["temperature"]) == (LEAST_OUTPUT, 0.5)
    assert body["input"] == [
        {"type": "message", "role": "user", "content": "read\ufffd a\ufffd"},
        {"type": "message", "role": "assistant", "content": "I look."},
        {"type": "function_call", "call_id": "c1", "name": "read_file", "arguments": '{"path": "a"}'},
        {"type": "function_call", "call_id": "c2", "name": "r_n", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "c1", "output": "(no output)"},
        {"type": "function_call_output", "call_id": "c2", "output": "done"},
        {"type": "message", "role": "user", "content": "and now?"},
    ]


async def test_effort_is_passed_and_what_was_reasoned_is_shown_apart(provider, backend):
    provider.answer(*response(reasoned("**Plan** look", "**Then** say"), said("reply")))
    found = await ask(backend, prompt(effort="high"))
    assert (reasoning(found), text(found)) == ("**Plan** look\n\n**Then** say", "reply")
    assert provider.requests[0].body["reasoning"] == {"effort": "high", "summary": "auto"}
    await ask(backend, prompt(effort="enormous"))
    assert "reasoning" not in provider.requests[1].body


async def test_what_a_server_does_not_know_is_left_out_once_and_for_all(provider, backend):
    provider.rejects = [
        ("summary", "Your organization must be verified to generate reasoning summaries."),
        ("temperature", "Unsupported parameter: 'temperature' is not supported with this model."),
    ]
    for _ in range(2):
        assert text(await ask(backend, prompt(effort="low", temperature=0.0))) == "ok"
    assert [seen.body.get("reasoning") for seen in provider.requests][1:] == [{"effort": "low"}] * 3
    assert ["temperature" in seen.body for seen in provider.requests] == [True, True, False, False]
    provider.rejects.append(("effort", "Unsupported parameter: 'reasoning.effort' is not supported with this model."))
    for _ in range(2):
        assert text(await ask(backend, prompt(effort="low", tools=(READ,)))) == "ok"
    assert ["reasoning" in seen.body for seen in provider.requests[4:]] == [True, False, False]
    provider.rejects.append(("tools", "tools is not supported with this model"))
    assert text(await ask(backend, prompt(tools=(READ,)))) == "ok"
    assert not backend.capabilities.tools


async def test_guided_generation_gives_the_schema(provider, backend):
    provider.answer(*response(said('{"keep": true, "why": "x"}')))
    assert await backend.guided(prompt(tools=(READ,)), Verdict) == Verdict(keep=True, why="x")
    body = provider.requests[0].body
    assert body["text"]["format"]["schema"]["required"] == ["keep", "why"]
    assert "tools" not in body


async def test_guided_generation_asks_in_words_where_the_form_is_unknown(provider, backend):
    provider.rejects = [("json_schema", "Unsupported parameter: 'text.format' json_schema is not supported")]
    for _ in range(2):
        provider.answer(*response(said('Here: {"keep": false, "why": "y"}')))
        assert await backend.guided(prompt("judge"), Verdict) == Verdict(keep=False, why="y")
    assert ["text" in seen.body for seen in provider.requests] == [True, False, False]
    assert "JSON schema" in provider.requests[1].body["input"][-1]["content"]
    provider.answer(*response(said('{"keep": tr'), status="incomplete", reason="max_output_tokens"))
    with pytest.raises(CutStreamError):
        await backend.guided(prompt(), Verdict)


async def test_a_prompt_that_is_too_long_is_typed(provider):
    provider.window = 600
    backend = connect(provider, api="responses", window=400000)
    with pytest.raises(ContextOverflowError):
        await ask(backend, prompt("word " * 1000))
    over = "This model's maximum context length is 128000 tokens. However, your messages resulted in 130000 tokens."
    provider.answer(failed("context_length_exceeded", over))
    with pytest.raises(ContextOverflowError) as caught:
        await ask(backend)
    assert (caught.value.limit, caught.value.count) == (128000, 130000)
    window = await backend.window()
    assert (window.tokens, window.source) == (128000, "error")
    await backend.close()


FLAT = {"type": "error", "code": "server_error", "message": "The server had an error", "param": None}
SLOW = "Rate limit reached. Please try again in 1.5s."


@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        ({"status": 400, "body": report("bad")}, BadRequestError),
        ({"status": 401, "body": report("wrong key", code="invalid_api_key")}, AuthenticationError),
        ({"status": 404, "body": report("no such model", code="model_not_found")}, NoModelError),
        ({"status": 429, "body": report(SLOW, code="rate_limit_exceeded"), "headers": {}}, RateLimitedError),
        ({"status": 500, "body": report("sorry", kind="server_error")}, OverloadedError),
        ({"status": 503, "body": "<html>Unavailable</html>"}, OverloadedError),
        ({"raw": b"<html>", "headers": {"content-type": "text/html"}}, BadRequestError),
        ({"raw": events([*BEGUN, failed("server_error", "sorry")])}, OverloadedError),
        ({"raw": events([*BEGUN, failed("rate_limit_exceeded", SLOW)])}, RateLimitedError),
        ({"raw": events([*BEGUN, failed("invalid_prompt", "not allowed")])}, BadRequestError),
        ({"raw": events([*BEGUN, failed("data_residency_mismatch", "elsewhere")])}, BadRequestError),
        ({"raw": events([*BEGUN, failed("strange", "odd")])}, CutStreamError),
        ({"raw": events([*BEGUN, FLAT])}, OverloadedError),
        ({"raw": events([*BEGUN, {"type": "error"} | report("slow", code="rate_limit_exceeded")])}, RateLimitedError),
        ({"raw": events(response(said("a"), status="incomplete", reason="content_filter"))}, BadRequestError),
        ({"raw": events(BEGUN)}, CutStreamError),
        ({"raw": b""}, CutStreamError),
        ({"raw": b"data: {broken\n\n"}, CutStreamError),
        ({"raw": events(BEGUN), "cut": True}, CutStreamError),
    ],
)
async def test_every_refusal_and_every_broken_answer_is_typed(provider, backend, answer, kind):
    provider.answer(**answer)
    with pytest.raises(kind) as caught:
        await ask(backend)
    assert type(caught.value) is kind
    assert provider.url in caught.value.message
    assert caught.value.endpoint == provider.url
    if kind is RateLimitedError:
        assert caught.value.wait == (1.5 if SLOW in str(answer) or b"1.5s" in answer.get("raw", b"") else None)


POLICIES = ["bio_policy", "cyber_policy", "misalignment_policy_violation", "image_content_policy_violation"]


@pytest.mark.parametrize("code", POLICIES)
@pytest.mark.parametrize("event", [failed, lambda code, text: {"type": "error", "code": code, "message": text}])
async def test_an_answer_that_a_policy_withholds_is_not_to_be_asked_for_again(provider, backend, code, event):
    provider.answer(raw=events([*BEGUN, event(code, "This was\x1b[31m blocked.")]))
    with pytest.raises(BadRequestError) as caught:
        await ask(backend)
    said = caught.value.sentence()
    assert f"withholds the answer to this prompt ({code})" in said
    assert "blocked" in said
    assert "\x1b" not in said
    assert "put the prompt differently" in said
    assert "blocked" in caught.value.detail


async def test_an_answer_at_its_limit_says_so(provider, backend):
    provider.answer(*response(said("cut"), status="incomplete", reason="max_output_tokens"))
    found = await ask(backend)
    assert (text(found), finish(found)) == ("cut", "length")


async def test_a_refusal_of_the_model_is_its_reply(provider, backend):
    provider.answer(*response(declined("I can't ", "help with that.")))
    assert text(await ask(backend)) == "I can't help with that."


async def test_silence_ends_in_time_and_parts_of_a_call_are_no_silence(provider):
    backend = connect(provider, api="responses", timeouts=Timeouts(connect=2, first_token=0.2, between_tokens=5))
    provider.answer(*response(said("a"))[:2], hang=True)
    with pytest.raises(ModelTimeoutError, match=r"0\.2 s"):
        await ask(backend)
    await backend.close()
    backend = connect(provider, api="responses", timeouts=Timeouts(connect=2, first_token=5, between_tokens=0.2))
    provider.answer(*response(called("run", '{"a"'))[:4], hang=True)
    with pytest.raises(ModelTimeoutError, match=r"0\.2 s"):
        await ask(backend)
    await backend.close()


async def test_closing_the_stream_closes_the_connection(provider, backend):
    provider.answer(*BEGUN, hang=True)
    async with aclosing(backend.stream(prompt())) as stream:
        assert await anext(stream) == TextDelta("half")
    await asyncio.wait_for(provider.disconnected.wait(), 5)
    assert text(await ask(backend)) == "ok"


async def test_a_server_that_does_not_stream_is_understood(provider, backend):
    items = (reasoned("hm"), said("whole"), called("run", '{"a": 1}'))
    provider.answer(body=response(*items, usage=COUNTS)[-1]["response"])
    found = await ask(backend)
    assert (text(found), reasoning(found), calls(found)) == ("whole", "hm", [("run", '{"a": 1}')])
    assert usage(found) == Usage(40, 5, 45, None)


async def test_the_catalogue_names_the_models_that_are_asked_this_way():
    backend = open_backend("openai/gpt-5.3-codex", Settings(), environ={"OPENAI_API_KEY": "k"})
    assert isinstance(backend, ResponsesBackend)
    assert (await backend.window()).source == "catalogue"
    assert await backend.count(prompt().messages, ()) is None
    await backend.close()


async def test_the_reply_is_limited_by_the_catalogue(provider):
    backend = ResponsesBackend("a/b", Server(provider.url), model="b", profile=Profile(probes=False, most_output=4096))
    await ask(backend, prompt(max_output=100000))
    assert provider.requests[0].body["max_output_tokens"] == 4096
    assert provider.paths == ["/v1/responses"]
    await backend.close()
