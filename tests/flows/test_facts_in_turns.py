"""F2 to F4, F7 to F10, F13 to F15, A4b, A8, A11: what turns leave behind, through real commands in a repository."""

import json
from pathlib import Path

import pytest

from tests.flows.chat import Chat
from tests.flows.telling import FULL, KEEP_ONE, earlier, repository, runs, said, script, tell
from tests.opened import Opened, opened
from wisp_core.commands.registry import run
from wisp_core.errors import UsageError
from wisp_core.events import Event, Live
from wisp_core.fact import FactState
from wisp_core.journal import rebuild
from wisp_core.settings import load_settings

TEST = "python3 -m unittest"


async def test_a_conversation_begins_with_where_it_is(tmp_path: Path):
    repository(tmp_path, "feature/tide")
    async with opened(tmp_path, model=script(tmp_path)) as home:
        await tell(home, "hello")
        assert said(home.thread) == [f"workdir : {tmp_path}", "branch : feature/tide"]
        assert {(f.source, f.scope, f.entries) for f in home.thread.record.facts.values()} == {("tool", "thread", ())}


async def test_what_tools_showed_is_known_after_the_turn_with_where_it_came_from(tmp_path: Path):
    repository(tmp_path)
    commit = "git commit -q --allow-empty -m 'Raise the pier' && git commit --allow-empty -m 'Lower the pier'"
    replies = [runs(TEST), runs(commit), runs("git --version"), {"text": "done"}]
    async with opened(tmp_path, model=script(tmp_path, *replies)) as home:
        await tell(home, "We use port 8081 for the piers.")
        found = {f"{fact.subject} {fact.name}": fact for fact in home.thread.record.facts.values() if fact.entries}
        assert next(iter(found)) == f"tests {TEST}"
        assert found[f"tests {TEST}"].value.startswith("failed (exit status 1)")
        assert any("Lower the pier" in fact.value for fact in found.values() if fact.subject == "git")
        assert "version git" in found
        assert found["said 2.1"].value == "We use port 8081 for the piers"
        for fact in found.values():
            for id in fact.events:
                event = await home.wisp._journal.event(id)
                assert event is not None
                assert event.name == "tool.result"
        (end,) = home.events("turn.end")
        assert end.facts == [fact.id for fact in found.values()]
        last = [heard for heard in home.heard if isinstance(heard, Event)][-len(found) - 1 :]
        assert [event.name for event in last] == ["fact.recorded"] * len(found) + ["turn.end"]
        assert len({event.group for event in last}) == 1
        assert last[0].group is not None


async def test_the_persons_command_and_the_models_are_one_line_of_versions(tmp_path: Path):
    repository(tmp_path)
    async with opened(tmp_path, model=script(tmp_path, {"text": "so"}, runs(TEST))) as home:
        await home.thread.run_command(TEST)
        await tell(home, "look")
        (old,) = [f for f in home.thread.record.facts.values() if f.subject == "tests"]
        tests = tmp_path / "test_piers.py"
        tests.write_text(tests.read_text().replace("self.fail('low')", "pass"))
        await tell(home, "run them again")
        old, new = [f for f in home.thread.record.facts.values() if f.subject == "tests"]
        assert (old.source, old.state, old.superseded_by) == ("person_command", "superseded", new.id)
        assert (new.source, new.version) == ("tool", 2)
        assert home.events("fact.conflict.raised") == []


async def test_a_failing_run_against_the_persons_word_is_a_conflict_until_the_person_settles_it(tmp_path: Path):
    repository(tmp_path)
    model = script(tmp_path, {"text": "a"}, runs(TEST), {"text": "b", "usage": FULL}, {"text": "c"})
    async with opened(tmp_path, model=model, context=KEEP_ONE) as home:
        await tell(home, "hello")
        await run(f"/fact tests {TEST} = flaky; ignore it", thread=home.thread, wisp=home.wisp)
        await tell(home, "run the tests")
        assert len(home.events("fact.conflict.raised")) == 1
        assert notes(home)[0].startswith(f"conflict: tests {TEST}: the person says flaky; ignore it, tool run_command ")
        assert notes(home)[0].endswith("; /facts shows both")
        await tell(home, "and?")
        (line,) = [line for line in earlier(home.thread) if line.startswith("- tests ")]
        assert line.startswith(f"- tests {TEST}: flaky; ignore it — from the person; another source disagrees: tool")
        await run(f"/fact tests {TEST} = fails since Monday", thread=home.thread, wisp=home.wisp)
        assert len(home.events("fact.conflict.resolved")) == 1
        await tell(home, "and now?")
        assert notes(home)[1:] == [f"no conflict any more: tests {TEST}: fails since Monday stands"]
        assert f"- tests {TEST}: fails since Monday — from the person" in earlier(home.thread)
        assert len([line for line in earlier(home.thread) if line.startswith("- tests ")]) == 1


async def test_a_conflict_is_over_and_said_to_be_when_a_side_is_deleted(tmp_path: Path):
    repository(tmp_path)
    async with opened(tmp_path, model=script(tmp_path, runs(TEST))) as home:
        await tell(home, "run the tests")
        await run(f"/fact tests {TEST} = flaky", thread=home.thread, wisp=home.wisp)
        (tool,) = [f for f in home.thread.record.facts.values() if f.subject == "tests" and f.source == "tool"]
        await run(f"/fact delete {tool.id}", thread=home.thread, wisp=home.wisp)
        await tell(home, "and now?")
        raised, over = notes(home)
        assert raised.startswith("conflict: ")
        assert over == f"no conflict any more: tests {TEST}: flaky stands"


def notes(home: Opened) -> list[str]:
    heard = [one for one in home.heard if isinstance(one, Live) and one.name == "note"]
    return [str(one.data["text"]) for one in heard if one.data["kind"] == "conflict"]


async def test_a_turn_that_failed_leaves_nothing_and_tried_again_what_it_says_once(tmp_path: Path):
    replies = [{"error": {"type": "bad_request", "message": "no"}}, {"text": "yes"}]
    async with opened(tmp_path, model=script(tmp_path, *replies), retries={"most": 0}) as home:
        prompt = "No, the gauge is on pier 7. The gauge is made by Orkney Tide Works 1931."
        await tell(home, prompt)
        assert [line for line in said(home.thread) if line.startswith("said")] == []
        await home.thread.retry()
        once = [line for line in said(home.thread) if line.startswith("said")]
        assert len(once) == 2


async def test_a_turn_of_denied_calls_that_failed_leaves_nothing(tmp_path: Path):
    replies = [runs("touch here"), {"error": {"type": "bad_request", "message": "no"}}]
    async with opened(tmp_path, model=script(tmp_path, *replies), retries={"most": 0}, mode="plan") as home:
        await tell(home, "The gauge is on pier 7.")
        assert [e.outcome for e in home.events("turn.end")] == ["failed"]
        assert [line for line in said(home.thread) if line.startswith("said")] == []


async def test_an_interrupted_turn_tried_again_does_not_correct_its_own_words(tmp_path: Path):
    async with opened(tmp_path, model=script(tmp_path, {"hang": True}, {"text": "yes"})) as home:
        sending = home.thread.send("No, the gauge is pier 7. Later on the gauge is pier 9, from now on.")
        home.wisp._journal.subscribe(
            lambda heard: (
                home.thread.cancel() if isinstance(heard, Event) and heard.name == "request.composed" else None
            )
        )
        await sending
        before = said(home.thread)
        assert len(before) == 4
        await home.thread.retry()
        assert said(home.thread) == before


async def test_a_kept_fact_is_every_conversations(tmp_path: Path):
    async with opened(tmp_path, model=script(tmp_path)) as home:
        await tell(home, "hello")
        await run("/fact preference editor = vim", thread=home.thread, wisp=home.wisp)
        other = await home.wisp.new_thread(listen=home.heard.append, ask=home.ask)
        try:
            await other.send("hello")
            assert "- preference editor: vim — from the person" in earlier(other)
        finally:
            await other.close()


def test_facts_whose_turn_did_not_end_are_none_and_are_learnt_at_the_next_start(tmp_path: Path):
    chat = Chat(tmp_path)
    chat.run("--model", chat.script({"text": "yes"}), typed="The gauge is on pier 7 now.\n")
    (path,) = (chat.home / "audit").glob("*.jsonl")
    lines = path.read_bytes().splitlines(keepends=True)
    end = next(at for at, line in enumerate(lines) if b'"event":"turn.end"' in line.replace(b" ", b""))
    assert b"fact.recorded" in lines[end - 1]
    path.write_bytes(b"".join(lines[:end]))
    for file in chat.home.glob("wisp.db*"):
        file.unlink()
    ran = chat.run("--continue", "--json", "--model", chat.script({"text": "no"}), typed="hm?\n/inspect facts all\n")
    ends = ran.events("turn.end")
    assert [event["data"]["outcome"] for event in ends] == ["abandoned", "done"]
    (learnt,) = ran.events("fact.recorded")
    assert ends[0]["data"]["facts"] == [learnt["data"]["fact"]]
    assert ran.events("view")[-1]["data"]["text"].count("said 2.1") == 1


async def test_a_database_made_anew_has_the_same_facts_and_the_same_blocks(tmp_path: Path):
    repository(tmp_path)
    model = script(tmp_path, runs(TEST), {"text": "a"}, {"text": "b", "usage": FULL})
    async with opened(tmp_path, model=model, context=KEEP_ONE) as home:
        await tell(home, "My gauge is on pier 7. Run the tests.", "and what now?", "and then, on which pier?")
        await run("/fact preference editor = vim", thread=home.thread, wisp=home.wisp)
        before = home.thread.record
        assert before.condensations == 1
    await rebuild(tmp_path / "home", load_settings(tmp_path / "home"))
    async with opened(tmp_path, model=model, context=KEEP_ONE) as home:
        thread = await home.wisp.open_thread(before.id, listen=home.heard.append, ask=home.ask)
        try:
            assert thread.record.facts == before.facts
            assert thread.record.latest_plan == before.latest_plan
            assert thread.record == before
            assert (await thread.reader.request_of(3)).same
        finally:
            await thread.close()


async def test_with_the_audit_off_facts_and_blocks_are_the_stores(tmp_path: Path):
    model = script(tmp_path, {"text": "a"}, {"text": "b", "usage": FULL})
    async with opened(tmp_path, model=model, context=KEEP_ONE, audit={"enabled": False}) as home:
        await tell(home, "My gauge is on pier 7.", "go on", "and then?")
        assert any(line.startswith("- said: My gauge is on pier 7") for line in earlier(home.thread))
        held = dict(home.thread.record.facts)
        await home.reopen()
        assert home.thread.record.facts == held
        assert list((tmp_path / "home").rglob("*.jsonl")) == []


async def test_a_fact_of_the_person_is_stated_moved_and_deleted_and_wrong_ones_are_one_sentence(tmp_path: Path):
    async with opened(tmp_path, model=script(tmp_path)) as home:
        thread, wisp = home.thread, home.wisp
        await run("/fact entity release name = BLUE = HERON", thread=thread, wisp=wisp)
        (fact,) = [fact for fact in thread.record.facts.values() if fact.subject == "entity"]
        assert (fact.name, fact.value) == ("release name", "BLUE = HERON")
        await run(f"/fact {fact.id} permanent", thread=thread, wisp=wisp)
        (moved,) = [fact for fact in thread.record.facts.values() if fact.scope == "permanent"]
        assert thread.record.facts[fact.id].state == FactState.SUPERSEDED
        await run(f"/fact delete {moved.id}", thread=thread, wisp=wisp)
        assert thread.record.facts[moved.id].state == FactState.DELETED
        for line, words in (
            ("/fact nonsense x = y", "preference"),
            ("/fact preference editor =", "value"),
            ("/fact said x = y", "statement"),
            ("/fact whatever", "no fact"),
            (f"/fact {moved.id} thread", "deleted"),
            ("/fact delete nothere", "nothere"),
        ):
            with pytest.raises(UsageError) as refused:
                await run(line, thread=thread, wisp=wisp)
            assert words in refused.value.sentence(), line


async def test_with_facts_off_a_stated_one_is_refused_and_none_is_learnt(tmp_path: Path):
    async with opened(tmp_path, model=script(tmp_path), facts={"enabled": False}) as home:
        await tell(home, "My gauge is on pier 7.")
        assert home.thread.record.facts == {}
        with pytest.raises(UsageError, match="facts are off"):
            await run("/fact preference editor = vim", thread=home.thread, wisp=home.wisp)


def test_the_task_of_the_command_line_is_told_from_the_first_request_on(tmp_path: Path):
    chat = Chat(tmp_path)
    ran = chat.run("--json", "--task", "paint the pier", "--model", chat.script({"text": "a"}), typed="hello\n")
    (composed,) = ran.events("request.composed")
    assert composed["data"]["now"].split("\n")[1] == "- task: paint the pier — from the person"
    assert json.loads(ran.out.split("\n")[0])
