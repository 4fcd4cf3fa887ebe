"""The ledger: sources, versions, precedence, conflicts, permanence (F1 to F10)."""

from dataclasses import replace

import pytest

from tests.core.facts.ledgers import Ledger, names, said
from wisp_core.errors import UsageError
from wisp_core.fact import FactScope, FactState, Proposal
from wisp_core.facts.assertion import Source
from wisp_core.facts.changes import ask_to_keep, delete_fact, drop_fact, keep_fact, move_fact
from wisp_core.facts.heads import standings
from wisp_core.records import ThreadRecord

PERSON, CALLER, TOOL, COMMAND, MODEL = Source


def test_an_assertion_becomes_a_fact_with_all_that_is_known_of_it():
    ledger = Ledger()
    more = {"method": "extracted", "tool": "run_command", "entries": (9,), "events": ("ab",), "turns": (3, 3)}
    assert names(ledger.take(said(TOOL, "tests cd x && swift  test =  passed ", **more))) == ["fact.recorded"]
    fact = ledger.only()
    assert (fact.subject, fact.name, fact.value, fact.version) == ("tests", "swift test", "passed", 1)
    assert (fact.tool, fact.entries, fact.events, fact.turns) == ("run_command", (9,), ("ab",), (3, 3))
    assert (fact.scope, fact.temporal_class, fact.thread, fact.session) == ("thread", "dynamic", "t", "s")


def test_an_unknown_subject_and_an_empty_value_give_nothing():
    assert Ledger().take(said(MODEL, "colour sky = blue"), said(MODEL, "entity sky =  \n")) == []


def test_a_newer_assertion_of_the_same_source_supersedes_and_the_same_value_adds_nothing():
    ledger = Ledger()
    ledger.take(said(MODEL, "entity Codename = A"))
    assert ledger.take(said(MODEL, "entity the codename = A")) == []
    assert names(ledger.take(said(MODEL, "entity codename = B"))) == ["fact.recorded", "fact.superseded"]
    old, new = ledger.facts
    assert (old.state, old.superseded_by, new.version) == ("superseded", new.id, 2)


def test_a_value_is_held_once_under_the_strongest_source_that_asserted_it():
    ledger = Ledger()
    ledger.take(said(MODEL, "tests swift test = passed"))
    ledger.take(said(TOOL, "tests swift test = Passed"))
    assert ledger.current() == [("thread", "swift test", "Passed", "tool")]
    assert ledger.take(said(MODEL, "tests swift test = passed")) == []


def test_a_weaker_source_that_comes_round_gives_its_own_older_value_up():
    ledger = Ledger()
    ledger.take(said(MODEL, "tests swift test = failed"), said(TOOL, "tests swift test = passed"))
    assert names(ledger.log) == ["fact.recorded", "fact.recorded", "fact.conflict.raised"]
    assert names(ledger.take(said(MODEL, "tests swift test = passed"))) == ["fact.superseded", "fact.conflict.resolved"]
    assert ledger.current() == [("thread", "swift test", "passed", "tool")]


def test_the_persons_command_and_a_tool_share_one_line_of_versions():
    ledger = Ledger()
    ledger.take(said(COMMAND, "tests swift test = passed"))
    ledger.take(said(TOOL, "tests swift test = failed (exit status 1)"))
    assert ledger.only().version == 2
    assert ledger.only().source == "tool"
    ledger.take(said(COMMAND, "tests swift test = passed"))
    assert (ledger.only().version, ledger.only().source) == (3, "person_command")


@pytest.mark.parametrize(
    ("order", "winner"),
    [
        ((PERSON, CALLER, TOOL, MODEL), CALLER),
        ((CALLER, PERSON, MODEL, TOOL), PERSON),
        ((MODEL, TOOL), TOOL),
        ((TOOL, MODEL), TOOL),
    ],
)
def test_the_strongest_source_wins_and_the_newer_on_a_tie(order, winner):
    ledger = Ledger()
    ledger.take(*(said(source, f"entity x = by {source}") for source in order))
    (found,) = standings(ledger.facts).values()
    assert found.winner.source == winner
    assert len(found.others) == len(order) - 1


def test_a_conflict_is_raised_once_and_resolved_by_the_persons_word():
    ledger = Ledger()
    ledger.take(said(PERSON, "tests swift test = flaky; ignore it"))
    assert names(ledger.take(said(TOOL, "tests swift test = failed"))) == ["fact.recorded", "fact.conflict.raised"]
    assert names(ledger.take(said(TOOL, "tests swift test = failed twice"))) == ["fact.recorded", "fact.superseded"]
    done = ledger.take(said(PERSON, "tests swift test = broken"))
    assert names(done) == ["fact.recorded", "fact.superseded", "fact.superseded", "fact.conflict.resolved"]
    assert ledger.current() == [("thread", "swift test", "broken", "person")]


def test_restating_a_side_resolves_the_conflict_too():
    ledger = Ledger()
    ledger.take(said(PERSON, "tests swift test = flaky"), said(TOOL, "tests swift test = failed"))
    assert names(ledger.take(said(PERSON, "tests swift test = flaky"))) == ["fact.superseded", "fact.conflict.resolved"]


def test_deleting_a_side_resolves_the_conflict():
    ledger = Ledger()
    ledger.take(said(PERSON, "tests swift test = flaky"), said(TOOL, "tests swift test = failed"))
    events = delete_fact(ledger.facts, "f1", by=PERSON)
    assert names(ledger.write(events)) == ["fact.deleted", "fact.conflict.resolved"]
    assert ledger.current() == [("thread", "swift test", "failed", "tool")]


def test_values_that_differ_in_case_and_white_space_are_no_conflict():
    ledger = Ledger()
    ledger.take(said(MODEL, "entity x = Blue  heron"), said(PERSON, "entity x = BLUE HERON"))
    assert "fact.conflict.raised" not in names(ledger.log)
    assert ledger.current() == [("thread", "x", "BLUE HERON", "person")]


def test_the_person_puts_a_fact_into_the_shared_store_and_everyone_else_proposes_it():
    ledger = Ledger()
    assert names(ledger.take(said(PERSON, "preference editor = vim"))) == ["fact.recorded"]
    assert ledger.only().scope == FactScope.PERMANENT
    for number, source in enumerate((CALLER, TOOL, MODEL)):
        assert "fact.proposed" in names(ledger.take(said(source, f"preference n{number} = v")))
        proposed = ledger.facts[-1]
        assert (proposed.scope, proposed.proposal, proposed.proposed_by) == ("thread", "waiting", source)


def test_what_the_person_states_is_permanent_though_a_callers_proposal_says_the_same():
    ledger = Ledger()
    ledger.take(said(CALLER, "preference editor = vim"), said(PERSON, "preference editor = vim"))
    assert ledger.current() == [("permanent", "editor", "vim", "person")]


def test_a_value_that_a_source_of_the_same_strength_said_first_stays_under_that():
    ledger = Ledger()
    ledger.take(said(CALLER, "entity x = v"))
    assert ledger.take(said(PERSON, "entity x = v")) == []


def test_keeping_a_proposal_makes_it_permanent_and_leaves_the_old_copy_as_history():
    ledger = Ledger()
    ledger.take(said(MODEL, "preference editor = vim", method="noted"))
    kept = ledger.write(keep_fact(ledger.facts, "f1", new_id=ledger.new_id))
    assert names(kept) == ["fact.recorded", "fact.kept"]
    old, new = ledger.facts
    assert (old.state, old.superseded_by, old.proposal, old.scope) == ("superseded", "f2", Proposal.KEPT, "thread")
    assert (new.scope, new.source, new.method, new.version) == ("permanent", "model", "noted", 1)


def test_what_the_person_kept_ranks_with_the_person():
    ledger = Ledger()
    ledger.take(said(MODEL, "preference editor = vim"))
    ledger.write(keep_fact(ledger.facts, "f1", new_id=ledger.new_id))
    ledger.take(said(MODEL, "preference editor = emacs"))
    (found,) = standings(ledger.facts).values()
    assert (found.winner.value, found.others[0].value) == ("vim", "emacs")
    ledger.take(said(PERSON, "preference editor = nano"))
    assert ledger.current() == [("permanent", "editor", "nano", "person")]


def test_a_dropped_proposal_stays_in_its_thread_and_is_not_proposed_again_with_the_same_value():
    ledger = Ledger()
    ledger.take(said(MODEL, "preference editor = vim"))
    assert names(ledger.write(drop_fact(ledger.facts, "f1"))) == ["fact.dropped"]
    assert (ledger.only().scope, ledger.only().proposal) == ("thread", Proposal.DROPPED)
    assert ledger.take(said(MODEL, "preference editor = vim")) == []
    assert "fact.proposed" in names(ledger.take(said(MODEL, "preference editor = emacs")))
    assert names(ledger.take(said(MODEL, "preference editor = VIM"))) == ["fact.recorded", "fact.superseded"]
    with pytest.raises(UsageError, match="does not wait"):
        keep_fact(ledger.facts, "f1" if ledger.facts[0].state == FactState.CURRENT else ledger.only().id)


def test_scope_and_class_move_together_and_versions_follow_the_fact():
    ledger = Ledger()
    ledger.take(said(MODEL, "entity host = a"))
    moved = ledger.write(move_fact(ledger.facts, "f1", scope=FactScope.SESSION, by=CALLER, new_id=ledger.new_id))
    assert names(moved) == ["fact.recorded", "fact.scope.changed"]
    assert (ledger.only().scope, ledger.only().temporal_class) == ("session", "ephemeral")
    ledger.take(said(MODEL, "entity host = b"))
    assert (ledger.only().scope, ledger.only().version) == ("session", 2)
    ledger.write(move_fact(ledger.facts, ledger.only().id, scope=FactScope.PERMANENT, by=PERSON, new_id=ledger.new_id))
    assert (ledger.only().scope, ledger.only().temporal_class) == ("permanent", "permanent")
    ledger.take(said(PERSON, "entity host = c"))
    assert (ledger.only().scope, ledger.only().value, ledger.only().version) == ("permanent", "c", 2)


def test_a_caller_moves_between_thread_and_session_alone_and_deletes_nothing():
    ledger = Ledger()
    ledger.take(said(MODEL, "entity x = v"), said(PERSON, "preference y = w"))
    for id, scope in (("f1", FactScope.PERMANENT), ("f2", FactScope.THREAD)):
        with pytest.raises(UsageError, match="the caller cannot move") as raised:
            move_fact(ledger.facts, id, scope=scope, by=CALLER)
        assert "only the person" in raised.value.hint
    for source in (CALLER, TOOL, COMMAND, MODEL):
        with pytest.raises(UsageError, match="cannot delete"):
            delete_fact(ledger.facts, "f1", by=source)
    with pytest.raises(UsageError, match="cannot move"):
        move_fact(ledger.facts, "f1", scope=FactScope.SESSION, by=MODEL)


def test_a_caller_that_disagrees_with_a_permanent_fact_records_a_newer_one_of_the_thread():
    ledger = Ledger()
    ledger.take(said(PERSON, "preference editor = vim"))
    assert names(ledger.take(said(CALLER, "preference editor = emacs"))) == [
        "fact.proposed", "fact.conflict.raised",
    ]  # fmt: skip
    assert {scope for scope, *_ in ledger.current()} == {"permanent", "thread"}


def test_a_caller_asks_for_a_fact_to_be_kept_once_and_not_again_after_it_was_dropped():
    ledger = Ledger()
    ledger.take(said(MODEL, "entity x = v"))
    (asked,) = ledger.write(ask_to_keep(ledger.facts, "f1", by=CALLER))
    assert (asked.name, asked.by) == ("fact.proposed", "caller")
    assert (ledger.only().id, ledger.only().proposal, ledger.only().proposed_by) == ("f1", "waiting", "caller")
    assert ask_to_keep(ledger.facts, "f1", by=CALLER) == []
    ledger.write(drop_fact(ledger.facts, "f1"))
    assert ask_to_keep(ledger.facts, "f1", by=CALLER) == []


def test_a_callers_request_for_what_the_model_proposed_is_the_callers_from_then_on():
    ledger = Ledger()
    ledger.take(said(MODEL, "preference x = v"))
    ledger.write(ask_to_keep(ledger.facts, "f1", by=CALLER))
    assert ledger.only().proposed_by == "caller"


def test_an_ephemeral_fact_is_the_sessions_and_ends_with_it_but_the_task_is_carried_on():
    ledger = Ledger()
    ledger.take(said(TOOL, "service port 8080 = node"), said(CALLER, "task anything = sync"))
    assert ledger.current() == [("session", "8080", "node", "tool"), ("session", "", "sync", "caller")]
    ledger.session = "later"
    assert ledger.current() == [("session", "", "sync", "caller")]


def test_what_another_thread_ended_is_over_here_and_what_it_made_permanent_counts_here():
    there, here = Ledger(ThreadRecord("u")), Ledger(ThreadRecord("t"))
    there.take(said(PERSON, "preference editor = vim"))
    here.shared = there.facts
    assert here.take(said(MODEL, "preference editor = vim")) == []
    assert names(here.take(said(PERSON, "preference editor = emacs"))) == ["fact.recorded", "fact.superseded"]
    here.shared = [replace(fact, state="deleted") for fact in there.facts]
    assert [value for _, _, value, _ in here.current()] == ["emacs"]


def test_a_thread_has_one_task_and_a_weaker_source_does_not_replace_it():
    ledger = Ledger()
    ledger.take(said(MODEL, "task = from the model"))
    ledger.take(said(CALLER, "task = from the caller"))
    assert ledger.take(said(MODEL, "task = again from the model")) == []
    ledger.take(said(PERSON, "task = from the person"))
    assert [(value, source) for _, _, value, source in ledger.current()] == [("from the person", "person")]
    assert "fact.conflict.raised" not in names(ledger.log)


def test_the_same_task_from_a_stronger_source_stands_under_that():
    ledger = Ledger()
    ledger.take(said(MODEL, "task = sync"), said(PERSON, "task = sync"))
    assert ledger.only().source == "person"


def test_statements_stand_side_by_side_and_only_a_correction_supersedes_one():
    ledger = Ledger()
    ledger.take(said(PERSON, "said 2.1 = the port is 80"), said(PERSON, "said 4.1 = the port is 81"))
    assert len(ledger.current()) == 2
    assert "fact.conflict.raised" not in names(ledger.log)
    ledger.take(said(PERSON, "said 6.1 = no, the port is 82", corrects=("f2", "gone")))
    assert [name for _, name, _, _ in ledger.current()] == ["2.1", "6.1"]


def test_only_the_person_corrects():
    ledger = Ledger()
    ledger.take(said(PERSON, "entity x = v"))
    ledger.take(said(MODEL, "entity y = w", corrects=("f1",)))
    assert len(ledger.current()) == 2


def test_an_unsupported_fact_is_kept_and_neither_wins_nor_disagrees_nor_hides_an_older_one():
    ledger = Ledger()
    ledger.take(said(MODEL, "entity x = right"), said(MODEL, "entity x = made up", unsupported=True))
    assert [value for _, _, value, _ in ledger.current()] == ["right", "made up"]
    assert [found.winner.value for found in standings(ledger.facts).values()] == ["right"]
    assert "fact.conflict.raised" not in names(ledger.log)
    ledger.take(said(TOOL, "entity x = made up"))
    assert ledger.facts[1].state == "superseded"


@pytest.mark.parametrize("subject", ["task", "said"])
def test_the_task_and_statements_stay_with_their_thread(subject):
    ledger = Ledger()
    ledger.take(said(PERSON, f"{subject} 1.1 = v"))
    for change in (
        lambda: move_fact(ledger.facts, "f1", scope=FactScope.PERMANENT, by=PERSON),
        lambda: ask_to_keep(ledger.facts, "f1", by=CALLER),
    ):
        with pytest.raises(UsageError, match="belongs to its conversation"):
            change()


def test_what_is_over_cannot_be_changed_and_the_sentence_says_what_stands():
    ledger = Ledger()
    ledger.take(said(MODEL, "entity x = a"), said(MODEL, "entity x = b"))
    with pytest.raises(UsageError) as raised:
        delete_fact(ledger.facts, "f1", by=PERSON)
    assert raised.value.sentence() == "fact f1 is superseded; fact f2 stands in its place"
    with pytest.raises(UsageError, match="no fact zz"):
        drop_fact(ledger.facts, "zz")
