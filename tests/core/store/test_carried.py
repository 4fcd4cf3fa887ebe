"""A thread that begins with what another held: copied as it is, as it was, or as it was saved (A4b, A12, A21, A26)."""

import asyncio
import json
import tempfile
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.core.store.event_streams import OPS, dumped, fold_audit, play, start
from wisp_core.audit.files import list_files
from wisp_core.audit.verify import verify
from wisp_core.errors import ResumeError
from wisp_core.events import ThreadForked
from wisp_core.journal import Journal, rebuild
from wisp_core.records import EntryState, JsonObject, Origin, Outcome, ThreadRecord
from wisp_core.settings import MIB, Audit, Settings
from wisp_core.store.carried import fork_rows, resume_rows
from wisp_core.store.carried_rows import read_rows

STORY = [
    *(("prompt", 0, "first"), ("compose", 1, ""), ("call", 1, "let me"), ("run", 0, ""), ("return", 1, "out")),
    *(("compose", 2, ""), ("respond", 1, "done"), ("end", 0, ""), ("command", 0, "ls")),
    *(("prompt", 0, "second"), ("reference", 6, "[out]"), ("segments", 1, "new"), ("respond", 1, "two")),
    *(("cut", 7, "[cut]"), ("condense", 1, ""), ("summary", 1, "s"), ("end", 0, "")),
    *(("prompt", 0, "third"), ("compose", 2, ""), ("respond", 2, "three"), ("reference", 6, "[later]")),
]


async def begin(journal: Journal, rows: list[JsonObject], *datas: Any) -> ThreadRecord:
    """Return the record of a thread that begins with the rows."""
    record = await journal.new_thread()
    first = start("now").model_copy(update={"carried": rows})
    if datas:
        await journal.record_group(record, [first, *datas])
    else:
        await journal.record(record, first)
    return record


async def told(home: Path) -> tuple[Journal, ThreadRecord, list[JsonObject]]:
    """Return an open journal, the record of the story, and its rows."""
    journal = await Journal.open(home, Settings())
    record = await journal.new_thread()
    await play(journal, record, ops=STORY)
    return journal, record, await dumped(journal, record)


def entries_of(rows: list[JsonObject]) -> list[JsonObject]:
    """Return the rows of entries."""
    return [row for row in rows if row["row"] == "entry"]


async def test_a_thread_that_begins_with_the_rows_of_another_holds_the_same(tmp_path):
    journal, record, rows = await told(tmp_path)
    try:
        other = await begin(journal, rows)
        assert other.entries == record.entries
        assert (other.turns, other.active, other.calls) == (record.turns, record.active, record.calls)
        assert (other.plans, other.summaries) == (record.plans, record.summaries)
        assert other.facts == {id: replace(fact, thread=other.id) for id, fact in record.facts.items()}
        assert (other.title, other.instructions, other.reports) == ("first", record.instructions, record.reports)
        assert await journal.database.plans(other.id) == await journal.database.plans(record.id)
        dropped = [id for id, entry in record.entries.items() if entry.state is EntryState.DROPPED]
        assert dropped
        assert await journal.database.contents(other.id, dropped) == await journal.database.contents(record.id, dropped)
    finally:
        await journal.close()


async def test_totals_grants_and_counts_are_those_of_the_new_thread(tmp_path):
    journal, _, rows = await told(tmp_path)
    try:
        other = await begin(journal, rows)
        assert (other.totals.requests, other.grants, other.condensations, other.last_usage) == (0, (), 0, None)
        assert (other.model, other.cwd, other.mode) == ("m", "/work", "ask")
    finally:
        await journal.close()


async def test_entries_and_turns_go_on_from_the_carried_ones(tmp_path):
    journal, record, rows = await told(tmp_path)
    try:
        other = await begin(journal, resume_rows(rows))
        await play(journal, other, ops=[("prompt", 0, "on"), ("compose", 1, ""), ("respond", 1, "and on")])
        assert other.turns[4].prompt == len(record.entries) + 1
        assert [other.entries[id].turn for id in range(len(record.entries) + 1, len(other.entries) + 1)] == [4, 4]
        assert await journal.database.load(other.id) == other == fold_audit(tmp_path, other.id)
    finally:
        await journal.close()


async def test_a_fork_is_the_record_as_it_was_at_the_end_of_a_turn(tmp_path):
    journal, record, rows = await told(tmp_path)
    try:
        other = await begin(journal, fork_rows(rows, 1), ThreadForked(source=record.id, turn=1))
        assert list(other.turns) == [1]
        assert len(other.entries) == 7
        assert {entry.origin for entry in other.entries.values()} == {Origin.CARRIED}
        # Dropped, referred to and renewed in the second turn or later.
        assert {entry.state for entry in other.entries.values()} == {EntryState.ACTIVE}
        assert (other.entries[6].reference, other.entries[6].referenced_at) == (None, None)
        assert other.instructions == record.instructions[:1]
        assert other.entries[1].content == record.instructions[0]
        assert other.summaries == ()
        assert len(await journal.database.plans(other.id)) == 2
        # What was cut in a reply stays cut.
        assert [cut.marker for cut in other.entries[7].cuts] == ["[cut]"]
        assert await journal.database.load(other.id) == other == fold_audit(tmp_path, other.id)
    finally:
        await journal.close()


async def test_a_fork_at_the_latest_turn_has_all_and_one_at_0_the_instructions_alone(tmp_path):
    journal, record, rows = await told(tmp_path)
    try:
        whole = read_rows(fork_rows(rows, record.last_turn))
        assert len(whole.entries) == len(record.entries)
        assert whole.turns[-1].outcome is Outcome.ABANDONED
        none = read_rows(fork_rows(rows, 0))
        assert ([entry.id for entry in none.entries], none.turns, none.plans, none.facts, none.title) == (
            [1],
            (),
            (),
            (),
            "",
        )
    finally:
        await journal.close()


async def test_a_resumed_record_says_what_was_a_turn_s_and_that_nothing_was_dropped_in_a_turn_of_this_thread(tmp_path):
    journal, _, rows = await told(tmp_path)
    try:
        resumed = read_rows(resume_rows(rows))
        assert {entry.origin for entry in resumed.entries} == {Origin.RESUMED}
        assert {e.dropped_at for e in resumed.entries if e.state is EntryState.DROPPED} == {0}
        assert {e.referenced_at for e in resumed.entries if e.reference} == {0}
        again = read_rows(resume_rows(fork_rows(rows, 2)))
        assert {entry.origin for entry in again.entries} == {Origin.CARRIED}
        assert [entry.content for entry in again.entries] == [
            entry.content for entry in resumed.entries[: len(again.entries)]
        ]
    finally:
        await journal.close()


BROKEN: list[tuple[str, str, Any]] = [
    ("entry", "id", 9),
    ("entry", "kind", "odd"),
    ("entry", "content", None),
    ("entry", "content", {"text": 5}),
    ("entry", "state", "active"),
    ("entry", "dropped_by", None),
    ("entry", "turn", 2**70),
    ("entry", "turn", 99),
    ("entry", "cuts", [{"start": 2, "end": 1, "output": 1, "tool": "t", "marker": "m"}]),
    ("entry", "reference", "[r]"),
    ("turn", "number", 0),
    ("turn", "prompt", 1),
    ("turn", "outcome", "odd"),
    ("plan", "entries", [[99, "whole"]]),
    ("plan", "turn", 99),
    ("instructions", "segments", "core"),
    ("fact", "version", -1),
    ("summary", "turn", "one"),
    ("summary", "row", "odd"),
]


@pytest.mark.parametrize(
    ("kind", "key", "value"), BROKEN, ids=[f"{kind} {key} {value}"[:40] for kind, key, value in BROKEN]
)
async def test_a_row_that_is_none_is_named_and_nothing_comes_of_it(tmp_path, kind, key, value):
    journal, record, rows = await told(tmp_path)
    try:
        await play(journal, record, ops=[("fact", 1, "v")])
        rows = await dumped(journal, record)
        read_rows(rows)
        # The second of its kind, for the first entry may be what others are not.
        row = [row for row in rows if row["row"] == kind][:2][-1]
        row[key] = value
        for made in (lambda: fork_rows(rows, 9), lambda: resume_rows(rows), lambda: read_rows(rows)):
            with pytest.raises(ResumeError, match=r"these rows do not make a conversation: .*(row \d|entr|turn|plan)"):
                made()
        other = await begin(journal, rows)
        assert [entry.kind for entry in other.entries.values()] == ["instructions"]
        assert await journal.database.load(other.id) == other
    finally:
        await journal.close()


JSON = st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=5), st.just([]), st.just({}))


@cache
def story() -> str:
    """Return the rows of the story as the JSON of a file."""

    async def rows(home: Path) -> list[JsonObject]:
        journal, _, found = await told(home)
        await journal.close()
        return found

    with tempfile.TemporaryDirectory() as folder:
        return json.dumps(asyncio.run(rows(Path(folder))))


@settings(max_examples=100)
@given(st.data())
def test_whatever_a_row_says_it_makes_a_whole_record_or_none(data):
    async def check(home: Path) -> None:
        journal = await Journal.open(home, Settings())
        try:
            record = await begin(journal, rows)
            assert await journal.database.load(record.id) == record
            assert await journal.database.search(record.id, "m", limit=9) == []
        finally:
            await journal.close()

    rows = json.loads(story())
    for _ in range(data.draw(st.integers(1, 2))):
        row = data.draw(st.sampled_from(rows))
        content = row.get("content")
        inner = content if isinstance(content, dict) and content and data.draw(st.booleans()) else row
        inner[data.draw(st.sampled_from(list(inner)))] = data.draw(JSON)
    try:
        rows = resume_rows(rows) if data.draw(st.booleans()) else fork_rows(rows, 1)
    except ResumeError:
        return
    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(check(Path(folder)))


@settings(max_examples=30)
@given(OPS, st.integers(0, 12))
def test_a_fork_of_any_record_is_a_record_that_can_be_forked_again_to_the_same(ops, turn):
    async def check(home: Path) -> None:
        journal = await Journal.open(home, Settings())
        try:
            record = await journal.new_thread()
            await play(journal, record, ops=ops)
            rows = await dumped(journal, record)
            forked = fork_rows(rows, turn)
            assert fork_rows(forked, turn) == forked
            other = await begin(journal, json.loads(json.dumps(forked)), ThreadForked(source=record.id, turn=turn))
            assert await journal.database.load(other.id) == other == fold_audit(home, other.id)
            assert other.last_turn <= turn
            assert json.loads(json.dumps(forked)) == await dumped(journal, other)
            assert resume_rows(resume_rows(rows)) == resume_rows(rows)
        finally:
            await journal.close()

    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(check(Path(folder)))


async def test_a_line_of_many_megabytes_is_carried_found_verified_mended_and_replayed(tmp_path):
    small = Settings(audit=Audit(max_bytes=MIB))
    journal = await Journal.open(tmp_path, small)
    try:
        record = await journal.new_thread()
        await play(journal, record, ops=[("prompt", 0, "狐 fox " * 200_000), ("end", 0, "")] * 5)
        rows = await dumped(journal, record)
        other = await journal.new_thread()
        carrying = start().model_copy(update={"carried": fork_rows(rows, 5)})
        first, last = await journal.record_group(other, [carrying, ThreadForked(source=record.id, turn=5)])
        assert len(first.line()) > 7 * MIB
        assert await journal.event(first.id) == first
        await play(journal, other, ops=[("prompt", 0, "on"), ("end", 0, "")])
        place = await journal.database.place(last.id)
    finally:
        await journal.close()
    assert verify(tmp_path / "audit") == []
    # A crash in the middle of such a line.
    with list_files(tmp_path / "audit")[-1].path.open("ab") as file:
        file.write(first.line()[:-1000])
    await rebuild(tmp_path, small)
    journal = await Journal.open(tmp_path, small)
    try:
        assert await journal.database.load(other.id) == other
        assert await journal.database.place(last.id) == place
    finally:
        await journal.close()


async def test_without_an_audit_the_database_holds_what_was_carried(tmp_path):
    source, _, rows = await told(tmp_path / "source")
    await source.close()
    (tmp_path / "silent").mkdir(mode=0o700)
    journal = await Journal.open(tmp_path / "silent", Settings(audit=Audit(enabled=False)))
    try:
        record = await begin(journal, resume_rows(rows))
        await play(journal, record, ops=[("prompt", 0, "on"), ("respond", 1, "and on"), ("undo", 0, "")])
        assert await journal.database.load(record.id) == record
        assert len(record.turns) == 4
    finally:
        await journal.close()
