"""What an event changes in a thread: one small value a row, taken in by the record and by the database alike. Pure."""

from bisect import insort
from dataclasses import dataclass, replace
from typing import TypeAlias, assert_never

from wisp_core.fact import Fact
from wisp_core.records import (
    Entry,
    EntryKind,
    EntryState,
    InstructionsContent,
    Plan,
    Summary,
    ThreadRecord,
    Turn,
)

KEPT_SUMMARIES = 20


@dataclass(frozen=True, slots=True)
class EntryPut:
    """An entry is new, or stands as it is now; `content` None leaves the content that is stored."""

    entry: Entry


@dataclass(frozen=True, slots=True)
class TurnPut:
    """A turn is new, or stands as it is now."""

    turn: Turn


@dataclass(frozen=True, slots=True)
class PlanPut:
    """A request's plan is new, or was answered."""

    plan: Plan


@dataclass(frozen=True, slots=True)
class InstructionsPut:
    """The instructions got a version."""

    content: InstructionsContent


@dataclass(frozen=True, slots=True)
class SummaryPut:
    """The summary got a version; only the last `KEPT_SUMMARIES` stay."""

    summary: Summary


@dataclass(frozen=True, slots=True)
class FactPut:
    """A fact is new, or stands as it is now."""

    fact: Fact


@dataclass(frozen=True, slots=True)
class EndPut:
    """A fact that another thread recorded is over; that thread's own record does not hear of it."""

    event: str
    fact: str
    state: str
    superseded_by: str
    time: str


@dataclass(frozen=True, slots=True)
class Cleared:
    """Everything that the thread held is gone; its row stays, so that nothing older brings it back."""


Change: TypeAlias = EntryPut | TurnPut | PlanPut | InstructionsPut | SummaryPut | FactPut | EndPut | Cleared


def absorb(record: ThreadRecord, change: Change) -> None:
    """Take one change into the record."""
    match change:
        case EntryPut(entry):
            _put_entry(record, entry)
        case TurnPut(turn):
            record.turns[turn.number] = turn
        case PlanPut(plan):
            _put_plan(record, plan)
        case InstructionsPut(content):
            record.instructions = (*record.instructions, content)
        case SummaryPut(summary):
            record.summaries = (*record.summaries, summary)[-KEPT_SUMMARIES:]
        case FactPut(fact):
            record.facts[fact.id] = fact
        case EndPut():
            pass
        case Cleared():
            _clear(record)
        case _:
            assert_never(change)


def _put_entry(record: ThreadRecord, entry: Entry) -> None:
    before = record.entries.get(entry.id)
    if entry.state is EntryState.DROPPED:
        entry = replace(entry, content=None)
    elif entry.content is None and before is not None:
        entry = replace(entry, content=before.content)
    was_active = before is not None and before.state is EntryState.ACTIVE
    is_active = entry.state is EntryState.ACTIVE
    record.entries[entry.id] = entry
    if is_active and not was_active:
        insort(record.active, entry.id)
    elif was_active and not is_active:
        record.active.remove(entry.id)
    if before is None and entry.kind is EntryKind.TOOL_CALL:
        record.calls[entry.wire_id] = entry.id


def _put_plan(record: ThreadRecord, plan: Plan) -> None:
    # Only the latest turn's plans stay in memory; older ones are read from the database when asked for.
    held = record.plans.get(plan.turn, ())
    others = tuple(old for old in held if old.event != plan.event)
    if len(others) == len(held):
        record.plans = {plan.turn: (*held, plan)}
    else:
        record.plans = {plan.turn: tuple(plan if old.event == plan.event else old for old in held)}


def _clear(record: ThreadRecord) -> None:
    record.title = ""
    record.instructions = ()
    record.summaries = ()
    record.grants = ()
    for held in (record.entries, record.active, record.calls, record.turns, record.plans, record.facts):
        held.clear()
