"""A message of Anthropic's is the same for any split of its bytes, and whatever is composed is taken by the API."""

import itertools
import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.core.composer.conversations import conversations
from tests.core.models.asking import READ, calls, finish, reasoning, text, usage
from tests.fakes.anthropic import PING, called, end, events, find_wrong, message, said, start, thought
from wisp_core.composer.compose import compose
from wisp_core.errors import CutStreamError, ModelError
from wisp_core.models.answer import Answer
from wisp_core.models.anthropic_wire import MessageReader, write_messages, write_system, write_tools
from wisp_core.records import Usage
from wisp_core.requests import Blocks, Message, Role
from wisp_core.settings import Context

COUNTS = {"input_tokens": 4, "cache_creation_input_tokens": 6, "cache_read_input_tokens": 30}
VALUES = message(
    thought("I see 🎈. ", "more\u2028"),
    said("café ", "日本\u0085", " tail"),
    called("read_file", '{"pa', 'th":"é"}'),
    called("run", id="toolu_02"),
    counts=COUNTS,
    output=9,
)
WHOLE = b": hello\r\n\r\n" + events(VALUES).replace(b"\n", b"\r\n")
EXPECTED = (
    "café 日本\u0085 tail",
    "I see 🎈. more\u2028",
    [("read_file", '{"path":"é"}'), ("run", "")],
    Usage(40, 9, 49, 30),
    "tool_calls",
)


def read(parts):
    answer = Answer("e", ["read_file"], read=MessageReader("e").read)
    found = [event for part in parts for event in answer.feed(part)]
    return found + answer.end()


def compare(found):
    return text(found), reasoning(found), calls(found), usage(found), finish(found)


def test_an_answer_with_everything_in_it_is_read():
    assert compare(read([WHOLE])) == EXPECTED
    assert compare(read([bytes([byte]) for byte in WHOLE])) == EXPECTED


def test_an_answer_is_the_same_for_every_split_in_two():
    for at in range(len(WHOLE)):
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


LATE = {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"input_tokens": 7, "output_tokens": 2}}
SHAPES = [
    ("no input in pieces", message(({"type": "tool_use", "id": "t", "name": "run", "input": {"a": 1}}, [])), "run"),
    ("text in the block's start", message(({"type": "text", "text": "hi"}, [])), "hi"),
    ("the prompt counted at the end", [start({"input_tokens": 0}), LATE, {"type": "message_stop"}], Usage(7, 2, 9, 0)),
    ("no usage at all", [{"type": "message_start"}, end(), PING], None),
    ("a stop without a reason", [*message(said("a"))[:-2], {"type": "message_stop"}], "stop"),
    ("an unknown event", [{"type": "sometime_later"}, *message(said("hi"))], "hi"),
    ("the window is full", message(said("a"), reason="model_context_window_exceeded"), "length"),
    ("a stop at a sequence", message(said("a"), reason="stop_sequence"), "stop"),
]


@pytest.mark.parametrize(("values", "what"), [shape[1:] for shape in SHAPES], ids=[shape[0] for shape in SHAPES])
def test_every_shape_of_a_stream_is_read(values, what):
    found = read([events(values)])
    names = [name for name, _ in calls(found)]
    assert what in (text(found), usage(found), finish(found), *names)


SEARCH = {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {}}
FOUND = {"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": []}


def test_texts_around_something_else_stand_apart():
    values = message(said("I will ", "look."), thought("hm"), said("Done."), called("run", "{}"), said("So."))
    assert text(read([events(values)])) == "I will look.\n\nDone.\n\nSo."
    blocks = [{"type": "text", "text": "a"}, {"type": "thinking", "thinking": "hm"}, {"type": "text", "text": "b"}]
    whole = {"type": "message", "content": blocks, "stop_reason": "end_turn"}
    assert text(read([events([whole])])) == "a\n\nb"


def test_texts_right_after_one_another_are_one_text():
    # A cited sentence is a block of its own.
    assert text(read([events(message(said("The grass is "), said("green", ".")))])) == "The grass is green."
    assert text(read([events(message(thought("hm"), said("a"), thought("hm")))])) == "a"


def test_what_the_server_calls_itself_is_no_call():
    query = [{"type": "input_json_delta", "partial_json": '{"query": "x"}'}]
    found = read([events(message(said("a"), (SEARCH, query), (FOUND, []), called("run", "{}"), said("b")))])
    assert (calls(found), text(found)) == ([("run", "{}")], "a\n\nb")
    found = read([events(message(said("a"), (SEARCH, query), reason="pause_turn"))])
    assert calls(found) == []


json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-2, 9) | st.text(max_size=6) | st.just("\ud800"),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=6,
)


def spoilt(value, garbage):
    """Return the value, as text, with one of its parts as something else."""
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


@given(conversations(), st.booleans(), st.booleans())
@settings(max_examples=60, deadline=None)
def test_whatever_is_composed_is_taken_by_the_api(script, with_earlier, marked):
    earlier = "# Earlier\nthe port is 8080" if with_earlier else None
    prompt = "" if script.record.open_turn() else "go"
    composition = compose(script.record, Context(), blocks=Blocks(earlier=earlier), prompt=prompt)
    stable = len(composition.earlier or "")
    body = {"model": "m", "max_tokens": 9, "stream": True, "tools": write_tools([READ])}
    body["system"] = write_system(composition.messages, cached=marked)
    body["messages"] = write_messages(composition.messages, stable=stable)
    assert find_wrong(body) == ""
    if with_earlier:
        assert body["messages"][0]["content"][0]["text"] == earlier


@given(st.text(max_size=12), st.integers(0, 14))
def test_a_breakpoint_anywhere_loses_nothing_and_leaves_no_empty_text(said_text, stable):
    from_user = write_messages([Message(Role.USER, said_text)], stable=stable)
    blocks = from_user[0]["content"] if from_user else []
    assert "".join(block["text"] for block in blocks) == (said_text if said_text.strip() else "").replace(
        "\0", "\ufffd"
    )
    assert all(block["text"].strip() for block in blocks)


GOOD = {
    "model": "m",
    "max_tokens": 2000,
    "tools": write_tools([READ]),
    "messages": [
        {"role": "user", "content": [{"type": "text", "text": "a"}]},
        {"role": "assistant", "content": [{"type": "tool_use", "id": "c1", "name": "read_file", "input": {}}]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c1", "content": "b"}]},
    ],
}
USER, CALL, RESULT = GOOD["messages"]
THINKING = {"type": "enabled", "budget_tokens": 1024}


@pytest.mark.parametrize(
    "change",
    [
        {"max_tokens": 0},
        {"surplus": 1},
        {"messages": []},
        {"messages": [CALL, RESULT]},
        {"messages": [USER, USER]},
        {"messages": [USER, CALL]},
        {"messages": [USER, RESULT]},
        {"messages": [USER, CALL, USER]},
        {"messages": [USER, CALL, RESULT, CALL, RESULT]},
        {"messages": [{"role": "user", "content": [{"type": "text", "text": " \n"}]}]},
        {"messages": [{"role": "user", "content": []}]},
        {"messages": [{"role": "system", "content": USER["content"]}]},
        {"tools": []},
        {"tool_choice": {"type": "tool", "name": "other"}},
        {"thinking": THINKING | {"budget_tokens": 2000}},
        {"thinking": THINKING},
        {"thinking": THINKING, "messages": [USER], "temperature": 0.5},
    ],
)
def test_the_fake_refuses_what_the_api_refuses(change):
    assert find_wrong(GOOD) == ""
    assert find_wrong(GOOD | change)
    assert find_wrong({key: value for key, value in GOOD.items() if key != "max_tokens"})
