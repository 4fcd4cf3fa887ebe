"""The edit of a text and its difference, for any text."""

import re

from hypothesis import given
from hypothesis import strategies as st

from tests.core.tools.editing import patched
from wisp_core.errors import ToolFailure
from wisp_core.tools.diff import unified
from wisp_core.tools.edit_text import Found, replace

CRLF, LF = "\r\n", "\n"


def test_the_difference_of_large_texts_is_made_in_bounded_time():
    before = "".join(f"{n}\n" for n in range(60_000))
    after = "".join(f"{n * 7 % 60_000}\n" for n in range(60_000))
    assert patched(before.encode(), unified(before, after, name="a")) == after


lines = st.lists(st.sampled_from(["a", "b", "c", "", " ", "\t", "é", "\r", "+", "-", "@@"]), max_size=12)
texts = st.builds(
    lambda parts, ends, last: "".join(p + e for p, e in zip(parts, ends, strict=False)) + last,
    lines,
    st.lists(st.sampled_from(["\n", "\n", "\r\n"]), min_size=12, max_size=12),
    st.sampled_from(["", "end"]),
)


@given(before=texts, after=texts)
def test_a_difference_applied_to_what_was_gives_what_is(before, after):
    assert patched(before.encode(), unified(before, after, name="a")) == after


@given(before=texts, old=texts, new=texts)
def test_an_edit_of_any_text_leaves_what_stands_around_it(before, old, new):
    if not old or any("\r\r" in text for text in (before, old, new)):
        return  # a CR before a CRLF becomes one with the LF that stands for it
    try:
        after = replace(Found(before), old, new=new)
    except ToolFailure:
        places = re.findall(f"(?={re.escape(old.replace(CRLF, LF))})", before.replace(CRLF, LF))
        assert len(places) != 1
        return
    flat_before, flat_old, flat_new = (text.replace(CRLF, LF) for text in (before, old, new))
    assert after.replace(CRLF, LF) == flat_before.replace(flat_old, flat_new, 1)
