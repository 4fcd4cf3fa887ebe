"""A server of chat completions is spoken to over real HTTP, and each of its faults is typed."""

import asyncio
import json
from contextlib import aclosing

import pytest
from pydantic import BaseModel

from tests.core.models.asking import READ, ask, calls, connect, finish, prompt, reasoning, text, usage
from tests.fakes.provider import FakeProvider, delta, end, events
from wisp_core.errors import (
    AuthenticationError,
    BadRequestError,
    CutStreamError,
    ModelTimeoutError,
    NoModelError,
    OverloadedError,
    RateLimitedError,
    UnreachableError,
)
from wisp_core.records import Usage
from wisp_core.requests import Message, ModelRequest, Role, TextDelta, WireCall
from wisp_core.settings import Timeouts


class Verdict(BaseModel):
    keep: bool
    why: str


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


async def test_a_reply_streams_with_usage_and_end(provider, backend):
    counts = {
        "prompt_tokens": 9,
        "completion_tokens": 2,
        "total_tokens": 11,
        "prompt_tokens_details": {"cached_tokens": 4},
    }
    provider.answer(["hel", "lo"], reasoning="hm", usage=counts)
    found = await ask(backend)
    assert (text(found), reasoning(found), finish(found)) == ("hello", "hm", "stop")
    assert usage(found) == Usage(9, 2, 11, 4)
    body = provider.requests[0].body
    assert body["stream_options"] == {"include_usage": True}
    assert body["model"] == "fake"
    assert "return_progress" not in body
    assert "tools" not in body


@pytest.mark.parametrize("size", [1, 2, 7, 64])
async def test_a_reply_is_the_same_in_pieces_of_any_size(provider, backend, size):
    provider.answer(["caf\u00e9 \u2028", "🎈"], reasoning="日本", split=size)
    found = await ask(backend)
    assert (text(found), reasoning(found)) == ("café \u2028🎈", "日本")


async def test_raw_utf8_with_crlf_and_comments_is_read(provider, backend):
    raw = ': ping\r\n\r\ndata: {"choices":[{"delta":{"content":"é🎈"}}]}\r\n\r\ndata: [DONE]\r\n\r\n'.encode()
    provider.answer(raw=raw, split=3)
    assert text(await ask(backend)) == "é🎈"


async def test_parts_arrive_before_the_answer_ends(provider, backend):
    release = asyncio.Event()
    provider.answer(raw=events([delta(content="now")]).removesuffix(b"data: [DONE]\n\n"), release=release)
    async with aclosing(backend.stream(prompt())) as stream:
        assert await anext(stream) == TextDelta("now")
        release.set()
        with pytest.raises(CutStreamError):
            await anext(stream)


async def test_calls_come_whole_and_a_conversation_with_them_is_taken(provider, backend):
    provider.answer("I look.", calls=[{"name": "read_file", "arguments": {"path": "a"}}])
    found = await ask(backend, prompt(tools=(READ,)))
    assert calls(found) == [("read_file", '{"path": "a"}')]
    assert finish(found) == "tool_calls"
    assert provider.requests[0].body["tools"][0]["function"]["name"] == "read_file"
    call = WireCall("c1", "read_file", '{"path": "a"}')
    messages = (
        Message(Role.SYSTEM, "Be brief."),
        Message(Role.USER, "read\0 a\ud800"),
        Message(Role.ASSISTANT, "", calls=(call,)),
        Message(Role.TOOL, "", call_id="c1", name="read_file"),
        Message(Role.ASSISTANT, ""),
    )
    await ask(backend, ModelRequest(messages, max_output=7, temperature=0.5))
    body = provider.requests[1].body
    assert (body["max_tokens"], body["temperature"]) == (7, 0.5)
    assert body["messages"][1]["content"] == "read\ufffd a\ufffd"
    assert "content" not in body["messages"][2]
    assert body["messages"][3] == {"role": "tool", "tool_call_id": "c1", "content": "(no output)"}
    assert len(body["messages"]) == 4


async def test_call_arguments_that_are_no_object_never_go_out(provider, backend):
    messages = (
        Message(Role.USER, "go"),
        Message(Role.ASSISTANT, calls=(WireCall("c1", "read_file", '{"pa'),)),
        Message(Role.TOOL, "broken", call_id="c1"),
    )
    await ask(backend, ModelRequest(messages))
    assert provider.requests[0].body["messages"][1]["tool_calls"][0]["function"]["arguments"] == "{}"


async def test_a_server_that_does_not_stream_is_understood(provider, backend):
    message = {
        "role": "assistant",
        "content": "whole",
        "tool_calls": [{"id": "a", "function": {"name": "x", "arguments": "{}"}}],
    }
    provider.answer(body={"choices": [{"message": message, "finish_reason": "stop"}], "usage": {"prompt_tokens": 3}})
    found = await ask(backend)
    assert (text(found), calls(found), usage(found)) == ("whole", [("x", "{}")], Usage(3))


@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        ({"status": 400, "body": {"error": {"message": "bad"}}}, BadRequestError),
        ({"status": 401, "body": {"error": {"message": "no"}}}, AuthenticationError),
        ({"status": 404, "body": "nowhere"}, NoModelError),
        ({"status": 429, "body": "slow", "headers": {"retry-after": "2"}}, RateLimitedError),
        ({"status": 503, "body": {"error": {"message": "Loading model"}}}, OverloadedError),
        ({"status": 302, "body": "", "headers": {"location": "http://127.0.0.1:1/"}}, BadRequestError),
        ({"status": 204, "body": ""}, CutStreamError),
        ({"chunks": [delta(content="a"), {"error": {"code": 500, "message": "crashed"}}]}, OverloadedError),
        ({"raw": b""}, CutStreamError),
        ({"raw": b"data: {broken\n\n"}, CutStreamError),
        ({"text": "half", "cut": True}, CutStreamError),
        ({"text": "", "cut": True}, CutStreamError),
        ({"body": "<html>log in</html>"}, CutStreamError),
        ({"body": [1, 2]}, CutStreamError),
    ],
)
async def test_every_refusal_and_every_broken_answer_is_typed(provider, backend, answer, kind):
    provider.answer(**answer)
    with pytest.raises(kind) as caught:
        await ask(backend)
    assert type(caught.value) is kind
    assert provider.url in caught.value.message
    assert caught.value.endpoint == provider.url


async def test_an_answer_that_ended_is_whole_even_where_the_connection_breaks(provider, backend):
    provider.answer(chunks=[delta(content="whole"), end("length")], cut=True)
    found = await ask(backend)
    assert (text(found), finish(found)) == ("whole", "length")


async def test_no_server_is_unreachable_and_may_be_tried_again(provider):
    provider.url = "http://127.0.0.1:1/v1"
    backend = connect(provider)
    with pytest.raises(UnreachableError) as caught:
        await ask(backend)
    assert caught.value.retryable
    assert "http://127.0.0.1:1/v1" in caught.value.message
    assert "refused" in caught.value.message
    assert await backend.window() is None
    assert await backend.count(prompt().messages, ()) is None
    await backend.close()


async def test_silence_before_the_first_part_ends_in_time(provider):
    backend = connect(provider, timeouts=Timeouts(connect=2.0, first_token=0.2, between_tokens=5.0))
    provider.answer(raw=b": alive\n\n", hang=True)
    with pytest.raises(ModelTimeoutError, match=r"0\.2 s"):
        await ask(backend)
    await asyncio.wait_for(provider.disconnected.wait(), 5)
    await backend.close()


async def test_silence_between_parts_ends_in_time(provider):
    backend = connect(provider, timeouts=Timeouts(connect=2.0, first_token=5.0, between_tokens=0.2))
    provider.answer(raw=events([delta(content="a")]).removesuffix(b"data: [DONE]\n\n"), hang=True)
    with pytest.raises(ModelTimeoutError, match=r"0\.2 s"):
        await ask(backend)
    await backend.close()


async def test_closing_the_stream_closes_the_connection(provider, backend):
    provider.answer(raw=events([delta(content="a")]).removesuffix(b"data: [DONE]\n\n"), hang=True)
    async with aclosing(backend.stream(prompt())) as stream:
        assert await anext(stream) == TextDelta("a")
    await asyncio.wait_for(provider.disconnected.wait(), 5)
    assert text(await ask(backend)) == "ok"


@pytest.mark.parametrize("raw", [b"", b": waiting\n\n"])
async def test_cancelling_before_the_first_part_closes_the_connection(provider, backend, raw):
    provider.answer(raw=raw, hang=True)
    task = asyncio.create_task(ask(backend))
    await asyncio.wait_for(provider.arrived.wait(), 5)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await asyncio.wait_for(provider.disconnected.wait(), 5)


async def test_one_connection_is_kept_for_all_requests(provider, backend):
    for _ in range(3):
        await ask(backend)
    assert provider.connections == 1


async def test_a_kept_connection_that_the_server_closed_meanwhile_is_replaced(provider, backend):
    await ask(backend)
    provider.drops = 1
    assert text(await ask(backend)) == "ok"
    provider.drops = 2
    with pytest.raises(UnreachableError):
        await ask(backend)


@pytest.mark.parametrize("feature", ["stream_options", "tools", "temperature"])
async def test_what_a_server_does_not_know_is_left_out_once_and_for_all(provider, backend, feature):
    provider.rejects = [feature]
    for _ in range(2):
        assert text(await ask(backend, prompt(tools=(READ,), temperature=0.1))) == "ok"
    assert [feature in request.body for request in provider.requests] == [True, False, False]
    assert backend.capabilities.tools is (feature != "tools")


async def test_an_error_about_the_tools_themselves_does_not_cost_the_tools(provider, backend):
    faults = [
        "tools.0.function.name: too long, not permitted",
        "Unsupported schema in tools",
        "call x needs a tool result",
    ]
    for fault in faults:
        provider.answer(status=400, body={"error": {"message": fault}})
        with pytest.raises(BadRequestError):
            await ask(backend, prompt(tools=(READ,)))
    provider.answer(
        status=422, body={"detail": [{"loc": ["body", "tools", 0, "x"], "msg": "Extra inputs not permitted"}]}
    )
    with pytest.raises(BadRequestError):
        await ask(backend, prompt(tools=(READ,)))
    assert backend.capabilities.tools


@pytest.mark.parametrize(
    "said",
    [
        "fake does not support tools",
        "tools param requires --jinja flag",
        '"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set',
        "Unrecognized request argument supplied: tools",
        "No endpoints found that support tool use. To learn more about provider routing, visit: https://openrouter.ai",
    ],
)
async def test_a_model_without_tools_is_asked_once_without_them(provider, backend, said):
    provider.answer(status=404 if "endpoints" in said else 400, body={"error": {"message": said}})
    assert text(await ask(backend, prompt(tools=(READ,)))) == "ok"
    assert not backend.capabilities.tools


async def test_guided_generation_gives_the_schema(provider, backend):
    provider.answer('{"keep": true, "why": "x"}')
    assert await backend.guided(prompt(), Verdict) == Verdict(keep=True, why="x")
    form = provider.requests[0].body["response_format"]
    assert form["type"] == "json_schema"
    assert form["json_schema"]["schema"]["required"] == ["keep", "why"]


async def test_guided_generation_asks_in_words_where_the_form_is_unknown(provider, backend):
    provider.rejects = ["response_format"]
    for _ in range(2):
        provider.answer('Here: ```json\n{"keep": false, "why": "y"}\n```')
        assert await backend.guided(prompt("judge"), Verdict) == Verdict(keep=False, why="y")
    assert ["response_format" in request.body for request in provider.requests] == [True, False, False]
    assert json.dumps(Verdict.model_json_schema()) in provider.requests[1].body["messages"][-1]["content"]


async def test_guided_generation_that_gives_something_else_is_typed(provider, backend):
    provider.answer("no")
    with pytest.raises(BadRequestError, match="no Verdict"):
        await backend.guided(prompt(), Verdict)
    provider.answer('{"keep": tr', finish="length")
    with pytest.raises(CutStreamError):
        await backend.guided(prompt(), Verdict)


async def test_a_key_goes_to_its_endpoint_and_is_shown_nowhere(provider):
    backend = connect(provider, environ={"MY_KEY": "secret-1"}, key_env="MY_KEY", headers={"X-Team": "a"})
    provider.answer(status=401, body={"error": {"message": "bad key"}})
    with pytest.raises(AuthenticationError) as caught:
        await ask(backend)
    assert provider.requests[0].headers["authorization"] == "Bearer secret-1"
    assert provider.requests[0].headers["x-team"] == "a"
    assert "secret-1" not in caught.value.sentence() + caught.value.detail + repr(vars(backend))
    await backend.close()


async def test_a_proxy_of_the_environment_is_not_used_for_loopback(provider, backend, monkeypatch):
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:1")
    monkeypatch.setenv("ALL_PROXY", "http://127.0.0.1:1")
    assert text(await ask(backend)) == "ok"


async def test_a_proxy_of_the_environment_is_used_for_another_host(provider, monkeypatch):
    monkeypatch.setenv("HTTP_PROXY", provider.url.removesuffix("/v1"))
    provider.url = "http://model.invalid/v1"
    backend = connect(provider)
    assert text(await ask(backend)) == "ok"
    assert provider.proxied[-1] == "http://model.invalid/v1/chat/completions"
    await backend.close()


async def test_a_hostile_name_of_a_model_goes_out_sound(provider, backend):
    provider.models = {"data": [{"id": "m\ud800"}]}
    assert text(await ask(backend)) == "ok"
    assert provider.requests[0].body["model"] == "m\ufffd"


async def test_the_next_reply_begins_as_reasoning_after_one_whose_tag_only_closed(provider, backend):
    for _ in range(2):
        provider.answer(["plan", "</think>", "reply"])
    assert text(await ask(backend)) == "planreply"
    found = await ask(backend)
    assert (text(found), reasoning(found)) == ("reply", "plan")
