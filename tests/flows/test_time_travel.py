"""A19 to A21, A26: every turn of a random conversation through real threads is composed again to the byte."""

import json
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.core.composer.strict import assert_strict
from tests.flows.reading import FILE, RETYPED
from tests.opened import Opened, opened
from wisp_core.reader import Reader
from wisp_core.requests import Answer, Message, Verdict
from wisp_core.wisp import Wisp

CALLS = [
    {"name": "read_file", "arguments": {"path": "piers.txt"}},
    {"name": "run_command", "arguments": {"command": "cat piers.txt"}},
    {"name": "read_file", "arguments": {"path": "none.txt"}},
    {"name": "no_such_tool", "arguments": "broken"},
]
REPLY = st.fixed_dictionaries(
    {
        "text": st.sampled_from(["", "fine", RETYPED, "a\u2028b", "long " * 60]),
        "calls": st.lists(st.sampled_from(CALLS), max_size=2),
        "error": st.sampled_from([None] * 8 + ["cut", "bad_request", "overflow"]),
    }
)


def reply(text: str = "", *calls: int, error: str | None = None) -> dict[str, Any]:
    return {"text": text, "calls": [CALLS[at] for at in calls], "error": error}


# What makes references, cuts, dropped turns and turns that are gone on with, more often than chance would.
TURNS = st.one_of(
    st.sampled_from(
        [
            [reply("", 0), reply(RETYPED)],
            [reply("Let me look.", 1, 0), reply("fine")],
            [reply(error="overflow"), reply("after all")],
            [reply("", 0), reply(error="overflow"), reply(RETYPED)],
            [reply("", 1), reply(RETYPED, error="cut")],
        ]
    ),
    st.lists(REPLY, min_size=1, max_size=3),
)
DEEDS = st.lists(
    st.one_of(
        *[st.tuples(st.just("send"), TURNS)] * 3,
        st.tuples(
            st.sampled_from(["retry", "retry", "command", "model", "mode", "reopen", "restart", "fork", "resume"]),
            st.just([]),
        ),
    ),
    min_size=6,
    max_size=14,
)
SETTINGS = st.fixed_dictionaries(
    {
        "cuts": st.sampled_from([True, True, False]),
        "references": st.sampled_from([True, True, False]),
        "keep_turns": st.integers(1, 2),
        "policy": st.sampled_from(["keep-turns", "target"]),
    }
)


@dataclass
class Journey:
    """A conversation through sessions; `sent` is the last request that was answered in each turn since it began."""

    folder: Path
    id: str | None = None
    name: str | None = None
    first: int = 1
    sent: dict[int, tuple[Message, ...]] = field(default_factory=dict)
    scripts: int = 0

    def write(self, replies: list[dict[str, Any]]) -> str:
        self.scripts += 1
        path = self.folder / f"script{self.scripts}.json"
        shaped = [
            {k: v for k, v in reply.items() if k != "error"}
            | ({"error": {"type": reply["error"]}} if reply["error"] else {})
            for reply in replies
        ]
        path.write_text(json.dumps({"replies": [*shaped, {"text": "enough", "repeat": True}], "counts": True}))
        return f"scripted:{path}"


@settings(max_examples=20)
@given(DEEDS, st.lists(SETTINGS, min_size=1, max_size=3))
async def test_every_turn_of_a_random_conversation_is_composed_again_as_it_was(deeds, contexts):
    with tempfile.TemporaryDirectory() as folder:
        journey = Journey(Path(folder))
        (journey.folder / "piers.txt").write_text(FILE)
        left, sessions = list(deeds), 0
        while left:
            context = contexts[sessions % len(contexts)]
            async with opened(journey.folder, model=journey.write([]), context=context, retries={"most": 0}) as home:
                home.verdict = lambda _: Answer(Verdict.ONCE)
                await _enter(journey, home)
                left = await _live(journey, home, left)
                await _look_back(journey, home)
            sessions += 1


async def _enter(journey: Journey, home: Opened) -> None:
    if journey.name is not None:
        journey.id, journey.name = await home.wisp.library.named(journey.name), None
        journey.sent.clear()
    if journey.id is not None:
        await _open(home, journey.id)


async def _open(home: Opened, id: str) -> None:
    await home.thread.close()
    home.thread = await home.wisp.open_thread(id, listen=home.heard.append, ask=home.ask)


async def _live(journey: Journey, home: Opened, deeds: list[Any]) -> list[Any]:
    """Do what comes, up to the end of the session, and return what is left."""
    for at, (deed, replies) in enumerate(deeds):
        thread = home.thread
        begun = bool(thread.record.last_turn)
        if deed == "send":
            await thread.change(model=journey.write(replies))
            await thread.send(f"prompt {at}")
        elif deed == "command":
            await thread.run_command("echo by the person")
        elif deed == "mode":
            await thread.change(mode=type(thread.record.mode)("auto" if thread.record.mode.value == "ask" else "ask"))
        elif deed == "model":
            await thread.change(model=journey.write([]))
        elif begun and deed == "retry" and thread.record.turns[thread.record.last_turn].outcome != "done":
            await thread.retry()
        elif begun and deed == "reopen":
            await home.reopen()
        elif begun and deed == "fork":
            await _open(home, await home.wisp.library.fork(thread.record.id))
        elif begun and deed in ("resume", "restart"):
            journey.id = thread.record.id
            if deed == "resume":
                await home.wisp.library.save(thread.record.id, "copy")
                journey.name, journey.first = "copy", thread.record.last_turn + 1
            return deeds[at + 1 :]
        _keep(journey, home)
    journey.id = home.thread.record.id
    return []


def _keep(journey: Journey, home: Opened) -> None:
    record = home.thread.record
    requests = home.thread._backend.requests  # type: ignore[attr-defined]
    for request in requests:
        assert_strict(request.messages)
    plans = record.plans.get(record.last_turn, ())
    if plans and plans[-1].answered is not None and requests:
        journey.sent[record.last_turn] = requests[-1].messages


async def _look_back(journey: Journey, home: Opened) -> None:
    reader = home.thread.reader
    rows = {row.turn for row in await reader.turns()}
    assert rows == set(home.thread.record.turns)
    for turn, messages in journey.sent.items():
        past = await reader.request_of(turn)
        assert past.same, turn
        assert past.composition.messages == messages, turn
    if journey.id is None or journey.first <= home.thread.record.last_turn:
        for turn in range(journey.first, home.thread.record.last_turn + 1):
            if await home.wisp._journal.database.plans(home.thread.record.id, turn):
                assert (await reader.request_of(turn)).same, turn


async def test_a_reader_of_another_process_sees_what_the_writer_does(tmp_path: Path):
    (tmp_path / "piers.txt").write_text(FILE)
    journey = Journey(tmp_path)
    replies = [{"text": "", "calls": CALLS[:1], "error": None}, {"text": RETYPED, "calls": [], "error": None}]
    async with opened(tmp_path, model=journey.write(replies)) as home:
        await home.thread.send("show it")
        await home.thread.send("and now?")
        other = await Wisp.open(face="test", home=tmp_path / "home", cwd=tmp_path)
        try:
            reader = await other.library.reader(home.thread.record.id)
            for turn in (1, 2):
                assert await reader.request_of(turn) == await home.thread.reader.request_of(turn)
            assert await reader.turns() == await home.thread.reader.turns()
            assert await reader.entries() == await home.thread.reader.entries()
        finally:
            await other.close()


async def test_a_reader_of_a_thread_that_has_gone_on_since_shows_what_it_knows(tmp_path: Path):
    (tmp_path / "piers.txt").write_text(FILE)
    journey = Journey(tmp_path)
    replies = [{"text": "", "calls": CALLS[:1], "error": None}, {"text": "b", "calls": [], "error": None}]
    async with opened(tmp_path, model=journey.write(replies)) as home:
        other = await Wisp.open(face="test", home=tmp_path / "home", cwd=tmp_path)
        try:
            early: list[Reader] = []

            async def look(_: object) -> Answer:
                early.append(await other.library.reader(home.thread.record.id))
                return Answer(Verdict.ONCE)

            home.thread._person._ask = look  # type: ignore[assignment]
            await home.thread.change(model=journey.write([{**replies[0], "calls": CALLS[1:2]}, replies[1]]))
            await home.thread.send("one")
            await home.thread.send("two")
            (reader,) = early
            assert reader.record.open_turn() is not None, "it was read while the person was asked"
            past = await reader.request_of(1)
            assert (past.same, past.step) == (True, 1)
            assert {plan.turn for plan in await reader.plans()} == {1}
            assert (await home.thread.reader.request_of(1)).step == 2
        finally:
            await other.close()
