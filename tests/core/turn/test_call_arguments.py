"""M13: whatever a model gives a tool, its call can lie in the history, and the model hears what was wrong with it."""

import json
from pathlib import Path

import pytest

from tests.core.test_json_from_outside import UNSENDABLE
from tests.opened import opened
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
