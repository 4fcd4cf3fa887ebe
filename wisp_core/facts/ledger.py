"""The ledger: what becomes of an assertion, by who says it and what stands already (F2, F5 to F7). Pure.

Each function takes the facts as `held` gives them and returns the events that change them; nothing is changed here.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace

from wisp_core.events import EventData, FactSuperseded
from wisp_core.fact import SAID, TASK, Fact, FactScope, FactState, Proposal, new_fact_id
from wisp_core.facts.assertion import Assertion, Source
from wisp_core.facts.draft import NAME_CHARACTERS, VALUE_CHARACTERS, Draft, cleaned
from wisp_core.facts.heads import Identity, identity, line_of, says_same
from wisp_core.facts.kinds import Kind
from wisp_core.facts.names import NORMALISERS

_SCOPES = {"permanent": FactScope.PERMANENT, "dynamic": FactScope.THREAD, "ephemeral": FactScope.SESSION}


@dataclass(frozen=True, slots=True)
class Rules:
    """What assertions are read by: the kinds by subject, the thread's working directory, the source of new ids."""

    kinds: Mapping[str, Kind]
    cwd: str
    new_id: Callable[[], str] = new_fact_id


def record_assertions(facts: Iterable[Fact], assertions: Iterable[Assertion], *, rules: Rules) -> list[EventData]:
    """Return the events with which assertions, taken one after another, enter the ledger.

    One under an unknown subject, without a value, or of an unsupported task, gives nothing (F17).
    """
    draft = Draft(facts, rules.new_id)
    for assertion in assertions:
        kind = rules.kinds.get(assertion.subject)
        if kind is not None and assertion.value.strip() and not (assertion.unsupported and kind.subject == TASK):
            _take(draft, assertion, kind=kind, name=named(assertion, kind=kind, cwd=rules.cwd))
    return draft.finish()


def named(assertion: Assertion, *, kind: Kind, cwd: str) -> str:
    """Return the name that an assertion is held under; a thread has one task, so that has none."""
    name = NORMALISERS[kind.normaliser](cleaned(assertion.name, NAME_CHARACTERS), cwd=cwd)
    return "" if kind.subject == TASK else name


def _take(draft: Draft, assertion: Assertion, *, kind: Kind, name: str) -> None:
    by, key = assertion.source, (assertion.subject, name)
    before = draft.touch(key, by)
    fact = draft.put(_fact(draft, assertion, kind=kind, key=key), by=by)
    if by is not Source.PERSON:
        return
    if before is not None and before.conflict and kind.subject not in (TASK, SAID):
        draft.overrule(fact, by=by)
    for id in assertion.corrects:
        known = draft.facts.get(id)
        if known is not None and known.state == FactState.CURRENT and known.id != fact.id:
            draft.touch(identity(known), by)
            draft.end(FactSuperseded(fact=id, into=fact.id, by=by, reason="corrected"))


def _fact(draft: Draft, assertion: Assertion, *, kind: Kind, key: Identity) -> Fact:
    subject, name = key
    fact = Fact(
        id="",
        scope=FactScope.THREAD,
        subject=subject,
        name=name,
        value=cleaned(assertion.value, VALUE_CHARACTERS),
        source=assertion.source.value,
        version=0,
        turn=0,
        time="",
        event="",
        method=assertion.method,
        tool=assertion.tool,
        entries=assertion.entries,
        events=assertion.events,
        turns=assertion.turns,
        unsupported=assertion.unsupported,
    )
    return _placed(draft, fact, kind=kind)


def _placed(draft: Draft, fact: Fact, *, kind: Kind) -> Fact:
    """Return the fact in its scope: the kind's, or the one that its line was moved to (F2, F3)."""
    scope, proposal = _SCOPES[kind.temporal_class], Proposal.NONE
    if scope == FactScope.PERMANENT and fact.source != Source.PERSON:
        scope = FactScope.THREAD
        dropped = any(f.proposal == Proposal.DROPPED and says_same(f, fact) for f in draft.known(identity(fact)))
        proposal = Proposal.NONE if dropped or fact.unsupported else Proposal.WAITING
    own = [f.scope for f in draft.current(identity(fact)) if line_of(f) == line_of(fact)]
    if FactScope.PERMANENT in own:
        scope = FactScope.PERMANENT
    elif own and scope != FactScope.PERMANENT:
        scope = FactScope(own[-1])
    by = fact.source if proposal is Proposal.WAITING else ""
    return replace(fact, scope=scope, proposal=proposal, proposed_by=by)
