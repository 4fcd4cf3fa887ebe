"""Who outranks whom, which facts stand, and where they disagree (F5 to F8). Pure.

Facts come oldest first; a head is a current one that its source was shown. All of the sources that share one line of
versions supersede each other, so a line has one head at most, but where threads crossed.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from heapq import merge
from typing import TypeAlias

from wisp_core.fact import TASK, Fact, FactScope, FactState
from wisp_core.facts.assertion import Source
from wisp_core.facts.names import fold

Identity: TypeAlias = tuple[str, str]

_RANKS: dict[str, int] = {
    Source.PERSON: 3,
    Source.CALLER: 3,
    Source.TOOL: 2,
    Source.PERSON_COMMAND: 2,
    Source.MODEL: 1,
}


@dataclass(frozen=True, slots=True)
class Standing:
    """What stands of one identity: the `winner`, and the heads of other lines that say otherwise, strongest first."""

    winner: Fact
    others: tuple[Fact, ...] = ()

    @property
    def conflict(self) -> bool:
        """Whether sources disagree."""
        return bool(self.others)


def held(own: Iterable[Fact], shared: Iterable[Fact], *, session: str) -> tuple[Fact, ...]:
    """Return what a thread's ledger goes by, oldest first: its `own` facts and the `shared` ones of the home.

    What another thread ended counts as ended, and the facts of another session are left out, but for the task (F1).
    """
    known = {fact.id: fact for fact in shared}
    mine = [_as_it_stands(fact, known.get(fact.id)) for fact in own]
    names = {fact.id for fact in mine}
    foreign = [fact for fact in known.values() if fact.id not in names and fact.subject != TASK]
    # Each is in the order of its recording already, which a clock that jumped must not undo.
    both = merge(mine, foreign, key=lambda fact: fact.time)
    return tuple(fact for fact in both if fact.scope != FactScope.SESSION or fact.session == session or is_task(fact))


def identity(fact: Fact) -> Identity:
    """Return the subject and name that facts of every scope share."""
    return fact.subject, fact.name


def is_task(fact: Fact) -> bool:
    """Tell whether this is the thread's task, which is carried on from session to session."""
    return fact.subject == TASK


def line_of(fact: Fact) -> str:
    """Return the line of versions that a fact is of: whoever is on it supersedes what stands on it.

    A tool and the person's command share one (F7). What is permanent was admitted by the person, and stands on theirs;
    a thread has one task, whoever sets it.
    """
    if is_task(fact):
        return TASK
    if fact.scope == FactScope.PERMANENT:
        return Source.PERSON
    return Source.TOOL if fact.source == Source.PERSON_COMMAND else fact.source


def rank_of(fact: Fact) -> int:
    """Return how strong a fact's source is, from 1 for the model's to 3; a permanent fact ranks with the person."""
    return _RANKS[Source.PERSON] if fact.scope == FactScope.PERMANENT else _RANKS.get(fact.source, 0)


def says_same(one: Fact, other: Fact) -> bool:
    """Tell whether two facts say the same, but for case and white space (F8)."""
    return fold(one.value) == fold(other.value)


def standings(facts: Iterable[Fact]) -> dict[Identity, Standing]:
    """Return what stands, by identity, in the order in which each was first recorded."""
    found: dict[Identity, list[Fact]] = {}
    for fact in facts:
        if fact.state == FactState.CURRENT and not fact.unsupported:
            found.setdefault(identity(fact), []).append(fact)
    return {key: standing(heads) for key, heads in found.items()}


def standing(heads: Sequence[Fact]) -> Standing:
    """Return what stands of one identity's heads, of which there is at least one."""
    ranked = [fact for _, fact in sorted(enumerate(heads), key=lambda pair: (-rank_of(pair[1]), -pair[0]))]
    winner = ranked[0]
    others = [fact for fact in ranked[1:] if line_of(fact) != line_of(winner) and not says_same(fact, winner)]
    return Standing(winner, tuple(others))


def _as_it_stands(fact: Fact, shared: Fact | None) -> Fact:
    return fact if shared is None or shared.state == FactState.CURRENT else shared
