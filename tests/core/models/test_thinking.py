"""Reasoning between tags is apart from the reply, wherever the tags are split."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wisp_core.models.thinking import ThinkSplitter
from wisp_core.requests import ReasoningDelta, TextDelta


def split(parts, opened=False):
    splitter = ThinkSplitter(opened)
    found = [one for part in parts for one in splitter.feed(part)] + splitter.finish()
    text = "".join(part.text for part in found if isinstance(part, TextDelta))
    reasoning = "".join(part.text for part in found if isinstance(part, ReasoningDelta))
    return text, reasoning, splitter.unopened


CASES = {
    "<think>plan</think>\n\nreply": ("reply", "plan"),
    "a<think>plan</think>b": ("ab", "plan"),
    "<thinking>plan</thinking>b": ("b", "plan"),
    "<think>one</think>x<think>two</think>y": ("xy", "onetwo"),
    "<think>never closed": ("", "never closed"),
    "<think></think>b": ("b", ""),
    "a < b <thin> c </thinker>": ("a < b <thin> c </thinker>", ""),
    "cut <thi": ("cut <thi", ""),
    "    indented": ("    indented", ""),
    "```xml\n<think>\n```\nafter <think>x</think>y": ("```xml\n<think>\n```\nafter y", "x"),
    "~~~~\n~~~\n</think>\n~~~~\n": ("~~~~\n~~~\n</think>\n~~~~\n", ""),
    "the `<think>` tag": ("the `<think>` tag", ""),
    "": ("", ""),
}


@pytest.mark.parametrize("whole", CASES)
@pytest.mark.parametrize("size", [1, 2, 3, 5, 1000])
def test_tags_part_reasoning_from_reply_in_pieces_of_any_size(whole, size):
    parts = [whole[at : at + size] for at in range(0, len(whole), size)]
    assert split(parts)[:2] == CASES[whole]


@given(st.text(alphabet="<>/think `~\nab", max_size=60), st.lists(st.integers(min_value=0, max_value=60), max_size=8))
def test_any_split_gives_the_same_parts(whole, cuts):
    places = sorted({0, len(whole), *(min(cut, len(whole)) for cut in cuts)})
    parts = [whole[a:b] for a, b in itertools.pairwise(places)]
    assert split(parts) == split([whole])


def test_text_that_is_no_start_of_a_tag_is_shown_at_once():
    splitter = ThinkSplitter()
    assert splitter.feed("hello ") == [TextDelta("hello ")]
    assert splitter.feed("<thi") == []
    assert splitter.feed("s>") == [TextDelta("<"), TextDelta("this>")]


def test_a_tag_that_only_closes_is_dropped_and_remembered():
    assert split(["plan</thi", "nk>b"]) == ("planb", "", True)


def test_after_a_tag_that_only_closed_the_next_reply_begins_as_reasoning():
    assert split(["plan</thi", "nk>b"], opened=True) == ("b", "plan", True)


def test_reasoning_that_was_assumed_in_vain_is_the_reply_after_all():
    text, _, unopened = split(["just a reply"], opened=True)
    assert (text, unopened) == ("just a reply", False)
