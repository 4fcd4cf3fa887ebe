"""A ledger on the table: facts folded from the events that it gave, ids that count up, sources by name."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import count

from wisp_core.events import Event, EventData
from wisp_core.fact import Fact, FactScope, FactState
from wisp_core.facts.assertion import Assertion, Source
from wisp_core.facts.heads import held
from wisp_core.facts.kinds import Kind, kinds_of
from wisp_core.facts.ledger import Rules, record_assertions
from wisp_core.records import ThreadRecord
from wisp_core.resources import read
from wisp_core.store.fold import apply

KINDS: dict[str, Kind] = kinds_of(read("subject-kinds.json"), {})


def said(source: Source, text: str, **more: object) -> Assertion:
    """What a source says in the person's own notation: `SUBJECT [NAME] = VALUE`."""
    identity, _, value = text.partition(" = ")
    subject, _, name = identity.partition(" ")
    return Assertion(subject, name, value, source, **more)


@dataclass
class Ledger:
    """One thread's record, changed by events alone, beside what the home shares."""

    record: ThreadRecord = field(default_factory=lambda: ThreadRecord("t"))
    shared: Sequence[Fact] = ()
    session: str = "s"
    log: list[EventData] = field(default_factory=list)
    ids: Iterable[int] = field(default_factory=lambda: count(1))

    def new_id(self) -> str:
        return f"f{next(self.ids)}"

    @property
    def rules(self) -> Rules:
        return Rules(KINDS, "/work", self.new_id)

    @property
    def facts(self) -> tuple[Fact, ...]:
        return held(self.record.facts.values(), self.shared, session=self.session)

    def take(self, *assertions: Assertion) -> list[EventData]:
        return self.write(record_assertions(self.facts, assertions, rules=self.rules))

    def write(self, events: list[EventData]) -> list[EventData]:
        for data in events:
            seq = self.record.last_seq + 1
            time = f"2026-01-01T00:00:00.{seq:03d}Z"
            apply(self.record, Event(f"e{seq}", seq, time, self.session, self.record.id, 1, None, data))
        self.log += events
        return events

    def current(self) -> list[tuple[str, str, str, str]]:
        """What stands: scope, name, value, source."""
        found = [fact for fact in self.facts if fact.state == FactState.CURRENT]
        return [(FactScope(fact.scope).value, fact.name, fact.value, fact.source) for fact in found]

    def only(self) -> Fact:
        (fact,) = [fact for fact in self.facts if fact.state == FactState.CURRENT]
        return fact


def names(events: Iterable[EventData]) -> list[str]:
    return [data.name for data in events]
