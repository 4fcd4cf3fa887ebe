"""Reads what a person or program types at `wisp chat`, one request at a time, without ever stopping the loop."""

import asyncio
import io
import json
import os
import select
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, BinaryIO, TypeAlias

from wisp_core.requests import Verdict
from wisp_core.text import decode

BLOCK = '"""'
LINE_BYTES = 16 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Say:
    """A prompt."""

    text: str


@dataclass(frozen=True, slots=True)
class Order:
    """A slash command's line."""

    line: str


@dataclass(frozen=True, slots=True)
class Shell:
    """The person's own command."""

    command: str


@dataclass(frozen=True, slots=True)
class Approve:
    """The answer to the approval of `call`."""

    call: str
    verdict: Verdict
    reason: str


@dataclass(frozen=True, slots=True)
class Reply:
    """The answer to the question of `call`, in the person's own words."""

    call: str
    text: str


@dataclass(frozen=True, slots=True)
class Wrong:
    """A line that is none of these, with what would be right."""

    sentence: str


Typed: TypeAlias = Say | Order | Shell | Approve | Reply | Wrong


class LineReader:
    """Turns raw lines into what was typed; remembers an open `\"\"\"` block."""

    def __init__(self, *, objects: bool) -> None:
        self._objects = objects
        self._block: list[str] | None = None

    def feed(self, line: str) -> Typed | None:
        """Return what the line completes, None where it is empty or a block goes on."""
        if self._block is not None:
            return self._in_block(line)
        bare = line.strip()
        if bare.startswith(BLOCK):
            rest = bare.removeprefix(BLOCK)
            if rest.endswith(BLOCK):
                return Say(rest.removesuffix(BLOCK))
            self._block = [rest] if rest else []
            return None
        if self._objects and bare.startswith("{"):
            return parse_object(bare)
        if bare.startswith("/"):
            return Order(bare)
        if bare.startswith("!"):
            return Shell(bare[1:].strip())
        return Say(line) if bare else None

    def end(self) -> Typed | None:
        """Return a block that the end of the input leaves open."""
        block, self._block = self._block, None
        return Say("\n".join(block)) if block else None

    def _in_block(self, line: str) -> Typed | None:
        assert self._block is not None
        if not line.rstrip().endswith(BLOCK):
            self._block.append(line)
            return None
        last = line.rstrip().removesuffix(BLOCK)
        block, self._block = self._block + ([last] if last else []), None
        return Say("\n".join(block))


def parse_object(line: str) -> Typed:
    """Return what a line of `--json` says."""
    try:
        found: Any = json.loads(line)
    except (ValueError, RecursionError):
        return Wrong('this line begins with { and is no JSON object; write the prompt as {"prompt": "…"}')
    match found:
        case {"prompt": str(text)}:
            return Say(text)
        case {"command": str(text)}:
            return Shell(text[1:].strip()) if text.startswith("!") else Order(text)
        case {"approve": str(call), "decision": "once" | "thread" | "always" | "no" as decision}:
            return Approve(call, Verdict(decision), str(found.get("reason", "")))
        case {"prompt": _}:
            return Wrong('"prompt" must be a text')
        case {"command": _}:
            return Wrong('"command" must be a text')
        case {"answer": str(call), "text": str(text)}:
            return Reply(call, text)
        case {"approve": _}:
            return Wrong('an approval needs "approve": CALL and "decision": once, thread, always or no')
    return Wrong("an object needs one of the keys prompt, command, approve, answer")


class Pump:
    """Reads lines in a thread and hands each, then None, to `take` in the running loop.

    A daemon thread: a read that waits for a terminal must not keep the program from leaving. While `paused` nothing is
    read from a terminal, so that another program may.
    """

    def __init__(self, stream: BinaryIO, take: Callable[[str | None], None]) -> None:
        self._stream = stream
        self._take = take
        self._loop = asyncio.get_running_loop()
        self._free = threading.Event()
        self._free.set()
        self._woken, self._wake = os.pipe()
        threading.Thread(target=self._read, name="standard input", daemon=True).start()

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Leave the terminal alone meanwhile; a line that was begun is the other program's."""
        self._free.clear()
        os.write(self._wake, b"x")
        try:
            yield
        finally:
            self._free.set()

    def _read(self) -> None:
        try:
            terminal = self._stream.isatty()
            while True:
                if terminal and not self._line_waits():
                    continue
                raw = self._stream.readline(LINE_BYTES)
                if not raw:
                    break
                self._hand(decode(raw).rstrip("\r\n"))
            self._hand(None)
        except (RuntimeError, ValueError, OSError):
            # The loop, or the stream, was closed while the read waited: there is nobody left to tell.
            return

    def _hand(self, line: str | None) -> None:
        self._loop.call_soon_threadsafe(self._take, line)

    def _line_waits(self) -> bool:
        """Wait for a line of the terminal, or through a pause; False after one."""
        ready, _, _ = select.select([self._woken, self._stream.fileno()], [], [])
        if self._woken not in ready:
            return True
        os.read(self._woken, 1)
        self._free.wait()
        return False


def is_terminal() -> bool:
    """Tell whether a person sits at standard input."""
    return sys.stdin is not None and sys.stdin.isatty()


def standard_input() -> BinaryIO:
    """Return standard input under a reader of its own; one that was closed is empty.

    The interpreter waits at its end for whoever reads `sys.stdin`, and then aborts.
    """
    return io.BytesIO() if sys.stdin is None else open(sys.stdin.fileno(), "rb", closefd=False)
