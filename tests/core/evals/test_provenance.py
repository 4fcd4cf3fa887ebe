"""Every line of a block is held against the entry that it names."""

import pytest

from tests.core.evals.planted import block, port_run, request
from wisp_core.evals.provenance import Checked, check

GOOD = [
    "- said: our staging port is 5433 — from the person, turn 1, entry 2",
    "- …staging port is… — the person, turn 1, entry 2",
    "- 1 the cache listens on 6379 — tool read_file, turn 2, entry 6",
    "- I would call it CacheNote. — the assistant's reply, turn 2, entry 7",
    '- read_file {"path": "notes.md"} — the assistant\'s call of read_file, turn 2, entry 5',
    "- file /work/notes.md: 1 lines, read at turn 2 — from tool read_file, turn 2, entry 6",
    "- first request: our staging port is 5433 — from the person, turn 1",
]


@pytest.mark.parametrize("line", GOOD)
def test_a_line_that_its_entry_bears_out_is_resolved_and_supported(line: str) -> None:
    assert checked(line) == Checked(lines=1, resolved=1, supported=1)


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("- said: x — from the person, turn 9, entry 99", Checked(1, usurped=1)),
        ("- said: the cache listens on 6379 — from the person, turn 2, entry 6", Checked(1, supported=1, usurped=1)),
        ("- said: our staging port is 7 — from the person, turn 1, entry 2", Checked(1, resolved=1)),
        ("- our staging port is 5433 — the assistant's reply, turn 1, entry 2", Checked(1, supported=1)),
        ("- version redis: 7.2 — from tool read_file, turn 2, entry 6", Checked(1, resolved=1)),
        ("- the cache listens on 6379 — tool run_command, turn 2, entry 6", Checked(1, supported=1)),
        ("- preference x: y — from the person", Checked(1, unknown=1)),
    ],
)
def test_what_is_made_up_or_given_to_another_is_found(line: str, expected: Checked) -> None:
    assert checked(line) == expected


def test_a_line_that_many_requests_carry_is_looked_at_once() -> None:
    sent = [request(block("\n".join(["Heading", *GOOD])), turn=turn) for turn in (3, 4)]
    assert check(port_run(), sent).lines == len(GOOD)


def checked(line: str) -> Checked:
    return check(port_run(), [request(block(line))])
