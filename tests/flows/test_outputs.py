"""O16 to O18: an output that is larger than what the model is shown, as each plain face shows it."""

import json
import os
import stat
import sys
from pathlib import Path

import pytest

from tests.flows.chat import Chat, Ran
from tests.tui.terminal import terminal

ALLOW = ("--allow", "run_command(seq *)")
WHOLE = "exit status: 0\nstdout:\n" + "".join(f"{n}\n" for n in range(1, 20001))


@pytest.fixture
def chat(tmp_path: Path) -> Chat:
    return Chat(tmp_path)


def count(chat: Chat, typed: str, *options: str, last: int = 20000) -> Ran:
    """Have the model count to `last` with a command, then type `typed`."""
    many = {"calls": [{"name": "run_command", "arguments": {"command": f"seq 1 {last}"}}]}
    model = chat.script(many, {"text": "counted"}, window=8192)
    ran = chat.run("--model", model, *ALLOW, *options, typed=f"count\n{typed}")
    assert ran.status == 0, ran.err
    return ran


def views(ran: Ran) -> list[dict]:
    return [event["data"] for event in ran.events("view")]


def test_a_program_is_shown_an_output_page_by_page_and_the_pages_are_the_whole(chat: Chat):
    ran = count(chat, "/last\n", "--json")
    (result,) = ran.events("tool.result")
    assert len(result["data"]["text"].encode()) <= 4096
    assert "held back" in result["data"]["text"]
    (page,) = views(ran)
    assert page["note"].startswith("lines 1–")
    found, call = page["text"], result["data"]["call"]
    while "next" in page:
        asked = f"/show {call} {page['next']}\n"
        ran = chat.run("--json", "--continue", "--model", chat.script({"text": "ok"}), typed=asked)
        (page,) = views(ran)
        found += page["text"]
    assert found.rstrip("\n") == WHOLE.rstrip("\n")


def test_a_part_of_an_output_is_its_lines_its_matches_or_its_notable_lines(chat: Chat):
    typed = "/last lines 12-13\n/last head 3\n/last tail 2\n/last matching ^1999[89]\n/last summary\n"
    lines, head, tail, matching, summary = views(count(chat, typed, "--json"))
    assert (lines["text"], lines["note"]) == ("10\n11\n", "lines 12–13 of 20,002")
    assert head["text"] == "exit status: 0\nstdout:\n1\n"
    assert tail["text"] == "19999\n20000\n"
    assert matching["text"] == "20000\t19998\n20001\t19999\n"
    assert "[… 19,999 more that begin alike, to line 20,002 …]" in summary["text"]


def test_a_person_reads_what_the_part_is_and_how_to_go_on(chat: Chat):
    ran = count(chat, "/last matching 7\n")
    assert ": 6,878 lines match, the first " in ran.err or "lines match, the first" in ran.err
    (more,) = [line for line in ran.err.split("\n") if line.startswith("more: /show ")]
    assert more.endswith("matching 7")
    assert " from line " in more


def test_without_a_terminal_the_whole_is_printed_and_no_pager_is_started(chat: Chat):
    chat.environ["PAGER"] = f"touch {chat.root}/paged"
    ran = count(chat, "/last\n")
    assert WHOLE.rstrip("\n") in ran.err
    assert not (chat.root / "paged").exists()


def test_an_output_that_is_not_kept_is_shown_as_the_tool_returned_it_and_says_so(chat: Chat):
    chat.configure(audit={"enabled": False})
    ran = count(chat, "/last\n/last summary\n", "--json")
    (result,) = ran.events("tool.result")
    whole, summary = views(ran)
    assert whole["text"].rstrip("\n") == result["data"]["text"].rstrip("\n")
    assert whole["note"].startswith("as the tool returned it, nothing more is kept; ")
    assert summary["note"].startswith("as the tool returned it, nothing more is kept; ")
    assert not any((chat.home / "output").iterdir())


def test_an_output_that_is_gone_from_the_store_is_shown_as_the_tool_returned_it(chat: Chat):
    (result,) = count(chat, "", "--json").events("tool.result")
    (path,) = (chat.home / "output").glob(f"*/{result['data']['call']}")
    path.unlink()
    asked = f"/show {result['data']['call']}\n"
    ran = chat.run("--continue", "--model", chat.script({"text": "ok"}), typed=asked)
    assert "as the tool returned it, nothing more is kept" in ran.err


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        ("/last", "no tool has given an output"),
        ("/show", "/show needs the id of an output"),
        ("/show nothing", "there is no output `nothing`"),
    ],
)
def test_what_is_asked_wrongly_is_answered_with_what_would_be_right(chat: Chat, typed: str, said: str):
    assert said in chat.run("--model", chat.script({"text": "ok"}), typed=typed).err


def test_a_part_that_is_none_is_answered_with_the_forms(chat: Chat):
    typed = "count\n/last lines ten\n"
    many = {"calls": [{"name": "run_command", "arguments": {"command": "seq 1 9"}}]}
    ran = chat.run("--model", chat.script(many, {"text": "ok"}), *ALLOW, typed=typed)
    assert "ask for from line N, lines A-B, head N, tail N, matching PATTERN or summary" in ran.err


PROGRAM = "import sys; from wisp_core.cli.main import main; sys.exit(main(sys.argv[1:]))"


def on_terminal(chat: Chat, monkeypatch: pytest.MonkeyPatch, pager: str):
    """Start `wisp chat` on a terminal over a thread that has an output, with `pager` as its pager."""
    count(chat, "")
    for name, value in {**chat.environment(), "PAGER": pager}.items():
        monkeypatch.setenv(name, value)
    model = chat.script({"text": "heard you"})
    return terminal("chat", "--continue", "--model", model, program=PROGRAM, cwd=chat.cwd)


def test_on_a_terminal_the_pager_has_the_whole_and_the_keyboard_and_the_chat_goes_on_after_it(chat: Chat, monkeypatch):
    pager = chat.root / "pager"
    pager.write_text(
        f"#!{sys.executable}\nimport sys\n"
        f"open({str(chat.root / 'paged')!r}, 'w').write(sys.stdin.read())\n"
        "print('PAGER READY', flush=True)\nprint('TYPED', open('/dev/tty').readline())\n"
    )
    pager.chmod(stat.S_IRWXU)
    with on_terminal(chat, monkeypatch, str(pager)) as run:
        run.until("› ".encode())
        run.type(b"/last\n")
        run.until(b"PAGER READY")
        run.type(b"for the pager\n")
        run.until(b"TYPED for the pager")
        run.type(b"hello\n")
        run.until(b"heard you")
        run.type(b"/quit\n")
        assert run.end() == 0
    assert (chat.root / "paged").read_text().rstrip("\n").endswith(WHOLE.rstrip("\n"))
    prompts = [event["data"]["text"] for event in chat.audit() if event["event"] == "prompt"]
    assert prompts == ["count", "hello"]


@pytest.mark.parametrize("pager", ["", "no-such-pager", "false", "'"])
def test_where_the_pager_fails_the_output_is_printed(chat: Chat, monkeypatch, pager: str):
    with on_terminal(chat, monkeypatch, pager) as run:
        run.until("› ".encode())
        run.type(b"/last\n")
        run.until(b"19998\r\n19999\r\n20000\r\n")
        run.type(b"/quit\n")
        assert run.end() == 0


def test_what_the_pager_is_given_holds_no_control_sequence(chat: Chat, monkeypatch):
    (chat.root / "work").mkdir()
    (chat.root / "work/hostile").write_bytes(b"\x1b]0;owned\x07\x1b[2Jtext\n" * 3)
    calls = {"calls": [{"name": "read_file", "arguments": {"path": "hostile"}}]}
    chat.run("--model", chat.script(calls, {"text": "read"}), typed="read it\n")
    for name, value in {**chat.environment(), "PAGER": "cat"}.items():
        monkeypatch.setenv(name, value)
    with terminal("chat", "--continue", "--model", chat.script(), program=PROGRAM, cwd=chat.cwd) as run:
        run.until("› ".encode())
        run.type(b"/last\n")
        run.until("␛[2Jtext".encode())
        run.type(b"/quit\n")
        run.end()
    assert b"\x1b" not in run.seen


def test_json_is_one_object_a_line_whatever_the_output_holds(chat: Chat):
    for line in count(chat, "/last summary\n", "--json", last=50).out.rstrip("\n").split("\n"):
        assert isinstance(json.loads(line), dict)
    assert os.environ["WISP_HOME"] != str(chat.home)
