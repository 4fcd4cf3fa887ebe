"""The conversation from the person's side: sending, streaming, queueing, interrupting, leaving and coming back."""

import json
from contextlib import ExitStack
from pathlib import Path

import pytest
from textual import events

from tests.tui.face import conversation, script, shown, until
from tests.tui.test_approvals import press
from wisp_core.events import Prompt
from wisp_core.records import Outcome, PromptContent
from wisp_tui.screens.context import ContextScreen
from wisp_tui.screens.conversation import ConversationScreen
from wisp_tui.screens.help import HelpScreen
from wisp_tui.screens.history import HistoryScreen
from wisp_tui.screens.pager import PagerScreen, PageView
from wisp_tui.widgets.recall import Draft
from wisp_tui.widgets.status import Status

WAITS = {"when": "wait", "text": ["thinking of it"], "hang": True, "repeat": True}
ANSWER = {"text": ["All ", "is **well**."], "repeat": True}
RUNS = {"when": "run it", "calls": [{"name": "run_command", "arguments": {"command": "printf 'one\\ntwo\\n'"}}]}


def send(screen: ConversationScreen, text: str) -> None:
    screen.box.prompt.put(Draft(text))
    screen.box.send()


def prompts(screen: ConversationScreen) -> list[str]:
    entries = screen.link.thread.record.entries.values()
    return [entry.content.text for entry in entries if isinstance(entry.content, PromptContent)]


def done(screen: ConversationScreen, turns: int) -> bool:
    record = screen.link.thread.record
    return record.last_turn == turns and record.turns[turns].outcome is not None and not screen.link.busy


async def test_a_prompt_is_answered_and_both_are_shown(tmp_path: Path) -> None:
    async with conversation(script(tmp_path, ANSWER)) as (pilot, screen):
        send(screen, "how is it?")
        await until(pilot, lambda: done(screen, 1) and "All is well." in shown(screen))
        assert "how is it?" in shown(screen)


async def test_the_first_line_says_which_model_was_chosen_and_why(tmp_path: Path) -> None:
    async with conversation(script(tmp_path, ANSWER)) as (pilot, screen):
        send(screen, "hello")
        await until(pilot, lambda: done(screen, 1))
        assert screen.link.wisp.why[:40] in shown(screen)


async def test_what_is_typed_before_the_core_is_there_is_sent_when_it_is(tmp_path: Path) -> None:
    async with conversation(script(tmp_path, ANSWER), prompt="from the command line") as (pilot, screen):
        await until(pilot, lambda: done(screen, 1))
        assert prompts(screen) == ["from the command line"]


async def test_prompts_behind_a_turn_wait_in_sight_and_go_in_order(tmp_path: Path) -> None:
    steps = [{"when": "first", "calls": [{"name": "run_command", "arguments": {"command": "ls"}}]}, ANSWER]
    async with conversation(script(tmp_path, *steps)) as (pilot, screen):
        send(screen, "first")
        await until(pilot, lambda: screen.panel.open)
        send(screen, "second")
        send(screen, "third")
        await until(pilot, lambda: "2 prompts" in shown(screen) and "▸ second" in shown(screen))
        await until(pilot, lambda: screen.panel._visible_since is not None)
        press(screen, "n")
        await until(pilot, lambda: done(screen, 3))
        assert prompts(screen) == ["first", "second", "third"]


async def test_up_takes_the_last_queued_prompt_back(tmp_path: Path) -> None:
    async with conversation(script(tmp_path, WAITS, ANSWER)) as (pilot, screen):
        send(screen, "wait")
        await until(pilot, lambda: screen.link.busy)
        send(screen, "second")
        await until(pilot, lambda: len(screen.link.queue) == 1)
        await pilot.press("up")
        await until(pilot, lambda: screen.box.prompt.text == "second")
        assert not screen.link.queue


async def test_esc_interrupts_and_what_waited_is_held_until_enter(tmp_path: Path) -> None:
    async with conversation(script(tmp_path, WAITS, ANSWER)) as (pilot, screen):
        send(screen, "wait")
        await until(pilot, lambda: "thinking of it" in shown(screen))
        send(screen, "second")
        await until(pilot, lambda: len(screen.link.queue) == 1)
        assert "Interrupt" in shown(screen)
        await pilot.press("escape")
        await until(pilot, lambda: screen.link.held and "held" in shown(screen))
        assert screen.link.thread.record.turns[1].outcome is Outcome.INTERRUPTED
        assert prompts(screen) == ["wait"]
        await pilot.press("enter")
        await until(pilot, lambda: done(screen, 2))
        assert prompts(screen) == ["wait", "second"]


async def test_a_queue_survives_an_interrupt_and_a_restart(tmp_path: Path) -> None:
    model = script(tmp_path, WAITS, ANSWER)
    async with conversation(model) as (pilot, screen):
        send(screen, "wait")
        await until(pilot, lambda: screen.link.busy)
        send(screen, "A")
        send(screen, "B")
        await until(pilot, lambda: len(screen.link.queue) == 2)
        await pilot.press("escape")
        await until(pilot, lambda: screen.link.held)
    async with conversation(model, newest=True) as (pilot, screen):
        await until(pilot, lambda: "held · 2 prompts" in shown(screen))
        assert prompts(screen) == ["wait"]
        await pilot.press("f8")
        await until(pilot, lambda: not screen.link.queue)
    async with conversation(model, newest=True) as (_, screen):
        assert not screen.link.queue


async def test_a_plain_start_says_what_waits_in_the_conversation_before(tmp_path: Path) -> None:
    model = script(tmp_path, WAITS, ANSWER)
    async with conversation(model) as (pilot, screen):
        send(screen, "wait")
        await until(pilot, lambda: screen.link.busy)
        send(screen, "A")
        await until(pilot, lambda: len(screen.link.queue) == 1)
    async with conversation(model) as (pilot, screen):
        await until(pilot, lambda: "1 prompt waits in the conversation before" in shown(screen))
        assert "wisp-tui --continue goes back to it" in " ".join(shown(screen).split())
        assert not screen.link.queue


async def test_unsent_text_is_there_at_the_next_start(tmp_path: Path) -> None:
    model = script(tmp_path, ANSWER)
    async with conversation(model) as (pilot, screen):
        screen.box.prompt.put(Draft("/half a thought", literal=True))
    async with conversation(model) as (pilot, screen):
        await until(pilot, lambda: screen.box.prompt.text)
        assert screen.box.prompt.draft == Draft("/half a thought", literal=True)


async def test_ctrl_c_sets_the_draft_aside_and_twice_leaves_with_it_kept(tmp_path: Path) -> None:
    model = script(tmp_path, ANSWER)
    async with conversation(model) as (pilot, screen):
        screen.box.prompt.put(Draft("unfinished"))
        await pilot.press("ctrl+c")
        assert screen.box.prompt.text == ""
        await pilot.press("up")
        assert screen.box.prompt.text == "unfinished"
        await pilot.press("ctrl+c")
        await until(pilot, lambda: pilot.app._exit)
    async with conversation(model) as (pilot, screen):
        await until(pilot, lambda: screen.box.prompt.text == "unfinished")


async def test_history_goes_on_across_sessions_and_ctrl_r_finds_in_it(tmp_path: Path) -> None:
    model = script(tmp_path, ANSWER)
    async with conversation(model) as (pilot, screen):
        for number, text in enumerate(("fix the parser", "write the docs"), 1):
            send(screen, text)
            await until(pilot, lambda number=number: done(screen, number))
    async with conversation(model) as (pilot, screen):
        await until(pilot, lambda: screen.box.recall.past)
        await pilot.press("ctrl+r")
        await until(pilot, lambda: isinstance(pilot.app.screen, HistoryScreen))
        await pilot.press(*"parser", "enter")
        await until(pilot, lambda: screen.box.prompt.text == "fix the parser")


async def test_going_on_shows_what_was_seen(tmp_path: Path) -> None:
    model = script(tmp_path, ANSWER)
    async with conversation(model) as (pilot, screen):
        send(screen, "remember me")
        await until(pilot, lambda: done(screen, 1))
    async with conversation(model, newest=True) as (pilot, screen):
        await until(pilot, lambda: "remember me" in shown(screen) and "All is well." in shown(screen))


async def test_a_failed_turn_says_so_and_the_conversation_goes_on(tmp_path: Path) -> None:
    fails = {"when": "bad", "error": {"type": "bad_request", "message": "no [/INST] such thing"}}
    async with conversation(script(tmp_path, fails, ANSWER)) as (pilot, screen):
        send(screen, "bad")
        await until(pilot, lambda: done(screen, 1) and "no [/INST] such thing" in " ".join(shown(screen).split()))
        send(screen, "good")
        await until(pilot, lambda: done(screen, 2))


async def test_a_wrong_command_names_the_nearest(tmp_path: Path) -> None:
    async with conversation(script(tmp_path, ANSWER)) as (pilot, screen):
        send(screen, "/hepl")
        await until(pilot, lambda: "did you mean /help?" in shown(screen))
        assert not prompts(screen)


async def test_a_pasted_command_is_sent_as_a_prompt(tmp_path: Path) -> None:
    async with conversation(script(tmp_path, ANSWER)) as (pilot, screen):
        screen.box.prompt.put(Draft("/etc/hosts", literal=True))
        screen.box.send()
        await until(pilot, lambda: done(screen, 1))
        assert prompts(screen) == ["/etc/hosts"]


async def test_the_persons_own_command_runs_and_is_shown(tmp_path: Path) -> None:
    async with conversation(script(tmp_path, ANSWER)) as (pilot, screen):
        send(screen, "!printf 'from %s' shell")
        await until(pilot, lambda: "from shell" in shown(screen))


async def test_the_persons_own_command_is_told_while_it_runs_and_esc_ends_it(tmp_path: Path) -> None:
    async with conversation(script(tmp_path, ANSWER)) as (pilot, screen):
        send(screen, "!sleep 60")
        await until(pilot, lambda: "● !sleep 60" in shown(screen) and "Interrupt" in shown(screen))
        await pilot.press("escape")
        await until(pilot, lambda: "cancelled" in shown(screen) and "ready" in shown(screen))
        assert "Interrupt" not in shown(screen)


async def test_the_page_keys_scroll_the_conversation_from_the_input_and_a_draft_that_is_longer(tmp_path: Path) -> None:
    long = {"text": "\n\n".join(f"paragraph {n}" for n in range(60)), "repeat": True}
    async with conversation(script(tmp_path, long)) as (pilot, screen):
        send(screen, "tell")
        await until(pilot, lambda: done(screen, 1) and "paragraph 59" in shown(screen))
        await pilot.press("pageup")
        await until(pilot, lambda: "paragraph 59" not in shown(screen))
        await pilot.press("ctrl+end")
        screen.box.prompt.put(Draft("\n".join(f"row {n}" for n in range(40))))
        await until(pilot, lambda: "paragraph 59" in shown(screen))
        await pilot.press("pageup")
        assert screen.box.prompt.cursor_location[0] < 39
        assert "paragraph 59" in shown(screen)


async def test_what_is_sent_is_in_view_and_what_comes_while_one_reads_above_is_told(tmp_path: Path) -> None:
    long = {"text": "\n\n".join(f"paragraph {n}" for n in range(60)), "repeat": True}
    async with conversation(script(tmp_path, long)) as (pilot, screen):
        send(screen, "tell")
        await until(pilot, lambda: done(screen, 1) and "paragraph 59" in shown(screen))
        await pilot.press("ctrl+home")
        await until(pilot, lambda: not screen.transcript.following)
        screen.transcript.note("something new")
        await until(pilot, lambda: "↓ more below" in shown(screen))
        send(screen, "/mode")
        await until(pilot, lambda: "mode ask" in shown(screen) and "↓ more below" not in shown(screen))


async def test_esc_is_the_first_key_told_and_goes_back_to_the_input(tmp_path: Path) -> None:
    async with conversation(script(tmp_path, ANSWER), size=(60, 16)) as (pilot, screen):
        send(screen, "tell")
        await until(pilot, lambda: done(screen, 1))
        await pilot.press("tab")
        await until(pilot, lambda: shown(screen).splitlines()[-1].strip().startswith("esc Input"))
        assert "c Copy" in shown(screen).splitlines()[-1]
        await pilot.press("escape")
        assert screen.focused is screen.box.prompt


async def test_the_list_of_commands_takes_a_row_a_command_on_a_narrow_terminal(tmp_path: Path) -> None:
    async with conversation(script(tmp_path, ANSWER), size=(60, 16)) as (pilot, screen):
        await pilot.press("slash")
        await until(pilot, lambda: screen.box.suggesting)
        assert screen.box.query_one("Suggestions").size.height == 6


async def test_the_themes_are_listed_in_the_conversation(tmp_path: Path) -> None:
    async with conversation(script(tmp_path, ANSWER), size=(120, 50)) as (pilot, screen):
        send(screen, "/theme")
        await until(pilot, lambda: "wisp-dark  (in use)" in shown(screen) and "nord" in shown(screen))


async def test_an_output_is_paged_with_ctrl_o_and_searched(tmp_path: Path) -> None:
    async with conversation(script(tmp_path, RUNS, ANSWER), mode="auto") as (pilot, screen):
        send(screen, "run it")
        await until(pilot, lambda: screen.panel.open or done(screen, 1))
        if screen.panel.open:
            await until(pilot, lambda: screen.panel._visible_since is not None)
            press(screen, "y")
        await until(pilot, lambda: done(screen, 1))
        await pilot.press("ctrl+o")
        await until(pilot, lambda: isinstance(pilot.app.screen, PagerScreen))
        view = pilot.app.screen.query_one(PageView)
        await until(pilot, lambda: "two" in view.rows)
        await pilot.press("slash", *"two", "enter")
        await until(pilot, lambda: view.found == view.rows.index("two"))
        await pilot.press("escape")
        await until(pilot, lambda: pilot.app.screen is screen)


async def test_the_next_request_is_listed_entry_by_entry_and_opens_to_its_exact_text(tmp_path: Path) -> None:
    async with conversation(script(tmp_path, ANSWER)) as (pilot, screen):
        send(screen, "count me")
        await until(pilot, lambda: done(screen, 1))
        await pilot.press("ctrl+t")
        await until(
            pilot, lambda: isinstance(pilot.app.screen, ContextScreen) and "count me" in shown(pilot.app.screen)
        )
        listed = shown(pilot.app.screen)
        assert "tokens" in listed
        assert "prompt" in listed
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(pilot.app.screen, PagerScreen))
        view = pilot.app.screen.query_one(PageView)
        await until(pilot, lambda: view.rows == ["All is **well**."])


async def test_help_lists_the_keys_as_they_are_bound_and_the_commands(tmp_path: Path, wisp_home: Path) -> None:
    wisp_home.mkdir(mode=0o700)
    (wisp_home / "config.json").write_text(json.dumps({"keys": {"context": "f9"}, "theme": "wisp-light"}))
    async with conversation(script(tmp_path, ANSWER), size=(120, 60)) as (pilot, screen):
        await until(pilot, lambda: pilot.app.theme == "wisp-light")
        await until(pilot, lambda: "f9 Context" in shown(screen))
        await pilot.press("f1")
        await until(pilot, lambda: isinstance(pilot.app.screen, HelpScreen))
        rows = [row.split() for row in shown(pilot.app.screen).splitlines() if " context " in row + " "]
        assert ["f9", "Context", "context"] in [row[1:4] for row in rows]
        await pilot.press("escape", "f9")
        await until(pilot, lambda: isinstance(pilot.app.screen, ContextScreen))


@pytest.mark.parametrize(("key", "said"), [("ctrl+a", True), ("x", True), ("f9", False)])
async def test_a_key_that_the_input_uses_itself_is_said(tmp_path: Path, wisp_home: Path, key: str, said: bool) -> None:
    wisp_home.mkdir(mode=0o700)
    (wisp_home / "config.json").write_text(json.dumps({"keys": {"context": key}}))
    async with conversation(script(tmp_path, ANSWER), toasts=True) as (pilot, screen):
        await until(pilot, lambda: pilot.app._keymap)
        await pilot.pause(0.3)
        assert ("context on" in shown(screen)) is said


async def test_going_on_takes_the_model_and_the_mode_that_are_named_else_the_threads_own(tmp_path: Path) -> None:
    own = script(tmp_path, ANSWER)
    (tmp_path / "other").mkdir()
    other = script(tmp_path / "other", ANSWER)
    async with conversation(own, mode="plan") as (pilot, screen):
        send(screen, "remember me")
        await until(pilot, lambda: done(screen, 1))
    async with conversation(None, newest=True) as (_, screen):
        assert screen.link.thread.model == own
        assert screen.link.thread.record.mode.value == "plan"
    async with conversation(other, newest=True, mode="auto") as (_, screen):
        assert screen.link.thread.model == other
        assert screen.link.thread.record.mode.value == "auto"


async def test_a_turn_that_wisp_did_not_survive_says_so_and_can_be_answered_again(tmp_path: Path) -> None:
    model = script(tmp_path, ANSWER)
    async with conversation(model) as (pilot, screen):
        send(screen, "first")
        await until(pilot, lambda: done(screen, 1))
        thread = screen.link.thread
        await thread._write(Prompt(text="second"), 2)
    async with conversation(model, newest=True) as (pilot, screen):
        await until(pilot, lambda: "wisp ended before this was answered; /retry" in shown(screen))
        send(screen, "/retry")
        await until(pilot, lambda: screen.link.thread.record.turns[2].outcome is Outcome.DONE)


async def test_a_reply_cut_for_its_length_names_continue(tmp_path: Path) -> None:
    async with conversation(script(tmp_path, {"text": "cut he", "finish": "length"}, ANSWER)) as (pilot, screen):
        send(screen, "tell")
        await until(pilot, lambda: done(screen, 1) and "/continue" in shown(screen))
        send(screen, "/continue")
        await until(pilot, lambda: done(screen, 2) and "All is well." in shown(screen))


async def test_every_action_of_the_keys_is_in_the_palette_too(tmp_path: Path) -> None:
    async with conversation(script(tmp_path, ANSWER)) as (_, screen):
        names = [name for name, _, _ in screen.palette_choices()]
        for name in ("Help", "Context", "Output", "History", "Editor", "Interrupt", "/new", "/theme"):
            assert name in names


async def test_what_is_typed_in_the_conversation_and_means_nothing_there_is_a_draft(tmp_path: Path) -> None:
    async with conversation(script(tmp_path, ANSWER)) as (pilot, screen):
        send(screen, "hello")
        await until(pilot, lambda: done(screen, 1))
        screen.transcript.focus()
        await until(pilot, lambda: pilot.app.focused is screen.transcript)
        for key in "more":
            pilot.app.post_message(events.Key(key, key))
        await until(pilot, lambda: screen.box.prompt.text == "more")
        assert pilot.app.focused is screen.box.prompt
        assert pilot.app.screen is screen


async def test_of_what_is_done_at_once_outside_of_a_turn_what_goes_on_is_told(tmp_path: Path) -> None:
    async with conversation(script(tmp_path, ANSWER)) as (pilot, screen):
        status = screen.query_one(Status)
        await until(pilot, lambda: screen._hearing and status.condition.doing == "ready")
        with ExitStack() as command:
            with ExitStack() as loading:
                command.enter_context(screen._hearing.doing("!make"))
                loading.enter_context(screen._hearing.doing("loading the model"))
            assert status.condition.doing == "!make"
            loading.enter_context(screen._hearing.doing("loading the model"))
        assert status.condition.doing == "loading the model"
        loading.close()
        assert status.condition.doing == "ready"
