"""Judging: asks a small model, sentence by sentence, whether the person's words are worth keeping. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from pydantic import BaseModel, ConfigDict

from wisp_core.errors import ModelError
from wisp_core.facts.distil import NO_GUIDED, Ask
from wisp_core.facts.flat import flatten
from wisp_core.facts.stated import CLAUSE_MOST, Statement
from wisp_core.requests import Message, ModelRequest, Role

JUDGED_MOST = 40
"""No more are asked about at once, the newest: a small model takes a fifth of a second for each."""
ANSWER_TOKENS = 16

_RULES = """\
Does the sentence hold a name, a number, a date, a place, a choice or a rule worth writing down?"""
# None of the examples holds a value to copy. Yes and no take turns: so small a model repeats what it said last.
_EXAMPLES = (
    ("thank you, that helped", "no"),
    ("The NAME of the THING is VALUE", "yes"),
    ("I am not happy with that", "no"),
    ("Always do THING before OTHER", "yes"),
    ("we should go on with the next part", "no"),
    ("We decided on VALUE", "yes"),
    ("now we have to see", "no"),
    ("my NAME is VALUE", "yes"),
    ("I must say it is nice", "no"),
    ("I live in PLACE", "yes"),
    ("let me try that", "no"),
    ("the THING moved to DATE", "yes"),
    ("that is better", "no"),
    ("I never understand this", "no"),
)


class Judgement(BaseModel):
    """The answer to one sentence."""

    model_config = ConfigDict(frozen=True, defer_build=True, json_schema_extra={"additionalProperties": False})
    keep: Literal["yes", "no"]


@dataclass(frozen=True, slots=True)
class Judged:
    """The names of the statements that a yes raises in rank, how many were asked about, and what failed."""

    raised: frozenset[str] = frozenset()
    asked: int = 0
    failure: str = ""


async def judge(ask: Ask | None, statements: Sequence[Statement]) -> Judged:
    """Ask about each of the newest statements; no fact comes of it, and a failure ends only the asking."""
    if ask is None:
        return Judged(failure=NO_GUIDED)
    raised: set[str] = set()
    asked = 0
    for statement in statements[-JUDGED_MOST:]:
        try:
            answer = await ask(write_judgement(statement.text), Judgement)
        except ModelError as error:
            return Judged(frozenset(raised), asked, error.message)
        asked += 1
        if answer.keep == "yes":
            raised.add(statement.name)
    return Judged(frozenset(raised), asked)


def write_judgement(sentence: str) -> ModelRequest:
    """Return the request about one sentence; all but its end is the same for each, so a server's cache serves it."""
    messages = [Message(Role.SYSTEM, _RULES)]
    for example, answer in _EXAMPLES:
        messages += [Message(Role.USER, example), Message(Role.ASSISTANT, f'{{"keep": "{answer}"}}')]
    messages.append(Message(Role.USER, flatten(sentence, CLAUSE_MOST)))
    return ModelRequest(tuple(messages), max_output=ANSWER_TOKENS, temperature=0.0)
