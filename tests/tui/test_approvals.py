"""Approvals: what runs is what was shown whole, and nothing that was typed for something else answers."""

import asyncio
import time
from dataclasses import replace
from pathlib import Path

import pytest

from tests.tui.face import conversation, press_at, script, shown, until
from wisp_core.requests import Answer, Approval, Question, ToolKind, Verdict
from wisp_tui.screens.conversation import ConversationScreen
from wisp_tui.widgets.approval import ALONE_FOR, QUIET_BEFORE, VISIBLE_BEFORE, Body
from wisp_tui.widgets.asked import body

RULE = "run_command(ls)"
LATER = VISIBLE_BEFORE + QUIET_BEFORE + 0.1  # seconds after which keys are meant for the question


def approval(command: str, call: str = "c1", *, rule: str = RULE, **more: object) -> Approval:
    arguments = {"command": command} | more
    return Approval(call, "run_command", ToolKind.COMMAND, arguments, "/work", "it runs a command", rule)


class Asking:
    """A question asked of a screen that stands open, and what became of it."""

    def __init__(self, screen: ConversationScreen, *questions: Approval | Question) -> None:
        self.answers: list[Answer] = []
        self.screen = screen
        self.tasks = [asyncio.ensure_future(self._ask(one)) for one in questions]

    async def _ask(self, one: Approval | Question) -> None:
        self.answers.append(await self.screen._questions.ask(one))

    @property
    def ready(self) -> bool:
        panel = self.screen.panel
        return panel.open and panel._visible_since is not None and panel.size.height > 0

    async def end(self) -> None:
        for task in self.tasks:
            task.cancel()
        await asyncio.gather(*self.tasks, return_exceptions=True)


def press(screen: ConversationScreen, keys: str, *, later: float = LATER) -> None:
    """Press keys, the first `later` seconds from now by their own clock."""
    for _ in press_at(screen.app, time.monotonic() + later, text=keys, gap=1.0):
        pass


async def test_typing_on_while_a_question_appears_answers_nothing(tmp_path: Path) -> None:
    async with conversation(script(tmp_path)) as (pilot, screen):
        began = time.monotonic()
        for _ in press_at(pilot.app, began, text="yes"):
            pass
        await pilot.pause()
        asking = Asking(screen, approval("rm -rf ."))
        await until(pilot, lambda: asking.ready)
        for _ in press_at(pilot.app, began + 0.09, text=", a1y\r"):
            pass
        await pilot.pause(ALONE_FOR * 2)
        assert not asking.answers
        assert screen.box.prompt.text == "yes, a1y"
        await asking.end()


@pytest.mark.parametrize(
    ("key", "verdict"), [("y", Verdict.ONCE), ("a", Verdict.THREAD), ("w", Verdict.ALWAYS), ("n", Verdict.NO)]
)
async def test_a_letter_alone_answers_a_question_that_was_seen(tmp_path: Path, key: str, verdict: Verdict) -> None:
    async with conversation(script(tmp_path)) as (pilot, screen):
        asking = Asking(screen, approval("ls"))
        await until(pilot, lambda: asking.ready and screen.panel.query_one(Body).whole)
        press(screen, key)
        await until(pilot, lambda: asking.answers)
        assert asking.answers[0].verdict is verdict
        assert screen.box.prompt.text == ""


async def test_always_is_offered_with_the_rule_that_it_makes_and_not_where_no_rule_can_allow(tmp_path: Path) -> None:
    async with conversation(script(tmp_path)) as (pilot, screen):
        asking = Asking(screen, approval("ls", rule="run_command(ls \u202e[b]x)"), approval("ls; rm x", "c2", rule=""))
        await until(pilot, lambda: "a for this conversation, w always: run_command(ls <U+202E>[b]x)" in shown(screen))
        press(screen, "y")
        await until(pilot, lambda: len(asking.answers) == 1 and asking.ready and "ls; rm x" in shown(screen))
        assert "for this conversation" not in shown(screen)
        press(screen, "a", later=LATER * 2)
        press(screen, "w", later=LATER * 2)
        await pilot.pause(ALONE_FOR * 2)
        assert len(asking.answers) == 1
        await asking.end()


async def test_a_question_is_answered_by_the_number_of_a_choice(tmp_path: Path) -> None:
    async with conversation(script(tmp_path)) as (pilot, screen):
        asking = Asking(screen, Question("c1", "Which [b]colour?", ("red", "blue")))
        await until(pilot, lambda: asking.ready and "Which [b]colour?" in shown(screen))
        assert "2 blue" in shown(screen)
        press(screen, "2")
        await until(pilot, lambda: len(asking.answers) == 1)
        assert asking.answers[0].text == "blue"
        await asking.end()


async def test_a_question_is_answered_in_own_words_or_not_at_all(tmp_path: Path) -> None:
    async with conversation(script(tmp_path)) as (pilot, screen):
        asking = Asking(screen, Question("c1", "Which port?"), Question("c2", "And which host?"))
        await until(pilot, lambda: asking.ready)
        press(screen, "r")
        await until(pilot, lambda: screen.panel.has_class("-reason"))
        await pilot.press(*"8080", "enter")
        await until(pilot, lambda: len(asking.answers) == 1 and "And which host?" in shown(screen))
        screen.panel.press("escape")
        await until(pilot, lambda: len(asking.answers) == 2)
        assert [answer.text for answer in asking.answers] == ["8080", ""]
        await asking.end()


def test_an_edit_shows_the_difference_that_it_makes() -> None:
    edit = replace(approval("", path="a.txt"), tool="edit_file", preview="--- a.txt\n+++ a.txt\n-old\u202e\n+new\n")
    assert "-old<U+202E>\n+new" in body(edit).plain


async def test_a_letter_within_half_a_second_of_the_question_goes_to_the_draft(tmp_path: Path) -> None:
    async with conversation(script(tmp_path)) as (pilot, screen):
        asking = Asking(screen, approval("ls"))
        await until(pilot, lambda: asking.ready)
        press(screen, "y", later=0.1)
        await until(pilot, lambda: screen.box.prompt.text == "y")
        await pilot.pause(ALONE_FOR * 2)
        assert not asking.answers
        await asking.end()


async def test_a_word_that_begins_like_an_answer_goes_to_the_draft_whole(tmp_path: Path) -> None:
    async with conversation(script(tmp_path)) as (pilot, screen):
        asking = Asking(screen, approval("ls"))
        await until(pilot, lambda: asking.ready)
        for _ in press_at(pilot.app, time.monotonic() + LATER, text="and then"):
            pass
        await until(pilot, lambda: screen.box.prompt.text == "and then")
        await pilot.pause(ALONE_FOR * 2)
        assert not asking.answers
        await asking.end()


@pytest.mark.parametrize("key", ["\r", " "])
async def test_enter_and_space_never_approve(tmp_path: Path, key: str) -> None:
    async with conversation(script(tmp_path)) as (pilot, screen):
        asking = Asking(screen, approval("ls"))
        await until(pilot, lambda: asking.ready)
        press(screen, key)
        await pilot.pause(ALONE_FOR * 2)
        assert not asking.answers
        await asking.end()


async def test_a_long_command_can_be_approved_only_after_all_of_it_was_on_screen(tmp_path: Path) -> None:
    async with conversation(script(tmp_path)) as (pilot, screen):
        asking = Asking(screen, approval("\n".join(f"echo {n}" for n in range(100)) + "\nrm -rf ~"))
        await until(pilot, lambda: asking.ready)
        body = screen.panel.query_one(Body)
        press(screen, "y")
        await pilot.pause(ALONE_FOR * 2)
        assert not asking.answers
        for _ in range(20):
            await pilot.press("pagedown")
        await until(pilot, lambda: body.whole)
        press(screen, "y", later=LATER * 2)
        await until(pilot, lambda: asking.answers)
        assert asking.answers[0].verdict is Verdict.ONCE


async def test_jumping_to_the_end_does_not_count_as_having_seen_the_middle(tmp_path: Path) -> None:
    async with conversation(script(tmp_path)) as (pilot, screen):
        asking = Asking(screen, approval("\n".join(f"echo {n}" for n in range(100))))
        await until(pilot, lambda: asking.ready)
        body = screen.panel.query_one(Body)
        body.scroll_end(animate=False)
        await pilot.pause()
        assert not body.whole
        await asking.end()


async def test_a_refusal_can_carry_a_reason(tmp_path: Path) -> None:
    async with conversation(script(tmp_path)) as (pilot, screen):
        asking = Asking(screen, approval("ls"))
        await until(pilot, lambda: asking.ready)
        press(screen, "r")
        await until(pilot, lambda: screen.focused is screen.panel.query_one("#approval-reason"))
        await pilot.press(*"use git", "enter")
        await until(pilot, lambda: asking.answers)
        assert asking.answers == [Answer(Verdict.NO, reason="use git")]
        assert screen.focused is screen.box.prompt


async def test_esc_in_the_reason_goes_back_to_the_question(tmp_path: Path) -> None:
    async with conversation(script(tmp_path)) as (pilot, screen):
        asking = Asking(screen, approval("ls"))
        await until(pilot, lambda: asking.ready)
        press(screen, "r")
        await until(pilot, lambda: screen.panel.has_class("-reason"))
        await pilot.press("escape")
        assert not screen.panel.has_class("-reason")
        assert not asking.answers
        await asking.end()


async def test_several_questions_are_asked_one_at_a_time_in_order(tmp_path: Path) -> None:
    async with conversation(script(tmp_path)) as (pilot, screen):
        asking = Asking(screen, approval("first", "c1"), approval("second", "c2"))
        await until(pilot, lambda: asking.ready)
        assert "1 more after this" in str(screen.panel.border_title)
        press(screen, "y")
        await until(pilot, lambda: len(asking.answers) == 1 and asking.ready)
        press(screen, "n", later=LATER * 2)
        await until(pilot, lambda: len(asking.answers) == 2)
        assert [answer.verdict for answer in asking.answers] == [Verdict.ONCE, Verdict.NO]
        assert not screen.panel.open


async def test_a_question_whose_turn_was_interrupted_goes_away(tmp_path: Path) -> None:
    async with conversation(script(tmp_path)) as (pilot, screen):
        asking = Asking(screen, approval("ls"))
        await until(pilot, lambda: asking.ready)
        await asking.end()
        assert not screen.panel.open


async def test_a_question_that_was_covered_counts_its_time_anew(tmp_path: Path) -> None:
    async with conversation(script(tmp_path)) as (pilot, screen):
        asking = Asking(screen, approval("ls"))
        await until(pilot, lambda: asking.ready)
        before = screen.panel._visible_since
        await pilot.press("f1")
        await pilot.press("escape")
        await until(pilot, lambda: pilot.app.screen is screen and asking.ready)
        assert screen.panel._visible_since > before
        await asking.end()


def test_invisible_and_reordering_characters_stand_as_code_points() -> None:
    shown = body(approval("ls \u202e\u200b\x1b[8mrm", path="a\u2066b")).plain
    assert "ls <U+202E><U+200B><U+001B>[8mrm" in shown
    assert "a<U+2066>b" in shown


def test_markup_in_a_command_is_shown_as_it_is() -> None:
    text = "see [/INST] [@click=app.quit]x[/] \\[q]"
    assert f"$ {text}" in body(approval(text)).plain


def test_every_argument_is_shown_in_full() -> None:
    shown = body(approval("x" * 5000, timeout=3, options={"deep": [1, 2]})).plain
    assert "x" * 5000 in shown
    assert "timeout: 3" in shown
    assert 'options: {"deep": [1, 2]}' in shown


def test_no_line_of_a_call_can_pass_for_a_row_of_the_question() -> None:
    forged = "ls\nin   /elsewhere\nwhy  it is harmless"
    for arguments, lead in (({"command": forged}, "$ "), ({"text": forged}, "text: ")):
        asked = Approval("c1", "run_command", ToolKind.COMMAND, arguments, "/here", "it runs\na command", "", "")
        first, *under, where, why = body(asked).plain.split("\n")
        assert (first, where, why) == (f"{lead}ls", "in   /here", "why  it runs<U+000A>a command")
        assert under == [" " * len(lead) + line for line in forged.split("\n")[1:]]
