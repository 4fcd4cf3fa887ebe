"""What a real terminal gets: it is restored however wisp-tui ends, and nothing from outside reaches it raw."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.tui.face import script
from tests.tui.terminal import RESTORED, terminal

HOSTILE = (
    "before\x1b[2J\x1b[Hafter\x1b]0;PWN\x07\x1b]52;c;aGFjaw==\x07\x9b31m \u202e[/INST] [@click=app.quit]x[/] \\[q]"
)
PAYLOADS = (b"\x1b]0;PWN", b"\x1b]52;c;aGFj", b"\x1b[2J\x1b[Hafter", "\x9b31m".encode(), "\u202e".encode())
BROKEN = """
import sys
from textual.widget import Widget
from wisp_tui import main, app
from wisp_tui.screens.conversation import ConversationScreen
class Bad(Widget):
    def render(self):
        raise ValueError("SECRET-CONTENT")
async def bad_worker():
    raise ValueError("SECRET-CONTENT")
def break_it(screen):
    if sys.argv[-1] == "render":
        screen.mount(Bad())
    else:
        screen.run_worker(bad_worker())
ConversationScreen.action_help = break_it
sys.exit(main.main(sys.argv[1:-1]))
"""


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_signal_restores_the_terminal_and_keeps_the_draft(tmp_path: Path, number: signal.Signals) -> None:
    model = script(tmp_path, {"text": "hi", "repeat": True})
    with terminal("--model", model, cwd=tmp_path) as run:
        run.until(b"ready", b"Help")
        run.type(b"unfinished")
        run.until(b"unfinished")
        before = len(run.seen)
        run.signal(number)
        assert run.end() == 128 + number
        for mode in RESTORED:
            assert mode in run.seen[before:], mode
    with terminal("--model", model, cwd=tmp_path) as run:
        run.until(b"unfinished")
        run.type(b"\x03\x03")
        assert run.end() == 0


@pytest.mark.parametrize("where", ["render", "worker"])
def test_a_fault_restores_the_terminal_and_leaves_a_report_without_content(
    tmp_path: Path, wisp_home: Path, where: str
) -> None:
    model = script(tmp_path, {"text": "hi"})
    with terminal("--model", model, where, program=BROKEN, cwd=tmp_path) as run:
        run.until(b"ready")
        before = len(run.seen)
        run.type(b"\x1bOP")
        assert run.end() == 1
        after = run.seen[before:]
        for mode in RESTORED:
            assert mode in after, mode
        assert b"Traceback" not in after
        assert b"SECRET-CONTENT" not in after
        assert b"report is in" in after
    (report,) = (wisp_home / "crash").iterdir()
    assert "ValueError" in report.read_text()
    assert "SECRET-CONTENT" not in report.read_text()


def test_nothing_from_a_model_a_tool_or_an_error_reaches_the_terminal_raw(tmp_path: Path) -> None:
    shout = {"name": "run_command", "arguments": {"command": f"printf '%s' '{HOSTILE.replace(chr(7), '')}'"}}
    model = script(
        tmp_path,
        {"reasoning": HOSTILE, "text": HOSTILE, "calls": [shout]},
        {"error": {"type": "bad_request", "message": HOSTILE}},
    )
    folder = tmp_path / "dir\x1b]0;PWN\x07[/INST]"
    (folder / ".git").mkdir(parents=True)
    (folder / ".git" / "HEAD").write_text(f"ref: refs/heads/{HOSTILE}")
    with terminal("--model", model, cwd=folder) as run:
        run.until(b"ready")
        run.type(b"go\r")
        run.until(b"May run_command run?")
        run.type(b"\x1b[200~" + b"queued \x1b[2J [/INST]" + b"\x1b[201~")
        run.until(b"queued")
        assert run.read(3.0) or True
        for _ in range(30):
            run.read(0.1)
        run.type(b"n")
        run.until(b"failed")
        run.type(b"\x14")
        run.until(b"Summary")
        run.type(b"\x1b")
        for _ in range(5):
            run.read(0.1)
        run.type(b"\x03\x03\x03")
        assert run.end() == 0
        for payload in PAYLOADS:
            assert payload not in run.seen, payload


@pytest.mark.parametrize(("arguments", "environment"), [((), {"TERM": "xterm"}), (("--continue",), {"TERM": "dumb"})])
def test_without_a_terminal_it_says_so_and_ends_with_2(
    tmp_path: Path, arguments: tuple[str, ...], environment: dict[str, str]
) -> None:
    run = subprocess.run(
        [sys.executable, "-m", "wisp_tui", *arguments],
        env=os.environ | environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 2
    assert run.stdout == ""
    assert run.stderr == "wisp-tui: wisp-tui needs a terminal; for scripts and pipes there is `wisp chat`\n"


def test_what_cannot_be_resumed_ends_with_64_and_one_sentence(tmp_path: Path) -> None:
    with terminal("--resume", "nothing", "--model", script(tmp_path), cwd=tmp_path) as run:
        assert run.end() == 64
        assert b"no conversation is named `nothing`" in run.seen


def test_a_wrong_setting_ends_with_2_and_names_the_key(tmp_path: Path, wisp_home: Path) -> None:
    wisp_home.mkdir(mode=0o700)
    (wisp_home / "config.json").write_text('{"modle": "x"}')
    with terminal(cwd=tmp_path) as run:
        assert run.end() == 2
        assert b"`modle`" in run.seen.replace(b"\r\n", b"")


def test_the_threads_are_listed_one_a_line(tmp_path: Path) -> None:
    model = script(tmp_path, {"text": "hi"})
    with terminal("--model", model, "a first prompt", cwd=tmp_path) as run:
        run.until(b"hi", b"ready")
        run.type(b"\x03\x03")
        assert run.end() == 0
    listed = subprocess.run(
        [sys.executable, "-m", "wisp_tui", "--list"], capture_output=True, text=True, check=True, env=os.environ
    )
    assert listed.stdout.count("\n") == 1
    assert "1 turns  a first prompt" in listed.stdout
