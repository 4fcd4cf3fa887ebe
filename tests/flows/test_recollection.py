"""O24 to O26: what of an earlier conversation comes back for a request, through real turns."""

import sqlite3
from pathlib import Path
from typing import Any

import pytest

from tests.fakes.provider import FakeProvider
from tests.flows.telling import FULL, KEEP_ONE, now, runs, script, tell
from tests.opened import Opened, opened
from wisp_core.facts.recollect import HEADING
from wisp_core.requests import Role
from wisp_core.store.migrations import STEPS
from wisp_core.store.recall import COMMON, look_up
from wisp_core.store.words import spaced

PLAIN: dict[str, Any] = {"context": KEEP_ONE, "facts": {"enabled": False}}


async def drop(home: Opened, *prompts: str, replies: tuple[dict[str, Any], ...] = ()) -> None:
    """Send prompts of which the second begins with a condensation down to one turn."""
    model = script(home.folder, {"text": "full", "usage": FULL}, *replies, name=f"m{len(home.heard)}")
    await home.thread.change(model=model)
    await tell(home, *prompts)


async def test_before_the_first_turn_has_left_nothing_is_looked_up(tmp_path: Path):
    async with opened(tmp_path, model=script(tmp_path), **PLAIN) as home:
        prompt = "How do I mend the copper gauge of the northern pier?"
        await tell(home, prompt, prompt, prompt)
        assert now(home.thread) == [""]
        assert home.events("context.recollection") == []


async def test_passages_come_in_order_of_time_with_who_said_them_where_and_nothing_literal(tmp_path: Path):
    told = {"text": "The copper gauge is mended with a brass washer of the northern chandler, size 14, by two people."}
    async with opened(tmp_path, model=script(tmp_path, told, runs("echo the copper gauge")), **PLAIN) as home:
        await tell(home, "How do I mend the copper gauge of the northern pier, and with which of all the tools there?")
        await tell(home, "print something")
        await drop(home, "what about the copper gauge?", "and which washer does the copper gauge of the pier take?")
        assert now(home.thread) == [
            HEADING,
            "- How do I mend the copper gauge of the northern pier, and with which of all the tools there? "
            "— the person, turn 1, entry 2",
            f"- {told['text']} — the assistant's reply, turn 1, entry 3",
            "- exit status: 0 stdout: the copper gauge — tool run_command, turn 2, entry 6",
        ]
        (event,) = home.events("context.recollection")
        assert event.entries == [2, 3, 6]
        assert event.query == "washer copper gauge pier"
        assert len(event.scores) == len(event.why) == 3
        past = await home.thread.reader.request_of(4)
        assert past.same
        assert [entry for entry, _ in past.recalled] == [2, 3, 6]
        assert "copper, gauge" in past.recalled[0][1]


async def test_each_step_of_a_turn_carries_what_its_beginning_found(tmp_path: Path):
    async with FakeProvider() as provider:
        endpoint = {"endpoints": {"fake": {"url": provider.url, "window": 8192}}}
        async with opened(tmp_path, model="local/fake", **endpoint, **PLAIN) as home:
            await tell(home, "How do I mend the copper gauge?")
            provider.answer("so", usage={"prompt_tokens": 8000, "completion_tokens": 1, "total_tokens": 8001})
            await tell(home, "go on")
            provider.answer("", calls=[{"name": "current_date", "arguments": {}}])
            await tell(home, "which copper gauge was it?")
        first, second = (request.body["messages"] for request in provider.requests[-2:])
        assert second[: len(first)] == first
        assert [message["content"].count(HEADING) for message in second if message["role"] == "user"] == [0, 1]
        assert len(home.events("context.recollection")) == 1


async def test_the_requests_own_words_go_before_the_previous_prompts(tmp_path: Path):
    chatter = [f"Compare the topic of parsing in general, number {n}" for n in range(80)]
    async with opened(tmp_path, model=script(tmp_path), **PLAIN) as home:
        await tell(home, "How do I mend the copper gauge?", *chatter)
        await drop(home, "Compare the topic of parsing in general", "and the copper gauge?")
        assert now(home.thread)[1:] == [
            "- How do I mend the copper gauge? — the person, turn 1, entry 2",
            "- fine — the assistant's reply, turn 1, entry 3",
        ]


async def test_a_follow_up_without_words_of_its_own_is_looked_up_by_the_previous_prompt(tmp_path: Path):
    async with opened(tmp_path, model=script(tmp_path), **PLAIN) as home:
        await tell(home, "How do I mend the copper gauge of the northern pier with the tools that I have here now?")
        await drop(home, "Is the copper gauge mended?", "and when?")
        assert [line.partition(" — ")[2] for line in now(home.thread)[1:]] == ["the person, turn 1, entry 2"]


@pytest.mark.parametrize(
    "request_",
    [
        "the and of it",
        'NEAR("copper" gauge, 2) OR * AND text : copper -gauge ^copper',
        "\u202bכמה עולה המדיד הנחושת\u202c العداد النحاسي",
        "銅のゲージはどこですか、北の桟橋の銅のゲージ",
        "🙂 👩‍👩‍👧 ½ ⅷ 𞤀𞤁 नमस्ते แม่น้ำ",
        "a" * 100_000,
        "copper gauge " * 20_000,
        "\x00\x1b[31m \ud800 '; DROP TABLE passages; --",
        "db ci id",
    ],
    ids=["stop words", "operators", "right to left", "unspaced", "odd", "one word", "long", "controls", "short"],
)
async def test_whatever_is_asked_ends_in_a_request_and_twice_the_same(tmp_path: Path, request_: str):
    async with opened(tmp_path, model=script(tmp_path, window=100_000), **PLAIN) as home:
        await tell(
            home, "How do I mend the copper gauge?", "北の桟橋の銅のゲージを直す", "המדיד הנחושת נמצא", "city idea"
        )
        model = script(home.folder, {"text": "full", "usage": FULL}, window=100_000, name="full")
        await home.thread.change(model=model)
        await tell(home, "fill", "go on")
        one, two = [await home.thread.knowledge.blocks(request_, window=8192) for _ in range(2)]
        assert one == two
        await tell(home, request_)
        assert home.events("turn.end")[-1].outcome == "done"
        assert all(line.startswith("- ") and line.isprintable() for line in now(home.thread)[1:])
        found = {recalled.entry for recalled in one.recalled}
        if "銅" in request_:
            assert 4 in found
        if "כמה" in request_:
            assert 6 in found
        if request_ == "db ci id":
            assert not found, "a short word is not the start of another"


async def test_a_previewed_draft_is_looked_up_and_no_draft_is_not(tmp_path: Path):
    async with opened(tmp_path, model=script(tmp_path), **PLAIN) as home:
        await tell(home, "How do I mend the copper gauge?")
        await drop(home, "fill", "go on")
        asked = "where is the copper gauge?"
        previewed = await home.thread.preview(asked)
        assert [recalled.entry for recalled in previewed.recalled] == [2, 3]
        assert (await home.thread.preview()).recalled == ()
        await tell(home, asked)
        plan = home.thread.record.latest_plan
        assert plan is not None
        assert plan.now == previewed.composition.now
        assert [message.role for message in previewed.composition.messages][-1] is Role.USER


@pytest.fixture
def long_thread() -> sqlite3.Connection:
    """A thread of very many entries, each with a common word, the oldest with a rare one too."""
    connection = sqlite3.connect(":memory:")
    connection.create_function("spaced", 1, spaced, deterministic=True)
    for step in STEPS:
        for statement in step:
            connection.execute(statement)
    rows = [(n, f'{{"text": "harbour {"kestrel" if n == 2 else "gull"} ci{n}"}}') for n in range(2, 3 * COMMON)]
    connection.executemany(
        "INSERT INTO entries (thread, id, wire_id, kind, turn, time, origin, state, sources, cuts, content)"
        " VALUES ('t1', ?, '', 'prompt', 1, '', 'turn', 'active', '[]', '[]', ?)",
        rows,
    )
    return connection


def test_a_word_that_is_nearly_everywhere_is_looked_for_only_where_no_other_is(long_thread: sqlite3.Connection):
    given: dict[str, Any] = {"literal": (), "limit": 64}
    looked = look_up(long_thread, "t1", starts=["kestrel", "harbour"], own=2, **given)
    assert [row.entry for row, _ in looked.found] == [2]
    assert looked.shares[1] == 1.0
    assert looked.shares[0] < 0.001
    common = look_up(long_thread, "t1", starts=["harbour", "gull"], own=2, **given)
    assert len(common.found) == 64
    assert min(row.entry for row, _ in common.found) > COMMON
