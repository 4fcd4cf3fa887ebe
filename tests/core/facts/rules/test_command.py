"""A command line is recognised by its words, and where it is not certain what ran, nothing is said."""

import pytest

from tests.core.facts.rules.turns import facts, printed, ran
from wisp_core.facts.rules.command import read_line

PASSED = printed("3 passed in 0.01s")


@pytest.mark.parametrize(
    ("command", "name"),
    [
        ("pytest", "pytest"),
        ("  pytest   -q\ttests ", "pytest -q tests"),
        ("cd app && pytest -q", "pytest -q"),
        ("cd 'my app' && cd tests && pytest", "pytest"),
        ("CI=1 A='x y' pytest -q", "pytest -q"),
        (".venv/bin/pytest -q", "pytest -q"),
        ("/usr/bin/python3 -m pytest tests/x.py", "python3 -m pytest tests/x.py"),
        ("source .venv/bin/activate && pytest", "pytest"),
        ("timeout 60 pytest -q 2>&1", "timeout 60 pytest -q"),
        ("uv run pytest", "uv run pytest"),
        ("poetry run python -m pytest", "poetry run python -m pytest"),
        ('pytest -k "a and not b"', 'pytest -k "a and not b"'),
        ("pytest -q 2>&1 | tail -20", "pytest -q"),
        ("pytest | tee out.log", "pytest"),
    ],
)
def test_a_name_has_no_folder_no_assignment_and_one_space_between_words(command, name):
    assert facts(ran(command, PASSED, status=0)) == [("tests", name, "passed: 3 passed")]


@pytest.mark.parametrize(
    "command",
    [
        "pytest; echo done",
        "pytest || true",
        "pytest &",
        "pytest > log",
        "pytest < input",
        "pytest | grep passed",
        "pytest | tail -3 | cat",
        "(pytest)",
        "$(pytest)",
        "`pytest`",
        "pytest\nruff check",
        "cat <<X\npytest\nX",
        "pytest 'unclosed",
        "echo pytest",
        "bash -c pytest",
        "ssh quay pytest",
        "mypytest",
        "pytest.ini",
        "python pytest.py",
        "ruff check && pytest",
        "pytest && ruff check",
        "# pytest",
        "",
        "&&",
        "cd x &&",
        "| tail",
        "pytest " + "x" * 5000,
        "pytest " + "x" * 500,
    ],
)
def test_what_is_not_certain_gives_nothing(command):
    assert facts(ran(command, PASSED, status=0)) == []


def test_a_pipe_hides_the_exit_status_so_the_runners_own_words_decide():
    assert facts(ran("pytest | tail -2", printed("1 failed, 2 passed in 0.1s"), status=0)) == [
        ("tests", "pytest", "failed: 1 failed, 2 passed")
    ]
    assert facts(ran("make | tail -2", printed("cc -c tide.c"), status=0)) == []


def test_words_are_unquoted_and_the_name_is_as_it_was_typed():
    line = read_line("cd x && git commit -m 'one two' \"three\nfour\" five\\ six")
    assert line is not None
    assert line.commands[0].words == ("git", "commit", "-m", "one two", "three\nfour", "five six")
    assert line.commands[0].name == "git commit -m 'one two' \"three four\" five\\ six"


@pytest.mark.parametrize("text", ["'" * 4001, '"\\' * 2000, "a=" * 2000, "\\" * 3999, "&&" * 2000, "x " * 2000])
def test_a_hostile_command_line_is_read_or_refused(text):
    read_line(text)


@pytest.mark.parametrize(
    "note",
    [
        "[timed out after 120 s; the command and all that it started were ended]",
        "[ended by SIGTERM]",
        "[still running in the background, its further output is not seen: node (pid 311)]",
    ],
)
def test_a_command_that_did_not_end_by_itself_gives_nothing(note):
    assert facts(ran("pytest", f"{PASSED}\n{note}", status=0)) == []


def test_an_exit_status_that_the_output_does_not_state_gives_nothing():
    assert facts(ran("pytest", PASSED, status=1)) == []
    assert facts(ran("pytest", "3 passed in 0.01s", status=0)) == []
    assert facts(ran("pytest", PASSED, status=None)) == []


def test_a_summary_that_contradicts_the_exit_status_gives_nothing():
    assert facts(ran("pytest", printed("1 failed in 0.01s"), status=0)) == []
    assert facts(ran("ruff check", printed("Found 3 errors."), status=0)) == []
    assert facts(ran("ruff check", printed("All checks passed!", 2), status=2)) == []
