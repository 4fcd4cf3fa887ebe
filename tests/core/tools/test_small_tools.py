"""The tools ask, models, notify, system_info and inspect, with real processes, sockets and a real record."""

import asyncio
import json
import os
import socket
import stat

import pytest

from wisp_core.errors import ToolFailure
from wisp_core.events import ApprovalDecided, ApprovalRequested, Event, Prompt, ToolCalled
from wisp_core.records import CallContent, CommandContent, Entry, EntryKind, OutputContent, ThreadRecord
from wisp_core.redaction import Redaction
from wisp_core.requests import ToolKind
from wisp_core.settings import Outputs as Limits
from wisp_core.store.outputs import Outputs
from wisp_core.tools.ask import AskTool
from wisp_core.tools.budget import Budget
from wisp_core.tools.inspect import Inspect, Setting
from wisp_core.tools.models import Models
from wisp_core.tools.notify import Notify
from wisp_core.tools.registry import Registry
from wisp_core.tools.result import Results
from wisp_core.tools.system_info import SystemInfo

CALL = "3f9a2c1b"


@pytest.fixture
def results(tmp_path):
    return Results(Budget(Limits()), Outputs(tmp_path / "output", "session1", limits=Limits()))


async def run(tool, **given):
    tools = Registry([tool])
    arguments = tools.check(tool.name, json.dumps(given))
    return (await asyncio.wait_for(tools.run(tool.name, arguments, call=CALL, progress=print), 20)).text


async def test_a_result_and_what_is_kept_of_it_hold_no_secrets(tmp_path):
    secrets = Redaction({"MY_KEY": "hunter2-hunter2"})
    outputs = Outputs(tmp_path / "output", "session1", limits=Limits(), redaction=secrets)
    results = Results(Budget(Limits()), outputs)

    async def many():
        return ["the key is hunter2-hunter2"] * 1000

    text = await run(Models(many, results))
    stored = (tmp_path / "output/session1" / CALL).read_text()
    assert "hunter2" not in text + stored
    assert stored.splitlines() == ["the key is [secret MY_KEY]"] * 1000


class Person:
    """Someone who answers as they were told to, and remembers what they were asked."""

    def __init__(self, answer):
        self.answer, self.asked = answer, []

    async def __call__(self, question):
        self.asked.append((question.call, question.text, question.choices))
        return self.answer


async def test_a_question_reaches_the_person_and_their_words_come_back(results):
    person = Person("the second,\nplease")
    tool = AskTool(person, results)
    assert tool.kind is ToolKind.ASKS
    assert (
        await run(tool, question=" Which one? ", choices=["a\nb", "", "c"])
        == "the person answered: the second,\nplease"
    )
    assert await run(tool, question="Why?", choices=None) == "the person answered: the second,\nplease"
    assert person.asked == [(CALL, "Which one?", ("a b", "c")), (CALL, "Why?", ())]


async def test_where_nobody_can_be_asked_the_model_is_told_to_go_on(results):
    with pytest.raises(ToolFailure, match="nobody could be asked"):
        await run(AskTool(Person(None), results), question="Which?")


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({}, "ask needs question; it takes question (text), choices (a list of texts, optional)"),
        ({"question": "  "}, "expected a question"),
        ({"question": "?", "choices": [str(n) for n in range(10)]}, "choices is wrong"),
        ({"question": "?", "choices": ["a", 1]}, "choices.1 is wrong"),
        ({"question": "?", "choices": ["a\ud800"]}, "half a character"),
    ],
)
async def test_a_question_that_is_none_is_told_what_one_is(results, given, said):
    with pytest.raises(ToolFailure) as failure:
        await run(AskTool(Person("x"), results), **given)
    assert said in str(failure.value)


async def test_models_are_listed_a_line_each(results):
    async def two():
        return ["embedded/smollm2-135m: 8,192 tokens", "here/llama\n\x1b[31m: unknown"]

    async def none():
        return []

    assert await run(Models(two, results)) == "embedded/smollm2-135m: 8,192 tokens\nhere/llama <U+001B>[31m: unknown"
    assert await run(Models(none, results)) == "[no model can be run]"


def program(folder, name, text):
    folder.mkdir(exist_ok=True)
    path = folder / name
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)


async def test_a_notification_goes_to_the_desktop_as_arguments_and_to_the_faces(tmp_path, monkeypatch):
    program(tmp_path / "bin", "notify-send", f'for each; do echo "$each" >> {tmp_path}/said; done')
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    shown = []
    said = await run(Notify(shown.append), text="--help '$(id)'\n<b>done</b> \x1b]9;x")
    assert said == "shown on the desktop and in the conversation"
    assert shown == ["--help '$(id)' <b>done</b> <U+001B>]9;x"]
    expected = ["--app-name", "wisp", "--", "wisp", "--help '$(id)' &lt;b&gt;done&lt;/b&gt; &lt;U+001B&gt;]9;x"]
    assert (tmp_path / "said").read_text().splitlines() == expected


async def test_on_a_mac_the_text_is_an_argument_of_the_script(tmp_path, monkeypatch):
    program(tmp_path / "bin", "osascript", f'for each; do echo "$each" >> {tmp_path}/said; done')
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    await run(Notify([].append), text='" & quit')
    assert (tmp_path / "said").read_text().splitlines()[-2:] == ['" & quit', "wisp"]


@pytest.mark.parametrize("desktop", ["none", "exit 1"])
async def test_without_a_desktop_the_faces_alone_show_it(tmp_path, monkeypatch, desktop):
    (tmp_path / "bin").mkdir()
    if desktop != "none":
        program(tmp_path / "bin", "notify-send", desktop)
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    shown = []
    assert await run(Notify(shown.append), text="done") == "shown in the conversation"
    assert shown == ["done"]


async def test_a_port_that_listens_is_shown_with_its_process(results):
    with socket.create_server(("127.0.0.1", 0)) as server:
        text = await run(SystemInfo(results), topic="ports")
        line = next(line for line in text.splitlines() if f"127.0.0.1:{server.getsockname()[1]}  " in line)
    assert line.startswith("tcp ")
    assert f"(pid {os.getpid()})" in line


@pytest.mark.parametrize(
    ("topic", "said"),
    [
        ("disk", " free"),
        ("processes", "by memory:"),
        ("memory", "memory: "),
        ("battery", "battery"),
        ("network", ": "),
    ],
)
async def test_the_machine_is_described_by_topic_within_the_budget(results, topic, said):
    text = await run(SystemInfo(results), topic=topic)
    assert said in text
    assert len(text.encode()) <= 4096


async def test_a_topic_that_is_none_is_told_the_topics(results):
    with pytest.raises(ToolFailure, match=r"topic is wrong: .*'ports', 'disk'.*found \"cpu\""):
        await run(SystemInfo(results), topic="cpu")
    with pytest.raises(ToolFailure, match=r"needs topic; it takes topic \(one of ports\|disk\|processes"):
        await run(SystemInfo(results))


TIME = "2026-07-01T14:05:12.000Z"


class Conversation:
    """A small conversation that can be looked at."""

    def settings(self):
        return [
            Setting("mode", "ask", "default"),
            Setting("model", "here/llama", "config.json"),
            Setting("endpoints.here.headers", {"Authorization": "Bearer hunter2"}, "config.json"),
            Setting("endpoints", {"here": {"url": "http://127.0.0.1", "headers": {"X": "hunter2"}}}, "config.json"),
        ]

    def status(self):
        return [("model", "here/llama"), ("window", "8,192 tokens")]

    def record(self):
        def entry(number, kind, content, turn):
            return Entry(number, f"w{number}", kind, turn, TIME, content)

        contents = [
            (EntryKind.TOOL_CALL, CallContent("00000001", "read_file", '{"path": "a.txt"}'), 1),
            (
                EntryKind.TOOL_OUTPUT,
                OutputContent("00000001", "read_file", "x", lines=101, bytes=3612, seconds=0.01),
                1,
            ),
            (EntryKind.COMMAND, CommandContent("ls\n\x1b[31m", "", 0), 2),
            (EntryKind.TOOL_CALL, CallContent("00000002", "run_command", '{"command": "make"}'), 2),
            (
                EntryKind.TOOL_OUTPUT,
                OutputContent("00000002", "run_command", "x", False, 2, lines=9000, bytes=10**6, kept="s", repeats="x"),
                2,
            ),
            (EntryKind.TOOL_CALL, CallContent("00000003", "edit_file", "{}"), 2),
        ]
        entries = {n: entry(n, kind, content, turn) for n, (kind, content, turn) in enumerate(contents, 1)}
        return ThreadRecord("t1", entries=entries, active=list(entries))

    async def events(self, turn):
        data = [
            (1, Prompt(text="hello\nthere")),
            (
                1,
                ApprovalRequested(call="c1", tool="run_command", arguments={"command": "make"}, cwd="/", why="it runs"),
            ),
            (1, ApprovalDecided(call="c1", decision="once", by="person", seconds=2.5)),
            (1, ToolCalled(call="c1", tool="run_command", arguments={"command": "make"})),
            (2, ApprovalDecided(call="c2", decision="no", by="rule", reason="mode plan only reads")),
            (
                2,
                ApprovalRequested(
                    call="c3", tool="edit_file", arguments={"path": "a"}, cwd="/", why="it changes files"
                ),
            ),
        ]
        events = [Event(f"e{n}", n, TIME, "s", "t1", at, None, each) for n, (at, each) in enumerate(data, 1)]
        return [event for event in events if turn in (None, event.turn)]


async def test_settings_show_their_origins_and_no_keys(results):
    text = await run(Inspect(Conversation(), results), topic="config")
    assert "hunter2" not in text
    assert text.splitlines() == [
        'endpoints = {"here": {"url": "http://127.0.0.1", "headers": "(hidden)"}}  (config.json)',
        "endpoints.here.headers = (hidden)  (config.json)",
        'model = "here/llama"  (config.json)',
        'mode = "ask"  (default)',
    ]


async def test_the_status_is_a_line_each(results):
    assert await run(Inspect(Conversation(), results), topic="status") == "model: here/llama\nwindow: 8,192 tokens"


async def test_calls_are_a_line_each_of_one_turn_or_all(results):
    tool = Inspect(Conversation(), results)
    first = f'turn 1 {TIME} read_file {{"path": "a.txt"}}: ok, 101 lines, 3,612 bytes, 0.01 s'
    second = [
        f"turn 2 {TIME} ! ls <U+001B>[31m: exit status 0",
        f'turn 2 {TIME} run_command {{"command": "make"}}: exit status 2, 9,000 lines, 1,000,000 bytes, 0 s, '
        "kept as output 00000002, a repeat",
        f"turn 2 {TIME} edit_file {{}}: no result",
    ]
    assert (await run(tool, topic="calls")).splitlines() == [first, *second]
    assert (await run(tool, topic="calls", turn=2)).splitlines() == second
    assert await run(tool, topic="calls", turn=7) == "[none in turn 7]"


async def test_approvals_say_why_what_who_and_how_long(results):
    assert (await run(Inspect(Conversation(), results), topic="approvals")).splitlines() == [
        f'turn 1 {TIME} run_command {{"command": "make"}} (it runs): once, by person, after 2.5 s',
        f"turn 2 {TIME} call c2: no, by rule, after 0 s: mode plan only reads",
        'edit_file {"path": "a"} (it changes files): not answered',
    ]


async def test_the_audit_is_an_event_a_line(results):
    lines = (await run(Inspect(Conversation(), results), topic="audit", turn=1)).splitlines()
    assert lines[0] == f'1 turn 1 {TIME} prompt {{"text": "hello\\nthere"}}'
    assert [line.split()[4] for line in lines] == ["prompt", "approval.requested", "approval.decided", "tool.call"]
