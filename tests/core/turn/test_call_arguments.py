"""M13: whatever a model gives a tool, its call can lie in the history, and the model hears what was wrong with it."""

import json
from pathlib import Path

import pytest

from tests.core.test_json_from_outside import UNSENDABLE
from tests.core.turn.endpoints import plan, speaking
from tests.opened import opened
from wisp_core.events import CallData, Response, ToolReturned
from wisp_core.records import Outcome
from wisp_core.requests import CallRequested
from wisp_core.turn.arguments import as_call


@pytest.mark.parametrize("arguments", UNSENDABLE.values(), ids=UNSENDABLE)
def test_arguments_that_a_server_could_refuse_are_kept_apart(arguments: str) -> None:
    call = as_call(CallRequested("read_file", arguments), "1234abcd")
    assert (call.arguments, call.given) == ("{}", arguments)


@pytest.mark.parametrize("arguments", UNSENDABLE.values(), ids=UNSENDABLE)
async def test_a_call_with_such_arguments_does_not_run_and_the_turn_goes_on(tmp_path: Path, arguments: str) -> None:
    call = {"calls": [{"name": "current_date", "arguments": arguments}]}
    script = tmp_path / "script.json"
    script.write_text(json.dumps({"replies": [call, {"text": "so be it"}]}))
    async with opened(tmp_path, model=f"scripted:{script}") as home:
        assert await home.thread.send("what day is it?") is Outcome.DONE
        (result,) = home.events("tool.result")
        assert "must be a JSON object" in result.text
        assert not result.ok
        assert home.events("tool.call") == []


@pytest.mark.parametrize("api", ["anthropic", "ollama", "responses"])
async def test_such_a_call_that_an_older_wisp_kept_does_not_spoil_the_conversation(tmp_path: Path, api: str) -> None:
    async with speaking(tmp_path, api) as (server, home):
        plan(server, api, text="let me look")
        assert await home.thread.send("look") is Outcome.DONE
        write = home.thread._parts(1).write
        composed = await write(home.events("request.composed")[-1])
        calls = [CallData(call="1234abcd", tool="current_date", arguments='{"a": NaN}')]
        await write(Response(request=composed, step=2, text="", calls=calls, finish="tool_calls", model="m"))
        await write(ToolReturned(call="1234abcd", tool="current_date", text="it is late", ok=True))
        await home.reopen()
        plan(server, api, text="so it is")
        assert await home.thread.send("and now?") is Outcome.DONE
        assert "it is late" in str(server.requests[-1].body)
