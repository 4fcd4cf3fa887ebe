"""Lines and server-sent events are read right for any split of the bytes."""

import itertools
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wisp_core.errors import CutStreamError
from wisp_core.models.streams import EventReader, LineReader, ServerEvent, parse_payloads

AWKWARD = (
    b"\xef\xbb\xbf: a comment\r\n\r\n"
    b'data: {"a": "caf\xc3\xa9 \xf0\x9f\x8e\x88"}\r\n\r\n'
    b"event: ping\rdata: one\rdata: two\r\r"
    b"data: u\xe2\x80\xa8v\xc2\x85w\n\n"
    b"data:tight\nid: 7\nretry: 3\nunknown\n\n"
    b"\n\n\ndata\n\n"
    b"data: bad \xff\xfe bytes\x00\n\n"
    b"data: half a line at the end"
)
EVENTS = [
    ServerEvent("", '{"a": "café 🎈"}'),
    ServerEvent("ping", "one\ntwo"),
    ServerEvent("", "u\u2028v\u0085w"),
    ServerEvent("", "tight"),
    ServerEvent("", ""),
    ServerEvent("", "bad \ufffd\ufffd bytes\ufffd"),
    ServerEvent("", "half a line at the end"),
]


def pieces(data, cuts):
    places = sorted({0, len(data), *(cut % (len(data) + 1) for cut in cuts)})
    return [data[a:b] for a, b in itertools.pairwise(places)]


def read(parts, reader):
    found = [one for part in parts for one in reader.feed(part)]
    return found + reader.finish()


def test_events_are_read_whatever_ends_their_lines():
    assert read([AWKWARD], EventReader()) == EVENTS


def test_events_are_the_same_byte_for_byte():
    assert read([bytes([byte]) for byte in AWKWARD], EventReader()) == EVENTS


@given(st.lists(st.integers(min_value=0, max_value=10_000), max_size=12))
def test_events_are_the_same_for_any_split(cuts):
    assert read(pieces(AWKWARD, cuts), EventReader()) == EVENTS


@given(st.lists(st.text(alphabet=st.characters(exclude_characters="\r\n\0", codec="utf-8"))), st.data())
def test_lines_of_any_text_come_back_for_any_split_and_any_ends(lines, data):
    ends = data.draw(st.lists(st.sampled_from(["\n", "\r\n", "\r"]), min_size=len(lines), max_size=len(lines)))
    # A CR before an empty line's LF would be one CRLF: such a pair is another text.
    whole = "".join(line + end for line, end in zip(lines, ends, strict=True))
    expected = whole.replace("\r\n", "\n").replace("\r", "\n").split("\n")[:-1]
    if expected and expected[0].startswith("\ufeff"):
        expected[0] = expected[0][1:]
    cuts = data.draw(st.lists(st.integers(min_value=0, max_value=10_000), max_size=8))
    assert read(pieces(whole.encode(), cuts), LineReader()) == expected


def test_a_last_line_without_its_end_is_given_at_the_end():
    reader = LineReader()
    assert reader.feed(b'{"a":1}\n{"b"') == ['{"a":1}']
    assert reader.finish() == ['{"b"']


def test_a_line_is_given_at_its_cr_before_the_lf_has_come():
    reader = LineReader()
    assert reader.feed(b"one\r") == ["one"]
    assert reader.feed(b"\ntwo\n") == ["two"]


def test_a_line_without_end_is_refused_before_it_fills_the_memory():
    reader = LineReader(limit=100)
    reader.feed(b"x" * 90)
    with pytest.raises(CutStreamError):
        reader.feed(b"x" * 20)


def test_an_event_without_end_is_refused_before_it_fills_the_memory():
    reader = EventReader(limit=100)
    reader.feed(b"data: xxxxxxxxx\n" * 10)
    with pytest.raises(CutStreamError):
        reader.feed(b"data: xxxxxxxxx\n" * 10)


def test_payloads_without_their_blank_lines_are_read_one_by_one():
    assert parse_payloads('{"a":1}\n{"b":2}\n[DONE]') == [{"a": 1}, {"b": 2}, "[DONE]"]
    assert parse_payloads('{"a":\n1}') == [{"a": 1}]
    assert parse_payloads(" [DONE] ") == ["[DONE]"]


@pytest.mark.parametrize("data", ["", "{", "nonsense", '{"a":1}\n{', "[" * 100_000, json.dumps({"a": 1})[:-1]])
def test_a_payload_that_is_no_json_is_a_cut_stream(data):
    with pytest.raises(CutStreamError):
        parse_payloads(data)
