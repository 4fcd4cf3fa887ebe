"""M13: a call that the answer's end cut off does not run, and model and person are told so; a whole one runs."""

from pathlib import Path
from typing import Any

import pytest

from tests.core.turn.endpoints import plan, speaking
from tests.fakes import anthropic, responses
from wisp_core.records import Outcome

ENDS = {"chat": "length", "anthropic": "max_tokens", "responses": "max_output_tokens"}


def end_in_a_call(server: Any, api: str, arguments: str, *, end: str = "") -> None:
    """Queue an answer that ends, at its output limit where nothing else is said, in the `arguments` of a call."""
    end, parts = end or ENDS[api], [arguments] if arguments else []
    match api:
        case "anthropic":
            server.answer(*anthropic.message(anthropic.called("current_date", *parts), reason=end))
        case "responses":
            called = responses.called("current_date", *parts)
            server.answer(*responses.response(called, status="incomplete", reason=end))
        case _:
            server.answer(calls=[{"name": "current_date", "arguments": arguments}], finish=end)


@pytest.mark.parametrize("api", ENDS)
@pytest.mark.parametrize("arguments", ["", " ", "{", '{"zone": "UT', '{"zone": "UTC"', '"{}'])
async def test_a_call_that_the_output_limit_cut_off_does_not_run(tmp_path: Path, api: str, arguments: str) -> None:
    async with speaking(tmp_path, api) as (server, home):
        end_in_a_call(server, api, arguments)
        plan(server, api, text="shorter, then")
        assert await home.thread.send("what day is it?") is Outcome.DONE
        (result,) = home.events("tool.result")
        assert (result.ok, home.events("tool.call")) == (False, [])
        assert "the output limit cut this call off" in result.text
        assert "the output limit cut this call off" in str(server.requests[1].body)


@pytest.mark.parametrize("api", ENDS)
async def test_a_call_that_is_whole_at_the_output_limit_runs(tmp_path: Path, api: str) -> None:
    async with speaking(tmp_path, api) as (server, home):
        end_in_a_call(server, api, "{}")
        plan(server, api, text="it is late")
        assert await home.thread.send("what day is it?") is Outcome.DONE
        (result,) = home.events("tool.result")
        assert (result.ok, len(home.events("tool.call"))) == (True, 1)


async def test_calls_that_came_whole_before_one_that_was_cut_off_run(tmp_path: Path) -> None:
    async with speaking(tmp_path, "chat") as (server, home):
        calls = [{"name": "current_date", "arguments": given} for given in ("{}", "")]
        server.answer(calls=calls, finish="length")
        assert await home.thread.send("what day is it?") is Outcome.DONE
        (first, second) = home.events("response")[0].calls
        ok = {result.call: result.ok for result in home.events("tool.result")}
        assert ok == {first.call: True, second.call: False}


async def test_a_call_that_a_filter_cut_off_does_not_run(tmp_path: Path) -> None:
    async with speaking(tmp_path, "chat") as (server, home):
        end_in_a_call(server, "chat", "", end="content_filter")
        assert await home.thread.send("what day is it?") is Outcome.DONE
        (result,) = home.events("tool.result")
        assert "filter cut this call off" in result.text


@pytest.mark.parametrize("api", ["chat", "anthropic"])
async def test_a_call_without_arguments_runs_where_the_answer_ended_of_itself(tmp_path: Path, api: str) -> None:
    async with speaking(tmp_path, api) as (server, home):
        end_in_a_call(server, api, "", end={"chat": "tool_calls", "anthropic": "tool_use"}[api])
        plan(server, api, text="it is late")
        assert await home.thread.send("what day is it?") is Outcome.DONE
        assert [result.ok for result in home.events("tool.result")] == [True]
