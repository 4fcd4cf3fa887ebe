"""Runs a shell command in a process group of its own, away from any terminal, and ends all of it when it must end."""

import asyncio
import os
import signal
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from wisp_core.tools.family import Family

# How long after TERM a group has before KILL: when its time was up, and when the person cancelled.
TIMEOUT_GRACE_SECONDS = 2.0
CANCEL_GRACE_SECONDS = 0.5
# After the command's end its output is there at once, unless something that it left running holds the pipe.
LEFTOVER_SECONDS = 0.25
# What a full pipe holds and its end are read in fewer turns of the loop than this.
LAST_TURNS = 8
# Every process that a command starts inherits this variable; one that left the group is found by it.
MARK = "WISP_CALL"

Receive = Callable[[str, bytes], None]


@dataclass(frozen=True, slots=True)
class Command:
    """What is run: the `shell` with the text, where, the environment, at most `timeout` seconds; `mark` is its own."""

    shell: str
    text: str
    cwd: Path
    environment: Mapping[str, str]
    timeout: float
    mark: str


@dataclass(frozen=True, slots=True)
class Ended:
    """How a command ended: `status` as a shell gives it, the ending `signal` by name, and what did not end with it.

    `held` tells that something that runs on holds the output open; `pipes` are then read to nothing until they are
    closed, since it would die of a closed one. `running` names what goes on, after a timeout what could not be ended.
    """

    status: int
    signal: str = ""
    timed_out: bool = False
    held: bool = False
    running: tuple[str, ...] = ()
    pipes: tuple[asyncio.ReadTransport, ...] = ()


class _Reader(asyncio.Protocol):
    """Reads one pipe to its end; after `forget` what still comes is thrown away."""

    def __init__(self, name: str, receive: Receive) -> None:
        self._name = name
        self._receive: Receive | None = receive
        self.done = asyncio.get_running_loop().create_future()

    def data_received(self, data: bytes) -> None:
        if self._receive is not None:
            self._receive(self._name, data)

    def connection_lost(self, exc: Exception | None) -> None:
        if not self.done.done():
            self.done.set_result(None)

    def forget(self) -> None:
        self._receive = None


class _Pipes:
    """The two pipes of a command: `writes` for the child, read here by name."""

    def __init__(self, receive: Receive) -> None:
        self.readers: list[_Reader] = []
        self.transports: list[asyncio.ReadTransport] = []
        self.writes: list[int] = []
        self._receive = receive

    async def open(self) -> None:
        for name in ("stdout", "stderr"):
            read, write = os.pipe()
            self.writes.append(write)
            reader = _Reader(name, self._receive)
            pipe = os.fdopen(read, "rb", buffering=0)
            transport, _ = await asyncio.get_running_loop().connect_read_pipe(lambda kept=reader: kept, pipe)  # type: ignore[misc]
            self.readers.append(reader)
            self.transports.append(transport)

    async def drained(self) -> bool:
        """Read what is there; return whether that was the end, and not a pipe that something holds open."""
        waiting = [reader.done for reader in self.readers]
        await asyncio.wait(waiting, timeout=LEFTOVER_SECONDS)
        for _ in range(LAST_TURNS):
            # On a busy machine the time may be up before what stands in the pipe was read.
            await asyncio.sleep(0)
        return all(each.done() for each in waiting)

    def close_writes(self) -> None:
        while self.writes:
            os.close(self.writes.pop())

    def forget(self) -> None:
        for reader in self.readers:
            reader.forget()

    def close(self) -> None:
        self.close_writes()
        self.forget()
        for transport in self.transports:
            transport.close()


async def run_process(command: Command, receive: Receive) -> Ended:
    """Run the command to its end, passing its output on as (`stdout` or `stderr`, bytes).

    When it is cancelled, the command and all that it started are ended first, and what they printed was passed on.

    Raises:
        OSError: it could not be started.
    """
    pipes = _Pipes(receive)
    kept = False
    try:
        await pipes.open()
        process = await _start(command, pipes)
        pipes.close_writes()
        try:
            ended = await _wait(process, command, pipes=pipes)
        except asyncio.CancelledError:
            await _end_all(process, command.mark, grace=CANCEL_GRACE_SECONDS)
            await pipes.drained()
            raise
        kept = bool(ended.pipes)
        return ended
    finally:
        pipes.forget()
        if not kept:
            pipes.close()


async def _start(command: Command, pipes: _Pipes) -> asyncio.subprocess.Process:
    starting = asyncio.ensure_future(
        asyncio.create_subprocess_exec(
            command.shell,
            "-c",
            command.text,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=pipes.writes[0],
            stderr=pipes.writes[1],
            cwd=command.cwd,
            env={**command.environment, MARK: command.mark},
            start_new_session=True,
        )
    )
    try:
        return await asyncio.shield(starting)
    except asyncio.CancelledError:
        # Cancelled while it starts: it is let start, then ended, so that nothing of it stays.
        await _end_all(await starting, command.mark, grace=CANCEL_GRACE_SECONDS)
        raise


async def _wait(process: asyncio.subprocess.Process, command: Command, *, pipes: _Pipes) -> Ended:
    timed_out = False
    running: tuple[str, ...] = ()
    try:
        await asyncio.wait_for(process.wait(), command.timeout)
    except TimeoutError:
        timed_out = True
        running = await _end_all(process, command.mark, grace=TIMEOUT_GRACE_SECONDS)
    held = not await pipes.drained() and not timed_out
    if not timed_out and (held or _has_members(process.pid)):
        family = _family(process, command.mark)
        await asyncio.to_thread(family.look)
        running = family.names()
    status, name = _status(process.returncode or 0)
    return Ended(status, name, timed_out, held, running, tuple(pipes.transports) if held else ())


def _status(code: int) -> tuple[int, str]:
    """Return the exit status as a shell gives it, and the signal's name where one ended the command."""
    if code >= 0:
        return code, ""
    with suppress(ValueError):
        return 128 - code, signal.Signals(-code).name
    return 128 - code, f"signal {-code}"


async def _end_all(process: asyncio.subprocess.Process, mark: str, *, grace: float) -> tuple[str, ...]:
    """End the group and whatever left it: TERM, after `grace` seconds KILL; return what is alive even then."""
    family = _family(process, mark)
    try:
        await asyncio.to_thread(family.look)
        family.signal(signal.SIGTERM)
        with suppress(TimeoutError):
            await asyncio.wait_for(process.wait(), grace)
    finally:
        # Once more: what it started meanwhile, and what ignored TERM while its parent obeyed.
        family.look()
        family.signal(signal.SIGKILL)
    await process.wait()
    await family.wait_gone()
    return family.names()


def _family(process: asyncio.subprocess.Process, mark: str) -> "Family":
    from wisp_core.tools.family import Family  # psutil is heavy: off the start-up path

    return Family(process.pid, (MARK, mark))


def _has_members(group: int) -> bool:
    """Return whether the process group has a living member."""
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
