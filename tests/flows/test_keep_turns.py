"""C4 to C6, C10, C11, C23, C24, A8: keep-turns through real turns, ahead of the window and when a server refuses."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.fakes.provider import FakeProvider
from tests.flows.reading import READ, outputs, sent, write_script
from tests.opened import Opened, opened
from wisp_core.events import Event
from wisp_core.records import EntryState, Outcome
from wisp_core.requests import Answer, Verdict

KEEP = {"policy": "keep-turns", "keep_turns": 2, "recall": {"enabled": False}}
PLAIN: dict[str, Any] = {"facts": {"enabled": False}}
TOO_LONG: list[dict[str, Any]] = [
    {"status": 400, "body": {"error": {"type": "exceed_context_size_error", "code": 400, "message": "too long"}}},
    {"status": 413, "body": {"error": {"type": "request_too_large", "message": "Request exceeds the maximum size"}}},
    {"status": 400, "body": {"error": {"message": "Your input exceeds the context window of this model."}}},
    {"status": 200, "chunks": [{"error": {"message": "prompt is too long: 9000 tokens > 8192 maximum"}}]},
]


def replies(*prompts: int | None) -> list[dict[str, Any]]:
    """Return replies that report these prompt tokens."""
    return [{"text": f"reply {n}", "usage": {"prompt": p} if p else None} for n, p in enumerate(prompts, 1)]


def dropped(home: Opened) -> list[int]:
    return [e.id for e in home.thread.record.entries.values() if e.state is EntryState.DROPPED]


def given(provider: FakeProvider, **context: Any) -> dict[str, Any]:
    context = {**KEEP, **context}
    return {
        "model": "local/fake",
        "endpoints": {"fake": {"url": provider.url}},
        "context": context,
        "retries": {"most": 0},
        **PLAIN,
    }


async def converse(home: Opened, *prompts: str) -> list[Outcome]:
    return [await home.thread.send(prompt) for prompt in prompts]


async def test_it_is_due_at_the_budget_of_the_window_and_not_a_token_before(tmp_path: Path):
    # The draft of the fourth prompt adds one byte, its predecessors' reply some: the report is what it is anchored on.
    for report, due in ((1000, False), (6000, False), (6963, True), (8000, True)):
        folder = tmp_path / str(report)
        folder.mkdir()
        model = write_script(folder, *replies(500, 600, report, 700), window=8192, counts=False)
        async with opened(folder, model=model, context=KEEP, **PLAIN) as home:
            await converse(home, "a", "b", "c")
            size = (await measured(home, "d")).tokens
            await converse(home, "d")
            found = home.events("context.condensation")
            assert bool(found) is due is (size >= 6963)
            assert not found or (found[0].reason, found[0].goal, found[0].before) == ("budget", 6963, size)
            assert dropped(home) == ([2, 3] if due else [])


async def measured(home: Opened, prompt: str) -> Any:
    return await (await home.thread.preview(prompt)).measure()


@pytest.mark.parametrize("why", ["window unknown", "few turns", "fail-fast"])
async def test_nothing_is_dropped_ahead_of_a_window_where(tmp_path: Path, why: str):
    window = None if why == "window unknown" else 8192
    model = write_script(tmp_path, *replies(8000, 8000, 8000), window=window, counts=False)
    context = {"policy": "fail-fast"} if why == "fail-fast" else {**KEEP, "keep_turns": 3 if why == "few turns" else 1}
    async with opened(tmp_path, model=model, context=context, **PLAIN) as home:
        assert await converse(home, "a", "b", "c") == [Outcome.DONE] * 3
        assert home.events("context.condensation") == []
        assert dropped(home) == []


async def test_a_command_goes_with_the_turn_after_it_and_the_latest_is_kept(tmp_path: Path):
    model = write_script(tmp_path, *replies(500, 600, 8000, 700), window=8192, counts=False)
    async with opened(tmp_path, model=model, context={**KEEP, "keep_turns": 1}, **PLAIN) as home:
        await home.thread.run_command("echo first")
        await converse(home, "a")
        await home.thread.run_command("echo second")
        await converse(home, "b", "c")
        await home.thread.run_command("echo last")
        await converse(home, "d")
        kept = "\n".join(message.text for message in sent(home.thread)[-1])
        assert ("echo first" in kept, "echo second" in kept, "echo last" in kept) == (False, False, True)
        assert home.thread.record.condensations == 1


@pytest.mark.parametrize("refusal", TOO_LONG, ids=lambda refusal: str(refusal["status"]))
async def test_a_refused_request_is_condensed_and_sent_once_more(tmp_path: Path, refusal: dict[str, Any]):
    async with FakeProvider() as provider:
        async with opened(tmp_path, **given(provider)) as home:
            await converse(home, "one", "two", "three")
            provider.answer(**refusal)
            provider.answer("the answer")
            assert await converse(home, "four") == [Outcome.DONE]
        refused, again = provider.requests[-2:]
        texts = [message["content"] for message in again.body["messages"][1:]]
        assert texts == ["two", "ok", "three", "ok", "four"]
        assert [message["content"] for message in refused.body["messages"]][-len(texts) :] == texts
        assert [
            heard.data.reason for heard in home.heard if isinstance(heard, Event) and heard.name == "request.retried"
        ]
        (condensed,) = home.events("context.condensation")
        assert (condensed.reason, condensed.dropped) == ("overflow", [2, 3])
        shown = [h.data["text"] for h in home.heard if not isinstance(h, Event) and h.name == "delta"]
        assert "".join(shown[-1:]) == "the answer"
        assert len(home.events("prompt")) == 4


async def test_it_is_sent_once_more_and_no_more_often(tmp_path: Path):
    async with FakeProvider() as provider, opened(tmp_path, **given(provider)) as home:
        await converse(home, "one", "two", "three")
        before = len(provider.requests)
        for _ in range(2):
            provider.answer(**TOO_LONG[0])
        assert await converse(home, "four") == [Outcome.FAILED]
        assert len(provider.requests) - before == 2
        assert len(home.events("context.condensation")) == 1
        provider.answer(**TOO_LONG[0])
        assert await converse(home, "five") == [Outcome.FAILED]
        assert len(provider.requests) - before == 3, "with nothing left to drop nothing is sent again"
        assert await converse(home, "six") == [Outcome.DONE]


async def test_under_fail_fast_the_refusal_reaches_the_person(tmp_path: Path):
    async with FakeProvider() as provider, opened(tmp_path, **given(provider, policy="fail-fast")) as home:
        await converse(home, "one", "two", "three")
        provider.answer(**TOO_LONG[0])
        assert await converse(home, "four") == [Outcome.FAILED]
        (end,) = [e for e in home.events("turn.end") if e.outcome == "failed"]
        assert "larger than the model's window" in end.error
        assert len(provider.requests) == 4
        assert dropped(home) == []


async def test_a_refusal_after_a_tool_ran_runs_nothing_again(tmp_path: Path):
    command = [{"name": "run_command", "arguments": {"command": "echo ran >> ran.txt"}}]
    async with FakeProvider() as provider, opened(tmp_path, **given(provider)) as home:
        home.verdict = lambda _: Answer(Verdict.ONCE)
        await converse(home, "one", "two", "three")
        provider.answer("I run it.", calls=command)
        provider.answer(**TOO_LONG[0])
        provider.answer("it ran")
        assert await converse(home, "run it") == [Outcome.DONE]
        assert (tmp_path / "ran.txt").read_text() == "ran\n"
        assert len(home.events("tool.call")) == 1
        roles = [message["role"] for message in provider.requests[-1].body["messages"]]
        assert roles == ["system", "user", "assistant", "user", "assistant", "user", "assistant", "tool"]


@pytest.mark.parametrize("shown", ["text", "reasoning"])
async def test_what_was_shown_of_an_answer_is_not_asked_for_again(tmp_path: Path, shown: str):
    half = {shown: "half an ans", "error": {"type": "overflow", "limit": 8192, "count": 9000}}
    model = write_script(tmp_path, *replies(1, 1, 1), half, {"text": "never"})
    async with opened(tmp_path, model=model, context=KEEP, **PLAIN) as home:
        assert await converse(home, "one", "two", "three", "four") == [Outcome.DONE] * 3 + [Outcome.FAILED]
        assert len(sent(home.thread)) == 4
        assert home.events("context.condensation") == []
        last = home.events("response")[-1]
        assert (last.text + last.reasoning, last.finish) == ("half an ans", "failed")


@pytest.mark.parametrize("when", ["before", "while saving"])
async def test_esc_in_the_middle_leaves_the_store_as_it_was(tmp_path: Path, when: str):
    model = write_script(tmp_path, *replies(500, 600, 8000, 700), window=8192, counts=False)
    async with opened(tmp_path, model=model, context=KEEP, **PLAIN) as home:
        await converse(home, "a", "b", "c")
        keep, saved = home.thread._keep_context, []

        async def interrupted(*arguments: Any, **named: Any) -> Any:
            saved.append(named["title"])
            if len(saved) == (1 if when == "before" else 2):
                home.thread.cancel()
            return await keep(*arguments, **named)

        home.thread._keep_context = interrupted  # type: ignore[method-assign]
        assert await converse(home, "d") == [Outcome.INTERRUPTED]
        assert home.events("context.condensation") == []
        assert dropped(home) == []
        home.thread._keep_context = keep  # type: ignore[method-assign]
        assert await converse(home, "e") == [Outcome.DONE]
        assert dropped(home) == [2, 3, 4, 5], "the interrupted turn is one of the last two"


async def test_the_context_before_and_after_is_saved_beside_and_named_by_the_event(tmp_path: Path):
    model = write_script(tmp_path, *replies(500, 600, 8000, 700), window=8192, counts=False)
    async with opened(tmp_path, model=model, context=KEEP, **PLAIN) as home:
        await converse(home, "a secret of turn one", "b", "c", "d")
        (event,) = home.events("context.condensation")
        folder = home.wisp.home / "context"
        before, after = [
            json.loads((folder / name).with_suffix(".json").read_text())
            for name in (event.savedBefore, event.savedAfter)
        ]
        assert {path.name for path in folder.iterdir()} == {
            name for saved in (event.savedBefore, event.savedAfter) for name in (saved, saved.replace(".md", ".json"))
        }
        assert (before["tokens"], after["tokens"]) == (event.before, event.after)
        assert "a secret of turn one" in json.dumps(before["messages"])
        assert "a secret of turn one" not in json.dumps(after["messages"])
        (composed,) = home.events("request.composed")[-1:]
        assert after["sha256"] == composed.sha256
        assert "a secret of turn one" in (folder / event.savedBefore).read_text()


async def test_with_the_audit_off_nothing_is_saved_and_all_else_works(tmp_path: Path):
    model = write_script(tmp_path, READ, *replies(600, 600, 8000, 700), window=8192, counts=False)
    async with opened(tmp_path, model=model, context=KEEP, **PLAIN, audit={"enabled": False}) as home:
        await converse(home, "read it", "b", "c", "d")
        (event,) = home.events("context.condensation")
        assert (event.savedBefore, event.savedAfter) == (None, None)
        assert dropped(home) == [2, 3, 4, 5]
        assert outputs(sent(home.thread)[2])[0].startswith("[output of entry 4 not repeated")
        assert not [
            path for path in home.wisp.home.rglob("*") if path.is_file() and not path.name.startswith("wisp.db")
        ]
        assert [(await home.thread.reader.request_of(turn)).same for turn in (1, 2, 3, 4)] == [True] * 4
        whole = await home.thread.reader.entries()
        assert "harbour master of pier 20" in whole[3].content.text  # type: ignore[union-attr]
        await home.reopen()
        assert dropped(home) == [2, 3, 4, 5]


async def test_a_condensation_is_told_once_and_counted(tmp_path: Path):
    model = write_script(tmp_path, *replies(500, 600, 8000, 700, 800), window=8192, counts=False)
    async with opened(tmp_path, model=model, context=KEEP, **PLAIN) as home:
        await converse(home, "a", "b", "c", "d", "e")
        (event,) = home.events("context.condensation")
        assert home.notes("condensed") == [f"condensed: dropped 1 turn, {event.before:,} → {event.after:,} tokens"]
        assert home.thread.record.condensations == 1
        changes = {turn.turn: turn.dropped for turn in await home.thread.reader.turns()}
        assert changes == {1: 0, 2: 0, 3: 0, 4: 2, 5: 0}
