"""What streams is drawn at most ten times a second, ends as its source, and costs what arrives."""

import time

from hypothesis import given
from hypothesis import strategies as st

from tests.tui.transcript.plain import PLAIN
from tests.tui.transcript.samples import MARKDOWN, call, entry, output
from tests.tui.transcript.stage import in_view, said, staged, whole
from wisp_core.records import Outcome, ReplyContent, Turn
from wisp_tui.widgets.block_growing import Growing
from wisp_tui.widgets.block_words import ReplyBlock
from wisp_tui.widgets.render_chunks import ChunkScanner, chunks_of

WORDS = [
    "# head\n",
    "text ",
    "*b* ",
    "\n",
    "\n\n",
    "```py\n",
    "```\n",
    "x = 1\n",
    "- item\n",
    "  more\n",
    "1. one\n",
    "~~~\n",
]
MARKS = [
    "| a | b |\n",
    "|---|---|\n",
    "> quote\n",
    "    code\n",
    "\r\n",
    "\r",
    "漢字",
    "👩\u200d🚀",
    "\t",
    "`",
    "``",
    " ",
]
PIECES = st.lists(st.sampled_from(WORDS + MARKS), max_size=30)


def texts(growing: Growing, width: int) -> list[str]:
    growing.draw(width, PLAIN)
    return ["".join(text for text, _ in row.spans).rstrip() for row in growing.rows]


@given(PIECES, st.randoms(use_true_random=False))
def test_however_a_reply_was_split_it_ends_as_the_whole_would(pieces: list[str], chance) -> None:
    source = "".join(pieces)
    grown, at = Growing(), 0
    while at < len(source):
        step = chance.randint(1, 7)
        grown.add(source[at : at + step])
        at += step
        if chance.random() < 0.5:
            grown.draw(24, PLAIN)
    grown.close()
    at_once = Growing()
    at_once.add(source)
    at_once.close()
    assert grown.text == source
    assert texts(grown, 24) == texts(at_once, 24)


@given(PIECES)
def test_chunks_hold_every_line_of_the_source_that_is_not_blank(pieces: list[str]) -> None:
    source = "".join(pieces)
    lines = [line for chunk in chunks_of(source) for line in chunk.source.split("\n") if line.strip()]
    assert lines == [line.removesuffix("\r") for line in source.split("\n") if line.strip()]


def test_a_list_waits_for_its_items_and_a_fence_for_its_end() -> None:
    scanner = ChunkScanner()
    assert scanner.feed("- a\n\n- b\n") == []
    assert [chunk.source for chunk in scanner.feed("\nafter")] == []
    assert [chunk.source for chunk in scanner.feed(" it\n")] == ["- a\n\n- b\n"]
    assert [chunk.source for chunk in scanner.feed("```\ncode\n\n")] == ["after it"]
    assert scanner.in_fence
    assert [chunk.source for chunk in scanner.feed("more\n```\n")] == ["```\ncode\n\nmore\n```"]
    assert not scanner.in_fence


def test_an_open_fence_is_plain_until_it_closes() -> None:
    block = ReplyBlock(columns=60)
    block.add("```python\ndef f():\n    return 1\n")
    rows = block.draw(60, PLAIN).rows
    assert all(len({style for _, style in row.spans}) == 1 for row in rows)
    assert block.draw(60, PLAIN).parts == []
    block.add("```\n")
    assert [part.text for part in block.draw(60, PLAIN).parts] == ["def f():\n    return 1"]


def test_an_open_table_is_shown_as_its_source_until_it_closes() -> None:
    growing = Growing()
    growing.add("| a | b |\n|---|---|\n| 1 |")
    assert texts(growing, 40) == ["   | a | b |", "   |---|---|", "   | 1 |"]
    growing.add(" 2 |\n\nnext")
    assert texts(growing, 40) == ["   a │ b", "   ──┼──", "   1 │ 2", "", "   next"]


def test_a_line_over_two_kilobytes_is_never_highlighted() -> None:
    from wisp_tui.widgets.render_code import MAX_LINE_BYTES, code_lines

    short, long = "x = 'y'", "x = '" + "y" * MAX_LINE_BYTES + "'"
    assert len(code_lines([short], "python", palette=PLAIN)[0]) > 1
    assert code_lines([long], "python", palette=PLAIN) == [[(long, PLAIN.code)]]


def test_a_line_without_end_costs_what_arrives() -> None:
    growing = Growing()
    touched = []
    for _ in range(200):
        growing.add("1 2 3 4 5 " * 100)
        before = len(growing.rows)
        first = growing.draw(80, PLAIN)
        touched.append(len(growing.rows) - min(first, before - 1))
    assert len(growing.text) == 200_000
    assert max(touched) <= 2 + 1000 // 70


async def test_text_without_a_line_end_shows_at_once() -> None:
    async with staged() as (transcript, pilot):
        transcript.stream("reply", "one two")
        await pilot.pause(0.12)
        assert in_view(transcript)[0].strip() == "one two"


async def test_deltas_are_drawn_together() -> None:
    async with staged() as (transcript, pilot):
        draws = []
        update = transcript.update_block
        transcript.update_block = lambda block: (draws.append(time.monotonic()), update(block))[1]  # type: ignore[method-assign]
        began = time.monotonic()
        for _ in range(300):
            transcript.stream("reply", "word ")
            await pilot.pause(0.001)
        took = time.monotonic() - began
        assert 1 <= len(draws) <= took * 10 + 1


async def test_the_stored_reply_takes_the_place_of_what_streamed() -> None:
    async with staged() as (transcript, pilot):
        for at in range(0, len(MARKDOWN), 5):
            transcript.stream("reply", MARKDOWN[at : at + 5])
        await pilot.pause(0.12)
        transcript.show(entry(1, ReplyContent(MARKDOWN, "")))
        streamed = whole(transcript)
        assert transcript.blocks[0].source()[0] == MARKDOWN
        transcript.show_all([entry(1, ReplyContent(MARKDOWN, ""))])
        await pilot.pause()
        assert whole(transcript) == streamed


async def test_a_stored_reply_that_differs_wins() -> None:
    async with staged() as (transcript, pilot):
        transcript.stream("reasoning", "let me")
        transcript.stream("reply", "hello wor")
        await pilot.pause(0.12)
        transcript.show(entry(1, ReplyContent("goodbye", "let me think")))
        await pilot.pause()
        assert [block.source()[0] for block in transcript.blocks] == ["let me think", "goodbye"]
        assert "hello" not in said(transcript)


async def test_reasoning_is_folded_while_it_streams_and_after() -> None:
    async with staged() as (transcript, pilot):
        transcript.stream("reasoning", "secret plan " * 30)
        await pilot.pause(0.12)
        assert in_view(transcript)[0].strip().startswith("▸ thinking…")
        transcript.show(entry(1, ReplyContent("answer", "secret plan")))
        await pilot.pause()
        assert "secret" not in said(transcript)
        pilot.app.set_focus(None)
        await pilot.pause()
        transcript.focus()
        await pilot.pause()
        await pilot.press("alt+up", "enter")
        assert "secretplan" in said(transcript)


async def test_a_running_call_shows_the_end_of_its_output_in_twelve_rows() -> None:
    async with staged() as (transcript, pilot):
        transcript.show(call(1, "c1"))
        transcript.status_of_call("c1", "running", seconds=0)
        for line in range(500):
            transcript.stream("output", f"line {line}\n", call="c1")
        await pilot.pause(0.12)
        rows = in_view(transcript)
        assert "running" in rows[0]
        assert "500 lines" in rows[0]
        assert [row.strip(" │") for row in rows[1:13]] == [f"line {n}" for n in range(488, 500)]


async def test_an_interrupted_turn_keeps_what_came_and_ends_what_ran() -> None:
    async with staged() as (transcript, pilot):
        transcript.show(call(1, "c1"))
        transcript.status_of_call("c1", "running", seconds=0)
        transcript.stream("reply", "half an ans")
        transcript.mark_turn(Turn(1, 1, "", Outcome.INTERRUPTED))
        await pilot.pause()
        shown = "\n".join(in_view(transcript))
        assert "cancelled" in shown
        assert "half an ans" in shown
        assert "· interrupted" in shown


async def test_the_theme_may_change_in_the_middle_of_a_fence() -> None:
    async with staged() as (transcript, pilot):
        for piece in ("```py\n", "one = 1\n", "two = 2\n"):
            transcript.stream("reply", piece)
            await pilot.pause(0.11)
        pilot.app.theme = "textual-light"
        await pilot.pause()
        transcript.stream("reply", "three = 3\n```\n")
        await pilot.pause(0.12)
        shown = said(transcript)
        assert "one=1" in shown
        assert "three=3" in shown


async def test_an_output_goes_under_its_call() -> None:
    async with staged() as (transcript, pilot):
        transcript.show(call(1, "c1", command="first"))
        transcript.show(call(2, "c2", command="second"))
        transcript.show(output(3, "c1", text="one\n", seconds=0.3))
        transcript.show(output(4, "c2", text="two\n", ok=False, exit_status=3))
        await pilot.pause()
        rows = [row.strip() for row in in_view(transcript)[:5]]
        assert rows == [
            "● run_command  first  ok · 0.3 s · 1 line · 4 B",
            "│ one",
            "",
            "✗ run_command  second  exit 3 · 1 line · 4 B",
            "│ two",
        ]
