"""The tool `run_command`: a shell command in the working directory, its output bounded for the model and kept whole."""

import asyncio
import errno
import os
from pathlib import Path

from pydantic import Field, field_validator

from wisp_core.errors import ToolFailure
from wisp_core.records import new_id
from wisp_core.requests import CANCELLED, KeptOutput, ToolCancelled, ToolKind, ToolResult
from wisp_core.settings import Tools
from wisp_core.tools.bound import Keeping, Part, Stretch, bound_text, whole_text
from wisp_core.tools.budget import Budget
from wisp_core.tools.capture import Capture, Progress
from wisp_core.tools.process import Command, Ended, Receive, run_process
from wisp_core.tools.spool import Spool, Spools
from wisp_core.tools.tool import Arguments, Running, Tool

STREAMS = ("stdout", "stderr")
ENVIRONMENT = {"PAGER": "cat", "GIT_PAGER": "cat", "TERM": "dumb", "NO_COLOR": "1", "WISP": "1"}
# Accounts that may not log in have one of these for a shell.
NO_SHELLS = {"nologin", "false", "true"}
SHOWN_PROCESSES = 3


class CommandArguments(Arguments):
    """The command's text, and how long it may take in seconds."""

    command: str
    timeout: int | None = Field(None, gt=0, le=1800, description="seconds")

    @field_validator("command")
    @classmethod
    def _not_empty(cls, command: str) -> str:
        if not command.strip():
            raise ValueError("a shell command")
        return command


class RunCommand(Tool[CommandArguments]):
    """Runs commands in `cwd` with the person's shell."""

    name = "run_command"
    kind = ToolKind.COMMAND
    description = "Run a shell command in the working directory. No terminal, no input."
    arguments = CommandArguments

    def __init__(self, cwd: Path, settings: Tools, *, budget: Budget, spools: Spools) -> None:
        self._cwd = cwd
        self._settings = settings
        self._budget = budget
        self._spools = spools
        self._pipes: set[asyncio.ReadTransport] = set()

    async def run(self, arguments: CommandArguments, running: Running) -> ToolResult:
        """Return exit status, stdout, stderr and notes.

        Raises:
            ToolFailure: the command could not be started.
            ToolCancelled: it was ended for the person; with what it had printed.
        """
        if not self._cwd.is_dir():
            raise ToolFailure(f"the working directory {self._cwd} is gone; the command was not run")
        timeout = float(arguments.timeout or self._settings.command_timeout)
        timeout = min(timeout, self._settings.command_timeout_max)
        limit = self._settings.command_max_output_bytes or self._budget.bytes
        captures = {name: Capture(name, limit) for name in STREAMS}
        progress = Progress(running.progress)
        spool = self._spools.open(running.call)

        redacted = {name: self._spools.redaction.stream() for name in STREAMS}

        def take(stream: str, data: bytes) -> None:
            captures[stream].add(data)
            spool.write(stream, data)
            progress.add(data)

        def receive(stream: str, data: bytes) -> None:
            if known := redacted[stream].feed(data):
                take(stream, known)

        try:
            command = Command(shell(), arguments.command, self._cwd, environment(), timeout, new_id())
            try:
                ended: Ended | None = await self._run(command, receive)
            except asyncio.CancelledError:
                ended = None
            for name in STREAMS:
                if rest := redacted[name].end():
                    take(name, rest)
            progress.flush()
            if ended is None:
                came = await _result(None, captures, notes=[CANCELLED], limit=limit, spool=spool, call=running.call)
                raise ToolCancelled(came)
            notes = _notes(ended, timeout, captures=captures)
            return await _result(ended.status, captures, notes=notes, limit=limit, spool=spool, call=running.call)
        finally:
            progress.close()
            spool.discard()

    async def close(self) -> None:
        """Stop reading what commands left running; it goes on, or ends when it next prints."""
        for pipe in self._pipes:
            pipe.close()
        self._pipes.clear()

    async def _run(self, command: Command, receive: Receive) -> Ended:
        try:
            ended = await run_process(command, receive)
        except OSError as error:
            why = "it is too long" if error.errno == errno.E2BIG else error.strerror or "the system refused"
            raise ToolFailure(f"the command could not be started: {why}") from error
        self._pipes = {pipe for pipe in self._pipes if not pipe.is_closing()} | set(ended.pipes)
        return ended


def shell() -> str:
    """Return the person's shell, `/bin/sh` where there is none that runs."""
    named = os.environ.get("SHELL", "")
    usable = os.path.isabs(named) and os.access(named, os.X_OK) and Path(named).name not in NO_SHELLS
    return named if usable else "/bin/sh"


def environment() -> dict[str, str]:
    """Return what a command sees: wisp's own environment, with nothing that waits for a person or colours."""
    return {**os.environ, **ENVIRONMENT}


def _notes(ended: Ended, timeout: float, *, captures: dict[str, Capture]) -> list[str]:
    notes: list[str] = []
    who = ", ".join(ended.running[:SHOWN_PROCESSES]) + (" and others" if len(ended.running) > SHOWN_PROCESSES else "")
    if ended.timed_out:
        notes.append(f"[timed out after {timeout:g} s; the command and all that it started were ended]")
        if ended.running:
            notes.append(f"[could not be ended: {who}]")
    elif ended.signal:
        notes.append(f"[ended by {ended.signal}]")
    if (ended.held or ended.running) and not ended.timed_out:
        notes.append(f"[still running in the background, its further output is not seen: {who or 'a process'}]")
    binary = [name for name in STREAMS if captures[name].binary]
    if binary:
        notes.append(f"[{' and '.join(binary)}: binary, bytes that are no text are shown as \ufffd]")
    return notes


async def _result(
    status: int | None, captures: dict[str, Capture], *, notes: list[str], limit: int, spool: Spool, call: str
) -> ToolResult:
    """Return the bounded result; without a `status` the command was cancelled and what came is all there is."""
    parts: list[Part] = [] if status is None else [f"exit status: {status}\n"]
    for name in STREAMS:
        stretch = captures[name].stretch()
        parts += [f"{name}:\n", stretch] if stretch.size else []
    if len(parts) == 1 and status is not None:
        notes = ["[no output]", *notes]
    parts.append("".join(f"{note}\n" for note in notes))
    size, lines = _measure(parts)
    kept: KeptOutput | None = None
    text = whole_text(parts, limit)
    if text is None:
        kept = await _keep(spool, _stored(parts))
        text = bound_text(parts, limit, keeping=Keeping(call, kept, spool.failure, command=True))
    return ToolResult(text.rstrip("\n"), status == 0, status, size, lines, kept)


async def _keep(spool: Spool, parts: list[bytes | str]) -> KeptOutput | None:
    keeping = asyncio.ensure_future(asyncio.to_thread(spool.keep, parts))
    try:
        return await asyncio.shield(keeping)
    except asyncio.CancelledError:
        # The thread reads the spool, which is discarded next.
        await keeping
        raise


def _stored(parts: list[Part]) -> list[bytes | str]:
    """Return the parts as the store takes them, every stream ending its line."""
    stored: list[bytes | str] = []
    for part in parts:
        if isinstance(part, str):
            stored.append(part.encode())
        else:
            stored += [part.name] if part.ended else [part.name, b"\n"]
    return stored


def _measure(parts: list[Part]) -> tuple[int, int]:
    """Return bytes and lines of the whole result."""
    size = lines = 0
    for part in parts:
        if isinstance(part, Stretch):
            size += part.size + (0 if part.ended else 1)
            lines += part.lines
        else:
            size += len(part.encode())
            lines += part.count("\n")
    return size, lines
