"""A21: a past request is composed again from its plan, and from the marks and settings of its turn."""

from dataclasses import replace

from hypothesis import given, settings

from tests.core.composer.conversations import Script
from tests.core.composer.histories import History, Sent, histories
from tests.core.composer.strict import assert_strict
from wisp_core.composer.compose import compose
from wisp_core.composer.recompose import recompose
from wisp_core.events import Prompt, RequestComposed
from wisp_core.records import Entry, EntryState, Plan, Rendering, ThreadRecord
from wisp_core.settings import Context


def again(history: History, plan: Plan):
    """Return the plan's request composed from what is known now."""
    record = history.record
    entries = [replace(record.entries[i], content=history.contents[i]) for i, _ in plan.entries]
    version = next(each for each in record.instructions if each.version == plan.instructions)
    return recompose(plan, entries, turns=record.turns, instructions=version)


@settings(max_examples=150, deadline=None)
@given(histories())
def test_every_request_ever_sent_is_composed_again_to_the_byte_whatever_has_happened_since(history: History):
    for sent in history.sent:
        found = again(history, sent.plan)
        assert found.messages == sent.messages
        assert found.sha256 == sent.plan.sha256
        assert [(i.entry, i.rendering) for i in found.items if i.entry is not None] == list(sent.plan.entries)


@settings(max_examples=150, deadline=None)
@given(histories(undo=False))
def test_the_last_request_of_each_turn_follows_from_the_marks_and_settings_of_that_turn(history: History):
    for sent in {each.plan.turn: each for each in history.sent}.values():
        plan = sent.plan
        found = compose(as_it_was(history, plan), Context.model_validate(plan.settings))
        assert found.messages == sent.messages
        assert found.sha256 == plan.sha256


def as_it_was(history: History, plan: Plan) -> ThreadRecord:
    """Return the record that the marks tell of: what each earlier entry was when the plan's turn went out."""
    record, own = history.record, {number for number, _ in plan.entries}
    entries: dict[int, Entry] = {}
    for entry in record.entries.values():
        dropped = entry.dropped_at is not None and entry.dropped_at <= plan.turn
        there = entry.id in own if entry.turn == plan.turn else entry.turn < plan.turn
        if not there or dropped or (entry.state is EntryState.FAILED and entry.turn != plan.turn):
            continue
        referenced = entry.referenced_at is not None and entry.referenced_at <= plan.turn
        entries[entry.id] = replace(
            entry,
            content=history.contents[entry.id],
            reference=entry.reference if referenced else None,
            cuts=entry.cuts if entry.turn < plan.turn else (),
        )
    versions = [each for each in record.instructions if each.version <= plan.instructions]
    entries[1] = replace(entries[1], content=versions[-1])
    turns = {number: turn for number, turn in record.turns.items() if number < plan.turn}
    turns[plan.turn] = replace(record.turns[plan.turn], outcome=None)
    return ThreadRecord("t", instructions=tuple(versions), entries=entries, active=sorted(entries), turns=turns)


@settings(max_examples=150, deadline=None)
@given(histories())
def test_every_request_of_such_a_conversation_is_one_that_a_strict_provider_takes(history: History):
    for sent in history.sent:
        assert_strict(sent.messages)


@settings(max_examples=150, deadline=None)
@given(histories())
def test_a_draft_composes_exactly_as_the_prompt_will(history: History):
    for draft, sent in history.drafts:
        assert draft == sent


@settings(max_examples=150, deadline=None)
@given(histories())
def test_with_nothing_changed_between_them_a_request_begins_with_the_bytes_of_the_one_before(history: History):
    before: Sent | None = None
    for sent in history.sent:
        if before is not None and before.epoch == sent.epoch:
            assert sent.messages[: len(before.messages)] == before.messages
        before = sent


def plan_with_blocks(*, earlier: str | None, now: str | None) -> tuple[Script, Plan]:
    script = Script()
    script.start()
    script.write(Prompt(text="one"), 1)
    entries = [(1, "whole"), (2, "whole")]
    data = RequestComposed(step=1, entries=entries, earlier=earlier, now=now, instructions=1, settings={}, sha256="")
    script.write(data, 1)
    return script, script.record.plans[1][0]


def test_the_blocks_of_a_plan_go_out_with_the_prompts_that_they_stand_before():
    script, plan = plan_with_blocks(earlier="Facts: none.", now="Seen before: nothing.")
    entries = [script.record.entries[i] for i, _ in plan.entries]
    found = recompose(plan, entries, turns=script.record.turns, instructions=None)
    assert [m.text for m in found.messages] == ["Be exact.", "Facts: none.\n\nSeen before: nothing.\n\none"]
    assert [(i.kind, i.entry) for i in found.items[1:]] == [("earlier", None), ("now", None), ("prompt", 2)]
    assert (found.earlier, found.now) == ("Facts: none.", "Seen before: nothing.")
    other, its_plan = plan_with_blocks(earlier="Facts: none.", now=None)
    its = recompose(its_plan, entries, turns=other.record.turns, instructions=None)
    assert its.items[1].id == found.items[1].id, "a block's id is made from its content"


def test_a_plan_of_which_something_is_lost_gives_what_is_left_and_another_hash():
    script, plan = plan_with_blocks(earlier=None, now=None)
    found = recompose(plan, [script.record.entries[2]], turns=script.record.turns, instructions=None)
    assert [i.rendering for i in found.items] == [Rendering.WHOLE]
    assert found.sha256 != compose(script.record, Context()).sha256
