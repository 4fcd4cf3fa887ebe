"""What the person and a caller do to a fact by its id: move, keep, drop, delete, ask to keep (F2, F3, F9). Pure.

As in the ledger, facts come as `held` gives them, and the events that change them are returned.
"""

from collections.abc import Callable, Iterable
from dataclasses import replace

from wisp_core.errors import UsageError
from wisp_core.events import EventData, FactChanged, FactDeleted, FactDropped, FactKept, FactScopeChanged
from wisp_core.fact import SAID, TASK, Fact, FactScope, FactState, Proposal, new_fact_id
from wisp_core.facts.assertion import Source
from wisp_core.facts.draft import Draft, recorded
from wisp_core.facts.heads import identity, says_same

_NOT_THE_PERSON = "only the person makes a fact permanent, moves a permanent one, or deletes one"


def move_fact(
    facts: Iterable[Fact], id: str, *, scope: FactScope, by: Source, new_id: Callable[[], str] = new_fact_id
) -> list[EventData]:
    """Return the events that move a fact; for one that waits, made permanent, those that keep it.

    Raises:
        UsageError: there is no such current fact, it is there already, belongs to its thread, or `by` may not.
    """
    draft, fact = _find(facts, id, new_id=new_id)
    if by is not Source.PERSON and (by is not Source.CALLER or FactScope.PERMANENT in (scope, fact.scope)):
        raise UsageError(f"the {by.value} cannot move fact {id} to {scope.value}", _NOT_THE_PERSON)
    if fact.scope == scope:
        raise UsageError(f"fact {id} is {scope.value} already")
    _refuse_own(fact, "moved")
    kept = scope is FactScope.PERMANENT and fact.proposal == Proposal.WAITING
    return _move(draft, fact, scope=scope, by=by, kept=kept)


def keep_fact(facts: Iterable[Fact], id: str, *, new_id: Callable[[], str] = new_fact_id) -> list[EventData]:
    """Return the events with which the person keeps a fact that waits: it becomes permanent.

    Raises:
        UsageError: there is no such current fact, or it does not wait.
    """
    draft, fact = _find(facts, id, new_id=new_id)
    _refuse_settled(fact)
    return _move(draft, fact, scope=FactScope.PERMANENT, by=Source.PERSON, kept=True)


def drop_fact(facts: Iterable[Fact], id: str) -> list[EventData]:
    """Return the event with which the person drops a fact that waits: it stays in its thread.

    Raises:
        UsageError: there is no such current fact, or it does not wait.
    """
    _, fact = _find(facts, id, new_id=new_fact_id)
    _refuse_settled(fact)
    return [FactDropped(fact=id)]


def delete_fact(facts: Iterable[Fact], id: str, *, by: Source) -> list[EventData]:
    """Return the events that delete a fact.

    Raises:
        UsageError: there is no such current fact, or `by` is not the person.
    """
    draft, fact = _find(facts, id, new_id=new_fact_id)
    if by is not Source.PERSON:
        raise UsageError(f"the {by.value} cannot delete fact {id}", _NOT_THE_PERSON)
    draft.touch(identity(fact), by)
    draft.end(FactDeleted(fact=id), FactState.DELETED)
    return draft.finish()


def ask_to_keep(facts: Iterable[Fact], id: str, *, by: Source) -> list[EventData]:
    """Return the event with which `by` asks the person to keep a fact, none where that was asked or dropped already.

    Raises:
        UsageError: there is no such current fact, or it cannot become permanent.
    """
    draft, fact = _find(facts, id, new_id=new_fact_id)
    if fact.scope == FactScope.PERMANENT:
        raise UsageError(f"fact {id} is permanent already")
    _refuse_own(fact, "kept")
    known = draft.known(identity(fact))
    if any(f.proposal == Proposal.DROPPED and says_same(f, fact) for f in known):
        return []
    if fact.proposal == Proposal.WAITING and fact.proposed_by == by:
        return []
    return [recorded(replace(fact, proposal=Proposal.WAITING, proposed_by=by.value))]


def _move(draft: Draft, fact: Fact, *, scope: FactScope, by: Source, kept: bool) -> list[EventData]:
    draft.touch(identity(fact), by)
    # A permanent fact is the person's word now, and waits no more; that one was dropped stays with the old copy.
    permanent = scope is FactScope.PERMANENT
    waits = fact.proposal == Proposal.WAITING and not permanent
    new = replace(
        fact,
        id="",
        scope=scope.value,
        unsupported=fact.unsupported and not permanent,
        proposal=Proposal.WAITING if waits else Proposal.NONE,
        proposed_by=fact.proposed_by if waits else "",
    )
    into = draft.put(new, by=by, leaving=fact.id).id
    event: FactChanged = FactScopeChanged(fact=fact.id, scope=scope.value, into=into, by=by)
    draft.end(FactKept(fact=fact.id, into=into, by=by) if kept else event)
    return draft.finish()


def _find(facts: Iterable[Fact], id: str, *, new_id: Callable[[], str]) -> tuple[Draft, Fact]:
    draft = Draft(facts, new_id)
    fact = draft.facts.get(id)
    if fact is None:
        raise UsageError(f"there is no fact {id[:60]}", "/inspect facts lists them with their ids")
    if fact.state != FactState.CURRENT:
        hint = f"fact {fact.superseded_by} stands in its place" if fact.superseded_by else ""
        raise UsageError(f"fact {id} is {fact.state}", hint)
    return draft, fact


def _refuse_own(fact: Fact, done: str) -> None:
    if fact.subject in (TASK, SAID):
        what = "the task" if fact.subject == TASK else "a statement"
        raise UsageError(f"{what} belongs to its conversation and cannot be {done}", "state it as a fact with /fact")


def _refuse_settled(fact: Fact) -> None:
    if fact.proposal != Proposal.WAITING:
        raise UsageError(f"fact {fact.id} does not wait to be kept", f"/fact {fact.id} permanent makes it permanent")
