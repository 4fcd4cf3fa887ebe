"""How the values of a record stand as rows, and how rows become the values again. Pure."""

import json
from collections.abc import Sequence
from dataclasses import fields
from typing import Any, TypeAlias, assert_never

from wisp_core.fact import Fact, FactScope
from wisp_core.records import (
    CONTENT_TYPES,
    Content,
    Cut,
    Entry,
    EntryKind,
    EntryState,
    InstructionsContent,
    Mode,
    Origin,
    Outcome,
    Plan,
    Rendering,
    Report,
    Segment,
    Summary,
    ThreadRecord,
    Totals,
    Turn,
    Usage,
)
from wisp_core.store.changes import (
    KEPT_SUMMARIES,
    Change,
    Cleared,
    EndPut,
    EntryPut,
    FactPut,
    InstructionsPut,
    PlanPut,
    SummaryPut,
    TurnPut,
)

Row: TypeAlias = Sequence[Any]
Statement: TypeAlias = tuple[str, Row]

THREAD_COLUMNS = (
    "created, updated, title, cwd, model, mode, deleted, last_seq, grants, totals, last_usage, reports, condensations, "
    "renews_earlier"
)
ENTRY_COLUMNS = (
    "id, wire_id, kind, turn, time, origin, state, dropped_by, dropped_at, referenced_at, reference, sources, cuts"
)
PLAN_COLUMNS = (
    "event, turn, step, entries, earlier, now, instructions, settings, sha256, answered, "
    "model, window, bytes, tokens, reported, recalled"
)
SUMMARY_COLUMNS = "version, text, turns, highest, turn, time, event, model"
FACT_COLUMNS = (
    "id, scope, subject, name, value, source, version, turn, time, event, state, method, tool, entries, events, turns, "
    "superseded_by, unsupported, proposal, proposed_by, session"
)
TURN_COLUMNS = "number, prompt, time, outcome, error, ended"

# Looked up once a row of a long thread, where calling the enumeration would cost as much as all the rest.
_KINDS = {kind.value: kind for kind in EntryKind}
_ORIGINS = {origin.value: origin for origin in Origin}
_STATES = {state.value: state for state in EntryState}
_OUTCOMES = {outcome.value: outcome for outcome in Outcome}
_NO_CUTS = "[]"
_read = json.JSONDecoder().raw_decode

_HELD = ("entries", "turns", "plans", "instructions", "summaries", "facts")


def _upsert(table: str, columns: str, *, keys: tuple[str, ...], keep: str = "") -> str:
    """Return the statement that puts a row: `keep` is a column whose value stays where NULL is given."""
    names = ["thread", *columns.split(", ")]
    sets = [f"{n} = excluded.{n}" for n in names if n not in keys and n != keep]
    if keep:
        sets.append(f"{keep} = coalesce(excluded.{keep}, {keep})")
    marks = ", ".join("?" * len(names))
    # Names of tables and columns are this module's own; values are always parameters.
    return (
        f"INSERT INTO {table} ({', '.join(names)}) VALUES ({marks}) "
        f"ON CONFLICT ({', '.join(keys)}) DO UPDATE SET {', '.join(sets)}"
    )


_PUT_ENTRY = _upsert("entries", f"{ENTRY_COLUMNS}, content", keys=("thread", "id"), keep="content")
_PUT_TURN = _upsert("turns", TURN_COLUMNS, keys=("thread", "number"))
_PUT_PLAN = _upsert("plans", PLAN_COLUMNS, keys=("thread", "event"))
_PUT_INSTRUCTIONS = _upsert("instructions", "version, content", keys=("thread", "version"))
_PUT_SUMMARY = _upsert("summaries", SUMMARY_COLUMNS, keys=("thread", "event"))
_CUT_SUMMARIES = (
    "DELETE FROM summaries WHERE thread = ? AND rowid NOT IN "
    f"(SELECT rowid FROM summaries WHERE thread = ? ORDER BY rowid DESC LIMIT {KEPT_SUMMARIES})"
)
_PUT_FACT = _upsert("facts", FACT_COLUMNS, keys=("thread", "id"))
_PUT_PERMANENT = _upsert("permanent", FACT_COLUMNS, keys=("thread", "id"))
_PUT_END = (
    "INSERT INTO ends (event, fact, state, superseded_by, time) VALUES (?, ?, ?, ?, ?) ON CONFLICT (event) DO NOTHING"
)
_PUT_THREAD = (
    _upsert("threads", f"last_turn, {THREAD_COLUMNS}", keys=("id",))
    .replace("(thread,", "(id,")
    .replace("thread = excluded.thread, ", "")
)


def put_thread(record: ThreadRecord) -> Statement:
    """Return the statement that puts the thread's own row."""
    totals = [record.totals.requests, record.totals.prompt, record.totals.completion]
    totals += [record.totals.total, record.totals.cached]
    usage = record.last_usage
    last = None if usage is None else _json([usage.prompt, usage.completion, usage.total, usage.cached])
    reports = [[model, report.prompt, report.bytes] for model, report in record.reports.items()]
    row = (
        *(record.id, record.last_turn, record.created, record.updated, record.title, record.cwd, record.model),
        *(record.mode.value, int(record.deleted), record.last_seq, _json(record.grants), _json(totals), last),
        *(_json(reports), record.condensations, int(record.renews_earlier)),
    )
    return _PUT_THREAD, row


def put_change(thread: str, change: Change) -> tuple[Statement, ...]:
    """Return the statements that put one change."""
    match change:
        case EntryPut(entry):
            return ((_PUT_ENTRY, (thread, *_entry_row(entry))),)
        case TurnPut(turn):
            outcome = None if turn.outcome is None else turn.outcome.value
            row = (thread, turn.number, turn.prompt, turn.time, outcome, turn.error, turn.ended)
            return ((_PUT_TURN, row),)
        case PlanPut(plan):
            return ((_PUT_PLAN, (thread, *_plan_row(plan))),)
        case InstructionsPut(content):
            return ((_PUT_INSTRUCTIONS, (thread, content.version, dump_content(content))),)
        case SummaryPut(summary):
            row = (thread, *(getattr(summary, name) for name in SUMMARY_COLUMNS.split(", ")))
            return ((_PUT_SUMMARY, row), (_CUT_SUMMARIES, (thread, thread)))
        case FactPut(fact):
            row = (thread, *_fact_row(fact))
            shared = fact.scope == FactScope.PERMANENT
            return ((_PUT_FACT, row), (_PUT_PERMANENT, row)) if shared else ((_PUT_FACT, row),)
        case EndPut():
            return ((_PUT_END, (change.event, change.fact, change.state, change.superseded_by, change.time)),)
        case Cleared():
            return tuple((f"DELETE FROM {table} WHERE thread = ?", (thread,)) for table in _HELD)
        case _:
            assert_never(change)


def table_of(sql: str) -> str:
    """Return the table that a statement of `put_change` writes, its third word."""
    return sql.split(maxsplit=3)[2]


def thread_of(id: str, row: Row) -> ThreadRecord:
    """Return a record with the thread's own fields, of a row of `THREAD_COLUMNS`."""
    created, updated, title, cwd, model, mode, deleted, last_seq, grants, totals, last_usage = row[:11]
    reports, condensations, renews_earlier = row[11:]
    return ThreadRecord(
        id=id,
        created=created,
        updated=updated,
        title=title,
        cwd=cwd,
        model=model,
        mode=Mode(mode),
        deleted=bool(deleted),
        last_seq=last_seq,
        grants=tuple(json.loads(grants)),
        totals=Totals(*json.loads(totals)),
        last_usage=None if last_usage is None else Usage(*json.loads(last_usage)),
        reports={model: Report(prompt, size) for model, prompt, size in json.loads(reports)},
        condensations=condensations,
        renews_earlier=bool(renews_earlier),
    )


def entry_of(row: Row) -> Entry:
    """Return the entry of a row of `ENTRY_COLUMNS` and the content's text, None where it is not to be read."""
    id, wire_id, kind, turn, time, origin, state, dropped_by, dropped_at, referenced_at, reference, *rest = row
    sources, cuts, content = rest
    return Entry(
        id,
        wire_id,
        _KINDS[kind],
        turn,
        time,
        None if content is None else load_content(_KINDS[kind], content),
        _ORIGINS[origin],
        _STATES[state],
        dropped_by,
        dropped_at,
        referenced_at,
        reference,
        tuple(_read(sources)[0]),
        () if cuts == _NO_CUTS else tuple(Cut(*cut) for cut in _read(cuts)[0]),
    )


def turn_of(row: Row) -> Turn:
    """Return the turn of a row of `TURN_COLUMNS`."""
    number, prompt, time, outcome, error, ended = row
    return Turn(number, prompt, time, None if outcome is None else _OUTCOMES[outcome], error, ended)


def plan_of(row: Row) -> Plan:
    """Return the plan of a row of `PLAN_COLUMNS`."""
    event, turn, step, entries, earlier, now, instructions, settings, sha256, answered = row[:10]
    model, window, size, tokens, reported, recalled = row[10:]
    return Plan(
        event=event,
        turn=turn,
        step=step,
        entries=tuple((entry, Rendering(word)) for entry, word in json.loads(entries)),
        earlier=earlier,
        now=now,
        instructions=instructions,
        settings=json.loads(settings),
        sha256=sha256,
        answered=answered,
        model=model,
        window=window,
        bytes=size,
        tokens=tokens,
        reported=reported,
        recalled=tuple((entry, why) for entry, why in json.loads(recalled)),
    )


def summary_of(row: Row) -> Summary:
    """Return the summary of a row of `SUMMARY_COLUMNS`."""
    return Summary(*row)


def fact_of(row: Row, thread: str) -> Fact:
    """Return the fact of a row of `FACT_COLUMNS` that `thread` recorded."""
    values = dict(zip(FACT_COLUMNS.split(", "), row, strict=True))
    for name in ("entries", "events", "turns"):
        values[name] = None if values[name] is None else tuple(json.loads(values[name]))
    values["unsupported"] = bool(values["unsupported"])
    return Fact(**values, thread=thread)


def dump_content(content: Content) -> str:
    """Return an entry's content as JSON text."""
    if isinstance(content, InstructionsContent):
        return _json({"version": content.version, "segments": [[part.name, part.text] for part in content.segments]})
    return _json({field.name: getattr(content, field.name) for field in fields(content)})


def load_content(kind: EntryKind, text: str) -> Content:
    """Return the content of an entry of `kind` from its JSON text."""
    if kind is EntryKind.INSTRUCTIONS:
        return load_instructions(text)
    return CONTENT_TYPES[kind](**_read(text)[0])


def load_instructions(text: str) -> InstructionsContent:
    """Return a version of the instructions from its JSON text."""
    raw = json.loads(text)
    return InstructionsContent(tuple(Segment(*part) for part in raw["segments"]), raw["version"])


def _entry_row(entry: Entry) -> Row:
    cuts = [[cut.start, cut.end, cut.output, cut.tool, cut.marker] for cut in entry.cuts]
    content = None if entry.content is None else dump_content(entry.content)
    return (
        *(entry.id, entry.wire_id, entry.kind.value, entry.turn, entry.time, entry.origin.value, entry.state.value),
        *(entry.dropped_by, entry.dropped_at, entry.referenced_at, entry.reference),
        *(_json(entry.sources), _json(cuts), content),
    )


def _fact_row(fact: Fact) -> Row:
    return (
        *(fact.id, fact.scope, fact.subject, fact.name, fact.value, fact.source, fact.version, fact.turn, fact.time),
        *(fact.event, fact.state, fact.method, fact.tool, _json(fact.entries), _json(fact.events)),
        *(None if fact.turns is None else _json(fact.turns), fact.superseded_by, int(fact.unsupported)),
        *(fact.proposal, fact.proposed_by, fact.session),
    )


def _plan_row(plan: Plan) -> Row:
    return (
        *(plan.event, plan.turn, plan.step, _json(plan.entries), plan.earlier, plan.now, plan.instructions),
        *(_json(plan.settings), plan.sha256, plan.answered),
        *(plan.model, plan.window, plan.bytes, plan.tokens, plan.reported, _json(plan.recalled)),
    )


# One encoder for all: `json.dumps` makes one a call where its options are not the usual ones.
_json = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode
