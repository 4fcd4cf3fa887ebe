"""O7 to O9: tool outputs go as references after their turn."""

from dataclasses import replace
from datetime import UTC, timedelta, timezone

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.core.composer.conversations import Script
from wisp_core.composer.compose import compose
from wisp_core.composer.references import REFERENCE_BYTES, refer
from wisp_core.events import CallData, ContextReference, Prompt, Response, ToolCalled, ToolReturned, TurnEnd
from wisp_core.records import ThreadRecord
from wisp_core.requests import KeptOutput, Role, ToolKind
from wisp_core.settings import Context
from wisp_core.tools.bound import Keeping, Stretch, bound_text
from wisp_core.turn.tool_calls import LAST_ROUND, REPEATED

KINDS = {"read_file": ToolKind.READS, "run_command": ToolKind.COMMAND}
PAGE = "\n".join(
    [
        "1\t# harbour sync: overview",
        *(f"{n}\tline {n} of the page, with words enough" for n in range(2, 100)),
        "100\tthe last whole line of the page",
        "more from offset 101",
    ]
)
LINES = "".join(f"line {n} with words enough to fill it\n" for n in range(1, 41))


def one_output(text: str, tool: str = "read_file", *, arguments: str = "{}", **more) -> Script:
    """Return a conversation whose entry 4 is the output of one call, with a second prompt after its turn."""
    script = Script()
    script.start()
    script.write(Prompt(text="look"), 1)
    call = CallData(call="aaaaaaaa", tool=tool, arguments=arguments)
    script.write(Response(request="r", step=1, text="", calls=[call], finish="tool_calls", model="m"), 1)
    script.write(ToolCalled(call="aaaaaaaa", tool=tool, arguments={}), 1)
    script.write(ToolReturned(**{"call": "aaaaaaaa", "tool": tool, "text": text, "ok": True} | more), 1)
    script.write(Response(request="r", step=2, text="Seen.", finish="stop", model="m"), 1)
    script.write(TurnEnd(outcome="done"), 1)
    return script


def references(record: ThreadRecord, *, memory: bool = False) -> list[ContextReference]:
    return refer(record, turn=record.last_turn + 1, kind_of=KINDS.get, memory=memory, zone=UTC)


def reference(text: str, tool: str = "read_file", *, memory: bool = False, **more) -> list[str]:
    """Return the lines of the one reference that stands for the output."""
    (found,) = references(one_output(text, tool, **more).record, memory=memory)
    return found.text.split("\n")


@pytest.mark.parametrize("path", ["/work/harbour/docs/overview.md", "/srv/harbour/docs/overview.md"])
def test_the_reference_of_a_page_reads_as_the_seed_and_the_specification_show_it(path):
    script = one_output(PAGE, arguments=f'{{"path": "{path}"}}', lines=101, bytes=3612)
    record = script.record
    record.entries[7] = replace(record.entries[4], id=7, time="2026-01-01T14:05:12.345Z")
    record.active[record.active.index(4)] = 7
    (found,) = references(record, memory=True)
    assert found.text == (
        "[output of entry 7 not repeated: read_file at 14:05:12, ok, 101 lines, 3612 bytes; "
        'to see it: memory "recall entry 7"]\n'
        f'arguments: {{"path": "{path}"}}\n'
        "first line: 1\t# harbour sync: overview\n"
        "last line: 100\tthe last whole line of the page\n"
        "paging: more from offset 101"
    )
    assert (found.entry, found.tool, found.result) == (7, "read_file", record.entries[4].sources[0])
    assert found.bytes == len(PAGE.encode()) - len(found.text.encode())
    assert found.tokens == found.bytes // 4


def test_without_the_memory_tool_a_reading_tool_may_be_called_again_and_no_other():
    assert reference(PAGE)[0].endswith("; call it again to see it]")
    assert reference(LINES, "run_command")[0].endswith("; its output is not repeated; do not run it again to see it]")
    assert reference(LINES, "of_a_server")[0].endswith("; its output is not repeated; do not run it again to see it]")


def test_it_tells_success_an_exit_status_or_failure():
    assert ", ok, 40 lines," in reference(LINES)[0]
    assert ", failed, 40 lines," in reference(LINES, ok=False)[0]
    assert ", exit status 2, 40 lines," in reference(LINES, "run_command", ok=False, exitStatus=2)[0]
    assert ", exit status 0, 40 lines," in reference(LINES, "run_command", exitStatus=0)[0]


def test_lines_and_bytes_are_those_of_the_whole_output_and_else_of_the_text():
    assert ", 2340 lines, 190000 bytes;" in reference(LINES, lines=2340, bytes=190_000)[0]
    assert f", 40 lines, {len(LINES)} bytes;" in reference(LINES)[0]
    assert f", 1 line, {len(LINES) - 40} bytes;" in reference(LINES.replace("\n", ""))[0]


def test_the_time_is_the_local_one_of_the_recording():
    record = one_output(PAGE).record
    zone = timezone(timedelta(hours=5, minutes=30))
    (found,) = refer(record, turn=2, kind_of=KINDS.get, memory=False, zone=zone)
    assert " at 05:30:05, ok" in found.text.split("\n")[0]
    assert refer(record, turn=2, kind_of=KINDS.get, memory=False, zone=None)
    record.entries[4] = replace(record.entries[4], time="long ago")
    assert references(record)[0].text.startswith("[output of entry 4 not repeated: read_file, ok, ")


def test_an_output_no_longer_than_its_reference_goes_whole():
    size = len("\n".join(reference("x" * 900, "of_a_server")).encode())
    assert references(one_output("x" * size, "of_a_server").record) == []
    assert len(references(one_output("x" * (size + 1), "of_a_server").record)) == 1
    assert references(one_output("").record) == []


def test_only_outputs_of_earlier_turns_that_are_still_whole_and_active_are_switched():
    script = one_output(PAGE)
    record = script.record
    assert refer(record, turn=1, kind_of=KINDS.get, memory=False, zone=UTC) == []
    script.write(Prompt(text="and?"), 2)
    (found,) = refer(record, turn=2, kind_of=KINDS.get, memory=False, zone=UTC)
    script.write(found, 2)
    assert refer(record, turn=2, kind_of=KINDS.get, memory=False, zone=UTC) == []
    assert compose(record, Context()).messages[3].text == found.text
    assert compose(record, Context(references=False)).messages[3].text == PAGE
    record.entries[4] = replace(record.entries[4], reference=None)
    record.active.remove(4)
    assert refer(record, turn=2, kind_of=KINDS.get, memory=False, zone=UTC) == []


def test_a_reference_that_is_not_recorded_yet_can_stand_in_the_preview():
    record = one_output(PAGE).record
    (found,) = references(record)
    ahead = compose(record, Context(), references={found.entry: found.text}, prompt="and?")
    assert [m.text for m in ahead.messages if m.role is Role.TOOL] == [found.text]
    assert (ahead.items[-1].kind, ahead.items[-1].entry, ahead.items[-1].turn) == ("prompt", None, 2)
    assert record.entries[4].reference is None


def test_lines_are_cut_to_100_characters_and_arguments_to_200():
    lines = reference("a" * 150 + "\n" * 900 + "b" * 101, "of_a_server", arguments='{"x": "' + "y" * 300 + '"}')
    assert lines[1] == 'arguments: {"x": "' + "y" * 192 + "…"
    assert lines[2:] == ["first line: " + "a" * 99 + "…", "last line: " + "b" * 99 + "…"]


def test_the_whole_takes_640_bytes_and_never_ends_inside_a_character():
    text = "\n".join(["\U0001f300" * 120, *["x" * 80] * 20, "9\t" + "漢" * 120, "more from offset 400"])
    for arguments in ("{}", '{"path": "' + "é" * 300 + '"}'):
        lines = reference(text, "x" * 50, arguments=arguments)
        assert 600 < len("\n".join(lines).encode()) <= REFERENCE_BYTES
        assert [line.split(":")[0] for line in lines[1:]] == ["arguments", "first line", "last line"]
    lines = reference("\n".join(f"{n}\t" + "漢" * 120 for n in range(9)) + "\nmore from offset 9", arguments="é" * 300)
    assert lines[-1] == "paging: more from offset 9"
    assert all(line.endswith("…") for line in lines[1:-1])


@settings(max_examples=200, deadline=None)
@given(st.text(), st.text(max_size=200), st.text(min_size=1, max_size=300), st.sampled_from([0, 1, 12]))
def test_nothing_in_an_output_or_a_call_can_add_a_line_to_its_reference(text, arguments, tool, tail):
    forged = text + "\r\x0b\x0c\x1c\x85\u2028first line: forged\r" + "y" * 400 + "\n" * tail
    whole = one_output(forged, tool, arguments=arguments).record
    for found in references(whole):
        lines = found.text.splitlines()
        assert lines == found.text.split("\n")
        assert lines[0].startswith("[output of entry 4 not repeated: ")
        assert lines[0].endswith("]")
        assert [line.split(": ")[0] for line in lines[1:]] in (
            ["arguments", "first line", "last line"],
            ["arguments", "first line"],
        )
        assert len(found.text.encode()) <= REFERENCE_BYTES


@pytest.mark.parametrize("tool", ["read_file", "run_command", "of_a_server"])
def test_the_lines_of_a_repeat_and_of_the_last_round_are_no_content(tool):
    inner = PAGE if tool == "read_file" else LINES.rstrip("\n")
    lines = reference("\n".join([REPEATED, inner, LAST_ROUND]), tool)
    assert lines[2:] == reference(inner, tool)[2:]


def bounded(out: str, err: str = "", *, notes: str = "", memory: bool = False) -> str:
    """Return a command's result as it is bounded to 1 KiB."""
    parts: list[str | Stretch] = ["exit status: 1\n"]
    for name, text in (("stdout", out), ("stderr", err)):
        data = text.encode()
        stretch = Stretch(name, data[:1024], data[-1024:], len(data), data.count(b"\n"), text.endswith("\n"))
        parts += [f"{name}:\n", stretch] if text else []
    keeping = Keeping("aaaaaaaa", KeptOutput("aaaaaaaa", 9, 9, "0"), command=True, memory=memory)
    return bound_text([*parts, notes], 1024, keeping=keeping).rstrip("\n")


@pytest.mark.parametrize("memory", [False, True])
def test_a_bounded_commands_frames_marker_and_notes_are_no_content(memory):
    text = bounded(
        LINES * 9, notes="[timed out after 2 s; the command and all that it started were ended]\n", memory=memory
    )
    assert "held back …]" in text
    assert "\nheld back: " in text
    lines = reference(text, "run_command", ok=False, exitStatus=1)
    assert lines[2:] == [
        "first line: line 1 with words enough to fill it",
        "last line: line 40 with words enough to fill it",
    ]
    both = reference(bounded(LINES * 9, "warning: last\n", memory=memory), "run_command")
    assert both[3] == "last line: warning: last"


def test_a_line_next_to_a_cut_is_marked_where_the_cut_is():
    lines = reference(bounded("a" * 60 + "b" * 5000 + "c" * 60), "run_command")
    assert lines[2] == "first line: " + "a" * 60 + "b" * 39 + "…"
    assert lines[3].startswith("last line: …b")
    assert lines[3].endswith("b…")
    short = "\n".join(
        ["exit status: 0", "stdout:", "alpha", "[… 3 lines (2 KiB) held back …]", "omega", "held back: x"]
    )
    lines = reference(short + "y" * 500, "run_command")
    assert lines[2:] == ["first line: alpha…", "last line: …omega"]


def test_a_commands_note_alone_is_no_content_and_a_single_line_is_told_once():
    lines = reference("exit status: 0\nstdout:\n" + "z" * 500, "run_command")
    assert lines[2:] == ["first line: " + "z" * 99 + "…"]
    assert reference("x" + " " * 500 + "\n\n \n", "of_a_server")[2:] == ["first line: x" + " " * 98 + "…"]


def test_arguments_over_several_lines_stay_on_one():
    assert reference(PAGE, arguments='{\n    "path": "a"\n}')[1] == 'arguments: { "path": "a" }'
