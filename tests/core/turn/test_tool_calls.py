"""T6, A5, O15: reading tools of one step run side by side, the others in the model's order, rounds come to an end."""

import asyncio
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from tests.opened import Opened, opened
from wisp_core.events import CallData
from wisp_core.records import JsonObject, Outcome
from wisp_core.requests import Answer, ToolKind, ToolResult, ToolSchema, Verdict
from wisp_core.turn.tool_calls import run_calls


class Meeting:
    """Two tools: `look` reads and waits until as many as `together` run at once; `act` is a command."""

    def __init__(self, together: int) -> None:
        self.barrier = asyncio.Barrier(together)
        self.running = 0
        self.order: list[str] = []

    def schemas(self) -> tuple[ToolSchema, ...]:
        return ()

    def kind(self, tool: str) -> ToolKind:
        return ToolKind.READS if tool == "look" else ToolKind.COMMAND

    def check(self, tool: str, arguments: str) -> JsonObject:
        return json.loads(arguments)

    async def preview(self, tool: str, arguments: JsonObject) -> str:
        return ""

    async def run(
        self, tool: str, arguments: JsonObject, *, call: str, progress: Callable[[str], None], place: str = ""
    ) -> ToolResult:
        self.running += 1
        assert tool == "look" or self.running == 1, "a command runs alone"
        if tool == "look":
            await self.barrier.wait()
        self.running -= 1
        self.order.append(call)
        return ToolResult(f"{tool} {call}")


async def run(home: Opened, toolbox: Meeting, *calls: CallData, last: bool = False) -> list[str]:
    await home.thread._prepare()
    parts = replace(home.thread._parts(1), toolbox=toolbox)
    async with asyncio.timeout(10):
        await run_calls(parts, calls, last=last)
    return [result.text for result in home.events("tool.result")]


def call(tool: str, number: int) -> CallData:
    return CallData(call=f"0000000{number}", tool=tool, arguments=json.dumps({"n": number}))


async def test_reading_tools_of_one_step_run_side_by_side(tmp_path: Path):
    async with opened(tmp_path, model="embedded/smollm2-135m") as home:
        found = await run(home, Meeting(3), *[call("look", n) for n in range(3)])
        assert sorted(found) == ["look 00000000", "look 00000001", "look 00000002"]


async def test_commands_run_one_after_another_in_the_models_order_between_the_reads_around_them(tmp_path: Path):
    async with opened(tmp_path, model="embedded/smollm2-135m") as home:
        home.verdict = lambda _: Answer(Verdict.ONCE)
        toolbox = Meeting(1)
        calls = [call("look", 0), call("act", 1), call("act", 2), call("look", 3)]
        await run(home, toolbox, *calls)
        assert toolbox.order == [each.call for each in calls]


async def test_the_last_round_tells_the_model_to_answer_with_what_it_has(tmp_path: Path):
    async with opened(tmp_path, model="embedded/smollm2-135m") as home:
        found = await run(home, Meeting(2), call("look", 0), call("look", 1), last=True)
        assert sum("no more tool calls can be made in this turn" in text for text in found) == 1


async def test_a_turn_of_endless_calls_ends_with_an_answer_after_its_rounds(tmp_path: Path):
    again = {"calls": [{"name": "current_date", "arguments": {}}]}
    script = tmp_path / "script.json"
    script.write_text(json.dumps({"replies": [again, again, {"text": "it is late"}]}))
    async with opened(tmp_path, model=f"scripted:{script}", tools={"max_rounds": 2}) as home:
        assert await home.thread.send("what time is it?") is Outcome.DONE
        first, second = home.events("tool.result")
        assert (first.repeat, second.repeat) == (None, first.call)
        assert "repeats" in second.text or "earlier" in second.text
        assert "answer with what you have" in second.text
