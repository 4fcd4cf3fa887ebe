"""From starting the process to a typed letter on the screen, wisp-tui beside a Textual app with one input.

Each start is a process in a pseudo-terminal of 120×40 in an empty home. A letter is typed at once and again each 10 ms:
the first that shows ends the measure, so that letters lost before the program listens cost what they cost.
"""

import contextlib
import fcntl
import os
import pty
import select
import struct
import sys
import tempfile
import termios
import time
from pathlib import Path

from tests.benchmarks.figures import Figure, in_turns

ROUNDS = 9
PATIENCE = 60.0  # seconds
TYPING = 0.01  # seconds between two letters
LETTER = "ж".encode()
ROOT = Path(__file__).parent.parent.parent

WISP = ["-c", "import sys; from wisp_tui.main import main; sys.exit(main())"]
BARE = [str(Path(__file__).parent / "bare_app.py")]


def measure() -> tuple[list[Figure], str]:
    """Return the figure of a start."""
    ours, bare = in_turns(lambda: start(WISP), lambda: start(BARE), rounds=ROUNDS)
    figure = Figure("start to an accepting input", "a bare Textual app with one input", "s", ours, bare, goal=1.25)
    return [figure], ""


def start(arguments: list[str]) -> float:
    """Start Python with `arguments` in a pseudo-terminal; return the seconds until a letter typed at once shows."""
    with tempfile.TemporaryDirectory() as folder:
        parent, child = pty.openpty()
        fcntl.ioctl(child, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 120, 0, 0))
        silence(child)
        began = time.perf_counter()
        pid = spawn(arguments, child, parent=parent, folder=folder)
        os.close(child)
        try:
            wait_for(parent, LETTER, began=began)
            return time.perf_counter() - began
        finally:
            end(pid, parent)


def silence(terminal: int) -> None:
    """Stop the terminal itself from echoing what is typed."""
    attributes = termios.tcgetattr(terminal)
    attributes[3] &= ~(termios.ECHO | termios.ICANON)
    termios.tcsetattr(terminal, termios.TCSANOW, attributes)


def spawn(arguments: list[str], child: int, *, parent: int, folder: str) -> int:
    """Start Python with the terminal as its own; return its process id."""
    pid = os.fork()
    if pid:
        return pid
    os.close(parent)
    os.login_tty(child) if hasattr(os, "login_tty") else take_terminal(child)
    kept = {name: os.environ[name] for name in ("PATH", "LANG") if name in os.environ}
    own = {"HOME": folder, "WISP_HOME": f"{folder}/wisp", "TERM": "xterm-256color", "PYTHONPATH": str(ROOT)}
    os.chdir(folder)
    os.execve(sys.executable, [sys.executable, *arguments], kept | own)


def take_terminal(child: int) -> None:
    """Make the terminal this process's controlling one, and its three streams."""
    os.setsid()
    fcntl.ioctl(child, termios.TIOCSCTTY, 0)
    for stream in range(3):
        os.dup2(child, stream)


def wait_for(terminal: int, letter: bytes, *, began: float) -> None:
    """Type `letter` again and again, and read the screen until it shows."""
    seen = b""
    typed = 0.0
    while letter not in seen:
        now = time.perf_counter()
        if now - began > PATIENCE:
            raise TimeoutError(f"nothing typed showed within {PATIENCE:.0f} s; the screen had {seen[-300:]!r}")
        if now - typed >= TYPING:
            os.write(terminal, letter)
            typed = now
        if select.select([terminal], [], [], TYPING)[0]:
            seen = seen[-4000:] + screen(terminal, seen)


def screen(terminal: int, seen: bytes) -> bytes:
    """Return what the terminal received; where the program has ended, say what it said last."""
    try:
        return os.read(terminal, 65536)
    except OSError as error:
        raise ChildProcessError(f"it ended before anything typed showed; the screen had {seen[-2000:]!r}") from error


def end(pid: int, terminal: int) -> None:
    """End the process and whatever it started in its session."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(pid, 9)
    os.waitpid(pid, 0)
    os.close(terminal)
