"""O15: a call that repeats an earlier one of its turn exactly is told so; it is a fact, not a refusal."""

import json
from pathlib import Path

from tests.opened import opened
from wisp_core.records import Outcome
from wisp_core.turn.tool_calls import REPEATED


def model(folder: Path, *replies: object) -> str:
    (folder / "script.json").write_text(json.dumps({"replies": replies}))
    return f"scripted:{folder}/script.json"


def read(arguments: object) -> dict[str, object]:
    return {"calls": [{"name": "read_file", "arguments": arguments}]}


async def test_an_equal_call_of_the_same_turn_gets_a_line_above_its_result(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("one\n")
    named = model(
        tmp_path,
        read({"path": "a.txt", "offset": 1}),
        read('{"offset": 1, "path": "a.txt"}'),
        read({"path": "a.txt"}),
        {"text": "done"},
        read({"path": "a.txt", "offset": 1}),
        {"text": "done"},
    )
    async with opened(tmp_path, model=named) as home:
        assert await home.thread.send("read it") is Outcome.DONE
        assert await home.thread.send("again") is Outcome.DONE
        calls, results = home.events("tool.call"), home.events("tool.result")
        whole = "1\tone\n[end of file]"
        assert [result.text for result in results] == [whole, f"{REPEATED}\n{whole}", whole, whole]
        assert [result.repeat for result in results] == [None, calls[0].call, None, None]
        assert {(result.bytes, result.lines) for result in results} == {(len(whole), 2)}


async def test_an_equal_call_of_the_same_step_is_told_so_though_both_run_at_once(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("one\n")
    same = [{"name": "read_file", "arguments": {"path": "a.txt"}}] * 2
    async with opened(tmp_path, model=model(tmp_path, {"calls": same}, {"text": "done"})) as home:
        assert await home.thread.send("read it") is Outcome.DONE
        (response, _) = home.events("response")
        first, second = (call.call for call in response.calls)
        assert {result.call: result.repeat for result in home.events("tool.result")} == {first: None, second: first}
