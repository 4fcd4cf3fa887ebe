"""C5, C6 and the headroom of C7: which old turns go, and what the next turn is taken to need."""

from dataclasses import replace

from hypothesis import given, settings

from tests.core.composer.conversations import Script
from tests.core.composer.histories import History, histories
from wisp_core.composer.compose import compose
from wisp_core.condensing.drop import headroom, keep_turns
from wisp_core.events import (
    CallData,
    CommandRun,
    ContextCondensation,
    Prompt,
    RequestRetried,
    Response,
    ToolCalled,
    ToolReturned,
    TurnEnd,
)
from wisp_core.records import EntryKind, ThreadRecord
from wisp_core.settings import Context


def began() -> Script:
    script = Script()
    script.start()
    return script


def take_turn(script: Script, turn: int, *, outcome: str = "done", reply: str = "fine") -> None:
    script.write(Prompt(text=f"prompt {turn}"), turn)
    if reply:
        script.write(Response(request="r", step=1, text=reply, finish="stop", model="m"), turn)
    script.write(TurnEnd(outcome=outcome), turn)


def command(script: Script, turn: int) -> int:
    script.write(CommandRun(command="ls", output="a.txt", exitStatus=0), turn)
    return len(script.record.entries)


def of_turns(record: ThreadRecord, ids: tuple[int, ...]) -> set[int]:
    return {record.entries[number].turn for number in ids}


def test_the_last_turns_stay_and_the_older_ones_go_whole_and_the_instructions_never():
    script = began()
    for turn in range(1, 6):
        take_turn(script, turn)
    dropped = keep_turns(script.record, 2, before=6)
    assert of_turns(script.record, dropped) == {1, 2, 3}
    assert list(dropped) == sorted(dropped)
    assert len(dropped) == 6
    script.write(Prompt(text="now"), 6)
    assert keep_turns(script.record, 2, before=6) == dropped, "the turn that is open is none of the last"


def test_nothing_goes_at_that_many_turns_or_fewer_however_full_they_are():
    script = began()
    assert keep_turns(script.record, 4, before=1) == ()
    for turn in range(1, 5):
        take_turn(script, turn, reply="x" * 100_000)
    assert keep_turns(script.record, 4, before=5) == ()
    assert of_turns(script.record, keep_turns(script.record, 4, before=6)) == set()


def test_a_command_goes_with_the_turn_after_it_and_counts_as_none():
    script = began()
    take_turn(script, 1)
    second = command(script, 2)
    take_turn(script, 2)
    third = command(script, 3)
    take_turn(script, 3)
    assert keep_turns(script.record, 3, before=4) == ()
    dropped = keep_turns(script.record, 1, before=4)
    assert second in dropped
    assert third not in dropped


def test_a_command_typed_after_the_last_turn_is_always_kept():
    script = began()
    take_turn(script, 1)
    take_turn(script, 2)
    waiting = command(script, 3)
    assert waiting not in keep_turns(script.record, 1, before=3)
    script.write(Prompt(text="what is it?"), 3)
    dropped = keep_turns(script.record, 1, before=3)
    assert waiting not in dropped
    assert of_turns(script.record, dropped) == {1}


def test_a_failed_turn_of_which_nothing_is_composed_is_none_of_the_last():
    script = began()
    take_turn(script, 1)
    take_turn(script, 2)
    take_turn(script, 3, outcome="failed", reply="")
    assert keep_turns(script.record, 2, before=4) == ()
    assert of_turns(script.record, keep_turns(script.record, 1, before=4)) == {1}
    script.write(RequestRetried(reason="person"), 3)
    assert of_turns(script.record, keep_turns(script.record, 1, before=3)) == {1}


def test_what_has_been_dropped_is_not_dropped_again():
    script = began()
    for turn in range(1, 5):
        take_turn(script, turn)
    dropped = keep_turns(script.record, 2, before=5)
    gone = ContextCondensation(reason="budget", goal=0, before=0, after=0, dropped=list(dropped))
    script.write(gone, 5)
    assert keep_turns(script.record, 2, before=5) == ()
    assert of_turns(script.record, keep_turns(script.record, 1, before=5)) == {3}


@settings(max_examples=100, deadline=None)
@given(histories())
def test_what_is_left_of_any_conversation_is_its_last_turns_and_the_instructions(history: History):
    record = history.record
    turns = sorted(
        {e.turn for e in record.active_entries() if e.kind not in (EntryKind.INSTRUCTIONS, EntryKind.COMMAND)}
    )
    for keep in (1, 2, 4):
        dropped = keep_turns(record, keep, before=record.last_turn + 1)
        left = [record.entries[i] for i in record.active if i not in dropped]
        assert left[0].kind is EntryKind.INSTRUCTIONS
        assert {e.turn for e in left if e.kind not in (EntryKind.INSTRUCTIONS, EntryKind.COMMAND)} == set(turns[-keep:])
        kept = ThreadRecord("t", instructions=record.instructions, entries=record.entries, turns=record.turns)
        kept.active = [e.id for e in left]
        assert compose(kept, Context()).messages[0] == compose(record, Context()).messages[0]


def with_call(script: Script, turn: int, *, output: str, reply: str) -> None:
    script.write(Prompt(text="look" * 50), turn)
    call = CallData(call=f"{turn:08d}", tool="read", arguments="{}  ")
    script.write(Response(request="r", step=1, text="", calls=[call], finish="tool_calls", model="m"), turn)
    script.write(ToolCalled(call=call.call, tool="read", arguments={}), turn)
    script.write(ToolReturned(call=call.call, tool="read", text=output, ok=True, bytes=10**6), turn)
    script.write(Response(request="r", step=2, text=reply, reasoning="hm" * 90, finish="stop", model="m"), turn)
    script.write(TurnEnd(outcome="done"), turn)


def test_the_headroom_is_the_average_of_the_latest_turns_calls_outputs_whole_and_replies():
    script = began()
    assert headroom(script.record, 8) == 0
    with_call(script, 1, output="o" * 900, reply="é" * 46)
    assert headroom(script.record, 8) == 8 + 900 + 92
    take_turn(script, 2, reply="r" * 101)
    command(script, 3)
    assert headroom(script.record, 8) == 551, "rounded up, commands apart"
    assert headroom(script.record, 1) == 101
    script.write(Prompt(text="and now?"), 3)
    script.write(Response(request="r", step=1, text="partial", finish="interrupted", model="m"), 3)
    assert headroom(script.record, 1) == 101, "a turn that is open is no whole one"


def test_the_headroom_counts_an_output_whole_though_it_goes_as_a_reference_by_now():
    script = began()
    with_call(script, 1, output="o" * 900, reply="r" * 92)
    script.record.entries[4] = replace(script.record.entries[4], reference="short", referenced_at=2)
    assert headroom(script.record, 8) == 1000
