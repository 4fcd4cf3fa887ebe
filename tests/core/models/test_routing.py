"""M6: what a model is shown of the tools is bounded and near the request."""

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.core.models.asking import DATE, READ
from wisp_core.facts.block import EARLIER, NOW
from wisp_core.models.routing import ANSWER, find_route, is_repeated
from wisp_core.requests import CallRequested, Message, Role, ToolSchema, WireCall

TICKET = ToolSchema(
    "tracker__open_ticket",
    "Open a ticket in the tracker. Needs a title.",
    {"type": "object", "properties": {"title": {"type": "string"}}, "required": ["title"]},
)
TOOLS = (DATE, READ, TICKET)
ROOM = 6_000


def user(text):
    return Message(Role.USER, text)


def called(name, arguments, result, id="a"):
    """Return a call and its result as they stand in a request."""
    call = WireCall(id, name, arguments)
    return Message(Role.ASSISTANT, calls=(call,)), Message(Role.TOOL, result, call_id=id, name=name)


def route(*messages, tools=TOOLS, room=ROOM):
    return find_route(messages, tools, room=room)


def test_only_the_tools_that_share_a_word_with_the_request_are_offered_the_nearest_first():
    assert route(user("read the file a.txt and tell its date")).offered == ("read_file", "current_date")
    assert route(user("what is the date today?")).offered == ("current_date",)


def test_a_request_that_is_near_no_tool_is_not_routed_at_all():
    assert route(user("Hello, who are you?")) is None
    assert route(user("what is the date today?"), tools=()) is None
    assert route(Message(Role.SYSTEM, "what is the date today?")) is None


def test_a_tool_that_wisp_does_not_know_is_shown_by_the_first_sentence_of_its_description():
    prompt = route(user("open a ticket")).prompt
    assert 'Message: Open a ticket in the tracker\nTool: tracker__open_ticket {"title": "..."}\n' in prompt
    assert "Needs a title" not in prompt


def test_some_examples_need_no_tool_and_a_tool_named_like_answering_is_never_offered():
    assert route(user("what is the date today?")).prompt.count(f"Tool: {ANSWER}\n") >= 2
    assert route(user("answer the date"), tools=(DATE, ToolSchema(ANSWER, "Answer.", {}))).offered == ("current_date",)


@given(st.lists(st.text(max_size=400), max_size=60), st.text(max_size=2_000), st.integers(1_000, 6_000))
@settings(max_examples=40, deadline=None)
def test_the_prompt_is_bounded_whatever_tools_there_are_and_whatever_was_asked(descriptions, request, room):
    tools = [ToolSchema(f"tool{at}", text, {"properties": {"x": {}}}) for at, text in enumerate(descriptions)]
    found = route(user(f"read the tool {request}"), tools=(*TOOLS, *tools), room=room)
    assert len(found.offered) <= 6
    assert len(found.prompt) <= room
    assert found.prompt.endswith("\nTool:")


def test_the_records_before_a_request_and_its_beginning_beyond_a_bound_are_not_routed():
    facts = f"{EARLIER}\n- the file x.md: read — tool\n\n{NOW}\n- date: today — wisp"
    prompt = route(user(f"{facts}\n\nwhat is the date today?")).prompt
    assert prompt.endswith("\n\nMessage: what is the date today?\nTool:")
    assert len(route(user("date " * 2_000)).prompt) < ROOM


def test_what_this_turn_called_stands_in_the_prompt_cut_and_on_one_line():
    turn = (user("what is the date today?"), *called("current_date", "{}", "Monday\n" * 1_000))
    prompt = route(*turn).prompt
    assert "\nTool: current_date {}\nResult: Monday Monday" in prompt
    assert len(prompt) < ROOM
    assert "Result:" not in route(*turn, Message(Role.ASSISTANT, "It is Monday."), user("the date, again")).prompt


def test_once_the_turn_has_called_the_examples_show_that_an_answer_follows():
    turn = (user("what is the date today?"), *called("current_date", "{}", "Monday"))
    assert "\nResult: ...\nTool: answer\n" in route(*turn).prompt
    assert "Result" not in route(*turn[:1]).prompt


def test_a_call_is_repeated_when_the_turn_made_it_already_with_the_same_arguments():
    turn = (user("read a.txt"), *called("read_file", '{"path": "a.txt"}', "one"))
    assert is_repeated(turn, CallRequested("read_file", '{ "path":"a.txt" }'))
    assert not is_repeated(turn, CallRequested("read_file", '{"path": "b.txt"}'))
    assert not is_repeated(
        (*turn, Message(Role.ASSISTANT, "one"), user("again")), CallRequested("read_file", '{"path": "a.txt"}')
    )
    assert is_repeated((user("x"), *called("read_file", "no json", "failed")), CallRequested("read_file", "no json"))
