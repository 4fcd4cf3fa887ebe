"""Generated conversations: long enough, repeatable, and in two halves that share nothing that could be tuned on."""

import re

import pytest

from wisp_core.evals.bank import Bank, read_bank
from wisp_core.evals.filler import size_of
from wisp_core.evals.generate import DEALT, HALVES, TOKENS, TURNS_BEFORE, conversations, generate
from wisp_core.evals.scenario import plants_of
from wisp_core.settings import Outputs

BANKS = {half: read_bank(half) for half in HALVES}


@pytest.mark.parametrize("half", HALVES)
def test_the_same_seed_makes_the_same_conversation_and_another_seed_another(half: str) -> None:
    assert generate(BANKS[half], 3, tokens=5000) == generate(BANKS[half], 3, tokens=5000)
    assert generate(BANKS[half], 3, tokens=5000) != generate(BANKS[half], 4, tokens=5000)


def test_twenty_conversations_have_a_hundred_thousand_tokens_each_and_250_questions_and_more() -> None:
    made = list(conversations(list(BANKS.values()), 0, count=20))
    assert all(sum(size_of(turn, scenario.files) for turn in scenario.turns) >= TOKENS for scenario in made)
    assert sum(scenario.questions for scenario in made) >= 250
    assert [scenario.half for scenario in made] == list(HALVES) * 10
    assert {turn.question.kind for scenario in made for turn in scenario.turns if turn.question} == {
        kind for kind, _, _ in DEALT
    }


def test_the_halves_share_no_wording_no_value_and_no_word() -> None:
    first, second = (texts(bank) for bank in BANKS.values())
    assert not first & second


@pytest.mark.parametrize("half", HALVES)
def test_every_wording_is_filled_in(half: str) -> None:
    scenario = generate(BANKS[half], 0, tokens=40_000)
    said = [turn.prompt + turn.reply for turn in scenario.turns] + list(scenario.files.values())
    names = "|".join([*BANKS[half].words, "num", "id2?", "Id", "hex", "time", "v", "w", "request", "log", "code"])
    assert not [found for text in said if (found := re.search(rf"\{{(?:{names})\}}", text))]


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("half", HALVES)
def test_what_is_asked_for_was_said_long_before_and_in_its_order(half: str, seed: int) -> None:
    scenario = generate(BANKS[half], seed)
    planted = plants_of(scenario.turns)
    for number, turn in enumerate(scenario.turns, 1):
        if turn.question is not None:
            said = [planted[name][0] for name in [*turn.question.older, *turn.question.gold]]
            assert said == sorted(said)
            assert number - said[-1] >= TURNS_BEFORE
            assert len(set(said)) == len(said)


def test_what_a_tool_alone_said_stands_in_one_file_that_one_turn_reads() -> None:
    scenario = generate(BANKS["development"], 1)
    for turn, plant in plants_of(scenario.turns).values():
        if plant.author == "tool":
            (name,) = [name for name, text in scenario.files.items() if plant.text in text]
            reads = [n for n, each in enumerate(scenario.turns, 1) if name in str([c.arguments for c in each.calls])]
            assert reads == [turn]
            assert plant.text not in scenario.turns[turn - 1].reply


@pytest.mark.parametrize("half", HALVES)
def test_no_output_of_a_file_is_so_long_that_a_part_of_it_is_held_back(half: str) -> None:
    for seed in range(10):
        for text in generate(BANKS[half], seed).files.values():
            numbered = "".join(f"{n}\t{line}\n" for n, line in enumerate(text.split("\n"), 1))
            assert len(numbered.encode()) < Outputs().least_bytes


def texts(bank: Bank) -> set[str]:
    """Everything that a bank says, but for topics' values in common speech such as numbers below a hundred."""
    found = {word for words in bank.words.values() for word in words}
    found |= {value for topic in bank.topics for value in topic.values if not value.isdecimal()}
    found |= {text for topic in bank.topics for text in [*topic.say, *topic.later, *topic.ask, *topic.poison]}
    for wordings in (bank.openers, bank.tails, bank.follow_ups, bank.requests, bank.asides, bank.pastes, bank.answers):
        found |= set(wordings)
    return found | {*bank.closings, *bank.code, *bank.logs, *bank.prose}
