"""A2, U8: what is asked in one wisp is seen and answered in any, and the first answer counts."""

import asyncio
from pathlib import Path

import pytest

from tests.core.pending.two import Two, calls, script, two
from wisp_core.errors import UsageError
from wisp_core.pending import read_answer
from wisp_core.records import Outcome
from wisp_core.requests import Answer, Approval, Question, Verdict

RUN = calls("run_command", command="echo hi")
HOSTILE = "echo '\x1b[2J\u202e\u200b' [red]$(id)[/red]\n--json"


async def sent(both: Two, text: str = "go") -> "asyncio.Task[Outcome]":
    """Send a prompt and return the turn once its question is shown."""
    turn = asyncio.create_task(both.here.thread.send(text))
    async with asyncio.timeout(10):
        await both.face.shown.wait()
    return turn


async def test_an_approval_is_seen_by_another_wisp_with_the_call_in_full_who_asks_and_why(tmp_path: Path):
    async with two(tmp_path, script(tmp_path, RUN, {"text": "done"})) as both:
        turn = await sent(both, "say hi")
        found = await both.one()
        assert (found.kind, found.thread, found.title) == ("approval", both.here.thread.record.id, "say hi")
        assert found.asked == both.face.asked[0]
        assert found.who == f"the model {both.here.thread.model}"
        assert isinstance(found.asked, Approval)
        assert found.why == found.asked.why != ""
        assert (found.closed, found.here, await both.other.pending.count()) == ("", False, 1)
        assert (await both.here.wisp.pending.list())[0].here
        both.face.answers.put_nowait(Answer(Verdict.ONCE))
        assert await turn is Outcome.DONE
        assert await both.waiting(lambda found: not found) == []


async def test_the_other_wisps_answer_runs_the_call_and_takes_the_question_from_the_face(tmp_path: Path):
    async with two(tmp_path, script(tmp_path, RUN, {"text": "done"})) as both:
        turn = await sent(both)
        found = await both.one()
        assert await both.other.pending.answer(found.id, Answer(Verdict.ONCE)) == "answered: once"
        assert await turn is Outcome.DONE
        (decided,) = both.here.events("approval.decided")
        assert (decided.call, decided.decision, decided.by) == (found.asked.call, "once", "person (other)")
        assert both.here.events("tool.result")[0].ok
        assert both.face.gone == [found.asked.call]
        assert both.here.notes("answered") == [f"call {found.asked.call} was answered by the person (other): once"]


async def test_a_no_from_elsewhere_reaches_the_model_with_its_reason_as_the_persons(tmp_path: Path):
    async with two(tmp_path, script(tmp_path, RUN, {"text": "done"})) as both:
        turn = await sent(both)
        await both.other.pending.answer((await both.one()).id, Answer(Verdict.NO, "use git"))
        assert await turn is Outcome.DONE
        assert both.here.events("tool.result")[0].text == "not run: the person said no: use git"


async def test_thread_from_elsewhere_grants_the_rule_as_the_face_does(tmp_path: Path):
    async with two(tmp_path, script(tmp_path, RUN, {"text": "done"})) as both:
        turn = await sent(both)
        await both.other.pending.answer((await both.one()).id, Answer(Verdict.THREAD))
        assert await turn is Outcome.DONE
        assert [g.rule for g in both.here.events("permission.granted")] == ["run_command(echo hi)"]


async def test_a_question_is_answered_elsewhere_in_words_or_by_the_number_of_a_choice(tmp_path: Path):
    asks = calls("ask", question="Which port?", choices=["80", "443"])
    async with two(tmp_path, script(tmp_path, asks, {"text": "done"})) as both:
        turn = await sent(both)
        found = await both.one()
        assert (found.kind, found.asked) == ("question", both.face.asked[0])
        with pytest.raises(UsageError, match="needs a text"):
            await both.other.pending.answer(found.id, Answer(Verdict.ONCE))
        said = await both.other.pending.answer(found.id, read_answer(found.asked, ["2"]))
        assert said == "answered: 443"
        assert await turn is Outcome.DONE
        assert [d.answer for d in both.here.events("question.answered")] == ["443"]


async def test_a_request_is_answered_once_and_the_second_to_answer_is_told(tmp_path: Path):
    async with two(tmp_path, script(tmp_path, RUN, {"text": "done"})) as both:
        turn = await sent(both)
        found = await both.one()
        tries = [both.other.pending.answer(found.id, Answer(Verdict(v))) for v in ("once", "no")]
        tries.append(both.here.wisp.pending.answer(found.id, Answer(Verdict.NO, "no")))
        done = await asyncio.gather(*tries, return_exceptions=True)
        refused = [str(each) for each in done if isinstance(each, UsageError)]
        assert len(refused) == 2
        assert all("answered already" in each or "nothing waits" in each for each in refused)
        assert await turn is Outcome.DONE
        assert len(both.here.events("approval.decided")) == 1
        with pytest.raises(UsageError, match=f"nothing waits under {found.id}"):
            await both.other.pending.answer(found.id, Answer(Verdict.NO))


async def test_an_answer_that_lies_there_first_counts_over_the_faces_own_which_is_told_so(tmp_path: Path):
    async with two(tmp_path, script(tmp_path, RUN, {"text": "done"}), waiting={"poll_seconds": 600.0}) as both:
        turn = await sent(both)
        found = (await both.other.pending.list())[0]
        answering = asyncio.create_task(both.other.pending.answer(found.id, Answer(Verdict.NO, "first")))
        async with asyncio.timeout(10):
            while not (await both.here.wisp.pending.list())[0].closed:
                await asyncio.sleep(0)
        both.face.answers.put_nowait(Answer(Verdict.ONCE))
        assert await turn is Outcome.DONE
        (decided,) = both.here.events("approval.decided")
        assert (decided.decision, decided.by, decided.reason) == ("no", "person (other)", "first")
        assert both.here.notes("answered")[0].endswith("no; the answer given here came later")
        answering.cancel()
        await asyncio.gather(answering, return_exceptions=True)


async def test_an_interrupted_turn_takes_its_question_away(tmp_path: Path):
    async with two(tmp_path, script(tmp_path, RUN, {"text": "done"})) as both:
        turn = await sent(both)
        await both.one()
        assert both.here.thread.cancel()
        assert await turn is Outcome.INTERRUPTED
        assert await both.waiting(lambda found: not found) == []


async def test_what_is_no_answer_to_a_request_is_refused_with_what_would_be_one(tmp_path: Path):
    async with two(tmp_path, script(tmp_path, RUN, {"text": "done"})) as both:
        turn = await sent(both)
        found = await both.one()
        for words in (["maybe"], [], ["YESS"]):
            with pytest.raises(UsageError, match="is no answer"):
                read_answer(found.asked, words)
        with pytest.raises(UsageError, match="a reason goes with no"):
            await both.other.pending.answer(found.id, read_answer(found.asked, ["yes", "please"]))
        assert read_answer(found.asked, ["No", "use", "git"]) == Answer(Verdict.NO, "use git")
        both.here.thread.cancel()
        await turn


async def test_a_call_is_listed_byte_for_byte_as_it_was_asked_whatever_is_in_it(tmp_path: Path):
    async with two(tmp_path, script(tmp_path, calls("run_command", command=HOSTILE), {"text": "done"})) as both:
        turn = await sent(both)
        found = await both.one()
        assert found.asked == both.face.asked[0]
        assert isinstance(found.asked, Approval)
        assert found.asked.arguments["command"] == HOSTILE
        both.here.thread.cancel()
        await turn


async def test_no_secret_is_written_into_the_table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("SOME_TOKEN", "hunter2-hunter2")
    asks = calls("ask", question="is hunter2-hunter2 right?")
    async with two(tmp_path, script(tmp_path, asks, {"text": "done"})) as both:
        turn = await sent(both)
        found = await both.one()
        assert isinstance(found.asked, Question)
        assert found.asked.text == "is [secret SOME_TOKEN] right?"
        both.here.thread.cancel()
        await turn
    assert not [p for p in (tmp_path / "home").glob("wisp.db*") if b"hunter2-hunter2" in p.read_bytes()]


async def test_of_several_that_wait_the_newest_is_listed_first(tmp_path: Path):
    async with two(tmp_path, script(tmp_path, RUN, {"text": "done"})) as both:
        first = await sent(both, "one")
        both.face.shown.clear()
        second = await both.here.wisp.new_thread(listen=both.here.heard.append, ask=both.face.ask)
        turn = asyncio.create_task(second.send("two"))
        async with asyncio.timeout(10):
            await both.face.shown.wait()
        found = await both.waiting(lambda found: len(found) == 2)
        assert [one.title for one in found] == ["two", "one"]
        both.here.thread.cancel()
        second.cancel()
        await asyncio.gather(first, turn)
        await second.close()
