"""A turn gives at most twelve facts, each with where it came from, and of an identity only the newest."""

import pytest

from tests.core.facts.rules.turns import CWD, called, facts, printed, ran
from wisp_core.facts.assertion import Source
from wisp_core.facts.extract import extract, start_facts
from wisp_core.tools.diff import changed_lines
from wisp_core.tools.machine import memory


def test_a_fact_names_its_tool_its_entry_its_event_and_its_turn():
    (found,) = extract(ran("pytest", printed("3 passed in 0.1s"), status=0, entry=8, turn=5), cwd=CWD)
    assert (found.source, found.tool) == (Source.TOOL, "run_command")
    assert (found.entries, found.events, found.turns) == ((9,), ("result8",), (5, 5))


def test_what_the_turn_puts_around_a_result_is_no_part_of_it():
    text = (
        "[this repeats an earlier call of this turn exactly; that one's result stands in the context above]\n"
        + printed("3 passed in 0.1s")
        + "\n[no more tool calls can be made in this turn: answer with what you have]"
    )
    assert facts(ran("pytest", text, status=0)) == [("tests", "pytest", "passed: 3 passed")]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1\tone\n2\ttwo\n[end of file]", "2 lines, read at turn 3"),
        ("1\tone\n[end of file]", "1 line, read at turn 3"),
        ("1\tone\n[line ends: CRLF]\n[end of file]", "1 line, read at turn 3"),
        ("1\t[end of file]\n2\tx\nmore from offset 3", "lines 1 to 2 of more, read at turn 3"),
        ("41\tone\n42\ttwo\n[end of file]", "42 lines, read at turn 3"),
        ("[the file is empty]\n[end of file]", "0 lines, read at turn 3"),
    ],
)
def test_a_read_file_is_known_by_its_lines(text, value):
    assert facts(called("read_file", {"path": "src/../tide.py"}, text=text)) == [
        ("file", "/srv/harbour/tide.py", value)
    ]


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("/etc/hosts", "/etc/hosts"),
        ("../quay/a.py", "/srv/quay/a.py"),
        ("~/notes.md", "~/notes.md"),
        ("a\nb", "/srv/harbour/a b"),
    ],
)
def test_a_path_is_absolute(path, name):
    assert facts(called("read_file", {"path": path}, text="1\tx\n[end of file]"))[0][1] == name


def test_a_file_that_was_not_shown_gives_nothing():
    text = "[tide.png is a PNG image of 3 KiB, no text; it is not shown]"
    assert facts(called("read_file", {"path": "tide.png"}, text=text)) == []
    assert facts(called("read_file", {"path": "x"}, text="/srv/harbour/x does not exist", ok=False)) == []


def test_an_edited_file_is_known_by_what_was_added_and_removed():
    assert changed_lines("a\n", "b\nc\n") == (2, 1)
    diff = "\n--- a: b.py\n+++ a: b.py"
    for summary, value in [
        ("wrote a: b.py: 2 lines added, 1 line removed", "changed at turn 3 (+2 −1 lines)"),
        ("wrote a: b.py: 1,024 lines added, 0 lines removed; its other names (hard links) keep the earlier text", None),
        ("wrote a: b.py: new file, 12 lines", "changed at turn 3 (+12 −0 lines)"),
    ]:
        found = facts(called("edit_file", {"path": "a: b.py"}, text=summary + diff))
        assert found == [("file", "/srv/harbour/a: b.py", value or "changed at turn 3 (+1,024 −0 lines)")]
    assert facts(called("edit_file", {"path": "a"}, text="wrote nothing")) == []


def test_a_listening_port_is_a_service_and_a_datagram_port_is_none():
    text = (
        "tcp 127.0.0.1:8080  node (pid 311)\ntcp [::]:8080  node (pid 311)\nudp 0.0.0.0:5353  avahi (pid 9)\n"
        "tcp [::]:22  (a process that is not shown to you)"
    )
    assert facts(called("system_info", {"topic": "ports"}, text=text)) == [
        ("service", "port 8080", "node (pid 311), listening"),
        ("service", "port 22", "(a process that is not shown to you), listening"),
    ]
    assert facts(called("system_info", {"topic": "ports"}, text="[nothing listens]")) == []


def test_the_machine_is_known_by_memory_disk_and_battery():
    ((subject, name, value),) = facts(called("system_info", {"topic": "memory"}, text="\n".join(memory())))
    assert (subject, name) == ("machine", "memory")
    assert value.endswith(" available")
    disk = "/boot (vfat): 6 MiB of 1 GiB used (1 %), 1 GiB free\n/ (ext4): 9 GiB of 20 GiB used (45 %), 11 GiB free"
    assert facts(called("system_info", {"topic": "disk"}, text=disk)) == [
        ("machine", "disk", "9 GiB of 20 GiB used (45 %), 11 GiB free")
    ]
    assert facts(called("system_info", {"topic": "battery"}, text="battery: 80 %, plugged in")) == [
        ("machine", "battery", "80 %, plugged in")
    ]
    assert facts(called("system_info", {"topic": "battery"}, text="[there is no battery]")) == []
    assert facts(called("system_info", {"topic": "processes"}, text="3 processes")) == []


def test_an_answer_is_the_persons_and_no_answer_records_nothing():
    asked = {"question": "Which port\nshould it use? " + "x" * 100}
    (found,) = extract(called("ask", asked, text="the person answered: 8080\n- and no other"), cwd=CWD)
    assert (found.subject, found.value, found.source) == ("answer", "8080 - and no other", Source.PERSON)
    assert found.name.startswith("Which port should it use? x")
    assert len(found.name) == 80
    assert facts(called("ask", asked, text="nobody could be asked; go on with what is known", ok=False)) == []


def test_the_newest_of_an_identity_stands():
    entries = [
        *ran("pytest", printed("1 failed in 0.1s", 1), status=1, entry=1),
        *called("read_file", {"path": "a"}, text="1\tx\n[end of file]", entry=3),
        *called("edit_file", {"path": "./a"}, text="wrote ./a: 2 lines added, 0 lines removed\n", entry=5),
        *ran("pytest", printed("1 passed in 0.1s"), status=0, entry=7),
    ]
    assert facts(entries) == [
        ("file", "/srv/harbour/a", "changed at turn 3 (+2 −0 lines)"),
        ("tests", "pytest", "passed: 1 passed"),
    ]


def test_of_more_than_twelve_the_outcomes_stay_and_then_the_newest():
    ports = "\n".join(f"tcp 127.0.0.1:{8000 + n}  node (pid {n})" for n in range(40))
    entries = [
        *ran("pytest", printed("1 passed in 0.1s"), status=0, entry=1),
        *called("system_info", {"topic": "ports"}, text=ports, entry=3),
        *called("read_file", {"path": "a"}, text="1\tx\n[end of file]", entry=5),
    ]
    found = facts(entries)
    assert len(found) == 12
    assert (found[0][0], found[-1][0]) == ("tests", "file")
    assert [name for kind, name, _ in found if kind == "service"] == [f"port {8000 + n}" for n in range(30, 40)]


@pytest.mark.parametrize(
    "arguments", [{}, {"path": 3}, {"path": ""}, {"question": None}, {"topic": []}, {"command": 1}]
)
def test_arguments_of_another_form_give_nothing(arguments):
    for tool in ("read_file", "edit_file", "system_info", "ask", "run_command", "elsewhere__read_file"):
        assert facts(called(tool, arguments, text="1\tx\n[end of file]", status=0)) == []


def test_a_conversation_starts_with_its_folder_and_its_branch():
    found = start_facts("/srv/harbour", "main")
    assert [(each.subject, each.name, each.value, each.source) for each in found] == [
        ("workdir", "", "/srv/harbour", Source.TOOL),
        ("branch", "", "main", Source.TOOL),
    ]
    assert [each.subject for each in start_facts("/srv/harbour", "")] == ["workdir"]
