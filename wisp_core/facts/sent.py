"""Reads an earlier block back as it was sent: what it shows, the room it takes, whether it may still stand. Pure."""

import re
from collections.abc import Iterable

from wisp_core.fact import SAID, Fact, FactScope, FactState
from wisp_core.facts.assertion import Source
from wisp_core.facts.block import View
from wisp_core.facts.lines import FIRST_REQUEST, fact_line
from wisp_core.facts.rooms import Rooms

_STATED = f"- {SAID}: "
# Only wisp writes a dash with these words after it, so what follows the first one is a line's own source.
_SOURCE = " — from "
_ENTRIES = re.compile(r"[^;]*, (?:entry|entries) (\d+(?:, \d+)*)(?:;|$)")


def used(text: str) -> int:
    """Return how many bytes of the facts' room a block takes, its heading included where it has a fact."""
    lines = [line for line in _lines(text) if not line.startswith((_STATED, FIRST_REQUEST))]
    return sum(len(line.encode()) + 1 for line in lines) if len(lines) > 1 else 0


def entries_shown(text: str, first: int) -> dict[int, str]:
    """Return what a block says of entries, by their ids; `first` is the entry of the first request."""
    shown: dict[int, str] = {}
    for line in _lines(text):
        said, _, source = line.partition(_SOURCE)
        named = _ENTRIES.match(source)
        entries = [int(number) for number in named.group(1).split(", ")] if named else []
        if line.startswith(FIRST_REQUEST):
            entries.append(first)
        for entry in entries:
            shown[entry] = f"{shown.get(entry, '')} {said}"
    return shown


def may_stand(text: str, facts: Iterable[Fact], *, view: View, rooms: Rooms, stated: bool, since: str) -> bool:
    """Tell whether a block may go out again as it was sent (F19, F21).

    It may not where it is too large for the window, or shows statements that were switched off meanwhile, or the person
    or a caller changed a fact, in another thread or while a turn ran: one that it shows is over, or it lacks one that
    was recorded after the time `since`.
    """
    if used(text) > rooms.facts or len(text.encode()) > rooms.block:
        return False
    lines = _lines(text)
    if not stated and any(line.startswith(_STATED) for line in lines):
        return False
    theirs = [fact for fact in facts if fact.scope != FactScope.SESSION and _is_theirs(fact)]
    starts = {fact.id: fact_line(fact, kinds=view.kinds, thread=view.thread) for fact in theirs}
    held = tuple(starts[fact.id] for fact in theirs if fact.state == FactState.CURRENT)
    gone = tuple(starts[fact.id] for fact in theirs if fact.state != FactState.CURRENT)
    if any(line.startswith(gone) and not line.startswith(held) for line in lines):
        return False
    new = [starts[fact.id] for fact in theirs if fact.state == FactState.CURRENT and fact.time > since]
    return all(any(line.startswith(start) for line in lines) for start in new)


def _is_theirs(fact: Fact) -> bool:
    """Tell whether the person or a caller made it what it is, outside of what a turn gave."""
    said = fact.source in (Source.PERSON, Source.CALLER) and not fact.method
    return said or fact.scope == FactScope.PERMANENT or fact.state == FactState.DELETED


def _lines(text: str) -> list[str]:
    """Return the lines of the facts and of what follows them; the summary, which the model wrote, stands apart."""
    return text.partition("\n\n")[0].split("\n")
