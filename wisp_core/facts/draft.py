"""A change of the ledger in the making: what is current so far, and the events that lead there. Pure."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace

from wisp_core.events import (
    EventData,
    FactChanged,
    FactConflictRaised,
    FactConflictResolved,
    FactProposed,
    FactRecorded,
    FactSuperseded,
)
from wisp_core.fact import Fact, FactScope, FactState, Proposal
from wisp_core.facts.heads import Identity, Standing, identity, line_of, rank_of, says_same, standing
from wisp_core.text import sound

# Characters that are kept of a name and of a value; a request shows fewer (F21).
NAME_CHARACTERS = 1_000
VALUE_CHARACTERS = 4_000


class Draft:
    """The facts as they are after `events`; `finish` adds what became of conflicts and gives the events."""

    def __init__(self, facts: Iterable[Fact], new_id: Callable[[], str]) -> None:
        self.facts: dict[str, Fact] = {fact.id: fact for fact in facts}
        self._new_id = new_id
        self._events: list[EventData] = []
        self._named: dict[Identity, list[str]] = {}
        self._before: dict[Identity, tuple[Standing | None, str]] = {}
        for fact in self.facts.values():
            self._named.setdefault(identity(fact), []).append(fact.id)

    def known(self, key: Identity) -> Iterator[Fact]:
        """Yield every fact of an identity, oldest first, what is over included."""
        return (self.facts[id] for id in self._named.get(key, ()))

    def current(self, key: Identity) -> list[Fact]:
        """Return the current facts of an identity, oldest first, the unsupported ones included."""
        return [fact for fact in self.known(key) if fact.state == FactState.CURRENT]

    def stands(self, key: Identity) -> Standing | None:
        """Return what stands of an identity, None for nothing."""
        heads = [fact for fact in self.current(key) if not fact.unsupported]
        return standing(heads) if heads else None

    def touch(self, key: Identity, by: str) -> Standing | None:
        """Mark an identity that `by` may change, and return what stands of it now."""
        now = self.stands(key)
        self._before[key] = (self._before[key][0] if key in self._before else now, by)
        return now

    def put(self, new: Fact, *, by: str, leaving: str = "") -> Fact:
        """Take in a fact that has no id yet by the rules of F6, and return the one that now says it.

        `leaving` is a fact that the new one moves from, and that the caller ends.
        """
        current = [fact for fact in self.current(identity(new)) if fact.id != leaving]
        own = [f for f in current if line_of(f) == line_of(new) and (f.unsupported or not new.unsupported)]
        for fact in own:
            # Only the task has sources of different strength on one line.
            if _holds(fact, new) or rank_of(fact) > rank_of(new):
                return fact
        says = [fact for fact in current if fact not in own and says_same(fact, new)]
        for fact in says:
            if not fact.unsupported and not _stronger(new, fact):
                return self._give_way(own, to=fact, by=by)
        return self._give_way([*own, *says], to=self._record(new), by=by)

    def overrule(self, winner: Fact, *, by: str) -> None:
        """End every other head that disagrees with what the person just stated (F8)."""
        others = [f for f in self.current(identity(winner)) if f.id != winner.id and not f.unsupported]
        self._give_way([fact for fact in others if not says_same(fact, winner)], to=winner, by=by)

    def end(self, event: FactChanged, state: FactState = FactState.SUPERSEDED) -> None:
        """Add an event with which a fact is over."""
        fact = self.facts[event.fact]
        self.facts[fact.id] = replace(fact, state=state, superseded_by=event.into)
        self._events.append(event)

    def add(self, event: EventData) -> None:
        """Add an event that leaves every fact current that is."""
        self._events.append(event)

    def finish(self) -> list[EventData]:
        """Return the events, with the conflicts that arose or are over at their end (F8)."""
        for key, (before, by) in self._before.items():
            now = self.stands(key)
            was, is_now = before is not None and before.conflict, now is not None and now.conflict
            if now is not None and is_now and not was:
                self._events.append(FactConflictRaised(fact=now.winner.id, other=now.others[0].id, by=by))
            elif before is not None and was and not is_now:
                self._events.append(FactConflictResolved(fact=(now or before).winner.id, by=by))
        return self._events

    def _record(self, new: Fact) -> Fact:
        id = self._new_id()
        while id in self.facts:
            id = self._new_id()
        same = [f for f in self.known(identity(new)) if f.scope == new.scope and line_of(f) == line_of(new)]
        fact = replace(new, id=id, version=1 + max((f.version for f in same), default=0))
        self.facts[id] = fact
        self._named.setdefault(identity(fact), []).append(id)
        self._events.append(recorded(fact))
        return fact

    def _give_way(self, facts: Iterable[Fact], *, to: Fact, by: str) -> Fact:
        for fact in facts:
            self.end(FactSuperseded(fact=fact.id, into=to.id, by=by))
        return to


def recorded(fact: Fact) -> FactRecorded:
    """Return the event that records a fact, or proposes it where it waits for the person."""
    event = FactRecorded(
        fact=fact.id,
        scope=fact.scope,
        subject=fact.subject,
        key=fact.name,
        value=fact.value,
        source=fact.source,
        version=fact.version,
        method=fact.method,
        tool=fact.tool,
        entries=list(fact.entries),
        events=list(fact.events),
        turns=fact.turns,
        unsupported=fact.unsupported,
    )
    return FactProposed(**dict(event), by=fact.proposed_by) if fact.proposal == Proposal.WAITING else event


def cleaned(text: str, limit: int) -> str:
    """Return text of a source as it may be kept: sound, without outer white space, in at most `limit` characters."""
    return sound(text).strip()[:limit]


def _holds(fact: Fact, new: Fact) -> bool:
    """Tell whether a fact of the new one's own line says it already, to the letter, where the new one would."""
    there = fact.scope in (new.scope, FactScope.PERMANENT)
    return there and fact.value == new.value and (rank_of(fact), -fact.unsupported) >= (rank_of(new), -new.unsupported)


def _stronger(new: Fact, fact: Fact) -> bool:
    # What the person makes permanent is not held by a thread's fact in its place.
    admitted = new.scope == FactScope.PERMANENT and fact.scope != FactScope.PERMANENT
    return admitted or rank_of(new) > rank_of(fact)
