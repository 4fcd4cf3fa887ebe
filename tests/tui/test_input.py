"""The input: lines, pastes, bursts of keys, completion, and what comes back with Up."""

from typing import Any

import pytest
from textual import events
from textual.app import ComposeResult

from tests.tui.face import press_at, until
from wisp_tui.in_order import InOrder
from wisp_tui.widgets.input_box import InputBox
from wisp_tui.widgets.recall import Draft
from wisp_tui.widgets.suggestions import Suggestions


class Host(InOrder):
    """An app with nothing but the input."""

    def __init__(self) -> None:
        super().__init__()
        self.sent: list[Draft] = []
        self.taken_back = 0

    def compose(self) -> ComposeResult:
        yield InputBox(lambda event: False)

    def on_mount(self) -> None:
        self.box.prompt.focus()
        self.take_keys()
        self.box.commands = [("help", "list the commands"), ("model", "[NAME]  the model"), ("mode", "the mode")]

    @property
    def box(self) -> InputBox:
        return self.query_one(InputBox)

    def on_input_box_sent(self, event: InputBox.Sent) -> None:
        self.sent.append(event.draft)

    def on_input_box_take_back_wanted(self) -> None:
        self.taken_back += 1


async def type_slowly(app: Host, pilot: Any, text: str, start: float = 1000.0) -> None:
    """Type as fingers do."""
    for _ in press_at(app, start, text=text, gap=0.1):
        pass
    await pilot.pause()


async def paste(app: Host, pilot: Any, text: str) -> None:
    app.box.prompt.post_message(events.Paste(text))
    await pilot.pause()


async def test_enter_sends_and_empties_the_input() -> None:
    async with Host().run_test() as pilot:
        app = pilot.app
        await type_slowly(app, pilot, "hello\r")
        assert app.sent == [Draft("hello")]
        assert app.box.prompt.text == ""


@pytest.mark.parametrize("key", ["ctrl+j", "shift+enter", "alt+enter"])
async def test_a_line_is_broken_without_sending(key: str) -> None:
    async with Host().run_test() as pilot:
        await pilot.press("a", key, "b")
        assert pilot.app.box.prompt.text == "a\nb"
        assert not pilot.app.sent


async def test_a_backslash_before_enter_breaks_the_line() -> None:
    async with Host().run_test() as pilot:
        await type_slowly(pilot.app, pilot, "a\\\rb")
        assert pilot.app.box.prompt.text == "a\nb"


async def test_a_paste_never_sends_and_is_sent_as_one_message() -> None:
    async with Host().run_test() as pilot:
        await paste(pilot.app, pilot, "l1\nl2\n")
        assert not pilot.app.sent
        await type_slowly(pilot.app, pilot, "\r")
        assert pilot.app.sent == [Draft("l1\nl2\n", literal=True)]


@pytest.mark.parametrize("end", ["\r\n", "\r"])
async def test_every_end_of_line_in_a_paste_is_one_line_break(end: str) -> None:
    async with Host().run_test() as pilot:
        await paste(pilot.app, pilot, f"a{end}b")
        assert pilot.app.box.prompt.draft.text == "a\nb"


async def test_lines_that_arrive_as_keys_all_at_once_are_one_message() -> None:
    async with Host().run_test() as pilot:
        for _ in press_at(pilot.app, 1000.0, text="line1\rline2\r", gap=0.005):
            pass
        await pilot.pause(0.1)
        assert not pilot.app.sent
        assert pilot.app.box.prompt.text == "line1\nline2\n"
        await type_slowly(pilot.app, pilot, "\r", start=1000.5)
        assert [draft.text for draft in pilot.app.sent] == ["line1\nline2\n"]


async def test_a_program_that_types_a_line_and_enter_sends_it() -> None:
    async with Host().run_test() as pilot:
        for _ in press_at(pilot.app, 1000.0, text="hello\r", gap=0.001):
            pass
        await until(pilot, lambda: pilot.app.sent)
        assert pilot.app.sent == [Draft("hello")]


async def test_a_long_paste_stands_as_its_size_and_is_sent_whole() -> None:
    text = "".join(f"row {n}\n" for n in range(5000))
    async with Host().run_test() as pilot:
        await paste(pilot.app, pilot, text)
        assert pilot.app.box.prompt.text == "[pasted 5,000 lines]"
        await type_slowly(pilot.app, pilot, "\r")
        assert pilot.app.sent[0].text == text


async def test_a_paste_of_six_megabytes_is_sent_whole() -> None:
    text = "x" * 6_000_000
    async with Host().run_test() as pilot:
        await paste(pilot.app, pilot, text)
        await type_slowly(pilot.app, pilot, "\r")
        assert pilot.app.sent[0].text == text


async def test_a_label_goes_whole_or_stays_whole() -> None:
    async with Host().run_test() as pilot:
        prompt = pilot.app.box.prompt
        await paste(pilot.app, pilot, "x\n" * 20)
        await pilot.press("left", "left", "left", "a")
        assert prompt.draft.text == "x\n" * 20 + "a"
        await pilot.press("end", "left", "backspace")
        assert prompt.text == "a"


async def test_a_label_that_was_deleted_and_brought_back_still_holds_its_text() -> None:
    async with Host().run_test() as pilot:
        prompt = pilot.app.box.prompt
        await paste(pilot.app, pilot, "x\n" * 20)
        await pilot.press("backspace")
        assert prompt.text == ""
        await pilot.press("ctrl+z")
        assert prompt.draft.text == "x\n" * 20


@pytest.mark.parametrize("text", ["/etc/hosts", "!rm x", "// a", "@/etc/passwd"])
async def test_what_is_pasted_stays_text_whatever_it_begins_with(text: str) -> None:
    async with Host().run_test() as pilot:
        await paste(pilot.app, pilot, text)
        assert not pilot.app.box.suggesting
        await type_slowly(pilot.app, pilot, " more\r")
        assert pilot.app.sent == [Draft(f"{text} more", literal=True)]
        await pilot.press("up")
        assert pilot.app.box.prompt.draft == Draft(f"{text} more", literal=True)


async def test_undoing_cannot_turn_a_paste_into_a_command() -> None:
    async with Host().run_test() as pilot:
        await paste(pilot.app, pilot, "!rm x")
        await pilot.press("ctrl+a", "ctrl+k")
        await type_slowly(pilot.app, pilot, "!")
        await pilot.press("backspace", "ctrl+z", "ctrl+z", "ctrl+z")
        draft = pilot.app.box.prompt.draft
        assert draft.literal or not draft.text.startswith("!rm")


async def test_control_sequences_in_a_paste_are_kept_but_never_shown() -> None:
    async with Host().run_test() as pilot:
        await paste(pilot.app, pilot, "a\x1b[2Jb\u202ec")
        assert "\x1b" not in pilot.app.box.prompt.text
        await type_slowly(pilot.app, pilot, "\r")
        assert pilot.app.sent[0].text == "a\x1b[2Jb\u202ec"


async def test_up_recalls_from_the_first_wrapped_row_alone() -> None:
    async with Host().run_test(size=(30, 20)) as pilot:
        box = pilot.app.box
        box.recall.fill(["earlier"])
        box.prompt.put(Draft("word " * 12))
        await pilot.press("up")
        assert box.prompt.text.startswith("word")
        await pilot.press("up", "up", "up", "up")
        assert box.prompt.text == "earlier"
        await pilot.press("down")
        assert box.prompt.text == "word " * 12


async def test_what_was_cleared_comes_back_with_up_and_is_sent_whole() -> None:
    text = "y\n" * 5000
    async with Host().run_test() as pilot:
        await paste(pilot.app, pilot, text)
        pilot.app.box.clear()
        await pilot.press("up")
        await type_slowly(pilot.app, pilot, "\r")
        assert pilot.app.sent[0].text == text


async def test_up_from_an_empty_input_takes_back_what_waits() -> None:
    async with Host().run_test() as pilot:
        pilot.app.box.waiting = 1
        await pilot.press("up")
        assert pilot.app.taken_back == 1


async def test_a_slash_offers_the_commands_and_tab_completes_the_chosen_one() -> None:
    async with Host().run_test() as pilot:
        app = pilot.app
        await type_slowly(app, pilot, "/mo")
        assert [name for name, _ in app.query_one(Suggestions).rows] == ["model", "mode"]
        await pilot.press("down", "tab")
        assert app.box.prompt.text == "/mode "
        assert not app.box.suggesting


async def test_enter_on_half_a_command_completes_and_on_a_whole_one_sends() -> None:
    async with Host().run_test() as pilot:
        app = pilot.app
        await type_slowly(app, pilot, "/he\r")
        assert app.box.prompt.text == "/help "
        assert not app.sent
        app.box.clear()
        await type_slowly(app, pilot, "/help\r", start=2000.0)
        assert app.sent == [Draft("/help")]


async def test_a_draft_too_long_to_edit_at_ease_stands_as_its_size() -> None:
    async with Host().run_test() as pilot:
        pilot.app.box.put(Draft("z\n" * 3000))
        assert pilot.app.box.prompt.text == "[pasted 3,000 lines]"
        assert pilot.app.box.prompt.draft.text == "z\n" * 3000
