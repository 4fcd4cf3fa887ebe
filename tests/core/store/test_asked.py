"""What the faces ask of the database: entries, what each turn changed, threads with their size, sessions of events."""

import asyncio
import os
import subprocess
import sys

from tests.core.store.event_streams import play, start
from wisp_core.events import (
    ContextCondensation,
    ContextCut,
    ContextReference,
    ContextSummary,
    Event,
    EventData,
    FactRecorded,
    Prompt,
    RequestComposed,
    Response,
    TurnEnd,
    UsageData,
)
from wisp_core.journal import Journal
from wisp_core.records import PromptContent, Report, ThreadRecord
from wisp_core.requests import TurnChanges
from wisp_core.settings import Audit, Settings


def composed(size: int, tokens: int, model: str = "m") -> RequestComposed:
    """Return a request of so many bytes and measured tokens."""
    return RequestComposed(
        **{"step": 1, "entries": [(1, "whole")], "instructions": 1, "settings": {}, "sha256": "x"},
        **{"model": model, "window": 8192, "bytes": size, "tokens": tokens},
    )


def answer(request: Event, prompt: int | None) -> Response:
    """Return an answer to a request, with the prompt's tokens as the provider reports them."""
    usage = None if prompt is None else UsageData(prompt=prompt)
    return Response(request=request.id, step=1, text="so", finish="stop", model="other", usage=usage)


async def taken(journal: Journal, record: ThreadRecord, *datas: EventData) -> list[Event]:
    """Record events in order."""
    return [await journal.record(record, data) for data in datas]


async def test_a_plan_says_how_much_was_sent_and_an_answer_what_the_provider_counted(tmp_path):
    journal = await Journal.open(tmp_path, Settings())
    try:
        record = await journal.new_thread()
        *_, first = await taken(journal, record, start(), Prompt(text="a"), composed(400, 90))
        await taken(journal, record, answer(first, 111))
        (second,) = await taken(journal, record, composed(500, 120, model="n"))
        await taken(journal, record, answer(second, None))
        (third,) = await taken(journal, record, composed(0, 130))
        await taken(journal, record, answer(third, 140))
        assert [(p.model, p.window, p.bytes, p.tokens, p.reported) for p in record.plans[1]] == [
            *(("m", 8192, 400, 90, 111), ("n", 8192, 500, 120, None), ("m", 8192, 0, 130, None)),
        ]
        assert record.reports == {"m": Report(111, 400)}
        assert await journal.database.load(record.id) == record
        assert await journal.database.plans(record.id) == record.plans[1]
    finally:
        await journal.close()


async def test_what_each_turn_changed_is_counted_and_how_full_its_last_answered_request_was(tmp_path):
    journal = await Journal.open(tmp_path, Settings())
    try:
        record = await journal.new_thread()
        assert await journal.database.turn_changes(record.id) == []
        await taken(journal, record, start())
        await play(journal, record, ops=[("prompt", 0, "a"), ("call", 0, "x"), ("run", 0, ""), ("return", 1, "out")])
        *_, first = await taken(journal, record, composed(400, 90))
        await taken(journal, record, answer(first, 111), composed(500, 300), TurnEnd(outcome="interrupted"))
        cut = {"output": 5, "tool": "t", "start": 0, "end": 1, "marker": "m", "bytes": 1, "tokens": 1}
        await taken(journal, record, Prompt(text="b"), ContextCut(reply=6, **cut), composed(10, 95))
        await taken(journal, record, ContextReference(entry=5, tool="t", result="r", text="ref", bytes=1, tokens=1))
        dropping = ContextCondensation(reason="budget", goal=1, before=2, after=1, dropped=[2, 3, 4])
        fact = {"fact": "f", "scope": "s", "subject": "s", "key": "k", "value": "v", "source": "s", "version": 1}
        await journal.record_group(record, [FactRecorded(**fact), dropping])
        await taken(journal, record, ContextSummary(version=1, text="s", turns=1, highest=4))
        await taken(journal, record, TurnEnd(outcome="failed"), Prompt(text="c"))
        assert await journal.database.turn_changes(record.id) == [
            TurnChanges(1, "interrupted", added=5, cut=1, requests=2, tokens=111, window=8192, reported=True),
            TurnChanges(
                **{
                    "turn": 2,
                    "outcome": "failed",
                    "added": 1,
                    "referenced": 1,
                    "dropped": 3,
                    "summarised": 1,
                    "facts": 1,
                },
                **{"requests": 1, "tokens": 95, "window": 8192},
            ),
            TurnChanges(3, "", added=1),
        ]
        assert record.condensations == 1
    finally:
        await journal.close()


async def test_contents_are_read_at_once_those_of_dropped_entries_included(tmp_path):
    journal = await Journal.open(tmp_path, Settings())
    try:
        record = await journal.new_thread()
        await play(
            journal, record, ops=[("prompt", 0, "a"), ("respond", 1, "b"), ("prompt", 0, "c"), ("condense", 1, "")]
        )
        assert {entry.content for entry in record.entries.values()} > {None}
        contents = await journal.database.contents(record.id, list(record.entries))
        assert list(contents) == list(record.entries)
        assert contents[2] == PromptContent("a")
        many = await journal.database.contents(record.id, range(1, 100_000))
        assert many == contents
    finally:
        await journal.close()


async def test_the_sessions_of_events_are_those_whose_audit_holds_them_rotated_files_included(tmp_path):
    small = Settings(audit=Audit(max_bytes=4096))
    sessions, sources = [], []
    for _ in range(2):
        journal = await Journal.open(tmp_path, small)
        record = await journal.new_thread()
        await play(journal, record, ops=[("prompt", 0, "a"), ("respond", 1, "b" * 5000), ("end", 0, "")])
        sessions.append(journal.session)
        sources += [source for entry in record.entries.values() for source in entry.sources]
        found = await journal.database.sessions_of(sources)
        assert found == sorted(sessions)
        assert await journal.database.sessions_of([sources[-1], "unknown"]) == [journal.session]
        await journal.close()


HOLD = """
import asyncio, sys
from pathlib import Path
from wisp_core.journal import Journal
from wisp_core.settings import Settings

async def main():
    journal = await Journal.open(Path(sys.argv[1]), Settings())
    await journal.open_thread(sys.argv[2])
    print("held", flush=True)
    sys.stdin.read()

asyncio.run(main())
"""


async def test_a_list_of_threads_says_how_much_was_said_and_who_writes_it(tmp_path):
    journal = await Journal.open(tmp_path, Settings())
    try:
        record = await journal.new_thread()
        await play(
            journal, record, ops=[("prompt", 0, "héé"), ("respond", 1, "b"), ("condense", 1, ""), ("end", 0, "")]
        )
        (row,) = await journal.database.threads(5)
        assert (row.turns, row.open_by) == (1, os.getpid())
        sizes = await journal.database.fetch("SELECT content FROM entries")
        assert row.bytes == sum(len(content.encode()) for (content,) in sizes)
        await journal.leave_thread(record.id)
        assert [row.open_by for row in await journal.database.threads(5)] == [0]
        child = subprocess.Popen(
            [sys.executable, "-c", HOLD, str(tmp_path), record.id], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        with child:
            assert child.stdout is not None
            assert await asyncio.to_thread(child.stdout.readline) == b"held\n"
            assert [row.open_by for row in await journal.database.threads(5)] == [child.pid]
            child.kill()
        # Its lock stands in the database still, and nobody holds it.
        assert [row.open_by for row in await journal.database.threads(5)] == [0]
    finally:
        await journal.close()
