"""JSON from outside is read only where it can go out again to any server, and never raises anything but ValueError."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wisp_core.text import MOST_NESTED, load_json, load_object

UNSENDABLE = {
    "not a number": '{"a": NaN}',
    "infinity": '{"a": [Infinity]}',
    "minus infinity": '{"a": {"b": -Infinity}}',
    "a real number that no server holds": '{"a": 1e999}',
    "a whole number that no server holds": '{"a": 1' + "0" * 400 + "}",
    "more digits than Python reads": '{"a": ' + "1" * 5000 + "}",
    "nested a little too deeply": '{"a": ' + "[" * MOST_NESTED + "]" * MOST_NESTED + "}",
    "nested endlessly": '{"a": ' + "[" * 100_000,
    "nested endlessly in objects": '{"a": ' * 100_000,
    "a key twice": '{"a": 1, "a": 2}',
    "a key twice further in": '{"b": [{"a": 1, "a": 1}]}',
}


@pytest.mark.parametrize("text", UNSENDABLE.values(), ids=UNSENDABLE)
def test_what_a_server_could_refuse_or_read_otherwise_is_no_json(text):
    assert load_object(text) is None
    with pytest.raises(ValueError, match=r"."):
        load_json(text)


def test_an_object_is_read_whole():
    text = '{"a": 1, "b": -2.5e3, "c": [true, null, {"a": "é"}], "d": 12345678901234567890}'
    assert load_object(text) == json.loads(text)
    assert load_object('{"a": ' + "[" * (MOST_NESTED - 1) + "]" * (MOST_NESTED - 1) + "}") is not None


@pytest.mark.parametrize("text", ["", "  ", "null", "[1]", '"{}"', "5", '{"a', "{}}"])
def test_what_is_no_object_is_none(text):
    assert load_object(text) is None


def test_a_line_end_inside_a_string_is_read_where_that_is_asked_for():
    with pytest.raises(ValueError, match="control character"):
        load_json('{"a": "b\nc"}')
    assert load_json('{"a": "b\nc"}', strict=False) == {"a": "b\nc"}


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)


@given(st.text() | VALUES.map(json.dumps))
def test_whatever_is_read_can_be_written_as_json_that_every_server_reads(text):
    try:
        value = load_json(text)
    except ValueError:
        return
    assert load_json(json.dumps(value, allow_nan=False)) == value
