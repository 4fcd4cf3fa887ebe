"""The scripted model answers from a file and takes only what a strict provider takes."""

import asyncio
import json
from contextlib import aclosing

import pytest
from pydantic import BaseModel

from tests.core.models.asking import READ, ask, calls, finish, prompt, reasoning, text, usage
from wisp_core.errors import (
    BadRequestError,
    ContextOverflowError,
    ModelError,
    NoModelError,
    RateLimitedError,
    UnreachableError,
)
from wisp_core.models.catalogue import open_backend
from wisp_core.records import Usage
from wisp_core.requests import Message, ModelRequest, Role, TextDelta, Window, WireCall
from wisp_core.settings import Settings


class Verdict(BaseModel):
    keep: bool


@pytest.fixture
def script(tmp_path):
    def write(value, raw=None):
        path = tmp_path / "script.json"
        path.write_text(json.dumps(value) if raw is None else raw, "utf-8")
        return open_backend(f"scripted:{path}", Settings(), environ={})

    return write


async def test_replies_come_in_order_with_all_their_parts(script):
    call = {"name": "read_file", "arguments": {"path": "a"}}
    backend = script([{"text": ["a", "b"], "reasoning": "r", "calls": [call]}, {"text": "two", "finish": "length"}])
    found = await ask(backend)
    assert (text(found), reasoning(found), calls(found)) == ("ab", "r", [("read_file", '{"path": "a"}')])
    assert finish(found) == "tool_calls"
    assert usage(found) == Usage(4, 1, 5, 0)
    found = await ask(backend)
    assert (text(found), finish(found)) == ("two", "length")
    with pytest.raises(BadRequestError, match="no reply left"):
        await ask(backend)


async def test_json_lines_are_a_script_too(script):
    backend = script(None, raw='{"text": "one"}\n\n{"text": "two"}\n')
    assert [text(await ask(backend)) for _ in range(2)] == ["one", "two"]
    assert text(await ask(script(None, raw='{"text": "one"}'))) == "one"


async def test_a_reply_is_chosen_by_the_last_prompt(script):
    backend = script([{"when": "weather", "text": "rain", "repeat": True}, {"text": "other"}])
    assert text(await ask(backend, prompt("hello"))) == "other"
    assert [text(await ask(backend, prompt("the weather"))) for _ in range(2)] == ["rain", "rain"]


async def test_a_loop_begins_again(script):
    backend = script({"loop": True, "replies": [{"text": "a"}, {"text": "b"}]})
    assert [text(await ask(backend)) for _ in range(3)] == ["a", "b", "a"]


async def test_errors_come_typed_after_what_was_said(script):
    kinds = ["no_model", "unreachable", "authentication", "rate_limited", "overloaded", "overflow"]
    kinds += ["bad_request", "cut", "timeout"]
    backend = script([{"error": {"type": kind}} for kind in kinds])
    found = []
    for _ in kinds:
        with pytest.raises(ModelError) as caught:
            await ask(backend)
        found.append(type(caught.value))
    assert len(set(found)) == len(kinds)
    assert UnreachableError in found
    backend = script([{"text": "a", "error": {"type": "rate_limited", "wait": 2}}])
    async with aclosing(backend.stream(prompt())) as stream:
        assert await anext(stream) == TextDelta("a")
        with pytest.raises(RateLimitedError) as caught:
            await anext(stream)
    assert caught.value.wait == 2


async def test_a_hanging_reply_waits_until_it_is_cancelled(script):
    backend = script([{"text": "a", "hang": True}])
    stream = backend.stream(prompt())
    assert await anext(stream) == TextDelta("a")
    task = asyncio.create_task(anext(stream))
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


async def test_a_request_over_the_scripts_window_overflows(script):
    backend = script({"window": 600, "replies": [{"text": "a"}]})
    assert await backend.window() == Window(600, "config")
    with pytest.raises(ContextOverflowError) as caught:
        await ask(backend, prompt("x" * 2400))
    assert (caught.value.limit, caught.value.count) == (600, await backend.count(prompt("x" * 2400).messages, ()))
    assert text(await ask(backend)) == "a"


async def test_sizes_are_characters_over_four_rounded_up(script):
    backend = script({"counts": True, "replies": []})
    assert await backend.count((Message(Role.USER, "12345"),), ()) == 2
    assert await backend.count((Message(Role.USER, "1"),), (READ,)) > 10
    assert await script({"counts": False, "replies": []}).count((), ()) is None


async def test_guided_generation_reads_the_reply(script):
    backend = script([{"text": '{"keep": true}'}, {"text": "no"}])
    assert await backend.guided(prompt(), Verdict) == Verdict(keep=True)
    with pytest.raises(BadRequestError):
        await backend.guided(prompt(), Verdict)


S, U, A, T = Role.SYSTEM, Role.USER, Role.ASSISTANT, Role.TOOL
CALL = WireCall("c", "read_file", "{}")


@pytest.mark.parametrize(
    ("messages", "said"),
    [
        ((), "last message"),
        ((Message(U, "a"), Message(U, "b")), "user comes after user"),
        ((Message(A, "a"),), "assistant comes after nothing"),
        ((Message(U, "a"), Message(S, "b")), "system comes after user"),
        ((Message(U, " "),), "is empty"),
        ((Message(U, "a"), Message(A), Message(U, "b")), "is empty"),
        ((Message(U, "a"), Message(A, "b")), "last message"),
        ((Message(U, "a"), Message(A, calls=(CALL,))), "call c has no result"),
        ((Message(U, "a"), Message(A, calls=(CALL,)), Message(U, "b")), "before the result of call c"),
        ((Message(U, "a"), Message(A, calls=(CALL,)), Message(T, "x", call_id="d")), "result of no call"),
        ((Message(U, "a"), Message(T, "x", call_id="d")), "tool comes after user"),
        (
            (Message(U, "a"), Message(A, calls=(WireCall("c", "x", "[]"),)), Message(T, "x", call_id="c")),
            "no JSON object",
        ),
    ],
)
async def test_a_request_that_a_strict_provider_refuses_is_refused(script, messages, said):
    with pytest.raises(BadRequestError, match=said):
        await ask(script([{"text": "a"}]), ModelRequest(messages))


async def test_a_request_with_calls_and_results_is_taken(script):
    messages = (Message(S, "s"), Message(U, "a"), Message(A, calls=(CALL,)), Message(T, "", call_id="c"))
    backend = script([{"text": "a"}])
    assert text(await ask(backend, ModelRequest(messages))) == "a"
    assert backend.requests == [ModelRequest(messages)]


@pytest.mark.parametrize(
    ("raw", "said"),
    [
        ("{", "no JSON"),
        ('[{"txt": "a"}]', r"replies.0.txt"),
        ('[{"text": 5}]', r"replies.0.text"),
        ('{"window": "8", "replies": []}', "window"),
        ("5", "replies"),
        ("\x00", "no JSON"),
    ],
)
def test_a_script_that_is_wrong_is_told_with_the_place(script, raw, said):
    with pytest.raises(NoModelError, match=said):
        script(None, raw=raw)


def test_a_script_that_is_not_there_is_told():
    with pytest.raises(NoModelError, match="cannot be read"):
        open_backend("scripted:/nowhere/script.json", Settings(), environ={})
