"""F4: the line on what a turn recorded fits on one line of a terminal, whatever its facts hold."""

import unicodedata

from hypothesis import given, settings
from hypothesis import strategies as st

from wisp_core.fact import LEARNT_CELLS, learnt

HOSTILE = "a\x1b[2J\nb\u202ec\x00"


def cells(text: str) -> int:
    return sum(2 if unicodedata.east_asian_width(one) in "WF" else 1 for one in text)


def test_a_turn_that_recorded_nothing_has_no_line() -> None:
    assert learnt([]) == ""


def test_facts_stand_beside_each_other_with_the_files_name_alone_and_a_statement_without_its_number() -> None:
    facts = [
        ("tests", "pytest", "passed (12)"),
        ("file", "/work/app/a.py", "changed at turn 3 (+2 −1 lines)"),
        ("said", "9.1", "we use tabs"),
    ]
    assert learnt(facts[:1]) == "1 fact: tests pytest: passed (12)"
    assert learnt(facts) == "3 facts: tests pytest: passed (12) · file a.py: changed (+2 −1 lines) · said: we use tabs"


def test_what_does_not_fit_is_counted() -> None:
    line = learnt([("file", f"/work/{n}.py", "120 lines, read at turn 3") for n in range(12)])
    assert line.startswith("12 facts: file 0.py: 120 lines, read · file 1.py")
    assert line.endswith("more")
    assert line.count("file ") + int(line.rpartition("+")[2].split()[0]) == 12


def test_a_long_statement_is_shortened() -> None:
    assert learnt([("said", "1.1", "x" * 400)]).endswith("x…")


def test_a_fact_that_stands_alone_has_the_line_to_itself() -> None:
    found = ("tests", "python -m pytest -q", "failed (exit status 1): 1 failed, 1 passed")
    assert learnt([found]) == "1 fact: tests python -m pytest -q: failed (exit status 1): 1 failed, 1 passed"
    assert cells(learnt([("tests", "潮" * 90, "位" * 90)])) <= LEARNT_CELLS


def test_no_text_of_a_fact_breaks_the_line_or_reaches_a_terminal() -> None:
    line = learnt([(HOSTILE, HOSTILE, HOSTILE)])
    assert not [bad for bad in "\x1b\n\u202e\x00" if bad in line]


@settings(max_examples=60)
@given(st.lists(st.tuples(st.text(max_size=30), st.text(max_size=60), st.text(max_size=200)), max_size=14))
def test_it_is_one_line_within_its_cells(facts: list[tuple[str, str, str]]) -> None:
    line = learnt(facts)
    assert "\n" not in line
    assert cells(line) <= LEARNT_CELLS + len(" · +12 more")
