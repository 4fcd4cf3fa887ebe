"""A16, A19, M13: whatever a conversation goes through, a strict provider over real HTTP takes every request."""

import asyncio
import tempfile
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.fakes.provider import FakeProvider
from wisp_core.records import Outcome
from wisp_core.requests import Answer, Approval, Verdict
from wisp_core.wisp import Wisp

CALLS = st.lists(
    st.sampled_from(
        [
            {"name": "current_date", "arguments": {}},
            {"name": "current_date", "arguments": ""},
            {"name": "read_file", "arguments": '{"path": "nothing.txt"}'},
            {"name": "read_file", "arguments": '{"path": '},
            {"name": "run_command", "arguments": {"command": "printf out"}},
            {"name": "run_command", "arguments": '"{\\"command\\": \\"printf twice\\"}"'},
            {"name": "no_such_tool", "arguments": "null"},
        ]
    ),
    max_size=3,
)
ANSWERS = st.lists(
    st.fixed_dictionaries(
        {
            "text": st.sampled_from(["", "fine", "a\u2028b", "# head\n\ntext"]),
            "calls": CALLS,
            "reasoning": st.sampled_from(["", "let me think"]),
            "end": st.sampled_from(["", "", "", "cut", "cancel", "refuse", "deny"]),
        }
    ),
    min_size=1,
    max_size=8,
)


@settings(max_examples=25)
@given(ANSWERS)
async def test_every_request_of_a_random_conversation_is_taken(answers: list[dict]):
    with tempfile.TemporaryDirectory() as folder:
        await _converse(Path(folder), answers)


async def _converse(folder: Path, answers: list[dict]) -> None:
    async with FakeProvider() as provider:
        endpoints = {"fake": {"url": provider.url, "window": 8192}}
        given = {"endpoints": endpoints, "model": "local/fake", "retries": {"most": 0}, "tools": {"max_rounds": 3}}
        denied = {"next": False}

        async def answer(approval: Approval) -> Answer:
            return Answer(Verdict.NO if denied["next"] else Verdict.ONCE)

        wisp = await Wisp.open(face="test", home=folder / "home", cwd=folder, given=given)
        thread = await wisp.new_thread(listen=lambda _: None, ask=answer)
        for number, planned in enumerate(answers):
            denied["next"] = planned["end"] == "deny"
            _plan(provider, planned)
            sending = _sent(thread, number)
            if planned["end"] == "cancel":
                task = asyncio.ensure_future(sending)
                await provider.arrived.wait()
                thread.cancel()
                await task
            else:
                await sending
            provider.arrived.clear()
            if number % 3 == 2:
                await thread.close()
                thread = await wisp.open_thread(thread.record.id, listen=lambda _: None, ask=answer)
        assert not provider.refused
        assert await thread.send("the last one") is Outcome.DONE
        assert not provider.refused
        await thread.close()
        await wisp.close()


def _plan(provider: FakeProvider, planned: dict) -> None:
    if planned["end"] == "refuse":
        provider.answer(status=500, body={"error": {"message": "broken"}})
        return
    provider.answer(
        text=planned["text"],
        calls=planned["calls"],
        reasoning=planned["reasoning"],
        cut=planned["end"] == "cut",
        hang=planned["end"] == "cancel",
    )


async def _sent(thread, number: int) -> None:
    last = thread.record.turns.get(thread.record.last_turn)
    if number % 2 and last is not None and last.outcome is not Outcome.DONE:
        await thread.retry()
    else:
        await thread.send(f"prompt {number}")
