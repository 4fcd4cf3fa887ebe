"""What a model of Anthropic's thinks is asked for by effort, shown apart, and goes back where the API wants it."""

import pytest

from tests.core.models.asking import READ, ask, connect, finish, prompt, reasoning, text
from tests.fakes.anthropic import SIGNATURE, FakeAnthropic, called, message, redacted, said, thought
from wisp_core.models.anthropic import LEAST_THINKING, AnthropicBackend
from wisp_core.models.backend import Server
from wisp_core.models.catalogue import known
from wisp_core.models.profile import Profile
from wisp_core.requests import Message, ModelRequest, Role, WireCall

ASKED = Message(Role.USER, "look")


def step(number, path="a"):
    """Return what a turn records of one call and its result."""
    call = WireCall(f"c{number}", "read_file", f'{{"path":"{path}"}}')
    return Message(Role.ASSISTANT, calls=(call,)), Message(Role.TOOL, "text", call_id=f"c{number}", name="read_file")


def think(*messages, **fields):
    return ModelRequest((ASKED, *messages), tools=(READ,), effort="medium", **fields)


@pytest.fixture
async def provider():
    async with FakeAnthropic() as provider:
        yield provider
        assert provider.refused == []


@pytest.fixture
async def backend(provider):
    backend = connect(provider, api="anthropic")
    yield backend
    await backend.close()


async def test_thinking_is_shown_apart_from_the_reply(provider, backend):
    provider.answer(*message(thought("hm ", "日本"), said("reply")))
    found = await ask(backend, prompt(effort="low"))
    assert (reasoning(found), text(found), finish(found)) == ("hm 日本", "reply", "stop")


@pytest.mark.parametrize(
    ("effort", "limit", "budget"),
    [
        ("low", 10000, 2000),
        ("medium", 10000, 4000),
        ("high", 10000, 7000),
        ("low", 3000, LEAST_THINKING),
        ("high", 2500, 2500 - LEAST_THINKING),
        ("high", 2000, None),
        ("", 10000, None),
        ("enormous", 10000, None),
    ],
)
async def test_effort_is_a_share_of_the_reply_that_leaves_room_for_it(provider, backend, effort, limit, budget):
    await ask(backend, prompt(effort=effort, max_output=limit, temperature=0.5))
    body = provider.requests[0].body
    assert body.get("thinking") == (budget and {"type": "enabled", "budget_tokens": budget})
    assert ("temperature" in body) is (budget is None)


async def test_thoughts_go_back_with_the_results_of_their_calls_and_not_with_the_next_prompt(provider, backend):
    provider.answer(*message(thought("plan"), redacted(), said("I look."), called("read_file", '{"path": "a"}')))
    await ask(backend, think())
    provider.answer(*message(called("read_file", '{"path": "b"}')))
    await ask(backend, think(*step(1)))
    await ask(backend, think(*step(1), *step(2, "b")))
    first = provider.requests[2].body["messages"][1]["content"]
    assert first[:2] == [
        {"type": "thinking", "thinking": "plan", "signature": SIGNATURE},
        {"type": "redacted_thinking", "data": "b64=="},
    ]
    assert all("thinking" in seen.body for seen in provider.requests)
    await ask(backend, think(*step(1), *step(2, "b"), Message(Role.ASSISTANT, "ok"), Message(Role.USER, "next")))
    body = provider.requests[3].body
    assert "thinking" in body
    assert "plan" not in str(body["messages"])


async def test_a_turn_whose_first_thoughts_are_lost_goes_on_without_thinking(provider, backend):
    assert text(await ask(backend, think(*step(1)))) == "ok"
    assert "thinking" not in provider.requests[0].body
    provider.answer(*message(called("read_file", '{"path": "a"}')))
    await ask(backend, think())
    assert text(await ask(backend, think(*step(1)))) == "ok"
    assert ["thinking" in seen.body for seen in provider.requests] == [False, True, False]


async def test_a_model_that_takes_no_budget_is_told_its_effort_and_one_that_takes_none_is_not_asked_again(provider):
    backend = connect(provider, api="anthropic")
    budget = '"thinking.type.enabled" is not supported for this model. Use "thinking.type.adaptive"'
    provider.rejects = [('"enabled"', budget)]
    for _ in range(2):
        assert text(await ask(backend, prompt(effort="high", max_output=9000))) == "ok"
    kinds = [seen.body["thinking"]["type"] for seen in provider.requests]
    assert kinds == ["enabled", "adaptive", "adaptive"]
    assert provider.requests[2].body["output_config"] == {"effort": "high"}
    provider.rejects.append(("adaptive", "adaptive thinking is not supported on this model"))
    for _ in range(2):
        assert text(await ask(backend, prompt(effort="high"))) == "ok"
    assert ["thinking" in seen.body for seen in provider.requests[3:]] == [True, False, False]
    await backend.close()


async def test_what_a_model_thought_unasked_goes_back_with_the_results_too(provider, backend):
    provider.answer(*message(thought("plan"), called("read_file", '{"path": "a"}')))
    await ask(backend, ModelRequest((ASKED,), tools=(READ,)))
    await ask(backend, ModelRequest((ASKED, *step(1)), tools=(READ,)))
    body = provider.requests[1].body
    assert "thinking" not in body
    assert body["messages"][1]["content"][0] == {"type": "thinking", "thinking": "plan", "signature": SIGNATURE}


@pytest.mark.parametrize(
    "refusal",
    [
        "messages.1.content.0: The block is bound to a different conversation",
        "messages.1.content.0: `thinking` blocks in the latest assistant message cannot be modified",
    ],
)
async def test_thoughts_that_fit_no_more_are_left_out_for_the_turn_and_the_turn_goes_on(provider, backend, refusal):
    provider.answer(*message(thought("plan"), called("read_file", '{"path": "a"}')))
    await ask(backend, think())
    provider.rejects = [("EqQBCgIYAhIM", refusal)]
    assert text(await ask(backend, think(*step(1)))) == "ok"
    assert "plan" not in str(provider.requests[-1].body)
    assert "tools" in provider.requests[-1].body
    assert text(await ask(backend, think(*step(1)))) == "ok"
    assert len(provider.requests) == 4
    provider.rejects = []
    provider.answer(*message(thought("again"), called("read_file", '{"path": "a"}')))
    await ask(backend, think())
    await ask(backend, think(*step(1)))
    assert "again" in str(provider.requests[-1].body)


def hosted(provider, thinking):
    """Return the backend of a model of whose thinking the catalogue knows, or "" for not."""
    profile = Profile(probes=False, thinking=thinking)
    return AnthropicBackend("anthropic/new", Server(provider.url), model="new", profile=profile)


@pytest.fixture
async def newest(provider):
    """The backend of a newest model, which checks that thoughts come back in their place."""
    provider.newest = True
    backend = hosted(provider, "adaptive")
    yield backend
    await backend.close()


def kinds(body):
    return [[block["type"] for block in each["content"]] for each in body["messages"] if each["role"] == "assistant"]


async def test_the_same_call_twice_goes_back_each_time_with_its_own_thoughts(provider, newest):
    for plan in ("first", "second"):
        provider.answer(*message(thought(plan), called("read_file", '{"path": "a"}')))
    await ask(newest, think())
    await ask(newest, think(*step(1)))
    assert text(await ask(newest, think(*step(1), *step(2)))) == "ok"
    assert len(provider.requests) == 3
    back = provider.requests[2].body["messages"]
    assert [each["content"][0]["thinking"] for each in back if each["role"] == "assistant"] == ["first", "second"]


async def test_an_answer_goes_back_with_its_texts_and_thoughts_as_they_came(provider, newest):
    blocks = (
        thought("a"),
        said("Let me look."),
        thought("b"),
        said("  And there.\n"),
        called("read_file", '{"path": "a"}'),
    )
    provider.answer(*message(*blocks))
    shown = text(await ask(newest, think()))
    call, result = step(1)
    assert text(await ask(newest, think(Message(Role.ASSISTANT, shown.strip(), calls=call.calls), result))) == "ok"
    assert len(provider.requests) == 2
    assert kinds(provider.requests[1].body) == [["thinking", "text", "thinking", "text", "tool_use"]]
    assert provider.requests[1].body["messages"][1]["content"][3]["text"] == "  And there.\n"


async def test_the_last_round_names_the_tools_of_its_turn_which_cannot_be_chosen(provider, newest):
    provider.answer(*message(thought("plan"), called("read_file", '{"path": "a"}')))
    await ask(newest, think())
    assert text(await ask(newest, ModelRequest((ASKED, *step(1)), effort="medium"))) == "ok"
    first, last = (seen.body for seen in provider.requests)
    assert last["tools"] == first["tools"]
    assert last["tool_choice"] == {"type": "none"}
    assert kinds(last) == [["thinking", "tool_use"]]


async def test_a_turn_whose_beginning_changed_goes_on_without_its_thoughts_and_keeps_its_effort(provider, newest):
    provider.answer(*message(thought("plan"), called("read_file", '{"path": "a"}')))
    await ask(newest, think())
    provider.answer(*message(thought("anew"), called("read_file", '{"path": "b"}')))
    other = Message(Role.USER, "# Earlier\n\nlook")
    await ask(newest, ModelRequest((other, *step(1)), tools=(READ,), effort="medium"))
    assert (
        text(await ask(newest, ModelRequest((other, *step(1), *step(2, "b")), tools=(READ,), effort="medium"))) == "ok"
    )
    assert len(provider.requests) == 4
    assert kinds(provider.requests[-1].body) == [["tool_use"], ["thinking", "tool_use"]]
    assert all(seen.body["output_config"] == {"effort": "medium"} for seen in provider.requests)


async def test_answers_of_a_turn_that_were_condensed_away_leave_those_that_stand_with_their_own_thoughts(
    provider, backend
):
    for plan in ("first", "second"):
        provider.answer(*message(thought(plan), called("read_file", '{"path": "a"}')))
    await ask(backend, think())
    await ask(backend, think(*step(1)))
    await ask(backend, think(*step(2)))
    assert [each["thinking"] for each in provider.requests[2].body["messages"][1]["content"][:1]] == ["second"]


async def test_a_turn_that_cannot_go_on_with_thinking_goes_on_without_and_the_next_one_thinks_again(provider):
    backend = hosted(provider, "adaptive")
    provider.rejects = [("adaptive", "messages.1.content.0.type: Expected `thinking` or `redacted_thinking`")]
    for _ in range(2):
        assert text(await ask(backend, think(*step(1)))) == "ok"
    provider.rejects = []
    assert text(await ask(backend, think())) == "ok"
    assert ["thinking" in seen.body for seen in provider.requests] == [True, False, False, True]
    await backend.close()


async def test_an_adaptive_model_keeps_its_effort_in_a_turn_that_began_without_thoughts(provider, newest):
    provider.answer(*message(called("read_file", '{"path": "a"}')))
    await ask(newest, think())
    await ask(newest, think(*step(1)))
    assert [seen.body["output_config"] for seen in provider.requests] == [{"effort": "medium"}] * 2


@pytest.mark.parametrize(
    ("thinking", "taken", "asked"),
    [
        ("budget", False, ["enabled"]),
        ("adaptive", True, ["adaptive"]),
        ("", False, ["enabled"]),
        ("", True, ["enabled", "adaptive"]),
    ],
)
async def test_a_model_is_told_to_think_as_the_catalogue_knows_it_else_as_it_takes_it(provider, thinking, taken, asked):
    provider.newest = taken
    backend = hosted(provider, thinking)
    assert text(await ask(backend, think())) == "ok"
    assert [seen.body["thinking"]["type"] for seen in provider.requests] == asked
    await backend.close()


async def test_a_model_that_thinks_unasked_is_asked_to_show_it_and_is_left_its_effort(provider):
    provider.newest = True
    backend = hosted(provider, "unasked")
    for request in (prompt(), prompt(effort="high")):
        provider.answer(*message(thought("I see"), said("ok")))
        assert reasoning(await ask(backend, request)) == "I see"
    shown = {"type": "adaptive", "display": "summarized"}
    assert [seen.body["thinking"] for seen in provider.requests] == [shown] * 2
    assert [seen.body.get("output_config") for seen in provider.requests] == [None, {"effort": "high"}]
    await backend.close()


def test_the_catalogue_knows_of_every_model_of_anthropics_how_it_is_told_to_think():
    models = {name: facts["thinking"] for name, facts in known().items() if name.startswith("anthropic/")}
    budget = {"anthropic/claude-opus-4-5", "anthropic/claude-haiku-4-5"}
    assert {name for name, thinking in models.items() if thinking == "budget"} == budget
    older = {name for name in models if "-4-" in name}
    assert {name for name, thinking in models.items() if thinking == "adaptive"} == older - budget
    assert {name for name, thinking in models.items() if thinking == "unasked"} == set(models) - older
