"""Makes a thread's record into rows that another thread begins with: as it is, as it was, or as it was saved. Pure."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from wisp_core.fact import Fact, FactScope, FactState, Proposal
from wisp_core.records import (
    Content,
    Entry,
    EntryKind,
    EntryState,
    JsonObject,
    Origin,
    Outcome,
    Plan,
    ThreadRecord,
    Turn,
)
from wisp_core.store.carried_rows import Carried, read_rows, write_rows


def dump_record(record: ThreadRecord, contents: Mapping[int, Content], *, plans: Iterable[Plan]) -> list[JsonObject]:
    """Return the rows of a record: `contents` are of the entries that it holds without, `plans` are all of the thread.

    Every entry is in it, active or not; what belongs to the thread itself (totals, grants, model) is not.
    """
    entries = record.entries.values()
    return write_rows(
        Carried(
            title=record.title,
            instructions=record.instructions,
            turns=tuple(record.turns.values()),
            entries=tuple(e if e.content is not None else replace(e, content=contents.get(e.id)) for e in entries),
            plans=tuple(plans),
            summaries=record.summaries,
            facts=tuple(record.facts.values()),
        )
    )


def fork_rows(rows: Sequence[JsonObject], turn: int) -> list[JsonObject]:
    """Return the rows of the record as it was at the end of `turn`; 0 is before the first, the instructions alone.

    What was dropped or referred to later is active and whole again; cuts stay.

    Raises:
        ResumeError: a row is none, or does not go with the others.
    """
    held = read_rows(rows)
    plans = tuple(plan for plan in held.plans if plan.turn <= turn)
    end = _end(held, turn, plans=plans)
    instructions = held.instructions
    if held.turns and turn < held.turns[-1].number:
        sent = max((plan.instructions for plan in plans), default=0)
        instructions = tuple(v for v in instructions if v.version <= sent) or instructions[:1]
    entries = tuple(_as_it_was(entry, turn) for entry in held.entries[:end])
    if entries and entries[0].kind is EntryKind.INSTRUCTIONS:
        # Each version added the event that it came with.
        first = replace(entries[0], content=instructions[-1], sources=entries[0].sources[: len(instructions)])
        entries = (first, *entries[1:])
    return write_rows(
        Carried(
            title=held.title if turn else "",
            instructions=instructions,
            turns=tuple(_ended(each) for each in held.turns if each.number <= turn),
            entries=entries,
            plans=plans,
            summaries=tuple(summary for summary in held.summaries if summary.turn <= turn),
            facts=_own_facts(fact for fact in held.facts if fact.turn <= turn),
        )
    )


def resume_rows(rows: Sequence[JsonObject]) -> list[JsonObject]:
    """Return the rows of a saved record as those of the thread that goes on with it (A26).

    Raises:
        ResumeError: a row is none, or does not go with the others.
    """
    held = read_rows(rows)
    turns, entries = tuple(map(_ended, held.turns)), tuple(map(_resumed, held.entries))
    # A file makes nothing permanent.
    facts = _own_facts(_in_thread(fact) for fact in held.facts)
    return write_rows(replace(held, turns=turns, entries=entries, facts=facts))


def _end(held: Carried, turn: int, *, plans: Sequence[Plan]) -> int:
    """Return the last entry of the turn: what the person ran after it, unsent, is the next one's."""
    end = next((later.prompt - 1 for later in held.turns if later.number > turn), len(held.entries))
    sent = max((id for plan in plans for id, _ in plan.entries), default=0)
    while end > sent and held.entries[end - 1].turn > turn:
        end -= 1
    return end


def _as_it_was(entry: Entry, turn: int) -> Entry:
    entry = replace(entry, origin=Origin.CARRIED)
    if entry.dropped_at is not None and entry.dropped_at > turn:
        entry = replace(entry, state=EntryState.ACTIVE, dropped_by=None, dropped_at=None)
    if entry.referenced_at is not None and entry.referenced_at > turn:
        entry = replace(entry, referenced_at=None, reference=None)
    return entry


def _resumed(entry: Entry) -> Entry:
    return replace(
        entry,
        origin=Origin.RESUMED if entry.origin is Origin.TURN else entry.origin,
        dropped_at=None if entry.dropped_at is None else 0,
        referenced_at=None if entry.referenced_at is None else 0,
    )


def _own_facts(facts: Iterable[Fact]) -> tuple[Fact, ...]:
    """Return those that are the thread's own, none waiting; the permanent ones and the session's are shared anyway.

    One whose successor is not among them stands again.
    """
    own = [
        replace(fact, proposal=_SETTLED.get(fact.proposal, fact.proposal)) for fact in facts if fact.scope == _THREAD
    ]
    known = {fact.id for fact in own}
    return tuple(
        replace(fact, state=FactState.CURRENT, superseded_by="")
        if fact.state == FactState.SUPERSEDED and fact.superseded_by not in known
        else fact
        for fact in own
    )


def _in_thread(fact: Fact) -> Fact:
    return replace(fact, scope=_THREAD) if fact.scope == FactScope.PERMANENT else fact


_THREAD = FactScope.THREAD.value
_SETTLED = {Proposal.WAITING.value: Proposal.NONE.value}


def _ended(turn: Turn) -> Turn:
    """Return the turn as one that nothing goes on with in another thread."""
    return turn if turn.outcome is not None else replace(turn, outcome=Outcome.ABANDONED)
