"""Random streams of events over the journal: plausible enough to do something, wild enough to do it badly."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, TypeAlias

from hypothesis import strategies as st

from wisp_core.audit.files import list_files, read_batches, read_lines
from wisp_core.events import (
    CallData,
    CommandRun,
    ContextCompactionUndone,
    ContextCondensation,
    ContextCut,
    ContextEstimated,
    ContextReference,
    ContextSummary,
    Event,
    EventData,
    FactDeleted,
    FactDropped,
    FactKept,
    FactProposed,
    FactRecorded,
    FactScopeChanged,
    FactSuperseded,
    ModeChanged,
    ModelChanged,
    PermissionGranted,
    Prompt,
    RequestComposed,
    RequestRetried,
    Response,
    SegmentData,
    ThreadDeleted,
    ThreadRenamed,
    ThreadStart,
    ToolCalled,
    ToolReturned,
    TurnEnd,
    UsageData,
    parse_event,
)
from wisp_core.journal import Journal
from wisp_core.records import Content, JsonObject, ThreadRecord, new_call_id
from wisp_core.store.carried import dump_record
from wisp_core.store.changes import EntryPut
from wisp_core.store.database import Database
from wisp_core.store.fold import apply, pass_over

Op: TypeAlias = tuple[str, int, str]

NAMES = (
    *("prompt", "prompt", "compose", "compose", "respond", "respond", "call", "call", "run", "run", "return", "return"),
    *("end", "end", "fail", "fail", "retry", "retry", "command", "condense", "condense", "undo", "undo"),
    *("reference", "cut", "summary", "fact", "facts", "change", "model", "mode", "grant", "rename", "estimate"),
    *("segments", "lonely"),
)
TEXT = st.text(st.characters(), max_size=12)
OPS = st.lists(st.tuples(st.sampled_from(NAMES), st.integers(0, 10_000), TEXT), max_size=60)
PROJECTED = ("threads", "entries", "turns", "plans", "instructions", "summaries", "facts", "permanent", "ends")


def start(text: str = "core") -> ThreadStart:
    """Return the event that a thread begins with."""
    return ThreadStart(cwd="/work", model="m", mode="ask", instructions=[SegmentData(name="core", text=text)])


async def play(journal: Journal, record: ThreadRecord, *, ops: Sequence[Op]) -> list[Event]:
    """Record what the operations say, each chosen by where the record stands."""
    events = [await journal.record(record, start())]
    for name, number, text in ops:
        datas = _datas(record, events, name=name, number=number, text=text)
        if len(datas) > 1 or name in ("condense", "undo"):
            events += await journal.record_group(record, datas)
        else:
            events.append(await journal.record(record, datas[0]))
    return events


def fold_audit(home: Path, thread: str) -> ThreadRecord:
    """Return a thread's record from the audit's lines alone."""
    record, contents = ThreadRecord(thread), {}
    for file in list_files(home / "audit"):
        lines = dict(read_lines(file.path))
        for batch in read_batches(file.path):
            for line in batch.lines:
                event = parse_event(lines[line.offset])
                if line.thread != thread or not isinstance(event, Event):
                    continue
                if not batch.whole:
                    pass_over(record, line.seq or 0)
                    continue
                for change in apply(record, event, contents=contents):
                    _keep(change, contents)
    return record


async def dumped(journal: Journal, record: ThreadRecord) -> list[JsonObject]:
    """Return a record's rows as they come back from a file."""
    dropped = [id for id, entry in record.entries.items() if entry.content is None]
    contents = await journal.database.contents(record.id, dropped)
    rows = dump_record(record, contents, plans=await journal.database.plans(record.id))
    return list(json.loads(json.dumps(rows)))


async def rows_of(database: Database) -> dict[str, list[tuple[Any, ...]]]:
    """Return every row of the projection, where each event stands, and in how many passages each word is found."""
    found = {table: [tuple(row) for row in await database.fetch(f"SELECT * FROM {table}")] for table in PROJECTED}
    found["events"] = await database.fetch("SELECT e.id, name, offset FROM events e JOIN files f ON f.id = e.file")
    found["files"] = await database.fetch("SELECT name, position FROM files WHERE position > 0")
    async with database.transaction() as writer:
        await writer.execute("CREATE VIRTUAL TABLE temp.words USING fts5vocab(main, passages, col)")
        found["passages"] = [tuple(row) for row in await writer.execute_fetchall("SELECT * FROM temp.words")]
    return {table: sorted(rows, key=repr) for table, rows in found.items()}


def _keep(change: object, contents: dict[int, Content]) -> None:
    if isinstance(change, EntryPut) and change.entry.content is not None:
        contents[change.entry.id] = change.entry.content


def _datas(record: ThreadRecord, events: list[Event], *, name: str, number: int, text: str) -> list[EventData]:
    entry = number % (len(record.entries) + 2)
    calls = list(record.calls) or ["00000000"]
    call = calls[-1 - number % min(3, len(calls))]
    drops = [i for i in record.active if i % 3 != number % 3]
    made: dict[str, list[EventData]] = {
        "prompt": [Prompt(text=text)],
        "compose": [_composed(record, number)],
        "respond": [_response(events, text, calls=[], number=number)],
        "call": [_response(events, text, calls=[new_call_id() for _ in range(1 + number % 3)], number=number)],
        "run": [ToolCalled(call=call, tool="t", arguments={"a": text})],
        "return": [ToolReturned(call=call, tool="t", text=text, ok=bool(number % 2), bytes=number, seconds=number / 7)],
        "end": [TurnEnd(outcome=("done", "interrupted", "abandoned", "odd")[number % 4])],
        "fail": [TurnEnd(outcome="failed", error=text)],
        "retry": [RequestRetried(reason="person" if number % 4 else "overflow")],
        "command": [CommandRun(command=text, output=text, exitStatus=number % 2)],
        "condense": [_fact(text, number), _condensed(drops)],
        "undo": [ContextCompactionUndone(undone=_latest(events, "context.condensation", number=number))],
        "reference": [ContextReference(entry=entry, tool="t", result="r", text=text, bytes=1, tokens=1)],
        "cut": [ContextCut(reply=entry, output=1, tool="t", start=0, end=1, marker=text, bytes=1, tokens=1)],
        "summary": [
            ContextSummary(version=number, text=text, turns=1, highest=entry, error="no" if number % 5 == 0 else "")
        ],
        "fact": [_fact(text, number)],
        "facts": [_fact(text, number), _fact(text, number + 1), TurnEnd(outcome="done")],
        "change": [
            _changed_fact(number, text),
        ],
        "model": [ModelChanged(model=text)],
        "mode": [ModeChanged(mode=("plan", "ask", "auto", "odd")[number % 4])],
        "grant": [PermissionGranted(rule=f"r{number % 3}", scope="thread" if number % 2 else "always")],
        "rename": [ThreadRenamed(title=text)],
        "estimate": [ContextEstimated(system=1, messages=1, results=1, schemas=1, total=4)],
        "segments": [_composed(record, number, segment=text)],
        "lonely": [ThreadDeleted() if number % 8 == 7 else ToolReturned(call="ffffffff", tool="t", text=text, ok=True)],
    }
    return made[name]


def _composed(record: ThreadRecord, number: int, *, segment: str | None = None) -> RequestComposed:
    entries = [(i, ("whole", "cut", "reference")[number % 3]) for i in record.active]
    version = len(record.instructions) + (0 if segment is None else 1)
    segments = None if segment is None else [SegmentData(name="core", text=segment)]
    return RequestComposed(
        step=number % 4,
        entries=entries,
        instructions=version,
        segments=segments,
        settings={"n": number},
        sha256="x",
        model=f"m{number % 3}",
        window=(None, 8192, 2**70)[number % 3],
        bytes=number % 7 * 100,
        tokens=number,
    )


def _response(events: list[Event], text: str, *, calls: list[str], number: int) -> Response:
    prompt = 2**70 if number % 11 == 1 else number
    usage = UsageData(prompt=prompt, completion=1, total=number + 1, cached=None) if number % 3 else None
    made = [CallData(call=call, tool="t", arguments="{}") for call in calls]
    request = _latest(events, "request.composed", number=0)
    return Response(request=request, step=1, text=text, calls=made, finish="stop", model="m", usage=usage)


def _condensed(drops: list[int]) -> ContextCondensation:
    return ContextCondensation(reason="budget", goal=1, before=2, after=1, dropped=drops)


def _fact(text: str, number: int) -> FactRecorded:
    kind = FactProposed if number % 5 == 0 else FactRecorded
    return kind(
        fact=f"f{number % 4}",
        scope=("thread", "permanent", "session", "odd")[number % 7 % 4],
        subject="s",
        key="k",
        value=text,
        source="person",
        version=number,
        entries=[number % 5],
        events=[text],
        turns=(1, number) if number % 3 else None,
        unsupported=number % 2 == 0,
    )


def _changed_fact(number: int, text: str) -> EventData:
    fact, into = f"f{number % 6}", f"f{number % 4}"
    if number % 5 == 0:
        return FactScopeChanged(fact=fact, scope=text, into=into)
    return (FactKept, FactDeleted, FactDropped, FactSuperseded)[number % 4](fact=fact, into=into)


def _latest(events: list[Event], name: str, *, number: int) -> str:
    found = [event.id for event in events if event.name == name]
    return found[-1 - number % min(2, len(found))] if found else "none"
