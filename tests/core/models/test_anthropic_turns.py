"""M7, M10: a whole turn of a newest model of Anthropic's, which signs its thoughts for their place."""

import pytest

from tests.fakes.anthropic import FakeAnthropic, called, message, said, thought
from tests.opened import opened
from wisp_core.records import Outcome


@pytest.fixture
async def provider():
    async with FakeAnthropic(most_output=200000, newest=True) as provider:
        yield provider
        assert provider.refused == []


def given(provider, **settings):
    endpoint = {"url": provider.url, "api": "anthropic", "window": 200000}
    return {
        "model": "local/fake",
        "endpoints": {"fake": endpoint},
        "models": {"local/fake": {"thinking": "unasked"}},
        "facts": {"enabled": False},
        "retries": {"most": 0},
    } | settings


@pytest.mark.parametrize("effort", ["", "high"])
async def test_every_round_up_to_the_last_gives_all_thoughts_back_in_their_place(tmp_path, provider, effort):
    (tmp_path / "a").write_text("hello")
    look = called("read_file", '{"path" : "a"}')
    provider.answer(*message(said("I look."), thought("I plan"), said("\n\nNow.  "), look))
    provider.answer(*message(thought("again"), look, called("list_files", "{}", id="toolu_02")))
    provider.answer(*message(thought("done"), said("it says hello")))
    provider.answer(*message(thought("polite"), said("you are welcome")))
    async with opened(tmp_path, **given(provider, effort=effort, tools={"max_rounds": 2})) as home:
        assert await home.thread.send("what is in a?") is Outcome.DONE
        assert await home.thread.send("thanks") is Outcome.DONE
    first, second, last, after = (seen.body for seen in provider.requests)
    assert [(body["tools"], body["system"]) for body in (second, last)] == [(first["tools"], first["system"])] * 2
    assert last["tool_choice"] == {"type": "none"}
    thoughts = [str(body["messages"]).count("'type': 'thinking'") for body in (first, second, last, after)]
    assert thoughts == [0, 1, 2, 0]
    assert all(("output_config" in body) is bool(effort) for body in (first, second, last, after))
