"""The ledger against a slow and obvious reading of F5 to F9: whatever happens, both say the same."""

from collections import Counter

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.core.facts.ledger_model import Model
from tests.core.facts.ledgers import Ledger, names, said
from wisp_core.errors import UsageError
from wisp_core.events import FactConflictRaised, FactConflictResolved
from wisp_core.fact import TASK, FactScope, FactState, Proposal
from wisp_core.facts.assertion import Source
from wisp_core.facts.changes import ask_to_keep, delete_fact, drop_fact, keep_fact, move_fact
from wisp_core.facts.heads import identity, line_of, says_same, standings

# Few of everything, so that what is said often meets what was.
IDENTITIES = ("entity x", "entity x", "preference x", "preference x", "service 1", "task")
SAY = st.tuples(
    st.just("say"),
    st.sampled_from(list(Source)),
    st.sampled_from(IDENTITIES),
    st.sampled_from(("a", "A", "b")),
    st.integers(0, 9).map(lambda number: number == 0),
)
DO = st.tuples(
    st.sampled_from(("move", "keep", "drop", "delete", "ask")),
    st.sampled_from(list(Source)),
    st.integers(0, 7),
    st.sampled_from(list(FactScope)),
    st.none(),
)
STEPS = st.lists(st.one_of(SAY, SAY, DO), min_size=10, max_size=40)


def play(ledger: Ledger, step: tuple) -> bool:
    """Take one step, and tell whether the ledger allowed it."""
    what, by, which, how, unsupported = step
    if what == "say":
        ledger.take(said(by, f"{which} = {how}", unsupported=unsupported and by is Source.MODEL))
        return True
    facts = ledger.facts
    id = facts[which % len(facts)].id if facts else "none"
    made = {
        "move": lambda: move_fact(facts, id, scope=how, by=by, new_id=ledger.new_id),
        "keep": lambda: keep_fact(facts, id, new_id=ledger.new_id),
        "drop": lambda: drop_fact(facts, id),
        "delete": lambda: delete_fact(facts, id, by=by),
        "ask": lambda: ask_to_keep(facts, id, by=by),
    }
    try:
        ledger.write(made[what]())
    except UsageError:
        return False
    return True


@settings(max_examples=200, deadline=None)
@given(STEPS)
def test_the_ledger_does_what_the_rules_say(steps):
    ledger, model = Ledger(), Model()
    for step in steps:
        before = len(ledger.log)
        index = step[2] % len(ledger.facts) if step[0] != "say" and ledger.facts else 0
        allowed = play(ledger, step)
        assert model.play(step, index) == allowed
        assert model.state() == [
            (f.scope, f.subject, f.name, f.value, f.source, f.state, f.proposal, f.unsupported) for f in ledger.facts
        ]
        told = [n for n in names(ledger.log[before:]) if n.startswith("fact.conflict")]
        assert told == model.told


@settings(max_examples=60, deadline=None)
@given(STEPS)
def test_whatever_happens_the_ledger_stays_in_order(steps):
    ledger = Ledger()
    for step in steps:
        play(ledger, step)
    current = [f for f in ledger.facts if f.state == FactState.CURRENT]
    heads = [f for f in current if not f.unsupported]
    # One head a line, one task, a value held once.
    assert max(Counter((identity(f), line_of(f)) for f in heads).values(), default=1) == 1
    assert sum(f.subject == TASK for f in current) <= 1
    assert not any(identity(a) == identity(b) and says_same(a, b) for a in heads for b in heads if a.id < b.id)
    # What is over says what stands in its place, unless the person deleted it.
    known = {f.id for f in ledger.facts}
    assert all(f.superseded_by in known for f in ledger.facts if f.state == FactState.SUPERSEDED)
    # Only the person makes permanent: every such fact was stated by them, moved or kept.
    moved = {
        data.into for data in ledger.log if data.name in ("fact.kept", "fact.scope.changed") and data.by == "person"
    }
    assert all(f.source == "person" or f.id in moved for f in ledger.facts if f.scope == FactScope.PERMANENT)
    assert all(f.proposal == Proposal.NONE for f in ledger.facts if f.scope == FactScope.PERMANENT)
    # Versions of one line in one scope count up.
    versions = Counter((f.scope, identity(f), line_of(f), f.version) for f in ledger.facts)
    assert max(versions.values(), default=1) == 1
    # Conflicts alternate, and what is open is what the heads say.
    by_id = {f.id: identity(f) for f in ledger.facts}
    open_now = set()
    for data in ledger.log:
        if isinstance(data, FactConflictRaised):
            assert by_id[data.fact] not in open_now
            open_now.add(by_id[data.fact])
        elif isinstance(data, FactConflictResolved):
            open_now.remove(by_id[data.fact])
    assert open_now == {key for key, found in standings(ledger.facts).items() if found.conflict}
