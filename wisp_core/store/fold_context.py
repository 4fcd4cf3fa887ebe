"""The fold's part for the context engine: dropping and bringing back, references, cuts, summaries, facts. Pure."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any, TypeAlias

from wisp_core.events import (
    ContextCompactionUndone,
    ContextCondensation,
    ContextCut,
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
)
from wisp_core.fact import Fact, FactState, Proposal
from wisp_core.records import Content, Cut, EntryKind, EntryState, Summary, ThreadRecord
from wisp_core.store.changes import Change, EndPut, EntryPut, FactPut, SummaryPut

SPEAKERS = ("person", "caller")
Contents: TypeAlias = Mapping[int, Content]


def wanted(record: ThreadRecord, event: Event) -> tuple[int, ...]:
    """Return the ids of the entries whose content the event needs, because it brings them back."""
    if not isinstance(event.data, ContextCompactionUndone):
        return ()
    undone = event.data.undone
    return tuple(entry.id for entry in record.entries.values() if entry.dropped_by == undone)


def _condensed(record: ThreadRecord, event: Event) -> Iterator[Change]:
    data: Any = event.data
    turn = record.last_turn if event.turn is None else event.turn
    record.condensations += 1
    record.renews_earlier = True
    for number in data.dropped:
        entry = record.entries.get(number)
        if entry is None or entry.state is not EntryState.ACTIVE or entry.kind is EntryKind.INSTRUCTIONS:
            continue
        dropped = replace(entry, state=EntryState.DROPPED, dropped_by=event.id, dropped_at=turn, content=None)
        yield EntryPut(dropped)


def bring_back(record: ThreadRecord, event: Event, *, contents: Contents) -> Iterator[Change]:
    """Yield the entries that the event makes active again, with the content that was read for it."""
    record.renews_earlier = True
    for number in wanted(record, event):
        entry = record.entries[number]
        yield EntryPut(
            replace(entry, state=EntryState.ACTIVE, dropped_by=None, dropped_at=None, content=contents.get(number))
        )


def _referenced(record: ThreadRecord, event: Event) -> Iterator[Change]:
    data: Any = event.data
    entry = record.entries.get(data.entry)
    if entry is not None and entry.kind is EntryKind.TOOL_OUTPUT:
        turn = record.last_turn if event.turn is None else event.turn
        yield EntryPut(replace(entry, referenced_at=turn, reference=data.text))


def _cut(record: ThreadRecord, event: Event) -> Iterator[Change]:
    data: Any = event.data
    entry = record.entries.get(data.reply)
    if entry is not None and entry.kind is EntryKind.REPLY:
        cut = Cut(data.start, data.end, data.output, data.tool, data.marker)
        yield EntryPut(replace(entry, cuts=(*entry.cuts, cut)))


def _summarised(record: ThreadRecord, event: Event) -> Iterator[Change]:
    data: Any = event.data
    if data.error:
        return
    turn = record.last_turn if event.turn is None else event.turn
    yield SummaryPut(Summary(data.version, data.text, data.turns, data.highest, turn, event.time, event.id, data.model))


def _recorded(record: ThreadRecord, event: Event) -> Iterator[Change]:
    data: Any = event.data
    proposed = isinstance(data, FactProposed)
    proposal, by = (Proposal.WAITING, data.by) if proposed else (Proposal.NONE, "")
    # What the person or a caller says outside of a turn shows at once; what a turn gave shows when it has left (F19).
    record.renews_earlier |= data.source in SPEAKERS and not data.method
    known = record.facts.get(data.fact)
    if proposed and known is not None:
        yield FactPut(replace(known, proposal=proposal, proposed_by=by))
        return
    yield FactPut(
        Fact(
            id=data.fact,
            scope=data.scope,
            subject=data.subject,
            name=data.key,
            value=data.value,
            source=data.source,
            version=data.version,
            turn=record.last_turn if event.turn is None else event.turn,
            time=event.time,
            event=event.id,
            method=data.method,
            tool=data.tool,
            entries=tuple(data.entries),
            events=tuple(data.events),
            turns=data.turns,
            unsupported=data.unsupported,
            proposal=proposal,
            proposed_by=by,
            session=event.session,
            thread=record.id,
        )
    )


_ENDS: dict[type[EventData], FactState] = {
    FactKept: FactState.SUPERSEDED,
    FactSuperseded: FactState.SUPERSEDED,
    FactScopeChanged: FactState.SUPERSEDED,
    FactDeleted: FactState.DELETED,
}


def _moved(record: ThreadRecord, event: Event) -> Iterator[Change]:
    record.renews_earlier = True
    yield from _ended(record, event)


def _ended(record: ThreadRecord, event: Event) -> Iterator[Change]:
    data: Any = event.data
    state, fact = _ENDS[type(data)], record.facts.get(data.fact)
    if fact is None:
        # A permanent fact, or one of the session, that another thread recorded.
        yield EndPut(event.id, data.fact, state, data.into, event.time)
    elif fact.state == FactState.CURRENT:
        proposal = Proposal.KEPT if isinstance(data, FactKept) else fact.proposal
        yield FactPut(replace(fact, state=state, superseded_by=data.into, proposal=proposal))


def _dropped(record: ThreadRecord, event: Event) -> Iterator[Change]:
    data: Any = event.data
    fact = record.facts.get(data.fact)
    if fact is not None:
        yield FactPut(replace(fact, proposal=Proposal.DROPPED))


CONTEXT_EFFECTS: dict[type[EventData], Callable[[ThreadRecord, Event], Iterator[Change]]] = {
    ContextCondensation: _condensed,
    ContextReference: _referenced,
    ContextCut: _cut,
    ContextSummary: _summarised,
    FactRecorded: _recorded,
    FactProposed: _recorded,
    FactDropped: _dropped,
    FactKept: _moved,
    FactSuperseded: _ended,
    FactDeleted: _moved,
    FactScopeChanged: _moved,
}
