"""O3, O4 and O6 whatever replies and outputs say; and that finding cuts takes steps linear in them."""

import sys
from collections.abc import Callable

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from tests.core.composer.conversations import TEXT
from tests.core.composer.retyping import numbered, tell
from wisp_core.composer import blocks, cuts, occurrences
from wisp_core.composer.cuts import LEAST_WORDS, LINES_A_BYTE, find_cuts
from wisp_core.composer.occurrences import Occurrences
from wisp_core.records import Entry, EntryKind, OutputContent, ReplyContent

WORDS = st.text(st.characters(categories=["L", "N", "S"], exclude_characters="|`~␍"), min_size=1, max_size=6)
LINE = st.lists(WORDS, min_size=3, max_size=9).map(" ".join)
LINES = st.lists(LINE, min_size=8, max_size=14, unique=True)
ENDS = st.sampled_from(["\n", "\r\n", "\n\n", "\r", " \n\t"])
PIECES = st.sampled_from(
    ["a b c d e f g h", "x y", "| a | b |", "|---|---|", "```", "~~~~", "  1\tfoo", "é 🎉", "", "stderr:"]
)
SOUP = st.lists(PIECES, max_size=40).flatmap(lambda lines: ENDS.map(lambda end: end.join(lines)))
MODULES = {module.__file__ for module in (blocks, cuts, occurrences)}


def entries(outputs: list[tuple[str, str]], reply: str) -> list[Entry]:
    made = [
        Entry(number, f"w{number}", EntryKind.TOOL_OUTPUT, 1, "", OutputContent(f"c{number}", tool, text))
        for number, (tool, text) in enumerate(outputs, 1)
    ]
    return [*made, Entry(len(made) + 1, "r", EntryKind.REPLY, 1, "", ReplyContent(reply))]


def said(text: str) -> list[str]:
    """Return lines by the rule's own words, for texts without a table."""
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    return [" ".join(line.split()) for line in lines if line.strip()]


def has(lines: list[str], run: list[str]) -> bool:
    return any(lines[at : at + len(run)] == run for at in range(len(lines)))


@settings(max_examples=150, deadline=None)
@given(st.lists(st.one_of(TEXT, SOUP), max_size=3), st.lists(st.one_of(TEXT, SOUP), max_size=3), st.booleans())
def test_what_is_carried_is_the_reply_with_each_stretch_as_its_marker(outputs, extra, everything):
    texts = [("read_file" if len(text) % 2 else "run_command", text) for text in outputs]
    reply = "\n\n".join([*extra, *outputs] if everything else extra)
    assume(reply)
    told = tell(reply, *texts)
    data, at, parts = reply.encode(), 0, []
    for cut in told.cuts:
        assert at <= cut.start < cut.end <= len(data)
        parts += [data[at : cut.start].decode(), cut.marker]
        assert len(cut.marker.encode()) < cut.bytes == len(data[cut.start : cut.end].decode().encode())
        assert 0 < cut.coverage <= 1
        at = cut.end
    assert told.carried == "".join([*parts, data[at:].decode()])


@settings(max_examples=100, deadline=None)
@given(LINES, st.data())
def test_a_stretch_is_what_an_output_says_in_order_and_next_to_each_other(lines, data):
    first = data.draw(st.integers(0, len(lines) - 1))
    count = data.draw(st.integers(1, len(lines)))
    end = data.draw(ENDS)
    part = lines[first : first + count]
    reply = f"I found.{end}\n\n{end.join(part)}\n\nThat was it."
    told = tell(reply, "\n".join(lines))
    enough = sum(len(line.split()) for line in part) >= LEAST_WORDS
    assert len(told.cuts) == (1 if enough and len(end.join(part).encode()) > 60 else len(told.cuts))
    for cut in told.cuts:
        text = reply.encode()[cut.start : cut.end].decode()
        assert has(lines, said(text))
        assert len(text.split()) >= LEAST_WORDS


@settings(max_examples=100, deadline=None)
@given(LINES, st.data())
def test_one_character_changed_keeps_the_block(lines, data):
    text = "\n".join(lines)
    at = data.draw(st.integers(0, len(text) - 1).filter(lambda i: not text[i].isspace()))
    changed = text[:at] + "¿" + text[at + 1 :]
    for tool, output in (("run_command", text), ("read_file", numbered(text))):
        assert len(tell(f"```\n{text}\n```", (tool, output)).cuts) == 1
        assert tell(f"```\n{changed}\n```", (tool, output)).cuts == []


@settings(max_examples=100, deadline=None)
@given(st.lists(st.lists(st.sampled_from("abc"), min_size=1, max_size=12), min_size=1, max_size=4), st.data())
def test_runs_of_blocks_are_found_where_they_stand(texts, data):
    wide = [[f"{letter} b c d e f g h" for letter in text] for text in texts]
    blocks_ = data.draw(st.lists(st.lists(st.sampled_from("abcd"), min_size=1, max_size=4), max_size=6))
    runs = [[f"{letter} b c d e f g h" for letter in block] for block in blocks_]
    found = Occurrences(wide, wanted={line for text in wide for line in text}, room=10**6)
    known = [run for run in runs if all(any(line in text for text in wide) for line in run)]
    end, number = found.longest([found.encode(run) for run in known], 0, texts=len(wide))
    sizes = [[line for run in known[:count] for line in run] for count in range(1, len(known) + 1)]
    expected = 0
    while expected < len(sizes) and any(has(text, sizes[expected]) for text in wide):
        expected += 1
    assert end == expected
    assert not end or has(wide[number], sizes[end - 1])


def nothing_alike(n: int) -> tuple[list[str], str]:
    lines = [f"the line number {i} of it" for i in range(n)]
    return ["\n".join(lines)], "\n".join(f"{line}!" for line in lines)


def one_line_repeated(n: int) -> tuple[list[str], str]:
    text = "\n".join(["the same again and again"] * n)
    return [text], text


def one_line_repeated_in_paragraphs(n: int) -> tuple[list[str], str]:
    return ["\n".join(["the same again"] * (n // 2))], "\n\n".join(["the same again"] * n)


def blocks_that_nearly_match(n: int) -> tuple[list[str], str]:
    lines = [f"the line number {i} of it" for i in range(n)]
    near = ["\n".join([*lines[i : i + 8], *lines[i + 9 : i + 11]]) for i in range(0, n, 10)]
    return ["\n".join(lines)], "\n\n".join(near)


def many_outputs(n: int) -> tuple[list[str], str]:
    outputs = ["\n".join(f"output {i} says {line} and no more than this" for line in range(4)) for i in range(n // 4)]
    return outputs, "\n\nand\n\n".join(outputs)


def few_letters(n: int) -> tuple[list[str], str]:
    letters = ["abcd"[(i * i + i // 7) % 4] for i in range(2 * n)]
    return ["\n".join(letters[:n])], "\n\n".join("\n".join(letters[i : i + 30]) for i in range(n, 2 * n, 30))


def fences(n: int) -> tuple[list[str], str]:
    return ["\n".join(["```"] * n)], "\n".join(f"{'`' * (3 + i % 5)}{i % 3 or ''}" for i in range(n))


def bars(n: int) -> tuple[list[str], str]:
    return ["|-" * n, "\n".join("|-|" for _ in range(n))], "\n".join(["| a | b |", "|---|---|"] * (n // 2)) + "|-" * n


HOSTILE = [
    nothing_alike,
    one_line_repeated,
    one_line_repeated_in_paragraphs,
    blocks_that_nearly_match,
    many_outputs,
    few_letters,
    fences,
    bars,
]


def steps(turn: list[Entry]) -> int:
    """Return how many lines of the three files run while the cuts of a turn are found."""
    count = 0

    def trace(frame, event, _):
        nonlocal count
        if frame.f_code.co_filename not in MODULES:
            return None
        count += event == "line"
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        find_cuts(turn)
    finally:
        sys.settrace(before)
    return count


@pytest.mark.parametrize("make", HOSTILE, ids=lambda make: make.__name__)
def test_twice_the_text_takes_twice_the_steps(make: Callable[[int], tuple[list[str], str]]):
    counted = []
    for n in (2_000, 4_000):
        outputs, reply = make(n)
        counted.append(steps(entries([("run_command", text) for text in outputs], reply)))
    assert counted[1] <= 2.2 * counted[0]


@pytest.mark.parametrize("make", [one_line_repeated_in_paragraphs, blocks_that_nearly_match, few_letters])
def test_what_searches_look_at_is_bounded_by_the_text(make: Callable[[int], tuple[list[str], str]]):
    (output,), reply = make(4_000)
    lines = said(output)
    room = LINES_A_BYTE * (len(output) + len(reply))
    found = Occurrences([lines], wanted=set(lines), room=room)
    runs = [found.encode(said(block)) for block in reply.split("\n\n")]
    looked = []
    for first in range(len(runs)):
        before = found.room
        found.longest(runs, first, texts=1)
        looked.append(before - found.room)
    assert sum(looked) <= room
    assert found.room > 0 or looked[-1] == 0


def test_100_000_equal_lines_are_one_stretch():
    text = "\n".join(["the same again and again"] * 100_000)
    (cut,) = find_cuts(entries([("run_command", text)], f"```\n{text}\n```"))
    assert cut.coverage == 1.0


def test_a_copy_among_thousands_of_near_ones_and_of_outputs_is_found():
    (near,), reply = blocks_that_nearly_match(20_000)
    others, _ = many_outputs(12_000)
    copy = "\n".join(f"what was asked for, part {n} of it" for n in range(9))
    turn = entries([("run_command", text) for text in [*others, near, copy]], f"{reply}\n\nBut:\n\n{copy}")
    assert [cut.output for cut in find_cuts(turn)][-1] == len(turn) - 1
