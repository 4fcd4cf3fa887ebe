"""Finds and ends what a command started: its process group, whatever left the group, and their children."""

import asyncio
import os
import signal
from contextlib import suppress

import psutil

GONE_SECONDS = 1.0
POLL_SECONDS = 0.01


class Family:
    """The processes of one group, those that carry `mark` (a variable and its value), and the children of both."""

    def __init__(self, group: int, mark: tuple[str, str]) -> None:
        self._group = group
        self._variable, self._value = mark
        self._members: dict[int, psutil.Process] = {}

    def look(self) -> None:
        """Add the members that are alive now."""
        found: dict[int, psutil.Process] = {}
        for process in psutil.process_iter():
            with suppress(psutil.Error, OSError):
                if process.pid != os.getpid() and self._belongs(process):
                    found[process.pid] = process
        for process in list(found.values()):
            with suppress(psutil.Error):
                found |= {child.pid: child for child in process.children(recursive=True)}
        self._members |= found

    def signal(self, number: signal.Signals) -> None:
        """Send a signal to the group and to each member; what is gone already is no error."""
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self._group, number)
        for process in self._members.values():
            with suppress(psutil.Error):
                process.send_signal(number)

    async def wait_gone(self) -> None:
        """Wait at most a second for members that were killed."""
        for _ in range(round(GONE_SECONDS / POLL_SECONDS)):
            if not self.names():
                return
            await asyncio.sleep(POLL_SECONDS)

    def names(self) -> tuple[str, ...]:
        """Return each member that is alive as `name (pid N)`."""
        found: list[str] = []
        for pid, process in sorted(self._members.items()):
            with suppress(psutil.Error):
                if process.is_running() and process.status() != psutil.STATUS_ZOMBIE:
                    found.append(f"{process.name()} (pid {pid})")
        return tuple(found)

    def _belongs(self, process: psutil.Process) -> bool:
        if process.status() == psutil.STATUS_ZOMBIE:
            return False
        if os.getpgid(process.pid) == self._group:
            return True
        return bool(process.environ().get(self._variable) == self._value)
