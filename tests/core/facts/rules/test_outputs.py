"""What real programs printed gives exactly the facts of the index, and nothing where it only looks like one."""

import json
from pathlib import Path

import pytest

from tests.core.facts.rules.turns import facts, person_ran, ran
from wisp_core.facts.extract import extract

OUTPUTS = Path(__file__).parent.parent / "outputs"
INDEX = json.loads((OUTPUTS / "index.json").read_text("utf-8"))
# Every rule of F13's table, by how its command begins, and what its outcomes are.
OWED = {
    "pytest": "tests",
    "python -m unittest": "tests",
    "cargo test": "tests",
    "go test": "tests",
    "jest": "tests",
    "vitest": "tests",
    "npm test": "tests",
    "swift test": "tests",
    "ctest": "tests",
    "make test": "tests",
    "tox": "tests",
    "ruff check": "lint",
    "mypy": "lint",
    "eslint": "lint",
    "cargo build": "build",
    "make": "build",
    "npm run build": "build",
    "docker build": "build",
    "pip install": "build",
    "npm install": "build",
    "cargo install": "build",
}


def read(row):
    return (OUTPUTS / row["file"]).read_text("utf-8")


@pytest.mark.parametrize("row", INDEX, ids=lambda row: row["file"].removesuffix(".txt"))
def test_an_output_gives_its_facts_and_no_other(row):
    assert facts(ran(row["command"], read(row), status=row["status"])) == [tuple(fact) for fact in row["facts"]]


@pytest.mark.parametrize("row", INDEX, ids=lambda row: row["file"].removesuffix(".txt"))
def test_the_persons_own_command_gives_the_same_facts_as_its_source(row):
    found = extract(person_ran(row["command"], read(row), status=row["status"]), cwd="/srv/harbour")
    assert [[each.subject, each.name, each.value] for each in found] == row["facts"]
    assert {each.source for each in found} <= {"person_command"}
    assert all((each.tool, each.entries, each.events) == ("", (1,), ("command1",)) for each in found)


def test_every_row_of_the_table_has_an_outcome_that_is_well_and_one_that_is_not():
    found = [tuple(fact) for row in INDEX for fact in row["facts"]]
    for begins, subject in OWED.items():
        values = [
            value for kind, name, value in found if kind == subject and begins in name.replace("python3", "python")
        ]
        assert any(value.startswith(("passed", "ok")) for value in values), begins
        assert any(value.startswith("failed (exit status ") for value in values), begins
    assert {name for kind, name, _ in found if kind == "git"} == {"commit", "branch", "merge", "push"}
    assert sum(kind == "version" for kind, _, _ in found) >= 10


def test_the_table_is_large_real_and_holds_what_gives_nothing():
    assert len(INDEX) >= 120
    assert sum(not row["facts"] for row in INDEX) >= 40
    assert sum(row["recorded"] == "run" for row in INDEX) > len(INDEX) * 0.8
    assert {row["file"] for row in INDEX} == {path.name for path in OUTPUTS.glob("*.txt")}
    assert all(len(read(row).encode()) < 8 * 1024 for row in INDEX)


@pytest.mark.parametrize("reader", ["cat run.log", "less run.log", "grep -n . run.log", "./run", "echo done"])
def test_no_output_gives_anything_to_a_command_that_did_not_make_it(reader):
    assert [row["file"] for row in INDEX if facts(ran(reader, read(row), status=row["status"]))] == []
