"""U13: `wisp chat` with its streams closed, full or left; faults of wisp's own; nothing raw in what it says itself."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.flows.chat import TIMEOUT, Chat, Ran

HELLO = {"text": "hello yourself", "repeat": True}


@pytest.fixture
def chat(tmp_path: Path) -> Chat:
    return Chat(tmp_path)


def shell(chat: Chat, line: str, *, typed: str = "hello\n") -> Ran:
    """Run a line of shell in which `"$@"` is `wisp chat` over a model that says hello."""
    command = [sys.executable, "-m", "wisp_core", "chat", "--model", chat.script(HELLO)]
    done = subprocess.run(
        ["/bin/bash", "-c", line, "bash", *command],
        check=False,
        capture_output=True,
        input=typed.encode(),
        timeout=TIMEOUT,
        cwd=chat.cwd,
        env=chat.environment(),
    )
    return Ran(done.returncode, done.stdout.decode(), done.stderr.decode())


def faults(ran: Ran) -> list[str]:
    return [line for line in ran.err.split("\n") if line.startswith("wisp: ") or "Error" in line or "Traceback" in line]


@pytest.mark.parametrize("json", ["", "--json"])
def test_a_reader_that_leaves_ends_it_without_a_word(chat: Chat, json: str):
    ran = shell(chat, f'"$@" {json} | head -n 1; exit ${{PIPESTATUS[0]}}', typed="hello\n" * 50)
    assert (ran.status, ran.out.count("\n"), faults(ran)) == (1, 1, [])


@pytest.mark.parametrize("json", ["", "--json"])
@pytest.mark.parametrize(
    ("line", "why"), [('"$@" {} > /dev/full', "No space left on device"), ('"$@" {} >&-', "it is closed")]
)
def test_a_reply_that_cannot_be_written_is_one_sentence(chat: Chat, line: str, why: str, json: str):
    ran = shell(chat, line.format(json))
    assert faults(ran) == [f"wisp: standard output cannot be written ({why})"]
    assert ran.status == 1


def test_standard_input_that_is_closed_is_empty(chat: Chat):
    ran = shell(chat, '"$@" <&-')
    assert (ran.status, ran.out, faults(ran)) == (0, "", [])
    ran = shell(chat, '"$@" "a prompt" <&-')
    assert (ran.status, ran.out, faults(ran)) == (0, "hello yourself\n", [])


def test_standard_error_that_is_closed_costs_nothing_but_what_it_would_have_said(chat: Chat):
    ran = shell(chat, '"$@" 2>&-')
    assert (ran.status, ran.out, ran.err) == (0, "hello yourself\n", "")


BROKEN = """
import sys
import wisp_core.cli.chat as chat
from wisp_core.cli.main import main

def fail(*given, **named):
    raise ValueError("SECRET-CONTENT")

setattr(*((chat, "run") if sys.argv[1] == "awaited" else (chat.JsonPrinter, "show")), fail)
sys.exit(main(["chat", "--json", "--model", sys.argv[2]]))
"""


@pytest.mark.parametrize("where", ["awaited", "called back"])
def test_a_fault_of_wisps_own_is_one_sentence_that_names_a_report_without_content(chat: Chat, where: str):
    done = subprocess.run(
        [sys.executable, "-c", BROKEN, where, chat.script(HELLO)],
        check=False,
        capture_output=True,
        input=b"/tokens\nhello\n",
        timeout=TIMEOUT,
        cwd=chat.cwd,
        env=chat.environment(),
    )
    (report,) = (chat.home / "crash").iterdir()
    assert done.returncode == 1
    assert done.stderr.decode() == (
        f"wisp: a fault of wisp's own ended it; the conversation is whole, and a report is in {report}\n"
    )
    assert "ValueError" in report.read_text()
    assert "SECRET-CONTENT" not in report.read_text() + done.stdout.decode()


@pytest.mark.parametrize(
    "given", [["--model", "x\x1b[31m\ny"], ["--thread", "x\x1b]0;t\x07\ny"], ["--tools", "\x1b\n"]]
)
def test_what_was_typed_comes_back_as_one_line_without_a_control_sequence(chat: Chat, given: list[str]):
    ran = chat.run("--model", chat.script(HELLO), *given, typed="hello\n")
    assert ran.status in (2, 64)
    assert ran.err.count("\n") == 1
    assert "\x1b" not in ran.err


@pytest.mark.parametrize("typed", ["/nosuch", "/retry", "!", "/mode fast"])
def test_a_command_that_is_wrong_last_ends_with_status_two(chat: Chat, typed: str):
    ran = chat.run("--model", chat.script(HELLO), typed=f"{typed}\n")
    assert (ran.status, len(faults(ran))) == (2, 1)
    assert chat.run("--model", chat.script(HELLO), typed=f"{typed}\nhello\n").status == 0


def test_the_persons_own_command_shows_what_it_printed(chat: Chat):
    ran = chat.run("--model", chat.script(HELLO), typed="!printf '\\033[31mred'; exit 3\n")
    assert "exit status: 3" in ran.err
    assert "␛[31mred" in ran.err
    assert ran.out == ""
