"""A real pseudo-terminal with wisp-tui in it: what is typed, and every byte that the terminal gets."""

import fcntl
import os
import pty
import select
import signal
import struct
import sys
import termios
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

PATIENCE = 30.0  # seconds on a busy machine
RESTORED = (b"\x1b[?1000l", b"\x1b[?1003l", b"\x1b[?1006l", b"\x1b[?2004l", b"\x1b[?1049l", b"\x1b[?25h")


class Terminal:
    """One run; `seen` are the bytes so far."""

    def __init__(self, pid: int, fd: int) -> None:
        self.pid = pid
        self.fd = fd
        self.seen = b""
        self.status: int | None = None

    def read(self, seconds: float) -> bool:
        """Take what comes within `seconds`; False once the other side is closed."""
        if not select.select([self.fd], [], [], seconds)[0]:
            return True
        try:
            data = os.read(self.fd, 65536)
        except OSError:
            return False
        self.seen += data
        return bool(data)

    def until(self, *texts: bytes, start: int = 0) -> None:
        """Read until each of `texts` was seen from byte `start` on."""
        end = time.monotonic() + PATIENCE
        while not all(text in self.seen[start:] for text in texts):
            assert self.read(0.2), f"it ended first: {self.seen[-800:]!r}"
            assert time.monotonic() < end, f"not seen: {texts}, but {self.seen[-800:]!r}"

    def type(self, data: bytes) -> None:
        """Type."""
        os.write(self.fd, data)

    def signal(self, number: int) -> None:
        """Send the process a signal."""
        os.kill(self.pid, number)

    def end(self) -> int:
        """Read to the end and return the exit status."""
        end = time.monotonic() + PATIENCE
        while self.read(0.2) and time.monotonic() < end:
            pass
        if self.status is None:
            self.status = os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])
        return self.status


@contextmanager
def terminal(*arguments: str, program: str = "", cwd: Path | None = None) -> Iterator[Terminal]:
    """Run wisp-tui, or a program of the test's, in a terminal of 120×40; it is gone at the end."""
    command = [sys.executable, "-c", program] if program else [sys.executable, "-m", "wisp_tui"]
    pid, fd = pty.fork()
    if pid == 0:
        os.chdir(cwd or Path.cwd())
        root = str(Path(__file__).parent.parent.parent)
        environment = os.environ | {"TERM": "xterm-256color", "COLORTERM": "truecolor", "PYTHONPATH": root}
        os.execve(command[0], [*command, *arguments], environment)
    fcntl.ioctl(fd, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 120, 0, 0))
    run = Terminal(pid, fd)
    try:
        yield run
    finally:
        if run.status is None:
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
        os.close(fd)
