"""T4, T5, T11, T13: what the person is asked, what an answer lasts for, and what can be undone."""

import asyncio
import json
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import pytest

from tests.opened import opened
from wisp_core.commands.registry import run
from wisp_core.commands.results import Page
from wisp_core.errors import UsageError
from wisp_core.events import ApprovalRequested, Event, TurnEnd
from wisp_core.records import Outcome
from wisp_core.requests import Answer, Approval, Question, Verdict
from wisp_core.settings import load_settings
from wisp_core.settings_file import remember_rule
from wisp_core.tools.inspect import approval_lines


def script(folder: Path, *replies: dict) -> str:
    path = folder / "script.json"
    path.write_text(json.dumps({"window": 8192, "replies": list(replies)}))
    return f"scripted:{path}"


def calls(name: str, **arguments: object) -> dict:
    return {"calls": [{"name": name, "arguments": arguments}]}


def always(_: Approval | Question) -> Answer:
    return Answer(Verdict.ALWAYS)


def answering(text: str) -> Callable[[Approval | Question], Answer]:
    return lambda _: Answer(Verdict.ONCE, text=text)


async def test_a_question_is_asked_with_its_choices_and_the_answer_is_the_persons_own_words(tmp_path: Path):
    model = script(tmp_path, calls("ask", question="Which port?", choices=["80", "443"]), {"text": "443 it is"})
    async with opened(tmp_path, model=model) as home:
        asked: list[Approval | Question] = []

        def answer(question: Approval | Question) -> Answer:
            asked.append(question)
            return Answer(Verdict.ONCE, text="443")

        home.verdict = answer
        assert await home.thread.send("set it up") is Outcome.DONE
        (question,) = asked
        assert isinstance(question, Question)
        assert (question.text, question.choices) == ("Which port?", ("80", "443"))
        assert [(d.call, d.answer) for d in home.events("question.answered")] == [(question.call, "443")]
        assert home.events("tool.result")[0].text == "the person answered: 443"


async def test_where_nobody_answers_a_question_the_model_is_told_and_the_turn_goes_on(tmp_path: Path):
    model = script(tmp_path, calls("ask", question="Which port?"), {"text": "I take the default"})
    async with opened(tmp_path, model=model) as home:
        assert await home.thread.send("set it up") is Outcome.DONE
        assert not home.events("tool.result")[0].ok
        assert "nobody could be asked" in home.events("tool.result")[0].text


async def test_always_writes_the_narrowest_rule_and_leaves_the_rest_of_the_config_as_it_is(tmp_path: Path):
    config = tmp_path / "home" / "config.json"
    config.parent.mkdir(mode=0o700)
    config.write_text('{"theme": "nord", "permissions": {"deny": ["run_command(rm *)"]}}')
    model = script(
        tmp_path, calls("run_command", command="echo hi"), calls("run_command", command="echo hi"), {"text": "done"}
    )
    async with opened(tmp_path, model=model) as home:
        home.verdict = always
        assert await home.thread.send("say hi twice") is Outcome.DONE
        assert len(home.events("approval.requested")) == 1
        assert [(d.rule, d.scope) for d in home.events("permission.granted")] == [("run_command(echo hi)", "always")]
    found = json.loads(config.read_text())
    assert found == {"theme": "nord", "permissions": {"deny": ["run_command(rm *)"], "allow": ["run_command(echo hi)"]}}
    assert config.stat().st_mode & 0o777 == 0o600
    model = script(tmp_path, calls("run_command", command="echo hi"), {"text": "done"})
    async with opened(tmp_path, model=model) as home:
        assert await home.thread.send("once more") is Outcome.DONE
        assert home.events("approval.requested") == []


async def test_an_edit_is_undone_and_the_model_hears_of_it_with_the_next_prompt(tmp_path: Path):
    file = tmp_path / "notes.txt"
    file.write_bytes(b"one\r\ntwo\r\n")
    model = script(
        tmp_path,
        calls("read_file", path="notes.txt"),
        calls("edit_file", path="notes.txt", old="two", new="three"),
        {"text": "edited"},
        {"text": "I see", "when": "(?s)/undo.*is as before the edit.*and now"},
    )
    async with opened(tmp_path, model=model) as home:
        home.verdict = lambda _: Answer(Verdict.ONCE)
        assert await home.thread.send("edit it") is Outcome.DONE
        assert file.read_bytes() == b"one\r\nthree\r\n"
        assert "is as before the edit" in await home.thread.undo("notes.txt")
        assert file.read_bytes() == b"one\r\ntwo\r\n"
        # What was undone is no output: the latest is still the tool's.
        last = await run("/last", thread=home.thread, wisp=home.wisp)
        assert isinstance(last, Page)
        assert last.title.startswith("edit_file")
        assert await home.thread.send("and now?") is Outcome.DONE


async def test_the_model_can_look_at_wisp_but_change_nothing_of_it(tmp_path: Path):
    model = script(
        tmp_path,
        calls("current_date"),
        *[calls("inspect", topic=topic) for topic in ("config", "status", "calls", "approvals", "audit")],
        calls("models"),
        calls("edit_file", path="home/config.json", content='{"permissions": {"allow": ["run_command(*)"]}}'),
        {"text": "looked"},
    )
    async with opened(tmp_path, model=model) as home:
        home.verdict = always
        assert await home.thread.send("look") is Outcome.DONE
        results = [result.text for result in home.events("tool.result")]
        assert "model = " in results[1]
        assert "current_date" in results[3]
        assert "embedded/smollm2-135m" in results[6]
        assert not home.events("tool.result")[7].ok
        assert not (tmp_path / "home" / "config.json").exists()


BROKEN = {
    "no JSON": lambda config: config.write_text("{ // a comment\n"),
    "no list": lambda config: config.write_text('{"permissions": {"allow": "all"}}'),
    "no object": lambda config: config.write_text('{"permissions": []}'),
    "a folder": lambda config: config.mkdir(),
    "a link to nowhere": lambda config: config.symlink_to(config.parent / "nowhere" / "config.json"),
}


@pytest.mark.parametrize("what", BROKEN)
async def test_where_a_rule_cannot_be_written_it_holds_for_the_conversation_and_that_is_said(tmp_path: Path, what: str):
    model = script(tmp_path, *[calls("run_command", command="echo hi")] * 2, {"text": "done"})
    async with opened(tmp_path, model=model) as home:
        config = tmp_path / "home" / "config.json"

        def meanwhile(_: Approval | Question) -> Answer:
            BROKEN[what](config)
            return Answer(Verdict.ALWAYS)

        home.verdict = meanwhile
        assert await home.thread.send("say hi twice") is Outcome.DONE
        assert [result.ok for result in home.events("tool.result")] == [True, True]
        assert [(d.rule, d.scope) for d in home.events("permission.granted")] == [("run_command(echo hi)", "thread")]
        (said,) = home.notes("error")
        assert said.startswith("the rule is for this conversation alone: ")
        assert str(tmp_path) in said
        left = sorted(path.name for path in config.parent.iterdir() if "config" in path.name)
        assert left == ["config.json"]


async def test_a_config_that_is_a_link_stays_one_and_what_it_leads_to_is_written(tmp_path: Path):
    real, link = tmp_path / "dotfiles.json", tmp_path / "home" / "config.json"
    link.parent.mkdir(mode=0o700)
    real.write_bytes(b'\xef\xbb\xbf{"permissions": {"allow": ["run_command(ls)"]}}')
    link.symlink_to(real)
    model = script(tmp_path, calls("run_command", command="echo hi"), {"text": "done"})
    async with opened(tmp_path, model=model) as home:
        home.verdict = always
        assert await home.thread.send("say hi") is Outcome.DONE
    assert link.is_symlink()
    assert json.loads(real.read_text()) == {"permissions": {"allow": ["run_command(ls)", "run_command(echo hi)"]}}


def test_rules_that_are_added_at_once_are_all_written(tmp_path: Path):
    rules = [f"run_command(echo {number})" for number in range(40)]
    with ThreadPoolExecutor(8) as threads:
        list(threads.map(partial(remember_rule, tmp_path), rules))
    assert sorted(load_settings(tmp_path).permissions.allow) == sorted(rules)


async def test_an_edit_is_undone_after_a_restart_and_only_in_its_own_conversation(tmp_path: Path):
    file = tmp_path / "notes.txt"
    file.write_text("one\n")
    model = script(
        tmp_path,
        calls("read_file", path="notes.txt"),
        calls("edit_file", path="notes.txt", content="two\n"),
        calls("edit_file", path="notes.txt", content="three\n"),
        {"text": "edited"},
    )
    async with opened(tmp_path, model=model) as home:
        home.verdict = lambda _: Answer(Verdict.ONCE)
        assert await home.thread.send("edit it") is Outcome.DONE
        edited = home.thread.record.id
    async with opened(tmp_path, model=model) as home:
        with pytest.raises(UsageError, match="no edit"):
            await home.thread.undo("")
        thread = await home.wisp.open_thread(edited, listen=home.heard.append, ask=home.ask)
        for left in ("two\n", "one\n"):
            await thread.undo("")
            assert file.read_text() == left
        with pytest.raises(UsageError, match="no edit"):
            await thread.undo("notes.txt")
        await thread.close()


async def test_what_is_open_when_its_turn_ends_is_cancelled_by_an_interrupt_and_by_a_crash(tmp_path: Path):
    asking = {"calls": [{"name": "run_command", "arguments": {"command": "echo hi"}}]}
    model = script(tmp_path, asking, asking, calls("inspect", topic="approvals"), {"text": "done"})
    async with opened(tmp_path, model=model) as home:
        waits: asyncio.Queue[Approval | Question] = asyncio.Queue()

        async def never(asked: Approval | Question) -> Answer:
            waits.put_nowait(asked)
            return await asyncio.Future()

        thread = await home.wisp.new_thread(listen=home.heard.append, ask=never)
        turn = asyncio.create_task(thread.send("say hi"))
        asked = await waits.get()
        assert thread.cancel()
        assert await turn is Outcome.INTERRUPTED
        assert [(d.call, d.decision, d.by) for d in home.events("approval.decided")] == [
            (asked.call, "cancelled", "person")
        ]
        # A crash leaves what was asked without an answer; the next prompt ends its turn.
        requested = ApprovalRequested(call="0001", tool="run_command", arguments={}, cwd="/", why="it runs a command")
        ended = TurnEnd(outcome="abandoned")
        events = [Event("e", 1, "2030", "s", "t", 1, None, data) for data in (requested, ended)]
        assert approval_lines(events)[-1].endswith("cancelled, the turn ended")
        await thread.close()
