"""The line under a reply on what its turn recorded (F4), as it comes and when a conversation is opened again. Pure."""

from collections.abc import Iterable

from wisp_core.fact import learnt
from wisp_core.records import ThreadRecord


def line_of(record: ThreadRecord, facts: Iterable[str]) -> str:
    """Return the line on facts by id, empty where the record has none of them."""
    found = [record.facts[id] for id in facts if id in record.facts]
    return learnt((fact.subject, fact.name, fact.value) for fact in found)


def lines_of(record: ThreadRecord) -> dict[int, str]:
    """Return the line of each turn that recorded something, by the id of the entry that it stands before.

    What was said outside of turns has no method and comes from no entry: it is in none.
    """
    found: dict[int, list[str]] = {}
    for fact in record.facts.values():
        if fact.entries and fact.turn:
            found.setdefault(fact.turn, []).append(fact.id)
    after = {turn.number: turn.prompt for turn in record.turns.values()}
    end = len(record.entries) + 1
    return {after.get(turn + 1, end): line for turn, ids in found.items() if (line := line_of(record, ids))}
