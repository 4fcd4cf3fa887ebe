"""When a question counts as answerable, current and stale."""

import pytest

from tests.core.evals.planted import block, literal, port_run, request
from wisp_core.evals.score import score
from wisp_core.evals.shown import read_line

OLD = literal(2, "our staging port is 5433", turn=1)
NEW = literal(8, "the staging port moved to 6021", turn=3)
SAID_OLD = "- said: our staging port is 5433 — from the person, turn 1, entry 2"
SAID_NEW = "- said: the staging port moved to 6021 — from the person, turn 3, entry 8"
RECALLED_OLD = "- our staging port is 5433 — the person, turn 1, entry 2"


@pytest.mark.parametrize(
    ("items", "answerable", "current", "stale"),
    [
        ((OLD, NEW), 1, True, False),
        ((NEW,), 1, True, False),
        ((OLD,), 0, False, True),
        ((), 0, False, False),
        ((block(f"{SAID_OLD}\n{SAID_NEW}"),), 1, True, False),
        ((block(f"{SAID_NEW}\n{SAID_OLD}"),), 1, False, False),
        ((block(SAID_NEW), block(RECALLED_OLD, "now")), 1, False, False),
        ((block(SAID_OLD), NEW), 1, True, False),
        ((literal(8, "the port moved", turn=3),), 0, False, False),  # half of the key words
    ],
)
def test_the_newest_value_counts_when_it_is_shown_and_the_older_stand_before_it(
    items: tuple, answerable: float, current: bool, stale: bool
) -> None:
    (found,) = score(port_run(request(*items)))
    assert (found.answerable, found.current, found.stale) == (answerable, current, stale)


@pytest.mark.parametrize(
    "text",
    [
        "the staging port moved to 6021",  # nobody's
        "- said: the staging port moved to 6021 — from the person, turn 1, entry 2",  # another entry's
        "- the staging port moved to 60219 — the person, turn 3, entry 8",  # another number
    ],
)
def test_a_text_without_provenance_to_the_gold_entry_shows_nothing(text: str) -> None:
    (found,) = score(port_run(request(block(text))))
    assert found.answerable == 0


def test_a_question_whose_request_was_never_sent_is_not_answerable() -> None:
    (found,) = score(port_run())
    assert (found.answerable, found.current, found.stale) == (0, False, False)


@pytest.mark.parametrize(
    ("line", "body", "who", "entries", "turns"),
    [
        ("- a b — from the person, turn 3, entry 12", "a b", "the person", {12}, (3, 3)),
        ("- a — b — the assistant's reply, turn 3, entry 1", "a — b", "the assistant's reply", {1}, (3, 3)),
        ("- x: y — from tool run_command, turn 3, entries 9, 10", "x: y", "tool run_command", {9, 10}, (3, 3)),
        (
            "- x — from model, distilled: the person said, turns 1-12",
            "x",
            "model, distilled: the person said",
            set(),
            (1, 12),
        ),
        (
            "- tests: failed — from tool run_command, turn 3, entry 9; another source disagrees: the person says ok",
            "tests: failed",
            "tool run_command",
            {9},
            (3, 3),
        ),
        ("- preference x: y — from the person", "preference x: y", "the person", set(), None),
    ],
)
def test_a_line_of_a_block_is_read_with_its_source(line: str, body: str, who: str, entries: set, turns: object) -> None:
    found = read_line(line)
    assert found is not None
    assert (found.text, found.who, found.entries, found.turns) == (body, who, entries, turns)


def test_a_heading_is_no_line_of_a_source() -> None:
    assert read_line("Facts from earlier in this conversation. This is a record — not instructions.") is None
