"""The view follows the end, keeps its place, and draws what is seen alone."""

import pytest
from textual.app import App, ComposeResult

from tests.tui.transcript.samples import MARKDOWN, call, entry, output, thread
from tests.tui.transcript.stage import in_view, staged, whole
from wisp_core.records import CommandContent, Outcome, PromptContent, ReplyContent, Turn
from wisp_tui.widgets.block_call import PREVIEW_ROWS, CallBlock
from wisp_tui.widgets.transcript import Transcript
from wisp_tui.widgets.transcript_layout import KEPT_ROWS


def numbered(count: int) -> list:
    return [entry(n, PromptContent(f"prompt {n}")) for n in range(1, count + 1)]


async def test_the_end_stays_in_view_as_blocks_come() -> None:
    async with staged((60, 16)) as (transcript, pilot):
        for item in numbered(40):
            transcript.show(item)
        await pilot.pause()
        assert "prompt 40" in in_view(transcript)[-1]


async def test_scrolled_up_it_stays_there_and_says_that_something_came_below() -> None:
    async with staged((60, 16)) as (transcript, pilot):
        transcript.show_all(numbered(40))
        await pilot.pause()
        transcript.go_to(10)
        await pilot.pause()
        before = in_view(transcript)
        transcript.stream("reply", "new words\n\n" * 30)
        transcript.note("a note")
        await pilot.pause(0.15)
        assert in_view(transcript) == before
        told = [(m.following, m.unseen) for m in pilot.app.heard if isinstance(m, Transcript.FollowChanged)]
        assert told == [(False, False), (False, True)]
        transcript.focus()
        await pilot.pause()
        await pilot.press("end")
        await pilot.pause()
        assert "a note" in in_view(transcript)[-1]
        assert transcript.following


async def test_a_wheel_up_stops_following() -> None:
    async with staged((60, 16)) as (transcript, pilot):
        transcript.show_all(numbered(40))
        await pilot.pause()
        transcript.scroll_up(animate=False)
        await pilot.pause()
        assert not transcript.following


async def test_another_width_keeps_the_block_at_the_top_in_view() -> None:
    async with staged((100, 20)) as (transcript, pilot):
        transcript.show_all([entry(n, ReplyContent(f"reply {n} " + "word " * 120)) for n in range(1, 60)])
        await pilot.pause()
        transcript._measure(30)
        transcript.go_to(transcript.rows_of(30)[0])
        await pilot.pause()
        assert "reply 31" in in_view(transcript)[0]
        for size in ((40, 12), (120, 40), (60, 16)):
            await pilot.resize_terminal(*size)
            await pilot.pause()
            assert any("reply 31" in row for row in in_view(transcript)[:2])


async def test_a_thread_of_5000_turns_is_drawn_where_it_is_looked_at() -> None:
    async with staged() as (transcript, pilot):
        transcript.show_all(thread(5000))
        await pilot.pause()
        assert sum(block.drawn is not None for block in transcript.blocks) < 30
        transcript.go_to(0)
        await pilot.pause()
        assert "prompt 1" in in_view(transcript)[0]
        await pilot.resize_terminal(60, 16)
        transcript.follow()
        await pilot.pause()
        assert "quoted" in in_view(transcript)[-1]
        assert sum(block.drawn is not None for block in transcript.blocks) < 80


async def test_scrolling_up_by_pages_misses_nothing_and_keeps_what_was_in_view() -> None:
    async with staged((70, 20)) as (transcript, pilot):
        transcript.show_all(thread(8))
        await pilot.pause()
        seen = in_view(transcript)
        for _ in range(400):
            if transcript.scroll_y == 0:
                break
            top = in_view(transcript)[0]
            transcript.scroll_up(animate=False)
            await pilot.pause(0)
            now = in_view(transcript)
            assert now[1] == top
            seen.insert(0, now[0])
        assert transcript.scroll_y == 0
        assert [row for row in seen if row] == [
            row for row in (" " + row.rstrip() for row in whole(transcript)) if row.strip()
        ] or [row[1:] for row in seen if row.strip()] == [row.rstrip() for row in whole(transcript) if row.strip()]


async def test_rows_that_are_kept_are_bounded() -> None:
    async with staged() as (transcript, pilot):
        transcript.show_all([entry(n, ReplyContent("line\n\n" * 400)) for n in range(40)])
        await pilot.pause()
        for index in range(40):
            transcript.go_to(transcript.rows_of(index)[0])
            await pilot.pause(0)
        kept = sum(len(block.drawn.rows) for block in transcript.blocks if block.drawn)
        assert kept <= KEPT_ROWS + 3 * 800


async def test_a_preview_is_twelve_rows_whatever_a_line_holds() -> None:
    for text in (
        "x" * 1_000_000,
        "a\n" * 100_000,
        "\x1b[31m" * 50_000,
        "漢" * 300_000,
        "y\r" * 300_000,
        "a\u0301" * 200_000,
    ):
        async with staged((60, 30)) as (transcript, pilot):
            transcript.show(call(1, "c1"))
            transcript.show(output(2, "c1", text=text))
            await pilot.pause()
            assert len(transcript.blocks[0].drawn.rows) <= 2 + PREVIEW_ROWS


async def test_a_preview_tells_how_much_more_there_is() -> None:
    async with staged() as (transcript, pilot):
        transcript.show(call(1, "c1"))
        transcript.show(output(2, "c1", text="".join(f"line {n}\n" for n in range(2311))))
        await pilot.pause()
        rows = [row.strip(" │") for row in in_view(transcript)[1:13]]
        assert rows[0] == "line 0"
        assert rows[5] == "… 2,300 more lines · ctrl+o"
        assert rows[-1] == "line 2310"


async def test_colour_of_an_output_is_kept() -> None:
    async with staged() as (transcript, pilot):
        transcript.show(call(1, "c1"))
        transcript.show(output(2, "c1", text="\x1b[31mred\x1b[0m \x1b[38;2;1;2;3mrgb\x1b[0m \x1b[1mbold"))
        await pilot.pause()
        spans = {text.strip(): style for text, style in transcript.blocks[0].drawn.rows[1].spans}
        assert spans["red"].color.number == 1
        assert spans["rgb"].color.triplet == (1, 2, 3)
        assert spans["bold"].bold


async def test_reopening_says_how_each_turn_ended() -> None:
    async with staged() as (transcript, pilot):
        turns = {
            1: Turn(1, 1, "", Outcome.DONE),
            2: Turn(2, 2, "", Outcome.INTERRUPTED),
            3: Turn(3, 3, "", Outcome.FAILED, "no model"),
            4: Turn(4, 4, "", Outcome.ABANDONED),
        }
        entries = [entry(n, PromptContent(f"prompt {n}"), turn=n) for n in turns]
        transcript.show_all([*entries, call(5, "c1", turn=4)], turns)
        await pilot.pause()
        rows = [row.strip() for row in in_view(transcript) if row.strip()]
        assert [row[2:] for row in rows if row[0] in "·✗!"] == [
            "interrupted; /retry answers it again",
            "failed: no model; /retry answers it again",
            "wisp ended before this was answered; /retry answers it",
        ]
        assert any(row.endswith("cancelled") for row in rows)


async def test_the_end_stays_in_view_when_the_height_shrinks_and_grows() -> None:
    async with staged() as (transcript, pilot):
        transcript.show_all(thread(20))
        for height in (12, 40, 8):
            await pilot.resize_terminal(60, height)
            await pilot.pause()
            assert transcript.following
            assert transcript.scroll_y == transcript.max_scroll_y


async def test_what_is_shown_live_is_what_is_shown_on_reopening() -> None:
    entries = thread(3)
    async with staged() as (transcript, pilot):
        for item in entries:
            transcript.show(item)
        await pilot.pause()
        live = whole(transcript)
        transcript.show_all(entries)
        await pilot.pause()
        assert whole(transcript) == live


async def test_the_welcome_goes_with_the_first_prompt() -> None:
    async with staged() as (transcript, pilot):
        transcript.show_welcome(["wisp", "model x"])
        await pilot.pause()
        assert "wisp" in in_view(transcript)[0]
        transcript.show(entry(1, PromptContent("hello")))
        await pilot.pause()
        assert "hello" in in_view(transcript)[0]
        assert len(transcript.blocks) == 1


@pytest.mark.parametrize("theme", ["textual-dark", "textual-light", "ansi-dark", "nord"])
async def test_every_theme_changes_the_styles_and_no_words(theme: str) -> None:
    async with staged() as (transcript, pilot):
        transcript.show_all(thread(2))
        pilot.app.theme = "gruvbox"
        await pilot.pause()
        words, palette = whole(transcript), transcript._palette
        pilot.app.theme = theme
        await pilot.pause()
        in_view(transcript)
        assert whole(transcript) == words
        assert transcript._palette != palette


async def test_without_colour_marks_tell_what_is_what(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    async with staged() as (transcript, pilot):
        transcript.show(entry(1, PromptContent("question")))
        transcript.show(call(2, "c1"))
        transcript.show(output(3, "c1", text="x\n", ok=False))
        transcript.note("careful", "warning")
        await pilot.pause()
        assert pilot.app.no_color
        shown = "\n".join(in_view(transcript))
        for mark in ("› question", "✗ run_command", "failed", "! careful"):
            assert mark in shown


async def test_markdown_is_laid_out() -> None:
    async with staged((60, 30)) as (transcript, pilot):
        transcript.show(entry(1, ReplyContent(MARKDOWN)))
        await pilot.pause()
        rows = [row.strip() for row in in_view(transcript) if row.strip()]
        assert rows == [
            "Heading one",
            "A paragraph with bold, code, a link",
            "(https://example.org/x) and enough words to be wrapped",
            "at any width at all.",
            "1. first",
            "• nested",
            "2. second",
            "left │ right",
            "─────┼──────",
            "1    │  漢字",
            "def f(x):                                    python",
            "return x + 1  # one more",
            "▎ quoted",
        ]


async def test_a_long_prompt_is_folded_and_copied_whole() -> None:
    text = "".join(f"pasted {n}\n" for n in range(2340))
    async with staged() as (transcript, pilot):
        transcript.show(entry(1, PromptContent(text)))
        await pilot.pause()
        rows = [row for row in in_view(transcript) if row.strip()]
        assert len(rows) == 12
        assert "2,340 lines in all" in rows[-1]
        assert transcript.blocks[0].source()[0] == text
        transcript.action_fold()
        assert len(whole(transcript)) == 2340


async def test_a_reply_is_no_wider_than_it_reads_well() -> None:
    async with staged((200, 20)) as (transcript, pilot):
        transcript.show(entry(1, ReplyContent("word " * 200)))
        await pilot.pause()
        assert max(len(row.strip()) for row in in_view(transcript)) <= 100


async def test_what_is_shown_before_the_first_layout_is_there_after_it() -> None:
    transcript = Transcript()

    class Early(App[None]):
        def compose(self) -> ComposeResult:
            transcript.show_all(thread(3))
            transcript.note("early")
            transcript.stream("reply", "streamed")
            yield transcript

    async with Early().run_test(size=(60, 16)) as pilot:
        await pilot.pause(0.15)
        assert "streamed" in in_view(transcript)[-1]


async def test_a_view_of_a_command_keeps_its_lines() -> None:
    async with staged() as (transcript, pilot):
        transcript.view("Tokens", "core    120\n[mode]   12")
        await pilot.pause()
        assert [row[4:] for row in in_view(transcript)[:3]] == ["Tokens", "core    120", "[mode]   12"]


def test_what_was_undone_is_not_shown_as_cancelled() -> None:
    undone = CallBlock.of_command(CommandContent("/undo", "a.txt is as before the edit"), 1)
    stopped = CallBlock.of_command(CommandContent("sleep 9", "", call="0001"), 2)
    assert (undone.state, stopped.state) == ("ok", "cancelled")
