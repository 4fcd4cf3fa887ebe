"""Tool calls are joined from whatever fragments a server sends, and a printed call is recognised."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wisp_core.models.calls import MAX_PRINTED_CHARACTERS, CallAssembly, PrintedCall, printed_call
from wisp_core.requests import CallRequested


def f(index=None, id=None, name=None, arguments=None):
    function = {key: value for key, value in {"name": name, "arguments": arguments}.items() if value is not None}
    return {key: value for key, value in {"index": index, "id": id, "function": function}.items() if value is not None}


def join(*lists):
    assembly = CallAssembly()
    for fragments in lists:
        assembly.feed(fragments)
    return [(call.name, call.arguments) for call in assembly.finish()]


def test_arguments_in_fragments_are_joined():
    assert join([f(0, "c1", "read", '{"pa')], [f(0, None, None, 'th":')], [f(0, None, None, '"x"}')]) == [
        ("read", '{"path":"x"}')
    ]


def test_calls_that_are_interleaved_are_kept_apart_in_the_order_they_began():
    assert join(
        [f(0, "a", "one", '{"x"')], [f(1, "b", "two", '{"y"')], [f(0, arguments=":1}"), f(1, arguments=":2}")]
    ) == [
        ("one", '{"x":1}'),
        ("two", '{"y":2}'),
    ]


def test_a_name_in_fragments_is_joined_and_a_repeated_one_is_not():
    assert join([f(0, "a", "read_")], [f(0, None, "file", "{}")]) == [("read_file", "{}")]
    assert join([f(0, "a", "read", "{")], [f(0, "a", "read", "}")]) == [("read", "{}")]


@pytest.mark.parametrize("id", [None, "", "same"])
def test_ids_that_are_missing_empty_or_repeated_do_not_merge_whole_calls(id):
    assert join([f(0, id, "one", "{}"), f(1, id, "two", "{}")]) == [("one", "{}"), ("two", "{}")]
    assert join([f(None, id, "one", "{}"), f(None, id, "two", "{}")]) == [("one", "{}"), ("two", "{}")]
    assert join([f(None, id, "one", "{}")], [f(None, id, "two", "{}")]) == [("one", "{}"), ("two", "{}")]
    assert join([f(0, id, "one", "{}")], [f(0, id, "one", "{}")]) == [("one", "{}"), ("one", "{}")]


def test_one_index_for_all_calls_is_told_apart_by_id():
    assert join([f(0, "a", "one", "")], [f(0, "b", "two", "")]) == [("one", ""), ("two", "")]


def test_fragments_without_index_go_on_with_the_last_call():
    assert join([f(None, "a", "one", '{"x"')], [f(None, None, None, ":1}")]) == [("one", '{"x":1}')]


def test_an_id_of_its_own_in_every_fragment_does_not_split_a_call():
    assert join([f(0, "a", "one", '{"x"')], [f(0, "b", None, ":1}")]) == [("one", '{"x":1}')]


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (None, ""),
        ("", ""),
        ("  ", ""),
        ({}, "{}"),
        ({"a": 1}, '{"a": 1}'),
        ('{"a', '{"a'),
        ("null", "null"),
        ([1], "[1]"),
        (5, "5"),
    ],
)
def test_arguments_come_as_text_whatever_they_were(arguments, expected):
    assert join([f(0, "a", "one", arguments)]) == [("one", expected)]


def test_what_is_no_call_is_passed_over():
    assert (
        join(None, "x", 5, [None, "x", [], {}, {"function": None}, {"index": True, "id": 5, "function": {"name": 3}}])
        == []
    )


def test_a_call_without_a_name_is_given_one_that_no_tool_has():
    assert join([f(0, "a", None, '{"x":1}')]) == [("unnamed", '{"x":1}')]


def test_unsound_text_never_passes():
    assert join([f(0, "a", "on\ud800e", '{"x":"\ud83d"}')]) == [("on\ufffde", '{"x":"\ufffd"}')]


json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 3) | st.text(max_size=4),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["index", "id", "function", "name", "arguments"]), inner, max_size=4)
    ),
    max_leaves=12,
)


@given(st.lists(json_values, max_size=6))
def test_no_fragments_whatever_raise(fragments):
    for call in join(*fragments):
        assert call[0].strip()
        assert call[1].strip() or not call[1]


@given(st.text(max_size=30), st.integers(1, 7))
def test_any_split_of_the_arguments_gives_the_same_call(value, size):
    whole = json.dumps({"v": value})
    fragments = [whole[at : at + size] for at in range(0, len(whole), size)]
    lists = [[f(0, "a", "one", fragments[0])], *([f(0, None, None, part)] for part in fragments[1:])]
    assert join(*lists) == [("one", whole)]


PRINTED = [
    '{"name": "read_file", "arguments": {"path": "a"}}',
    '\n```json\n{"name": "read_file", "parameters": {"path": "a"}}\n```\n',
    '<tool_call>\n{"name": "read_file", "arguments": "{\\"path\\": \\"a\\"}"}\n</tool_call>',
    '{"type": "function", "function": {"name": "read_file", "arguments": {"path": "a"}}}',
    '{"tool": "read_file", "args": {"path": "a"}}',
]


def shown(text, size, tools=("read_file",)):
    printed = PrintedCall(tools)
    out = "".join(printed.feed(text[at : at + size]) for at in range(0, len(text), size))
    rest, call = printed.finish()
    return out + rest, call


@pytest.mark.parametrize("text", PRINTED)
@pytest.mark.parametrize("size", [1, 3, 500])
def test_a_call_printed_as_the_whole_reply_is_a_call_and_not_shown(text, size):
    assert shown(text, size) == ("", CallRequested("read_file", '{"path": "a"}'))


@pytest.mark.parametrize(
    "text",
    [
        'Call: {"name": "read_file", "arguments": {}}',
        '{"name": "read_file", "arguments": {}} is how',
        '{"name": "format_disk", "arguments": {}}',
        '{"name": "read_file", "arguments": [1]}',
        '{"name": "read_file", "argum',
        "```python\nprint(1)\n```",
        '{"title": "a book"}',
        "",
    ],
)
@pytest.mark.parametrize("size", [1, 500])
def test_any_other_reply_is_text(text, size):
    assert shown(text, size) == (text, None)


def test_without_tools_nothing_is_held_back_nor_a_call():
    assert PrintedCall(()).feed(PRINTED[0]) == PRINTED[0]
    assert printed_call(PRINTED[0], ()) is None


def test_an_ordinary_reply_is_shown_from_its_first_character():
    assert PrintedCall(["read_file"]).feed("H") == "H"


def test_no_more_is_held_back_than_a_call_may_take():
    printed = PrintedCall(["read_file"])
    assert printed.feed('{"name": "read_file", "arguments": "' + "x" * MAX_PRINTED_CHARACTERS)
