"""The values behind the input: pastes as labels, drafts as one string, and what Up and Down go through."""

from hypothesis import given
from hypothesis import strategies as st

from wisp_tui.widgets.pastes import Pastes
from wisp_tui.widgets.recall import Draft, Recall
from wisp_tui.widgets.suggestions import matching


def test_a_long_paste_is_named_by_its_lines() -> None:
    assert Pastes().label("x\n" * 2340) == "[pasted 2,340 lines]"


def test_two_pastes_of_the_same_size_have_two_labels() -> None:
    pastes = Pastes()
    first, second = pastes.label("a\n" * 20), pastes.label("b\n" * 20)
    assert pastes.expand(f"{first} and {second}") == "a\n" * 20 + " and " + "b\n" * 20


def test_what_a_paste_holds_is_never_taken_for_a_label() -> None:
    pastes = Pastes()
    inner = pastes.label("secret\n" * 20)
    outer = pastes.label(f"{inner}\n" * 20)
    assert pastes.expand(outer) == f"{inner}\n" * 20


def test_a_paste_that_a_terminal_would_act_on_never_stands_in_the_input() -> None:
    assert Pastes().collapses("\x1b]0;PWN\x07")
    assert Pastes().collapses("a\u202eb")
    assert not Pastes().collapses("three\nshort\nlines")


@given(st.text(), st.booleans())
def test_a_draft_written_and_read_is_the_same_draft(text: str, literal: bool) -> None:
    draft = Draft(text, literal and text[:1] in ("/", "!", "@"))
    again = Draft.read(draft.written())
    if not text.startswith("\\"):
        assert again == draft


def test_up_goes_to_the_newest_prompt_and_down_comes_back_to_the_unsent_draft() -> None:
    recall = Recall()
    recall.fill(["newest", "oldest"])
    assert recall.earlier(Draft("unsent")) == Draft("newest")
    assert recall.earlier(Draft("newest")) == Draft("oldest")
    assert recall.earlier(Draft("oldest")) is None
    assert recall.later() == Draft("newest")
    assert recall.later() == Draft("unsent")
    assert recall.later() is None


def test_a_pasted_command_comes_back_from_the_history_as_text() -> None:
    recall = Recall()
    recall.add(Draft("!rm x", literal=True))
    assert recall.earlier(Draft()) == Draft("!rm x", literal=True)


def test_a_prompt_sent_twice_is_listed_once() -> None:
    recall = Recall()
    for text in ("a", "b", "a"):
        recall.add(Draft(text))
    assert recall.past == ["a", "b"]


def test_completion_puts_what_begins_alike_first() -> None:
    assert matching("mo", ["demo", "model", "mode", "memo"]) == ["model", "mode", "demo", "memo"]
