"""A block can be chosen, folded, copied and opened from the keyboard."""

from textual.pilot import Pilot

from tests.tui.transcript.samples import call, entry, output
from tests.tui.transcript.stage import in_view, staged
from wisp_core.records import PromptContent, ReplyContent
from wisp_tui.widgets.transcript import Transcript

REPLY = "before\n\n```python\nx = 1\ny = 2\n```\n\nbetween\n\n```\nplain\n```\n"


def conversation() -> list:
    return [
        entry(1, PromptContent("question")),
        entry(2, ReplyContent(REPLY, "because")),
        call(3, "c1", command="seq 40"),
        output(4, "c1", text="".join(f"{n}\n" for n in range(40))),
    ]


async def focus(transcript: Transcript, pilot: Pilot) -> None:
    pilot.app.set_focus(None)
    await pilot.pause()
    transcript.focus()
    await pilot.pause()


async def test_copying_gives_the_block_or_the_code_that_the_cursor_is_on() -> None:
    async with staged((80, 40)) as (transcript, pilot):
        transcript.show_all(conversation())
        await pilot.pause()
        await focus(transcript, pilot)
        keys = ["c", "alt+up", "c", "alt+up", "c", "alt+up", "c", "alt+up", "c", "alt+up", "c", "alt+up", "c"]
        await pilot.press(*keys)
        await pilot.pause()
        copied = [(m.text, m.what) for m in pilot.app.heard if isinstance(m, Transcript.CopyRequested)]
        assert copied == [
            ("".join(f"{n}\n" for n in range(40)), "the output of run_command"),
            ("plain", "the code"),
            ("x = 1\ny = 2", "the code"),
            (REPLY, "the reply"),
            ("because", "the reasoning"),
            ("question", "the prompt"),
            ("question", "the prompt"),
        ]


async def test_the_cursor_goes_back_down_the_way_it_came_up() -> None:
    async with staged((80, 40)) as (transcript, pilot):
        transcript.show_all(conversation())
        await pilot.pause()
        await focus(transcript, pilot)
        await pilot.press(*["alt+up"] * 5, *["alt+down", "c"] * 5)
        await pilot.pause()
        copied = [m.what for m in pilot.app.heard if isinstance(m, Transcript.CopyRequested)]
        assert copied == ["the reasoning", "the reply", "the code", "the code", "the output of run_command"]


async def test_the_chosen_block_carries_a_bar_while_the_widget_has_the_focus() -> None:
    async with staged((80, 40)) as (transcript, pilot):
        transcript.show_all(conversation())
        await pilot.pause()
        assert not any(row.startswith("┃") for row in in_view(transcript))
        await focus(transcript, pilot)
        await pilot.press("home")
        await pilot.pause()
        assert [row[:1].strip() for row in in_view(transcript)[:3]] == ["┃", "", ""]
        pilot.app.set_focus(None)
        await pilot.pause()
        assert not any(row.startswith("┃") for row in in_view(transcript))


async def test_a_tool_block_unfolds_in_place_and_folds_again() -> None:
    async with staged((80, 20)) as (transcript, pilot):
        transcript.show_all(conversation())
        await pilot.pause()
        await focus(transcript, pilot)
        await pilot.press("enter")
        await pilot.pause()
        assert any("seq 40" in row for row in in_view(transcript))
        assert not any("more lines" in row for row in in_view(transcript))
        assert not transcript.following
        await pilot.press("space")
        await pilot.pause()
        assert any("more lines" in row for row in in_view(transcript))
        assert transcript.following


async def test_down_scrolls_through_what_is_longer_than_the_view_before_it_goes_on() -> None:
    async with staged((60, 10)) as (transcript, pilot):
        transcript.show_all(
            [entry(1, PromptContent("p")), entry(2, ReplyContent("line\n\n" * 12)), entry(3, PromptContent("q"))]
        )
        await pilot.pause()
        await focus(transcript, pilot)
        await pilot.press("home", "down")
        assert transcript.chosen is transcript.blocks[1]
        top = transcript.scroll_y
        await pilot.press("down")
        assert transcript.chosen is transcript.blocks[1]
        assert transcript.scroll_y > top
        await pilot.press(*["down"] * 10)
        assert transcript.chosen is transcript.blocks[2]
        await pilot.press(*["up"] * 12)
        assert transcript.chosen is transcript.blocks[0]
        assert transcript.scroll_y == 0


async def test_opening_asks_for_the_block_in_the_pager() -> None:
    async with staged() as (transcript, pilot):
        transcript.show_all(conversation())
        await pilot.pause()
        await focus(transcript, pilot)
        await pilot.press("o")
        await pilot.pause()
        [message] = [m for m in pilot.app.heard if isinstance(m, Transcript.OpenRequested)]
        assert (message.entry, message.call) == (4, "c1")
        assert message.text.startswith("0\n1\n")


async def test_keys_on_an_empty_transcript_do_nothing() -> None:
    async with staged() as (transcript, pilot):
        await focus(transcript, pilot)
        await pilot.press("c", "o", "enter", "up", "down", "alt+up", "alt+down", "home", "end", "pageup")
        assert pilot.app.heard == []


async def test_keys_can_be_changed_by_their_ids() -> None:
    async with staged() as (transcript, pilot):
        pilot.app.set_keymap({"transcript.copy": "y"})
        transcript.show_all(conversation())
        await pilot.pause()
        await focus(transcript, pilot)
        await pilot.press("c", "y")
        await pilot.pause()
        assert len([m for m in pilot.app.heard if isinstance(m, Transcript.CopyRequested)]) == 1


async def test_a_click_chooses_the_block() -> None:
    async with staged((80, 40)) as (transcript, pilot):
        transcript.show_all(conversation())
        await pilot.pause()
        await pilot.click(Transcript, offset=(10, 4))
        await pilot.pause()
        assert transcript.chosen is transcript.blocks[2]
