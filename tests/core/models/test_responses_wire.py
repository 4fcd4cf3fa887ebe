"""A response is the same for any split of its bytes, and whatever is composed is taken by the API."""

import itertools
import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.core.composer.conversations import conversations
from tests.core.models.asking import READ, calls, finish, reasoning, text, usage
from tests.fakes.responses import called, events, find_wrong, reasoned, response, said
from wisp_core.composer.compose import compose
from wisp_core.errors import CutStreamError, ModelError
from wisp_core.models.answer import Answer
from wisp_core.models.responses_wire import ResponseReader, write_input, write_instructions, write_tools
from wisp_core.records import Usage
from wisp_core.settings import Context

COUNTS = {"input_tokens": 40, "output_tokens": 9, "total_tokens": 49, "input_tokens_details": {"cached_tokens": 30}}
VALUES = response(
    reasoned("I see 🎈.", "more\u2028"),
    said("café ", "日本\u0085", " tail"),
    called("read_file", '{"pa', 'th":"é"}'),
    called("run", call_id="call_2"),
    usage=COUNTS,
)
WHOLE = b": hello\r\n\r\n" + events(VALUES).replace(b"\n", b"\r\n")
EXPECTED = (
    "café 日本\u0085 tail",
    "I see 🎈.\n\nmore\u2028",
    [("read_file", '{"path":"é"}'), ("run", "")],
    Usage(40, 9, 49, 30),
    "tool_calls",
)


def read(parts):
    answer = Answer("e", ["read_file"], read=ResponseReader("e").read)
    found = [event for part in parts for event in answer.feed(part)]
    return found + answer.end()


def compare(found):
    return text(found), reasoning(found), calls(found), usage(found), finish(found)


def test_an_answer_with_everything_in_it_is_read():
    assert compare(read([WHOLE])) == EXPECTED
    assert compare(read([bytes([byte]) for byte in WHOLE])) == EXPECTED


def test_an_answer_is_the_same_for_every_split_in_two():
    for at in range(0, len(WHOLE), 3):
        assert compare(read([WHOLE[:at], WHOLE[at:]])) == EXPECTED


@given(st.lists(st.integers(0, len(WHOLE)), max_size=10))
def test_an_answer_is_the_same_for_any_split(cuts):
    places = sorted({0, len(WHOLE), *cuts})
    assert compare(read([WHOLE[a:b] for a, b in itertools.pairwise(places)])) == EXPECTED


@given(st.integers(0, len(WHOLE)))
def test_an_answer_cut_anywhere_is_whole_or_a_cut_stream(at):
    try:
        found = read([WHOLE[:at]])
    except CutStreamError:
        return
    assert compare(found) == EXPECTED


def without(*kinds):
    """Return the events of the answer without those whose kind ends so."""
    return [value for value in VALUES if not value["type"].endswith(kinds)]


THOUGHT = {"type": "response.reasoning_text.delta", "output_index": 0, "delta": "I see 🎈.\n\nmore\u2028"}
SHAPES = {
    "calls only as done items": without("arguments.delta", "arguments.done", "output_item.added"),
    "arguments only at their end": without("arguments.delta"),
    "no done events": without("done"),
    "everything only in the last event": VALUES[-1:],
    "no word that it began": without("created", "in_progress"),
    "events of a later time": [{"type": "response.later.delta", "delta": "x"}, *VALUES, {"type": "response.later"}],
    "reasoning itself": [THOUGHT, *without("summary_text.delta", "summary_part.added")],
    "a response twice": [*VALUES, VALUES[-1]],
}


@pytest.mark.parametrize("values", SHAPES.values(), ids=SHAPES)
def test_every_shape_of_a_stream_is_read(values):
    assert compare(read([events(values)])) == EXPECTED


def test_usage_that_says_nothing_is_not_reported():
    nothing = {"input_tokens": 0, "output_tokens": 0, "total_tokens": 0}
    assert usage(read([events(response(said("a"), usage=nothing))])) is None


TWO = response(said("I will ", "look."), said("Done."))


@pytest.mark.parametrize("values", [TWO, TWO[-1:]], ids=["in parts", "only in the last event"])
def test_two_messages_of_one_response_stand_apart(values):
    assert text(read([events(values)])) == "I will look.\n\nDone."


def test_a_message_after_a_call_or_reasoning_stands_apart_and_an_empty_one_leaves_no_gap():
    values = response(said(), said("a"), called("run", "{}"), reasoned("hm"), said(), said("b"), said())
    assert text(read([events(values)])) == "a\n\nb"


json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-2, 9) | st.text(max_size=6) | st.just("\ud800"),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=6,
)


def spoilt(value, garbage):
    """Return the value with one of its parts, or of its parts' parts, as something else."""
    return [value | {key: garbage} for key in value] + [
        value | {key: inner | {name: garbage}}
        for key, inner in value.items()
        if isinstance(inner, dict)
        for name in inner
    ]


@given(st.lists(st.tuples(st.sampled_from(VALUES), st.integers(0, 50), json_values), max_size=5))
@settings(max_examples=150)
def test_no_events_whatever_raise_anything_but_typed_errors(choices):
    values = [options[at % len(options)] for value, at, bad in choices if (options := spoilt(value, bad))]
    data = b"".join(f"data: {json.dumps(value)}\n\n".encode() for value in values)
    try:
        found = read([data])
    except ModelError as error:
        error.sentence().encode()
        return
    assert finish(found)
    (text(found) + reasoning(found)).encode()


@given(conversations())
@settings(max_examples=60, deadline=None)
def test_whatever_is_composed_is_taken_by_the_api(script):
    messages = compose(script.record, Context(), prompt="" if script.record.open_turn() else "go").messages
    body = {"model": "m", "store": False, "tools": write_tools([READ]), "input": write_input(messages)}
    assert find_wrong(body | {"instructions": write_instructions(messages)}) == ""


USER = {"role": "user", "content": "a"}
CALL = {"type": "function_call", "call_id": "c1", "name": "read_file", "arguments": "{}"}
RESULT = {"type": "function_call_output", "call_id": "c1", "output": "b"}
GOOD = {"model": "m", "store": False, "input": [USER, CALL, RESULT], "tools": write_tools([READ])}


@pytest.mark.parametrize(
    "change",
    [
        {"surplus": 1},
        {"store": True},
        {"input": []},
        {"input": [USER, CALL]},
        {"input": [USER, RESULT]},
        {"input": [USER, CALL, RESULT, CALL, RESULT]},
        {"input": [USER, CALL | {"arguments": "{"}, RESULT]},
        {"input": [USER, CALL | {"name": "a b"}, RESULT]},
        {"input": [USER | {"content": " "}]},
        {"input": [USER | {"role": "tool"}]},
        {"input": [USER | {"tool_calls": []}]},
        {"max_output_tokens": 15},
        {"reasoning": {"effort": "enormous"}},
        {"text": {"format": {"type": "json_schema"}}},
        {"tools": [{"type": "function", "function": {}}]},
    ],
)
def test_the_fake_refuses_what_the_api_refuses(change):
    assert find_wrong(GOOD) == ""
    assert find_wrong(GOOD | change)
