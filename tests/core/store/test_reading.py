"""O16: a part of a stored output: pages, the end, what matches; in bounded memory and time."""

import os
import time
import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wisp_core.errors import UsageError
from wisp_core.parts import FromLine, Lines, Matching, Summary, Tail, parse_part
from wisp_core.settings import MIB
from wisp_core.settings import Outputs as Limits
from wisp_core.store.outputs import Outputs
from wisp_core.store.reading import FileContent, TextContent, read_part

TEXTS = st.text(st.sampled_from("ab\n漢é\r🙂"), max_size=400)


def read(text, part, limit=64):
    return read_part(TextContent(text), part, limit=limit)


@given(TEXTS, st.integers(64, 200))
def test_pages_joined_are_what_is_stored(text, limit):
    part, found = FromLine(1), []
    while part is not None:
        reading = read(text, part, limit)
        assert len(reading.text.encode()) <= limit
        found.append(reading.text)
        part = reading.next and parse_part(str(reading.next))
    assert "".join(found) == text


@given(TEXTS, st.integers(1, 12), st.integers(1, 12), st.integers(64, 200))
def test_a_range_of_lines_is_those_lines_and_no_others(text, first, count, limit):
    part, found = Lines(first, first + count - 1), []
    while part is not None:
        reading = read(text, part, limit)
        found.append(reading.text)
        part = reading.next and parse_part(str(reading.next))
    lines = [line + "\n" for line in text.split("\n")]
    lines[-1] = lines[-1].removesuffix("\n")
    assert "".join(found) == "".join(lines[first - 1 : first - 1 + count])


@given(TEXTS, st.integers(1, 12), st.integers(64, 200))
def test_the_tail_is_the_last_lines_that_fit_and_says_which_of_them_stand_before(text, count, limit):
    reading = read(text, Tail(count), limit)
    lines = text.removesuffix("\n").split("\n") if text else []
    whole = "\n".join(lines[-count:]) + ("\n" if text.endswith("\n") else "")
    assert whole.endswith(reading.text)
    assert len(reading.text.encode()) <= limit
    if len(whole.encode()) <= limit:
        assert (reading.text, reading.next) == (whole, None)
    else:
        assert isinstance(reading.next, Lines)
        assert reading.next.first == len(lines) - min(count, len(lines)) + 1


def test_each_page_says_which_lines_it_shows_and_where_the_next_starts():
    text = "".join(f"line {n:04}\n" for n in range(1, 101))
    first = read(text, FromLine(1))
    assert (first.note, first.next) == ("lines 1–6 of 100", FromLine(7))
    assert read(text, Lines(44, 60)).next == Lines(50, 60)
    assert read(text, Lines(99, 300)).note == "lines 99–100 of 100"
    assert read(text, Tail(10)).next == Lines(91, 94)
    assert read(text, FromLine(101)).note == "the output has 100 lines, so there is no line 101"
    assert read("", FromLine(1)).note == "the output is empty"
    assert read("ab\n", FromLine(1, 9)).note == "line 1 has no byte 9"


def test_a_line_longer_than_a_page_is_cut_at_a_character_and_gone_on_with_inside():
    reading = read("漢" * 50 + "\nend\n", FromLine(1))
    assert (reading.text, reading.note) == ("漢" * 21, "line 1 of 2, to its byte 63")
    assert str(reading.next) == "from line 1 byte 63"
    assert read("a\n" + "漢" * 50, Tail(1)).text == "漢" * 21


@pytest.mark.parametrize(
    ("words", "part"),
    [
        ("from line 1,212", FromLine(1212)),
        ("from line 3 byte 70", FromLine(3, 70)),
        ("lines 10-20", Lines(10, 20)),
        ("lines 10–20", Lines(10, 20)),
        ("line 7", Lines(7, 7)),
        ("head 5", Lines(1, 5)),
        ("tail 5", Tail(5)),
        ("matching a  b", Matching("a  b")),
        ("from line 9 matching x", Matching("x", 9)),
        ("matching from line 2", Matching("from line 2")),
        (" summary ", Summary()),
    ],
)
def test_the_words_of_a_part_are_read_as_they_are_written(words, part):
    assert parse_part(words) == part
    assert parse_part(str(part)) == part


@pytest.mark.parametrize(
    "words", ["", "lines", "head x", "tail 0", "lines 9-3", "from line 0", "matching ", "from line " + "9" * 40]
)
def test_words_that_ask_for_no_part_are_told_what_would_be_right(words):
    with pytest.raises(UsageError, match=r"no part|no line|ends before"):
        parse_part(words)


def matching(text, pattern, line=1, limit=4096):
    return read(text, Matching(pattern, line), limit)


def test_matching_lines_come_with_their_numbers():
    found = matching("one\ntwo\nthree\r\ntower\n", "t(w|h|o)")
    assert found.text == "2\ttwo\n3\tthree\n4\ttower\n"
    assert (found.note, found.next) == ("3 lines match", None)
    assert matching("one\n", "z").note == "no line matches"
    assert matching("one\none\n", "^o", line=2).text == "2\tone\n"


def test_what_matches_past_the_page_is_counted_and_gone_on_with():
    text = "".join(f"{'hit' if n % 2 else 'miss'} {n}\n" for n in range(1, 101))
    part, found = Matching("hit"), ""
    while part is not None:
        reading = matching(text, part.pattern, part.line, limit=100)
        found += reading.text
        part = reading.next and parse_part(str(reading.next))
    assert found == "".join(f"{n}\thit {n}\n" for n in range(1, 101, 2))
    assert matching(text, "hit", limit=100).note.startswith("50 lines match, the first ")


@pytest.mark.parametrize(
    "pattern", ["(", "[a", "*", "a{1000}{1000}", "(?P<x", "(?R)", "(?:(?:a{999}){999}){999}", "(" * 900]
)
def test_a_pattern_that_is_bad_or_too_costly_is_taken_literally_and_says_so(pattern):
    found = matching(f"none\nhas {pattern} in it\n", pattern)
    assert found.text.startswith("2\thas ")
    assert "so it is taken literally; 1 line matches" in found.note


@pytest.mark.parametrize("pattern", ["(?:x+x+)+y", "(a|aa|x)+$|(x|xx)+z", "(x*)*(x*)*y"])
def test_a_pattern_made_to_never_end_ends_and_the_search_goes_on_after_the_line(pattern):
    text = "aaaa\n" + "x" * 60_000 + "\nxy\nxz\n"
    # That it comes back at all is the point: a test that hangs is ended, with where it hung.
    found = matching(text, pattern, line=2)
    if found.next is not None:
        assert found.next.line == 3
        assert "goes on from the next" in found.note


def test_a_match_across_two_pieces_of_a_huge_line_is_found_and_shown_with_its_surroundings():
    text = "a\n" + "x" * (256 * 1024 - 6) + "needle" + "x" * 300_000 + "\nb needle\n"
    found = matching(text, "needle")
    first, second, _ = found.text.split("\n")
    assert first.startswith("2\t…xxx")
    assert "needle" in first
    assert len(first) < 500
    assert second == "3\tb needle"
    assert found.note == "2 lines match"


@pytest.fixture(scope="module")
def large(tmp_path_factory):
    """Stored outputs of 16 MiB: many lines, and one."""
    outputs = Outputs(tmp_path_factory.mktemp("large") / "output", "session1", limits=Limits())
    line = b"%07d a line of an output, as long as lines of outputs are, more or less\n"
    many = b"".join(line % n for n in range(1, 16 * MIB // 76))
    for call, data in (("many", many), ("one", b"x" * (16 * MIB - 1) + b"\n")):
        spool = outputs.open(call)
        for start in range(0, len(data), MIB):
            spool.write("stdout", data[start : start + MIB])
        spool.keep(["stdout"])
    return outputs


@pytest.mark.parametrize("call", ["many", "one"])
def test_16_mib_is_read_in_a_moment_with_memory_flat(large, call):
    parts = ["from line 1", "from line 200000", "tail 1000", "lines 100000-100010", "matching 0200000|xy", "summary"]
    seconds = {}
    for part in parts:
        started = time.perf_counter()
        assert large.read_part(call, parse_part(part)) is not None
        seconds[part] = time.perf_counter() - started
    assert max(seconds[part] for part in parts[:4]) < 1, seconds
    assert seconds["summary"] < 5, seconds
    tracemalloc.start()
    try:
        for part in (parts[0], parts[2], parts[3]):
            large.read_part(call, parse_part(part))
        assert tracemalloc.get_traced_memory()[1] < 2 * MIB
    finally:
        tracemalloc.stop()


def test_the_summary_of_one_huge_line_is_short(large):
    found = large.read_part("one", Summary())
    assert len(found.text) < 400
    assert found.note == "1 line, 16 MiB: no errors or warnings"


def test_an_output_that_is_not_kept_has_no_part(large):
    assert large.read_part("none", Summary()) is None


def test_a_file_that_shrinks_while_it_is_read_ends_there(tmp_path):
    path = tmp_path / "output"
    path.write_bytes(b"line\n" * 200_000)
    with path.open("rb") as file:
        content = FileContent(file.fileno())
        os.truncate(path, 100)
        for part in (FromLine(1), FromLine(50_000), Tail(5), Lines(10, 90_000), Matching("x"), Summary()):
            read_part(content, part, limit=4096)
