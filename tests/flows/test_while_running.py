"""What may be done in the middle of a turn, and that it leaves the turn alone."""

import asyncio
import json
from pathlib import Path

from tests.opened import opened
from wisp_core.commands.registry import run
from wisp_core.records import Mode, Outcome


async def test_a_title_and_a_mode_can_change_while_a_turn_runs_and_the_turn_goes_on(tmp_path: Path):
    script = tmp_path / "script.json"
    script.write_text(json.dumps([{"text": "Once upon", "hang": True}, {"text": "yes"}]))
    async with opened(tmp_path, model=f"scripted:{script}") as home:
        sending = asyncio.ensure_future(home.thread.send("tell me"))
        while not any(e.name == "delta" for e in home.heard):
            await asyncio.sleep(0)
        await run("/rename a story", thread=home.thread, wisp=home.wisp)
        await run("/mode plan", thread=home.thread, wisp=home.wisp)
        assert home.thread.record.open_turn() is not None
        home.thread.cancel()
        assert await sending is Outcome.INTERRUPTED
        assert (home.thread.record.title, home.thread.record.mode) == ("a story", Mode.PLAN)
        assert [end.outcome for end in home.events("turn.end")] == ["interrupted"]
        assert await home.thread.send("and then?") is Outcome.DONE
        assert home.events("request.composed")[-1].instructions == 2


async def test_a_title_given_at_the_instant_a_turn_opens_does_not_end_it(tmp_path: Path):
    script = tmp_path / "script.json"
    script.write_text(json.dumps({"loop": True, "replies": [{"text": "yes"}]}))
    async with opened(tmp_path, model=f"scripted:{script}") as home:
        for number in range(5):
            sending = asyncio.ensure_future(home.thread.send(f"prompt {number}"))
            while home.thread.record.open_turn() is None:
                await asyncio.sleep(0)
            await run(f"/rename title {number}", thread=home.thread, wisp=home.wisp)
            assert await sending is Outcome.DONE
        assert [end.outcome for end in home.events("turn.end")] == ["done"] * 5


async def test_before_the_first_prompt_the_next_request_is_the_instructions(tmp_path: Path):
    async with opened(tmp_path, model="embedded/smollm2-135m") as home:
        (item,) = (await home.thread.preview()).composition.items
        assert item.kind == "instructions"
        assert "Mode ask" in item.text
