"""What the generator draws from: topics with many wordings, and the work talk around them; one bank a half.

In a topic's wording the words in square brackets are its key words, `{v}` is a value, and `{word}` names a list of
`words`. The files are `resources/eval/development.json` and `test.json`; they share no wording, topic or value.
"""

import json
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from wisp_core.errors import HomeError
from wisp_core.evals.scenario import Text, explain
from wisp_core.resources import read

TopicKind = Literal[
    "instruction",
    "preference",
    "stated",
    "changed",
    "dates",
    "contradiction",
    "count",
    "assistant",
    "tool",
    "trap",
]


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class Topic(_Part):
    """One thing that can be asked for.

    `say` are wordings of it; `later` those of its change, or of the second of a pair; `poison` what a tool's output
    claims instead; `about` leads to it before a follow-up without content words.
    """

    kind: TopicKind
    say: list[Text] = Field(min_length=1)
    ask: list[Text] = Field(min_length=1)
    values: list[Text] = []
    later: list[Text] = []
    poison: list[Text] = []
    about: str = ""


class Bank(_Part):
    """The wordings of one half; `words` are lists by the name that stands for a word of them."""

    half: Literal["development", "test"]
    words: dict[str, list[Text]]
    topics: list[Topic]
    openers: list[Text]
    tails: list[Text]
    follow_ups: list[Text]
    requests: list[Text]
    asides: list[Text]
    pastes: list[Text]
    answers: list[Text]
    closings: list[Text]
    code: list[Text]
    logs: list[Text]
    prose: list[Text]


def read_bank(half: str) -> Bank:
    """Return the bank of a half.

    Raises:
        HomeError: the installed file is damaged.
    """
    try:
        return Bank.model_validate(json.loads(read(f"eval/{half}.json")))
    except (OSError, ValueError) as error:
        said = explain(error) if isinstance(error, ValidationError) else f": {error}"
        raise HomeError(f"the eval's wordings {half}.json are damaged{said}", "install wisp anew") from error
