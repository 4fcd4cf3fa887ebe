"""Which answers of side calls count as failed, and which values were never shown (C10a, F17)."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wisp_core.facts.answers import Shown, find_fault

SOURCE = "The person asked for the port. The assistant read src/main.c and found 8080 there, in max_port. " * 3


@pytest.mark.parametrize(
    ("answer", "finish", "fault"),
    [
        ("", "stop", "the answer is empty"),
        (" \n\t", "stop", "the answer is empty"),
        ("The person asked for", "length", "the answer was cut (length)"),
        ("The person asked for", "max_tokens", "the answer was cut (max_tokens)"),
        (SOURCE + "and more", "stop", "the answer is longer than its source"),
        ('<tool_call>{"name": "x"}</tool_call>', "stop", "the answer is tool markup"),
        ("<|im_start|>assistant", "stop", "the answer is tool markup"),
        ('{"name": "read_file", "arguments": {}}', "stop", "the answer is tool markup"),
        ("Error: context length exceeded", "stop", "the answer is an error"),
        ('{"error": {"message": "no"}}', "stop", "the answer is an error"),
        ("502 Bad Gateway", "stop", "the answer is an error"),
        ("<html><body>no</body></html>", "stop", "the answer is an error"),
        ("The person asked for the port; it is 8080.", "stop", ""),
        ("The error was found in main.c.", "stop", ""),
        ("Errors were fixed one by one.", "stop", ""),
    ],
)
def test_an_answer_that_is_none_is_told_by_what_is_wrong_with_it(answer: str, finish: str, fault: str) -> None:
    assert find_fault(answer, source=SOURCE, finish=finish) == fault


@pytest.mark.parametrize("value", ["8080", "src/main.c", "max_port", "port 8,080", "the 3rd of 5", "`max_port`"])
def test_what_was_shown_is_supported_however_a_number_is_grouped(value: str) -> None:
    assert Shown(SOURCE).unsupported(value) == ()


def test_what_was_not_shown_is_listed_part_by_part() -> None:
    value = 'see /srv/x.c, min_port, "the red one", 12 and 12 again, and 5'
    assert Shown(SOURCE).unsupported(value) == ("the red one", "/srv/x.c", "min_port", "12")


@given(st.text(max_size=300))
def test_whatever_was_shown_whole_is_never_unsupported_by_a_number_in_it(text: str) -> None:
    assert not [part for part in Shown(f" {text} ").unsupported(text) if part.isascii() and part.isdigit()]
