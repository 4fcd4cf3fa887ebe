"""One answer gives the same events for any split of its bytes, and no exception but the typed ones."""

import itertools
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.core.models.asking import calls, finish, reasoning, text, usage
from tests.fakes.provider import delta, end, events
from wisp_core.errors import BadRequestError, ContextOverflowError, CutStreamError, ModelError
from wisp_core.models.answer import Answer
from wisp_core.records import Usage

CHUNKS = [
    {"choices": [], "prompt_progress": {"total": 40, "cache": 0, "processed": 20}},
    delta(role="assistant", content=None),
    delta(reasoning_content="I see 🎈. "),
    delta(content="<th"),
    delta(content="ink>more\u2028</thi"),
    delta(content="nk>\n\ncafé "),
    delta(content="日本\u0085 tail"),
    delta(tool_calls=[{"index": 0, "id": "a", "function": {"name": "read_file", "arguments": '{"pa'}}]),
    delta(tool_calls=[{"index": 1, "id": "", "function": {"name": "run", "arguments": {}}}]),
    delta(tool_calls=[{"index": 0, "function": {"arguments": 'th":"é"}'}}]),
    delta(content="!"),
    end("tool_calls"),
    {"choices": [], "usage": {"prompt_tokens": 40, "completion_tokens": 9, "total_tokens": 49}},
]
WHOLE = b": hello\r\n\r\n" + events(CHUNKS).replace(b"\n\n", b"\r\n\r\n")


def read(parts):
    answer = Answer("e", ["read_file"])
    found = [event for part in parts for event in answer.feed(part)]
    return found + answer.end()


def compare(found):
    return text(found), reasoning(found), calls(found), usage(found), finish(found)


EXPECTED = (
    "café 日本\u0085 tail!",
    "I see 🎈. more\u2028",
    [("read_file", '{"path":"é"}'), ("run", "{}")],
    Usage(40, 9, 49, None),
    "tool_calls",
)


def test_an_answer_with_everything_in_it_is_read():
    assert compare(read([WHOLE])) == EXPECTED
    assert compare(read([bytes([byte]) for byte in WHOLE])) == EXPECTED


@given(st.lists(st.integers(0, len(WHOLE)), max_size=10))
def test_an_answer_is_the_same_for_any_split(cuts):
    places = sorted({0, len(WHOLE), *cuts})
    parts = [WHOLE[a:b] for a, b in itertools.pairwise(places)]
    assert compare(read(parts)) == EXPECTED


@given(st.integers(0, len(WHOLE)))
def test_an_answer_cut_anywhere_is_whole_or_a_cut_stream(at):
    try:
        found = read([WHOLE[:at]])
    except CutStreamError:
        return
    assert finish(found)
    assert text(found) == EXPECTED[0]


json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-2, 9) | st.floats() | st.text(max_size=6) | st.just("\ud800"),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                [
                    "choices",
                    "delta",
                    "message",
                    "content",
                    "tool_calls",
                    "function",
                    "usage",
                    "prompt_tokens",
                    "error",
                    "finish_reason",
                    "prompt_progress",
                    "reasoning",
                    "thinking",
                    "type",
                    "text",
                    "index",
                    "total",
                    "name",
                ]
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=14,
)


@given(st.lists(json_values | st.builds(lambda value: delta(content=value, tool_calls=value), json_values), max_size=5))
def test_no_chunks_whatever_raise_anything_but_typed_errors(chunks):
    try:
        found = read([events(chunks)])
    except ModelError as error:
        error.sentence().encode()
        return
    assert finish(found)
    assert text(found).encode() or True
    for _, arguments in calls(found):
        arguments.encode()


@given(st.lists(st.binary(max_size=40), max_size=6))
def test_no_bytes_whatever_raise_anything_but_typed_errors(parts):
    with pytest.raises(ModelError):
        read(parts)


@pytest.mark.parametrize(
    "chunk",
    [
        delta(reasoning="plan"),
        delta(thinking="plan"),
        delta(reasoning_content="plan", reasoning="plan"),
        delta(content=[{"type": "thinking", "thinking": [{"type": "text", "text": "plan"}]}]),
        delta(content="<think>plan</think>"),
    ],
)
def test_reasoning_of_every_style_is_apart_from_the_reply(chunk):
    found = read([events([chunk, delta(content="reply"), end()])])
    assert (text(found), reasoning(found)) == ("reply", "plan")


def test_content_in_parts_is_joined():
    found = read([events([delta(content=[{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]), end()])])
    assert text(found) == "ab"


def test_an_error_inside_the_stream_is_typed():
    report = {"error": {"message": "boom", "type": "exceed_context_size_error", "n_ctx": 1000, "n_prompt_tokens": 2000}}
    with pytest.raises(ContextOverflowError) as caught:
        read([events([delta(content="a"), report])])
    assert (caught.value.limit, caught.value.count) == (1000, 2000)


def test_an_end_without_done_is_an_end_when_its_reason_was_given():
    assert finish(read([b"data: " + json.dumps(end("length")).encode()])) == "length"


def test_done_without_a_reason_is_an_end():
    assert finish(read([b"data: [DONE]\n\n"])) == "stop"


@pytest.mark.parametrize(
    "raw", [b"", b"\n\n", b": only comments\n\n", b"<html>hello</html>", b'data: {"choices": []}\n\n']
)
def test_nothing_at_all_is_a_cut_stream(raw):
    with pytest.raises(CutStreamError):
        read([raw])


def test_a_call_after_text_and_a_stop_is_told_as_calls():
    one = delta(tool_calls=[{"index": 0, "id": "a", "function": {"name": "read_file", "arguments": "null"}}])
    found = read([events([delta(content="I look."), one, end("stop")])])
    assert (text(found), calls(found), finish(found)) == ("I look.", [("read_file", "null")], "tool_calls")


def test_a_printed_call_is_a_call_unless_one_was_made():
    printed = '{"name": "read_file", "arguments": {"path": "a"}}'
    found = read([events([delta(content=printed), end()])])
    assert (text(found), calls(found)) == ("", [("read_file", '{"path": "a"}')])
    one = delta(tool_calls=[{"index": 0, "function": {"name": "run", "arguments": "{}"}}])
    found = read([events([delta(content=printed), one, end()])])
    assert (text(found), calls(found)) == (printed, [("run", "{}")])


@pytest.mark.parametrize(
    "counts", [{}, {"prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0}, {"prompt_tokens": "x"}]
)
def test_usage_that_says_nothing_is_not_reported(counts):
    assert usage(read([events([delta(content="a"), end(), {"choices": [], "usage": counts}])])) is None


def test_cached_tokens_are_reported():
    counts = {
        "prompt_tokens": 10,
        "completion_tokens": 1,
        "total_tokens": 11,
        "prompt_tokens_details": {"cached_tokens": 7},
    }
    assert usage(read([events([end(), {"choices": [], "usage": counts}])])) == Usage(10, 1, 11, 7)


CALL = '{"choices": [{"delta": {"tool_calls": [{"function": {"name": "x", "arguments": {"a": %s}}}]}}]}'


@pytest.mark.parametrize("shape", ['{"error": {"a": %s}}', CALL], ids=["an error", "a call"])
def test_no_depth_of_nesting_raises_anything_but_typed_errors(shape):
    # What can be read may be too deep to be written again, a few calls further down.
    for depth in range(700, 1000):
        with pytest.raises(ModelError):
            read([b"data: " + (shape % ("[" * depth + "]" * depth)).encode() + b"\n\n"])


FAILING = events([delta(content="café "), delta(content="tail"), {"error": {"message": "no disk", "code": 500}}])


@given(st.lists(st.integers(0, len(FAILING)), max_size=6))
def test_what_came_before_an_error_is_given_first_for_any_split(cuts):
    answer, found = Answer("e"), []
    places = sorted({0, len(FAILING), *cuts})
    coming = (event for a, b in itertools.pairwise(places) for event in answer.feed(FAILING[a:b]))
    with pytest.raises(ModelError, match="no disk"):
        found.extend(coming)
    assert text(found) == "café tail"


def test_an_answer_that_is_withheld_whole_is_told_and_one_that_is_withheld_in_part_is_shown():
    with pytest.raises(BadRequestError, match=r"e withholds the answer to this prompt \(content_filter\)"):
        read([events([delta(reasoning_content="hm"), delta(content=" "), end("content_filter")])])
    assert finish(read([events([delta(content="half"), end("content_filter")])])) == "content_filter"
