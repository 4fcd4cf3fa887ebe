"""What a scenario's file must be, and the one sentence that says where it is not."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.core.evals.planted import PORT, written
from wisp_core.errors import UsageError
from wisp_core.evals.scenario import plants_of, read_scenario


def changed(turn: int, **fields: Any) -> str:
    turns = [dict(each) for each in PORT["turns"]]
    turns[turn].update(fields)
    return json.dumps(PORT | {"turns": turns})


def test_a_scenario_is_read_with_its_plants_by_turn(tmp_path: Path) -> None:
    scenario = read_scenario(written(tmp_path, json.dumps(PORT)))
    assert scenario.questions == 1
    assert {name: turn for name, (turn, _) in plants_of(scenario.turns).items()} == {
        "old": 1,
        "cache": 2,
        "name": 2,
        "new": 3,
    }


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{", "is no JSON"),
        ("[]", "is wrong"),
        (json.dumps(PORT | {"colour": 1}), "`colour`"),
        (json.dumps(PORT | {"turns": []}), "`turns`"),
        (json.dumps(PORT | {"files": {"../x": ""}}), "`../x` is no path inside"),
        (json.dumps(PORT | {"files": {"/etc/x": ""}}), "`/etc/x` is no path inside"),
        (changed(0, prompt=""), "`turns.0.prompt`"),
        (changed(0, prompt="our port"), "the plant `old` does not stand in what the person says"),
        (changed(1, calls=[]), "the plant `cache` is a tool's, and the turn calls none"),
        (changed(3, question={"kind": "stated", "gold": ["lost"]}), "turn 3 asks for `lost`, which no turn before it"),
        (changed(3, question={"kind": "riddle", "gold": ["new"]}), "`turns.3.question.kind`"),
        (changed(2, plants=PORT["turns"][0]["plants"], prompt="our staging port is 5433"), "`old` is planted twice"),
        (
            changed(0, plants=[{"id": "x", "author": "person", "text": "our staging", "keys": ["5433"]}]),
            "the key `5433` is not in the text",
        ),
    ],
)
def test_a_mistake_is_one_sentence_that_names_its_place(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(UsageError) as raised:
        read_scenario(written(tmp_path, text))
    assert said in raised.value.sentence()
    assert "\n" not in raised.value.sentence()


def test_a_file_that_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot be read"):
        read_scenario(tmp_path / "none.json")


@pytest.mark.parametrize("name", ["digression"])
def test_the_scenarios_that_come_along_are_scenarios(name: str) -> None:
    root = Path(__file__).parents[3]
    assert read_scenario(root / "resources" / "eval" / f"{name}.json").questions
