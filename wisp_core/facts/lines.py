"""A fact as one line of the record: value first, source after a dash, what another source says behind it. Pure."""

from collections.abc import Iterable, Mapping, Sequence

from wisp_core.events import (
    EventData,
    FactConflictRaised,
    FactConflictResolved,
    FactDeleted,
    FactScopeChanged,
    FactSuperseded,
    Live,
)
from wisp_core.fact import TASK, Fact
from wisp_core.facts.assertion import Source
from wisp_core.facts.flat import flatten
from wisp_core.facts.kinds import Kind
from wisp_core.records import ThreadRecord

# Characters that a line shows of a value and of a name (F21).
VALUE_SHOWN = 160
NAME_SHOWN = 60
# Characters that a note on a conflict shows of each side.
SIDE_SHOWN = 60
# Entries that a line names of those that a fact came from.
ENTRIES_SHOWN = 3
FIRST_REQUEST = "- first request: "
# Characters of a first request that are read for what is shown of it.
_REQUEST_READ = 4096


def fact_line(
    fact: Fact, others: Sequence[Fact] = (), *, kinds: Mapping[str, Kind], thread: str = "", now: bool = False
) -> str:
    """Return a fact's line (F20) with what `others` say instead.

    `thread` is the one that is told: what another came from is not to be found in it. A line of the `now` block names
    the turn alone.
    """
    line = f"- {_titled(fact, kinds)}: {_shown(fact.value)} — from {source_of(fact)}"
    line += _place(fact, thread=thread, now=now)
    for other in others:
        line += f"; another source disagrees: {_who(other)} says {_shown(other.value)}"
    return line


def source_of(fact: Fact) -> str:
    """Return who asserted a fact, and how where that tells more, such as `tool run_command` or `model, noted`."""
    how = f", {flatten(fact.method, NAME_SHOWN)}" if fact.method and fact.source == Source.MODEL else ""
    return f"{_source(fact)}{how}"


def conflict_notes(events: Sequence[EventData], record: ThreadRecord, *, known: Iterable[Fact] = ()) -> list[Live]:
    """Return a note for the person on each conflict that `events` of a thread raised or ended (F8).

    `record` is the thread as it is after them; of the home's facts it is said what is `known`.
    """
    facts = {fact.id: fact for fact in known} | record.facts
    over = {e.fact for e in events if isinstance(e, FactDeleted | FactSuperseded | FactScopeChanged)}
    notes = []
    for event in events:
        match event:
            case FactConflictRaised(fact=one, other=other) if one in facts and other in facts:
                sides = f"{_says(facts[one])}, {_says(facts[other])}"
                notes.append(f"conflict: {_named(facts[one])}: {sides}; /facts shows both")
            case FactConflictResolved(fact=one) if one in facts:
                stands = "" if one in over else f": {flatten(facts[one].value, SIDE_SHOWN)} stands"
                notes.append(f"no conflict any more: {_named(facts[one])}{stands}")
            case _:
                pass
    return [Live("note", record.id, None, {"kind": "conflict", "text": note}) for note in notes]


def first_request_line(text: str, turn: int = 1) -> str:
    """Return the line that keeps the conversation's first request (C17a)."""
    return f"{FIRST_REQUEST}{_shown(text.lstrip()[:_REQUEST_READ])} — from the person, turn {turn}"


def _titled(fact: Fact, kinds: Mapping[str, Kind]) -> str:
    kind = kinds.get(fact.subject)
    normaliser = kind.normaliser if kind else "none"
    name = "" if fact.subject == TASK else flatten(fact.name)
    if normaliser == "path" and len(name) > NAME_SHOWN:
        # The file's name is at the end.
        name = "…" + name[1 - NAME_SHOWN :]
    elif normaliser == "port" and name:
        name = f"port {name}"
    return " ".join(part for part in (flatten(fact.subject, NAME_SHOWN), flatten(name, NAME_SHOWN)) if part)


def _shown(value: str) -> str:
    return flatten(value, VALUE_SHOWN)


def _named(fact: Fact) -> str:
    return flatten(f"{fact.subject} {fact.name}", NAME_SHOWN)


def _says(fact: Fact) -> str:
    return f"{_who(fact)} says {flatten(fact.value, SIDE_SHOWN)}"


def _source(fact: Fact) -> str:
    match fact.source:
        case Source.PERSON:
            return "the person"
        case Source.CALLER:
            return "the caller"
        case Source.PERSON_COMMAND:
            return "the person's command"
        case Source.TOOL:
            return f"tool {flatten(fact.tool, NAME_SHOWN)}" if fact.tool else "a tool"
        case Source.MODEL:
            return "model"
        case _:
            return "an unknown source"


def _who(fact: Fact) -> str:
    return "the model" if fact.source == Source.MODEL else _source(fact)


def _place(fact: Fact, *, thread: str, now: bool) -> str:
    if thread and fact.thread and fact.thread != thread:
        return ""
    first, last = fact.turns or (fact.turn, fact.turn)
    if not fact.turns and not fact.entries:
        return ""
    turns = f", turn {first}" if first == last else f", turns {first}-{last}"
    if now or not fact.entries:
        return turns
    shown = ", ".join(str(entry) for entry in fact.entries[:ENTRIES_SHOWN])
    return f"{turns}, {'entry' if len(fact.entries) == 1 else 'entries'} {shown}"
