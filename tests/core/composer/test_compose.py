"""A17 to A20, A16: what a request carries, and that any strict provider takes it."""

from dataclasses import replace

from hypothesis import given, settings

from tests.core.composer.conversations import Script, conversations
from tests.core.composer.strict import assert_strict
from wisp_core.composer.compose import compose
from wisp_core.composer.estimate import approximate, estimate, output_limit
from wisp_core.composer.instructions import stack
from wisp_core.events import CallData, CommandRun, Prompt, RequestRetried, Response, ToolCalled, ToolReturned, TurnEnd
from wisp_core.records import EntryState, InstructionsContent, Mode, ThreadRecord
from wisp_core.requests import Message, Role, ToolSchema, Window
from wisp_core.settings import Context, Output

CONTEXT = Context()


def messages(record: ThreadRecord) -> tuple[Message, ...]:
    return compose(record, CONTEXT).messages


@settings(max_examples=300, deadline=None)
@given(conversations())
def test_every_request_of_a_random_conversation_is_one_that_a_strict_provider_takes(script: Script):
    for found in [*script.reopened, messages(script.record)]:
        assert_strict(found)


@settings(max_examples=100, deadline=None)
@given(conversations())
def test_a_next_turn_begins_with_the_bytes_of_the_one_before(script: Script):
    turn = script.record.last_turn
    before = messages(script.record)
    script.write(Response(request="r", step=9, text="fine", finish="stop", model="m"), turn)
    script.write(TurnEnd(outcome="done"), turn)
    script.write(Prompt(text="and then?"), turn + 1)
    after = messages(script.record)
    assert after[: len(before)] == before
    assert [m.role for m in after[len(before) :]] == [Role.ASSISTANT, Role.USER]


def test_composing_costs_what_is_active_and_reads_no_other_entry():
    script = Script()
    script.start()
    script.write(Prompt(text="hello"), 1)
    record = script.record
    entry = record.entries[2]
    record.entries[99] = replace(entry, id=99, state=EntryState.DROPPED, content=None)
    assert [m.text for m in messages(record)] == ["Be exact.", "hello"]


def test_a_partial_reply_goes_out_ending_in_the_interrupts_mark():
    script = Script()
    script.start()
    script.write(Prompt(text="tell me"), 1)
    script.write(Response(request="r", step=1, text="Once upon", finish="interrupted", model="m"), 1)
    script.write(TurnEnd(outcome="interrupted"), 1)
    script.write(Prompt(text="go on"), 2)
    assert [m.text for m in messages(script.record)[1:]] == [
        "tell me",
        "Once upon\n\n[interrupted by the person]",
        "go on",
    ]


def test_an_interrupt_while_the_model_was_only_thinking_leaves_no_empty_message():
    script = Script()
    script.start()
    script.write(Prompt(text="tell me"), 1)
    script.write(Response(request="r", step=1, text="", reasoning="hmm", finish="interrupted", model="m"), 1)
    script.write(TurnEnd(outcome="interrupted"), 1)
    script.write(Prompt(text="go on"), 2)
    assert [m.text for m in messages(script.record)[1:]] == ["tell me", "[interrupted by the person]", "go on"]


def _calling(*results: str) -> Script:
    script = Script()
    script.start()
    script.write(Prompt(text="list both"), 1)
    calls = [CallData(call=name, tool="run_command", arguments="{}") for name in ("aaaaaaaa", "bbbbbbbb")]
    script.write(Response(request="r", step=1, text="I look.", calls=calls, finish="tool_calls", model="m"), 1)
    for name in results:
        script.write(ToolCalled(call=name, tool="run_command", arguments={}), 1)
        script.write(ToolReturned(call=name, tool="run_command", text=f"of {name}", ok=True), 1)
    return script


def test_a_call_without_a_result_gets_one_that_says_it_was_cancelled():
    script = _calling("aaaaaaaa")
    script.write(TurnEnd(outcome="interrupted"), 1)
    script.write(Prompt(text="why?"), 2)
    found = messages(script.record)
    assert [(m.role.value, m.text, m.call_id) for m in found[2:]] == [
        ("assistant", "I look.", ""),
        ("tool", "of aaaaaaaa", "aaaaaaaa"),
        ("tool", "[cancelled by the person]", "bbbbbbbb"),
        ("assistant", "[interrupted by the person]", ""),
        ("user", "why?", ""),
    ]
    assert [c.id for c in found[2].calls] == ["aaaaaaaa", "bbbbbbbb"]


def test_results_stand_in_the_order_of_their_calls_whatever_order_they_came_in():
    found = messages(_calling("bbbbbbbb", "aaaaaaaa").record)
    assert [m.text for m in found[3:]] == ["of aaaaaaaa", "of bbbbbbbb"]


def test_a_turn_that_failed_before_any_tool_ran_is_not_composed_and_its_retry_has_no_copy():
    script = Script()
    script.start()
    script.write(Prompt(text="hello"), 1)
    script.write(Response(request="r", step=1, text="Hel", finish="failed", model="m"), 1)
    script.write(TurnEnd(outcome="failed", error="no server"), 1)
    assert [m.role for m in messages(script.record)] == [Role.SYSTEM]
    script.write(RequestRetried(reason="person"), 1)
    assert [m.text for m in messages(script.record)] == ["Be exact.", "hello"]


def test_a_turn_that_failed_after_a_tool_ran_is_kept_and_says_so_and_its_retry_goes_on_from_there():
    script = _calling("aaaaaaaa", "bbbbbbbb")
    script.write(TurnEnd(outcome="failed", error="no server"), 1)
    assert messages(script.record)[-1].text == "[the model's server failed here]"
    script.write(RequestRetried(reason="person"), 1)
    assert messages(script.record)[-1].text == "of bbbbbbbb"


def test_a_reply_that_broke_off_after_a_tool_ran_is_answered_anew_by_a_retry():
    script = _calling("aaaaaaaa", "bbbbbbbb")
    script.write(Response(request="r", step=2, text="I see th", finish="interrupted", model="m"), 1)
    script.write(TurnEnd(outcome="interrupted"), 1)
    script.write(RequestRetried(reason="person"), 1)
    assert messages(script.record)[-1].text == "of bbbbbbbb"


def test_the_persons_command_goes_with_the_next_prompt_as_one_message():
    script = Script()
    script.start()
    script.write(CommandRun(command="ls", output="a.txt", exitStatus=0), 1)
    script.write(Prompt(text="what is it?"), 1)
    assert messages(script.record)[1].text == "The person ran `ls` (exit status 0):\na.txt\n\nwhat is it?"


def test_a_command_that_waits_for_the_next_prompt_is_no_part_of_a_turn_that_is_gone_on_with():
    script = _calling("aaaaaaaa", "bbbbbbbb")
    script.write(TurnEnd(outcome="interrupted"), 1)
    script.write(CommandRun(command="ls", output="a.txt"), 2)
    script.write(RequestRetried(reason="person"), 1)
    assert messages(script.record)[-1].text == "of bbbbbbbb"
    script.write(Response(request="r", step=2, text="Both are there.", finish="stop", model="m"), 1)
    script.write(TurnEnd(outcome="done"), 1)
    script.write(Prompt(text="what is it?"), 2)
    assert [m.text for m in messages(script.record)[-2:]] == [
        "Both are there.",
        "The person ran `ls`:\na.txt\n\nwhat is it?",
    ]


def test_a_draft_composes_as_the_prompt_that_it_becomes_and_changes_nothing():
    script = _calling("aaaaaaaa", "bbbbbbbb")
    script.write(TurnEnd(outcome="done"), 1)
    script.write(CommandRun(command="ls", output="a.txt"), 2)
    draft = compose(script.record, CONTEXT, prompt="what is it?")
    assert compose(script.record, CONTEXT).messages[-1].text == "The person ran `ls`:\na.txt"
    script.write(Prompt(text="what is it?"), 2)
    sent = compose(script.record, CONTEXT)
    assert (draft.sha256, draft.messages) == (sent.sha256, sent.messages)
    assert (draft.items[-1].kind, draft.items[-1].entry, sent.items[-1].entry) == ("prompt", None, 9)


def test_a_new_mode_gives_the_instructions_a_version():
    script = Script()
    script.start()
    script.write(Prompt(text="hello"), 1)
    new = InstructionsContent(stack(Mode.PLAN), 2)
    found = compose(script.record, CONTEXT, instructions=new)
    assert found.instructions == 2
    assert "Mode plan" in found.messages[0].text


def test_the_estimate_is_a_quarter_of_the_characters_rounded_up_part_by_part():
    script = _calling("aaaaaaaa", "bbbbbbbb")
    composition = compose(script.record, CONTEXT)
    schema = ToolSchema("t", "d", {})
    found = estimate(composition, [schema], window=Window(1000, "config"), settings=CONTEXT, turn=1)
    assert (found.system, found.results) == (approximate(len("Be exact.")), approximate(len("of aaaaaaaaof bbbbbbbb")))
    assert found.messages == approximate(len("list bothI look.run_command{}run_command{}"))
    assert found.schemas == approximate(len('{"name":"t","description":"d","parameters":{}}'))
    assert (found.reserve, found.remaining) == (100, 900 - found.total)
    assert estimate(composition, [], window=None, settings=CONTEXT, turn=1).percent is None


def test_a_reply_may_take_what_window_prompt_and_margin_leave():
    assert output_limit(Window(8192, "config"), 8000, settings=Output()) == 8192 - 8000 - 163
    assert output_limit(Window(8192, "config"), 100, settings=Output(max_tokens=500)) == 500
    assert output_limit(None, 100, settings=Output()) is None
