"""M6: with `embedded.tools` the embedded model, which knows no tools, calls by routing, on its real weights."""

import json
import time
from contextlib import aclosing
from pathlib import Path

import pytest

from tests.core.models.asking import DATE, ask, calls, finish, prompt, text, usage
from wisp_core.errors import ContextOverflowError
from wisp_core.models.catalogue import EMBEDDED, open_backend
from wisp_core.models.gbnf import write_arguments
from wisp_core.models.routing import ANSWER, Route
from wisp_core.requests import Message, ModelRequest, PromptProgress, Role, TextDelta, ToolSchema, WireCall
from wisp_core.settings import Embedded, Settings
from wisp_core.tools.ask import AskTool
from wisp_core.tools.current_date import CurrentDate
from wisp_core.tools.edit_file import EditFile
from wisp_core.tools.inspect import Inspect
from wisp_core.tools.list_files import ListFiles
from wisp_core.tools.models import Models
from wisp_core.tools.notify import Notify
from wisp_core.tools.read_file import ReadFile
from wisp_core.tools.registry import parameters
from wisp_core.tools.run_command import RunCommand
from wisp_core.tools.search_files import SearchFiles
from wisp_core.tools.system_info import SystemInfo

pytestmark = [pytest.mark.embedded, pytest.mark.asyncio(loop_scope="module")]

READ = ToolSchema(
    "read_file",
    "Read a text file as numbered lines, a page at a time.",
    {
        "type": "object",
        "properties": {"path": {"type": "string"}, "offset": {"type": "integer"}, "limit": {"type": "integer"}},
        "required": ["path"],
    },
)
TOOLS = (DATE, READ)
WISPS = (
    CurrentDate,
    ReadFile,
    RunCommand,
    EditFile,
    ListFiles,
    SearchFiles,
    SystemInfo,
    Inspect,
    Models,
    Notify,
    AskTool,
)
EVERY = tuple(ToolSchema(tool.name, tool.description, parameters(tool.arguments)) for tool in WISPS)


@pytest.fixture(scope="module")
async def backend():
    backend = open_backend(EMBEDDED, Settings(embedded=Embedded(tools=True, most_output=24)), environ={})
    await backend.warm()  # before the tests are watched for what they leave
    yield backend
    await backend.close()


def after(request, name, arguments, result):
    """Return the request that follows a call."""
    call = Message(Role.ASSISTANT, calls=(WireCall("a", name, arguments),))
    output = Message(Role.TOOL, result, call_id="a", name=name)
    return ModelRequest((*request.messages, call, output), request.tools, max_output=request.max_output)


async def test_it_has_tools_only_where_they_are_on(backend):
    assert backend.capabilities.tools
    assert not open_backend(EMBEDDED, Settings(), environ={}).capabilities.tools


async def test_a_request_for_the_date_is_a_call_and_nothing_of_the_routing_is_reply(backend):
    found = await ask(backend, prompt("what is the date today?", tools=TOOLS))
    assert calls(found) == [("current_date", "{}")]
    assert finish(found) == "tool_calls"
    assert text(found) == ""
    assert any(isinstance(event, PromptProgress) and event.done == event.total for event in found)


async def test_arguments_have_the_tools_own_form_on_one_line(backend):
    found = await ask(backend, prompt("Read README.md", tools=TOOLS))
    assert calls(found) == [("read_file", '{"path": "README.md"}')]


async def test_who_are_you_is_answered_and_costs_one_request(backend):
    request = prompt("Hello, who are you?", tools=TOOLS)
    found = await ask(backend, request)
    assert calls(found) == []
    assert text(found)
    assert usage(found).prompt == await backend.count(request.messages, request.tools)


async def test_a_call_that_was_made_in_the_turn_is_answered_and_not_made_again(backend):
    request = after(prompt("what is the date today?", tools=TOOLS), "current_date", "{}", "Tuesday, 2026-12-01")
    found = await ask(backend, request)
    assert calls(found) == []
    assert text(found)


async def test_what_is_counted_is_the_larger_prompt_and_the_usage_of_a_step_is_summed(backend):
    request = prompt("what is the date today?", tools=TOOLS)
    alone, counted = [await backend.count(request.messages, tools) for tools in ((), TOOLS)]
    assert counted > alone
    routed = usage(await ask(backend, request))
    # The choice is counted; the arguments go on from it by the tool's name.
    assert counted <= routed.prompt <= counted + 4
    assert routed.total > 2 * counted
    long = prompt("word " * 1_500 + "\n\nwhat is the date today?", tools=TOOLS)
    assert usage(await ask(backend, long)).prompt == await backend.count(long.messages, TOOLS) > 1_500


async def test_calls_and_results_of_the_history_are_counted_as_they_are_sent(backend):
    request = after(prompt("read a.txt", tools=(), max_output=4), "read_file", '{"path": "a.txt"}', "one\n" * 40)
    found = await ask(backend, request)
    assert usage(found).prompt == await backend.count(request.messages, ())


async def test_cancelling_while_it_routes_stops_the_model(backend):
    route = Route("date " * 7_000, ("current_date",))
    async with aclosing(backend._router.choose(route, prompt(tools=TOOLS))) as events:
        progress = await anext(events)
    assert isinstance(progress, PromptProgress)
    assert progress.done < progress.total
    begun = time.monotonic()
    await ask(backend, prompt("hi", max_output=1))
    assert time.monotonic() - begun < 15  # to read it all takes three times as long


async def test_a_routing_prompt_over_the_window_overflows_for_real(backend):
    route = Route("date " * 9_000, ("current_date",))
    with pytest.raises(ContextOverflowError) as caught:
        async with aclosing(backend._router.choose(route, prompt(tools=TOOLS))) as events:
            _ = [event async for event in events]
    assert caught.value.limit == 8192


async def test_it_routes_in_the_smallest_window():
    backend = open_backend(EMBEDDED, Settings(embedded=Embedded(tools=True, window=512)), environ={})
    request = prompt("what is the date today?", tools=TOOLS)
    assert await backend.count(request.messages, TOOLS) < 300
    assert finish(await ask(backend, request)) in ("tool_calls", "stop")
    await backend.close()


async def test_of_thirty_messages_with_every_tool_at_least_twenty_five_are_routed_rightly(backend):
    messages = json.loads(Path(__file__).with_name("routing-messages.json").read_text())
    wrong = []
    for message, wanted in messages["kept apart"]:
        found = calls(await ask(backend, prompt(message, tools=EVERY, max_output=1)))
        if (found[0][0] if found else ANSWER) != wanted:
            wrong.append((message, wanted, found))
    assert len(wrong) <= 5, wrong
    assert not [message for message, wanted, _ in wrong if wanted == ANSWER]


async def test_whatever_the_schema_llama_cpp_takes_its_grammar(backend):
    kinds = [{"type": kind} for kind in ("string", "integer", "number", "boolean", "null", "array", "object")]
    odd = [{}, {"enum": ['"', "\\", "ü\n", 1, None]}, {"$ref": "#/x"}, {"type": "array", "items": {"type": "string"}}]
    deep = {"type": "object", "properties": {'a "b"\n': {"type": "object", "properties": {"c": {}}}}}
    for schema in (*kinds, *odd, deep):
        tool = ToolSchema("current_date", "", {"properties": {"a]": schema, "b": {}}, "required": ["a]"]})
        assert "root ::=" in write_arguments(tool.parameters)
        route = Route("Message: what is the date today?\nTool: current_date", ("current_date",))
        await choose(backend._router, route, prompt(tools=(tool,)))


async def choose(router, route, request):
    """Check that what a router yields is a call whose arguments are JSON, where it is one."""
    async with aclosing(router.choose(route, request)) as events:
        async for event in events:
            assert not isinstance(event, TextDelta)
            for _, arguments in calls([event]):
                assert "a]" in json.loads(arguments)
