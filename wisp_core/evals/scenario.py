"""A conversation to measure: its turns, the values planted in them, and questions with where their answers stand.

A scenario is a JSON file:

    {"name": "a port that moves", "half": "",
     "files": {"notes.md": "the cache listens on 6379"},
     "turns": [
       {"prompt": "our staging port is 5433", "reply": "Noted.",
        "plants": [{"id": "port-1", "author": "person", "text": "our staging port is 5433", "keys": ["5433"]}]},
       {"prompt": "look at the notes", "reply": "Done.",
        "calls": [{"tool": "read_file", "arguments": {"path": "notes.md"}}],
        "plants": [{"id": "cache", "author": "tool", "text": "the cache listens on 6379", "keys": ["6379"]}]},
       {"prompt": "which port does staging use?", "question": {"kind": "stated", "gold": ["port-1"]}}]}

Each call is a step of its own, in a folder that holds `files`. A question is a turn like any other: the request that
would answer it is what is scored. `gold` names the plants that hold the answer, `older` those that they replaced.
"""

import json
from collections.abc import Sequence
from pathlib import Path, PurePosixPath
from typing import Annotated, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationError, field_validator, model_validator

from wisp_core.errors import UsageError
from wisp_core.records import JsonObject

Author: TypeAlias = Literal["person", "assistant", "tool"]
Kind: TypeAlias = Literal[
    "instruction",
    "preference",
    "stated",
    "changed once",
    "changed twice",
    "dates",
    "contradiction",
    "count",
    "assistant",
    "tool",
    "trap",
    "follow-up",
]
Text = Annotated[str, StringConstraints(min_length=1)]


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class Plant(_Part):
    """A value that is asked for later: who says it, the `text` that holds it, and the `keys` that are the answer."""

    id: Text
    author: Author
    text: Text
    keys: list[Text] = Field(min_length=1)

    @model_validator(mode="after")
    def _holds_its_keys(self) -> "Plant":
        for key in self.keys:
            if key.casefold() not in self.text.casefold():
                raise ValueError(f"the key `{key}` is not in the text")
        return self


class Call(_Part):
    """A tool call that the scripted model makes."""

    tool: Text
    arguments: JsonObject = {}


class Question(_Part):
    """What a turn asks; `kind` is the row of the table it counts in."""

    kind: Kind
    gold: list[Text] = Field(min_length=1)
    older: list[Text] = []


class ScenarioTurn(_Part):
    """One prompt with the calls and the reply that the scripted model gives."""

    prompt: Text
    reply: Text = "I will look into it."
    calls: list[Call] = []
    plants: list[Plant] = []
    question: Question | None = None

    @model_validator(mode="after")
    def _says_its_plants(self) -> "ScenarioTurn":
        said = {"person": self.prompt, "assistant": self.reply}
        for plant in self.plants:
            if plant.author == "tool" and not self.calls:
                raise ValueError(f"the plant `{plant.id}` is a tool's, and the turn calls none")
            if plant.author != "tool" and plant.text not in said[plant.author]:
                raise ValueError(f"the plant `{plant.id}` does not stand in what the {plant.author} says")
        return self


class Scenario(_Part):
    """A whole conversation; `half` tells which half of the generated ones it belongs to, empty for one by hand."""

    name: Text
    half: Literal["development", "test", ""] = ""
    files: dict[str, str] = {}
    turns: list[ScenarioTurn] = Field(min_length=1)

    @field_validator("files")
    @classmethod
    def _stay_inside(cls, files: dict[str, str]) -> dict[str, str]:
        for name in files:
            path = PurePosixPath(name)
            if path.is_absolute() or not path.parts or {"..", "."} & set(path.parts) or "\0" in name:
                raise ValueError(f"`{name}` is no path inside the scenario's folder")
        return files

    @model_validator(mode="after")
    def _asks_for_what_was_said(self) -> "Scenario":
        planted: set[str] = set()
        for number, turn in enumerate(self.turns):
            asked = [*turn.question.gold, *turn.question.older] if turn.question else []
            for name in asked:
                if name not in planted:
                    raise ValueError(f"turn {number} asks for `{name}`, which no turn before it plants")
            for plant in turn.plants:
                if plant.id in planted:
                    raise ValueError(f"`{plant.id}` is planted twice")
                planted.add(plant.id)
        return self

    @property
    def questions(self) -> int:
        """How many of the turns are questions."""
        return sum(turn.question is not None for turn in self.turns)


def read_scenario(path: Path) -> Scenario:
    """Return the scenario that a file holds.

    Raises:
        UsageError: the file cannot be read or is no scenario; the sentence names the place.
    """
    try:
        return Scenario.model_validate(json.loads(path.read_text("utf-8")))
    except OSError as error:
        raise UsageError(f"the scenario {path} cannot be read ({error.strerror})") from error
    except ValidationError as error:
        raise UsageError(
            f"the scenario {path} is wrong{explain(error)}", "wisp eval --help names the format"
        ) from error
    except (ValueError, RecursionError) as error:
        raise UsageError(f"the scenario {path} is no JSON ({str(error)[:80]})") from error


def explain(error: ValidationError) -> str:
    """Return where a file is wrong and how, for the end of a sentence."""
    first = error.errors()[0]
    where = ".".join(str(part) for part in first["loc"])
    said = first["msg"].removeprefix("Value error, ").removeprefix("Input should be ")
    return f"{f' at `{where}`' if where else ''}: {said}"


def plants_of(turns: Sequence[ScenarioTurn]) -> dict[str, tuple[int, Plant]]:
    """Return every plant by its id, with the number of its turn, from 1."""
    return {plant.id: (number, plant) for number, turn in enumerate(turns, 1) for plant in turn.plants}
