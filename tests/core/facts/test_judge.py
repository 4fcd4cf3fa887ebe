"""A small model only judges: sentence by sentence, whether the person's words are worth keeping (F16)."""

import json

import pytest

from wisp_core.facts.judge import JUDGED_MOST, judge
from wisp_core.facts.stated import Statement, state
from wisp_core.models.catalogue import open_backend
from wisp_core.models.embedded import open_embedded
from wisp_core.settings import Settings


@pytest.fixture
def model(tmp_path):
    def write(*replies):
        path = tmp_path / "script.json"
        path.write_text(json.dumps({"replies": list(replies)}), "utf-8")
        return open_backend(f"scripted:{path}", Settings(), environ={})

    return write


def says(keep: str, when: str = "") -> dict[str, object]:
    return {"text": json.dumps({"keep": keep}), "when": when, "repeat": True}


async def test_a_yes_raises_a_statement_and_a_no_costs_it_nothing(model) -> None:
    statements = state("My port is 80. My host is kite. My name is Ann.", entry=12, turn=3)
    judged = await judge(model(says("yes", "host"), says("no")).guided, statements)
    assert (judged.raised, judged.asked, judged.failure) == ({"12.2"}, 3, "")


async def test_each_sentence_is_asked_about_alone_behind_the_same_beginning(model) -> None:
    backend = model(says("yes"))
    await judge(backend.guided, state("My port is 80. My host is kite.", entry=12, turn=3))
    first, second = backend.requests
    assert first.messages[:-1] == second.messages[:-1]
    assert [request.messages[-1].text for request in backend.requests] == ["My port is 80", "My host is kite"]


async def test_no_more_than_the_newest_statements_are_asked_about(model) -> None:
    backend = model(says("no"))
    statements = [Statement(f"my thing is {n}", n, n, 1, 5) for n in range(100)]
    assert (await judge(backend.guided, statements)).asked == JUDGED_MOST
    assert backend.requests[-1].messages[-1].text == "my thing is 99"


async def test_a_failure_keeps_what_was_judged_and_everything_that_was_said(model) -> None:
    statements = state("My port is 80. My host is kite.", entry=12, turn=3)
    judged = await judge(model({**says("yes"), "repeat": False}).guided, statements)
    assert (judged.raised, judged.asked) == ({"12.1"}, 1)
    assert judged.failure
    assert (await judge(None, statements)).failure


@pytest.mark.embedded
async def test_the_embedded_model_answers_yes_or_no_to_every_sentence() -> None:
    backend = open_embedded("embedded/smollm2-135m", Settings(), weights=None)
    try:
        statements = state("The release codename is BLUE HERON. I live in Ghent. We use version 4.2.", entry=2, turn=1)
        judged = await judge(backend.guided, statements)
    finally:
        await backend.close()
    assert (judged.asked, judged.failure) == (3, "")
    assert judged.raised <= {statement.name for statement in statements}
