"""An Ollama is spoken to by its own API: what it is asked, how its answers are read, how its faults are told."""

import asyncio
from contextlib import aclosing

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import BaseModel

from tests.core.models.asking import READ, ask, calls, finish, prompt, reasoning, text, usage
from tests.core.models.ollamas import connect
from tests.core.models.test_streams import pieces
from tests.fakes.ollama import FakeOllama, end, line, make_lines, write_lines
from wisp_core.errors import (
    AuthenticationError,
    BadRequestError,
    ContextOverflowError,
    CutStreamError,
    ModelError,
    ModelTimeoutError,
    NoModelError,
    OverloadedError,
    RateLimitedError,
    UnreachableError,
)
from wisp_core.models.answer import Answer
from wisp_core.models.failures import failure, report_of
from wisp_core.models.ollama_errors import explain
from wisp_core.models.ollama_wire import read_line
from wisp_core.models.streams import LineReader
from wisp_core.records import Usage
from wisp_core.requests import Message, ModelRequest, PromptProgress, Role, TextDelta, WireCall
from wisp_core.settings import Timeouts


class Verdict(BaseModel):
    keep: bool
    why: str


@pytest.fixture
async def ollama():
    async with FakeOllama() as ollama:
        yield ollama
        assert ollama.refused == []


@pytest.fixture
async def backend(ollama):
    backend = connect(ollama)
    yield backend
    await backend.close()


async def test_a_reply_streams_with_usage_and_end(ollama, backend):
    ollama.answer(["hel", "lo"], thinking="hm", counts={"prompt_eval_count": 9, "eval_count": 2})
    found = await ask(backend)
    assert (text(found), reasoning(found), finish(found)) == ("hello", "hm", "stop")
    assert usage(found) == Usage(9, 2, 11)
    body = ollama.requests[0].body
    assert (body["model"], body["stream"], body["truncate"], body["shift"]) == ("granite:8b", True, False, False)
    assert body["messages"] == [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "hello"}]
    assert not {"tools", "think", "format", "keep_alive"} & set(body)


@pytest.mark.parametrize("size", [1, 2, 7, 64])
async def test_a_reply_is_the_same_in_pieces_of_any_size(ollama, backend, size):
    ollama.answer(["caf\u00e9 \u2028", "🎈"], thinking="日本", split=size)
    found = await ask(backend)
    assert (text(found), reasoning(found)) == ("café \u2028🎈", "日本")


STREAM = write_lines(
    [
        *make_lines(["<thi", "nk>plan</th", "ink>", "caf\u00e9 \u2028 \u0085"], "日本"),
        line(content="", tool_calls=[{"function": {"index": 0, "name": "a", "arguments": {"x": "é🎈"}}}]),
        line(content="", tool_calls=[{"id": "c", "function": {"index": 0, "name": "a", "arguments": {}}}]),
        end(counts={"prompt_eval_count": 3, "eval_count": 4, "prompt_eval_cached_count": 2}),
    ]
)


@settings(max_examples=80, deadline=None)
@given(st.lists(st.integers(min_value=0, max_value=10_000), max_size=12), st.booleans(), st.booleans())
def test_an_answer_is_the_same_for_any_split_of_its_bytes(cuts, crlf, unfinished):
    stream = STREAM.replace(b"\n", b"\r\n") if crlf else STREAM
    parts = pieces(stream.rstrip() if unfinished else stream, cuts)
    answer = Answer("here", ["a"], reader=LineReader(), read=read_line)
    found = [event for part in parts for event in answer.feed(part)] + answer.end()
    assert (text(found), reasoning(found)) == ("café \u2028 \u0085", "日本plan")
    assert calls(found) == [("a", '{"x": "\\u00e9\\ud83c\\udf88"}'), ("a", "{}")]
    assert (usage(found), finish(found)) == (Usage(3, 4, 7, 2), "tool_calls")


async def test_a_conversation_with_calls_goes_out_with_arguments_as_objects(ollama, backend):
    ollama.answer("I look.", calls=[{"name": "read_file", "arguments": {"path": "a"}}])
    found = await ask(backend, prompt(tools=(READ,)))
    assert calls(found) == [("read_file", '{"path": "a"}')]
    assert ollama.requests[0].body["tools"][0]["function"]["name"] == "read_file"
    messages = (
        Message(Role.USER, "read\0 a\ud800"),
        Message(Role.ASSISTANT, calls=(WireCall("c1", "read_file", '{"path": "a"}'), WireCall("c2", "x", '{"pa'))),
        Message(Role.TOOL, "", call_id="c1", name="read_file"),
        Message(Role.TOOL, "b", call_id="c2", name="x"),
        Message(Role.ASSISTANT, " "),
    )
    await ask(backend, ModelRequest(messages, max_output=7, temperature=0.5))
    body = ollama.requests[1].body
    assert (body["options"]["num_predict"], body["options"]["temperature"]) == (7, 0.5)
    assert body["messages"][0]["content"] == "read\ufffd a\ufffd"
    functions = [call["function"] for call in body["messages"][1]["tool_calls"]]
    assert functions == [
        {"index": 0, "name": "read_file", "arguments": {"path": "a"}},
        {"index": 1, "name": "x", "arguments": {}},
    ]
    result = {"role": "tool", "tool_name": "read_file", "tool_call_id": "c1", "content": "(no output)"}
    assert body["messages"][2] == result
    assert len(body["messages"]) == 4


async def test_a_call_printed_as_text_is_a_call(ollama, backend):
    ollama.answer('{"name": "read_file", "parameters": {"path": "a"}}', split=5)
    assert calls(await ask(backend, prompt(tools=(READ,)))) == [("read_file", '{"path": "a"}')]


async def test_a_count_that_is_missing_or_zero_is_not_reported(ollama, backend):
    for counts in ({}, {"prompt_eval_count": 0, "eval_count": 3}, {"eval_count": 3}, {"prompt_eval_count": "9"}):
        ollama.answer("a", counts=counts)
        assert usage(await ask(backend)) is None


@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        ({"status": 400, "body": {"error": "bad"}}, BadRequestError),
        ({"status": 401, "body": {"error": "unauthorized", "signin_url": "https://x"}}, AuthenticationError),
        ({"status": 404, "body": "404 page not found"}, NoModelError),
        ({"status": 429, "body": {"error": "slow"}, "headers": {"retry-after": "2"}}, RateLimitedError),
        ({"status": 500, "body": {"error": "llama runner process has terminated"}}, OverloadedError),
        ({"status": 503, "body": {"error": "server busy, please try again"}}, OverloadedError),
        ({"status": 302, "body": "", "headers": {"location": "http://127.0.0.1:1/"}}, BadRequestError),
        ({"status": 502, "body": "<html><h1>Bad gateway</h1></html>"}, OverloadedError),
        ({"raw": b"<html>hi</html>", "headers": {"content-type": "text/html"}}, BadRequestError),
        ({"lines": [line(content="a"), {"error": "an error was encountered while running"}]}, CutStreamError),
        ({"raw": b""}, CutStreamError),
        ({"raw": b"{broken\n"}, CutStreamError),
        ({"raw": b"[1]\n7\nnull\n"}, CutStreamError),
        ({"text": "half", "cut": True}, CutStreamError),
        ({"text": "half", "done": False}, CutStreamError),
    ],
)
async def test_every_refusal_and_every_broken_answer_is_typed(ollama, backend, answer, kind):
    ollama.answer(**answer)
    with pytest.raises(kind) as caught:
        await ask(backend)
    assert type(caught.value) is kind
    assert ollama.url in caught.value.message
    assert "\n" not in caught.value.sentence()
    assert caught.value.endpoint == ollama.url


async def test_a_model_that_is_not_there_is_told_with_the_way_to_get_it(ollama):
    backend = connect(ollama, "qwen3:4b")
    with pytest.raises(NoModelError) as caught:
        await ask(backend)
    assert caught.value.sentence() == (f"{ollama.url} has no model `qwen3:4b`; get it with `wisp models pull qwen3:4b`")
    ollama.model = "qwen3:4b"
    assert text(await ask(backend)) == "ok"
    await backend.close()


async def test_a_model_that_needs_more_memory_is_not_tried_again(ollama, backend):
    said = {"error": "model requires more system memory (8.5 GiB) than is available (6.2 GiB)"}
    ollama.failures["/api/generate"] = (500, said)
    with pytest.raises(BadRequestError, match="too little memory for `granite:8b`") as caught:
        await ask(backend)
    assert not caught.value.retryable
    assert "smaller" in caught.value.hint


@pytest.mark.parametrize(
    ("cloud", "kind", "what", "hint"),
    [
        ("signed out", AuthenticationError, "is not signed in to Ollama's cloud", "`ollama signin`"),
        ("off", BadRequestError, "has Ollama's cloud turned off", "turn it on"),
    ],
)
async def test_a_model_of_a_cloud_that_may_not_be_asked_is_told_with_the_way_to_it(ollama, cloud, kind, what, hint):
    ollama.cloud, ollama.about["remote_host"] = cloud, "https://ollama.com:443"
    backend = connect(ollama)
    with pytest.raises(ModelError) as caught:
        await ask(backend)
    await backend.close()
    assert type(caught.value) is kind
    assert caught.value.message == f"{ollama.url} {what}, where `granite:8b` runs"
    assert hint in caught.value.hint
    assert "key" not in caught.value.sentence()
    assert not caught.value.retryable


def test_the_cloud_itself_and_a_server_that_is_guarded_want_a_key():
    unsigned = {"error": "unauthorized", "signin_url": "https://x"}
    for endpoint, said in (("https://ollama.com", unsigned), ("https://ollama.example", {"error": "unauthorized"})):
        refused = failure(endpoint, report_of(401, said))
        assert explain(refused, "glm-5", endpoint=endpoint) is refused
        assert "key" in refused.hint


async def test_no_server_is_unreachable_and_may_be_tried_again(ollama):
    backend = connect(ollama, url="http://127.0.0.1:1")
    with pytest.raises(UnreachableError) as caught:
        await ask(backend)
    assert caught.value.retryable
    assert await backend.window() is None
    await backend.warm()
    assert await backend.count(prompt().messages, ()) is None
    await backend.close()


@pytest.mark.parametrize(
    ("raw", "limits"),
    [(b"", {"first_token": 0.2}), (b"\n\n", {"first_token": 0.2}), (write_lines([line(content="a")]), {})],
)
async def test_silence_ends_in_time(ollama, raw, limits):
    backend = connect(ollama, timeouts=Timeouts(**({"connect": 2.0, "between_tokens": 0.2} | limits)))
    ollama.answer(raw=raw, hang=True)
    with pytest.raises(ModelTimeoutError, match=r"0\.2 s"):
        await ask(backend)
    await asyncio.wait_for(ollama.disconnected.wait(), 5)
    await backend.close()


async def test_closing_the_stream_closes_the_connection(ollama, backend):
    ollama.answer("a", hang=True)
    async with aclosing(backend.stream(prompt())) as stream:
        assert await anext(stream) == PromptProgress(0, 0, loading=True)
        assert await anext(stream) == TextDelta("a")
    await asyncio.wait_for(ollama.disconnected.wait(), 5)
    assert text(await ask(backend)) == "ok"


async def test_one_connection_is_kept_for_all_requests(ollama, backend):
    for _ in range(3):
        await ask(backend)
    assert ollama.connections == 1


async def test_thinking_is_asked_for_where_the_model_can_and_a_refusal_is_remembered():
    async with FakeOllama(can=("completion", "thinking")) as ollama:
        backend = connect(ollama)
        await ask(backend, prompt(effort="high"))
        assert ollama.requests[0].body["think"] == "high"
        ollama.rejects = ["think"]
        for _ in range(2):
            assert text(await ask(backend)) == "ok"
        assert ["think" in request.body for request in ollama.requests] == [True, True, False, False]
        assert not backend.capabilities.tools
        await backend.close()


async def test_a_model_without_tools_is_asked_without_them():
    async with FakeOllama(can=("completion",)) as ollama:
        backend = connect(ollama)
        assert text(await ask(backend, prompt(tools=(READ,)))) == "ok"
        assert not backend.capabilities.tools
        await backend.close()


async def test_a_server_too_old_to_list_capabilities_refuses_the_tools_once():
    async with FakeOllama(can=None) as ollama:
        backend = connect(ollama)
        ollama.answer(status=400, body={"error": "registry.ollama.ai/library/granite:8b does not support tools"})
        for _ in range(2):
            assert text(await ask(backend, prompt(tools=(READ,)))) == "ok"
        assert ["tools" in request.body for request in ollama.requests] == [True, False, False]
        await backend.close()


async def test_guided_generation_gives_the_schema(ollama, backend):
    ollama.answer('{"keep": true, "why": "x"}')
    assert await backend.guided(prompt(tools=(READ,)), Verdict) == Verdict(keep=True, why="x")
    assert ollama.requests[0].body["format"] == Verdict.model_json_schema()
    assert "tools" not in ollama.requests[0].body


async def test_guided_generation_asks_in_words_where_the_form_is_unknown(ollama, backend):
    ollama.rejects = ["format"]
    for _ in range(2):
        ollama.answer('Here: ```json\n{"keep": false, "why": "y"}\n```')
        assert await backend.guided(prompt("judge"), Verdict) == Verdict(keep=False, why="y")
    assert ["format" in request.body for request in ollama.requests] == [True, False, False]


async def test_guided_generation_that_gives_something_else_is_typed(ollama, backend):
    ollama.answer("no")
    with pytest.raises(BadRequestError, match="no Verdict"):
        await backend.guided(prompt(), Verdict)
    ollama.answer('{"keep": tr', finish="length")
    with pytest.raises(CutStreamError):
        await backend.guided(prompt(), Verdict)


async def test_an_overflow_states_its_numbers(ollama):
    backend = connect(ollama, window=1024)
    with pytest.raises(ContextOverflowError) as caught:
        await ask(backend, prompt("x" * 8000))
    assert caught.value.limit == 1024
    assert caught.value.count > 2000
    await backend.close()
