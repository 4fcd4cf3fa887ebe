"""M10, M12: whole turns through Anthropic's Messages API: breakpoints that hold, thoughts that go back, overflow."""

from pathlib import Path
from typing import Any

import pytest

from tests.fakes.anthropic import SIGNATURE, FakeAnthropic, called, message, report, said, thought
from tests.opened import Opened, opened
from wisp_core.records import Outcome


@pytest.fixture
async def provider():
    async with FakeAnthropic(most_output=200000) as provider:
        yield provider
        assert provider.refused == []


def given(provider: FakeAnthropic, **more: Any) -> dict[str, Any]:
    endpoint = {"url": provider.url, "api": "anthropic", "window": 200000}
    return {"model": "local/fake", "endpoints": {"fake": endpoint}, "retries": {"most": 0}, **more}


async def converse(home: Opened, *prompts: str) -> list[Outcome]:
    return [await home.thread.send(prompt) for prompt in prompts]


async def test_the_earlier_block_stands_before_a_breakpoint_and_is_the_same_from_request_to_request(
    tmp_path: Path, provider: FakeAnthropic
):
    for answer in ("noted", "fine"):
        provider.answer(*message(said(answer)))
    provider.answer(status=400, body=report(400, "prompt is too long: 213462 tokens > 200000 maximum"))
    context = {"policy": "keep-turns", "keep_turns": 1}
    async with opened(tmp_path, **given(provider, context=context)) as home:
        assert await converse(home, "Remember: the server listens on port 8080.", "b", "c", "d") == [Outcome.DONE] * 4
        earlier = home.events("request.composed")[-1].earlier
    assert "8080" in earlier
    first, second = (seen.body for seen in provider.requests[-2:])
    mark = {"cache_control": {"type": "ephemeral"}}
    assert first["messages"][0]["content"][0] == {"type": "text", "text": earlier} | mark
    assert first["messages"][0]["content"][0] == second["messages"][0]["content"][0]
    assert first["system"] == second["system"]
    assert first["system"][-1]["cache_control"] == {"type": "ephemeral"}
    assert first["tools"] == second["tools"]


async def test_the_thoughts_of_a_turn_go_back_with_its_results_and_are_kept_nowhere(
    tmp_path: Path, provider: FakeAnthropic
):
    (tmp_path / "a").write_text("hello")
    provider.answer(*message(thought("I plan"), said("I look."), called("read_file", '{"path" : "a"}')))
    provider.answer(*message(called("list_files", "{}")))
    provider.answer(*message(said("it says hello")))
    async with opened(tmp_path, **given(provider, effort="medium")) as home:
        assert await converse(home, "what is in a?", "thanks") == [Outcome.DONE] * 2
        assert [answer.reasoning for answer in home.events("response")][:2] == ["I plan", ""]
    asked = [seen.body for seen in provider.requests]
    assert len(asked) == 4
    assert all(body["thinking"]["type"] == "enabled" for body in asked)
    kept = {"type": "thinking", "thinking": "I plan", "signature": SIGNATURE}
    assert [kept in body["messages"][1]["content"] for body in asked[1:3]] == [True, True]
    assert "I plan" not in str(asked[3]["messages"])
    written = b"".join(path.read_bytes() for path in tmp_path.rglob("*") if path.is_file())
    assert SIGNATURE.encode() not in written
