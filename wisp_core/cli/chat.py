"""`wisp chat`: a conversation line by line, for people on a plain terminal and for programs."""

import asyncio
import os
import signal
import sys
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, assert_never

from wisp_core.cli.asking import Asking
from wisp_core.cli.lines import (
    Approve,
    LineReader,
    Order,
    Pump,
    Reply,
    Say,
    Shell,
    Typed,
    Wrong,
    is_terminal,
    standard_input,
)
from wisp_core.cli.paging import run_pager
from wisp_core.cli.printing import JsonPrinter, PlainPrinter, Printer
from wisp_core.cli.streams import Streams, tell_error
from wisp_core.commands.registry import run
from wisp_core.commands.results import Answered, Begin, Leave, Open, Page, Restyle, Result, Said
from wisp_core.errors import ResumeError, UsageError, WispError
from wisp_core.events import Event, Published
from wisp_core.fact import TASK, disagreement
from wisp_core.parts import FromLine, Part
from wisp_core.records import JsonObject, Mode, Outcome
from wisp_core.thread import Thread
from wisp_core.wisp import Wisp

EXIT_FAILED, EXIT_USAGE, EXIT_INTERRUPTED = 1, 2, 130


@dataclass(frozen=True, slots=True)
class ChatOptions:
    """What the command line said."""

    prompt: str | None = None
    json: bool = False
    model: str | None = None
    mode: str | None = None
    tools: list[str] | None = None
    allow: list[str] = field(default_factory=list)
    thread: str | None = None
    resume: str | None = None
    newest: bool = False
    cwd: Path | None = None
    task: str | None = None

    def given(self) -> JsonObject:
        """Return the settings that the command line replaces."""
        found: JsonObject = {}
        if self.model:
            found["model"] = self.model
        if self.mode:
            found["mode"] = self.mode
        if self.allow:
            found["permissions"] = {"allow": self.allow}
        return found


async def chat(options: ChatOptions) -> int:
    """Run the conversation to the end of the input and return the exit status.

    Raises:
        WispError: it could not begin.
    """
    wisp = await Wisp.open(
        face="chat", cwd=options.cwd, given=options.given(), only_tools=options.tools, resume=options.resume
    )
    try:
        face = ChatFace(wisp, options)
        try:
            return await face.run()
        finally:
            await face.close()
    finally:
        await wisp.close()


class ChatFace:
    """Hands what is typed to the thread, in order, and prints what the thread says."""

    def __init__(self, wisp: Wisp, options: ChatOptions) -> None:
        self._wisp = wisp
        self._options = options
        self._reader = LineReader(objects=options.json)
        self._typed: asyncio.Queue[Typed | None] = asyncio.Queue()
        self._terminal = is_terminal()
        self._streams = Streams(self._leave)
        self._broken: BaseException | None = None
        self._printer: Printer = (
            JsonPrinter(self._streams) if options.json else PlainPrinter(self._streams, terminal=self._terminal)
        )
        self._asking = Asking(self._printer)
        self._asking.possible = options.json or self._terminal
        self._thread: Thread | None = None
        self._status = 0
        self._left = False
        self._pump: Pump | None = None
        self._paging = False

    async def run(self) -> int:
        """Take what is typed until the end of the input."""
        self._thread = await self._open()
        if self._options.task:
            await self._thread.knowledge.state(TASK, "", value=self._options.task)
        for note in [*self._wisp.introduction, *self._wisp.notes, disagreement(await self._thread.knowledge.known())]:
            if note:
                self._printer.note(note)
        loop = asyncio.get_running_loop()
        loop.set_exception_handler(self._break)
        loop.add_signal_handler(signal.SIGINT, self._interrupt)
        loop.add_signal_handler(signal.SIGTERM, self._leave)
        if self._options.prompt:
            self._typed.put_nowait(Say(self._options.prompt))
        self._pump = Pump(standard_input(), self._take)
        self._printer.ready()
        while (typed := await self._typed.get()) is not None:
            if not await self._handle(typed):
                break
            self._printer.ready()
        return self._end()

    async def close(self) -> None:
        """Leave the conversation; one that has a name is saved under it again."""
        if self._thread is not None:
            await self._thread.close()

    def _end(self) -> int:
        if self._broken is not None:
            raise self._broken
        if self._streams.failure is not None:
            if self._streams.failure:
                tell_error(self._streams.failure)
            return EXIT_FAILED
        return EXIT_INTERRUPTED if self._left else self._status

    async def _open(self) -> Thread:
        options, wisp = self._options, self._wisp
        mode = Mode(options.mode) if options.mode else None
        found: str | None = None
        if options.newest:
            found = await wisp.library.newest(wisp.cwd)
            if found is None:
                raise ResumeError("there is no conversation of this folder to continue", "start one with `wisp chat`")
        elif options.thread is not None:
            found = await wisp.library.known(options.thread)
        elif options.resume is not None:
            found = await wisp.library.named(options.resume)
        if found is None:
            return await wisp.new_thread(listen=self._hear, ask=self._asking.ask, mode=mode)
        return await wisp.open_thread(found, listen=self._hear, ask=self._asking.ask, model=options.model, mode=mode)

    def _take(self, line: str | None) -> None:
        """Route one line: an open question takes it, everything else waits its turn."""
        typed = self._reader.end() if line is None else None
        if line is not None:
            if self._terminal and not self._options.json and self._asking.waiting:
                self._asking.take(line)
                return
            typed = self._reader.feed(line)
        if isinstance(typed, Approve | Reply):
            self._asking.settle(typed)
        elif typed is not None:
            self._typed.put_nowait(typed)
        if line is None:
            self._typed.put_nowait(None)
            self._asking.end()

    async def _handle(self, typed: Typed) -> bool:
        """Do what was typed; False ends the conversation."""
        assert self._thread is not None
        try:
            match typed:
                case Say(text):
                    self._status = _exit_status(await self._thread.send(text))
                case Order(line):
                    return await self._follow(await run(line, thread=self._thread, wisp=self._wisp))
                case Shell(command):
                    await self._thread.run_command(command)
                case Wrong(sentence):
                    self._printer.error(sentence)
                    self._status = EXIT_USAGE
                case Approve() | Reply():
                    raise AssertionError("an answer is settled where it is read")
                case _:
                    assert_never(typed)
        except WispError as error:
            self._printer.error(error.sentence())
            self._status = EXIT_USAGE if isinstance(error, UsageError) else EXIT_FAILED
        return True

    async def _follow(self, result: Result) -> bool:
        match result:
            case Said():
                self._printer.view(result)
            case Page():
                await self._show_output(result)
            case Restyle():
                self._printer.error("this face has no colours to change; wisp-tui has")
            case Answered(outcome):
                self._status = _exit_status(outcome)
            case Begin() | Open():
                await self._move(result)
            case Leave():
                return False
            case _:
                assert_never(result)
        return True

    async def _move(self, result: Begin | Open) -> None:
        assert self._thread is not None
        listen, ask = self._hear, self._asking.ask
        if isinstance(result, Begin):
            moved = await self._wisp.new_thread(listen=listen, ask=ask, model=self._thread.model)
        else:
            moved = await self._wisp.open_thread(result.thread, listen=listen, ask=ask)
        await self._thread.close()
        self._thread = moved

    async def _show_output(self, page: Page) -> None:
        """Show an output: to a program its first page, on a terminal through `$PAGER`, else whole."""
        assert self._thread is not None
        if self._options.json:
            reading = await self._thread.reader.read_output(page.call, FromLine())
            self._printer.view(Said(page.title, page.text, reading))
            return
        if self._terminal and sys.stdout is not None and sys.stdout.isatty() and self._pump is not None:
            with self._pump.paused():
                self._paging = True
                shown = await run_pager(self._texts(page), os.environ)
                self._paging = False
            if shown:
                return
        self._printer.view(Said(page.title, "".join([text async for text in self._texts(page)])))

    async def _texts(self, page: Page) -> AsyncIterator[str]:
        """Yield the whole output as it is kept, page by page, else the text that was returned, which it says."""
        assert self._thread is not None
        part: Part | None = FromLine()
        while part is not None:
            reading = await self._thread.reader.read_output(page.call, part)
            if reading is None:
                return
            if part == FromLine():
                yield f"{page.title}: {reading.note if reading.next is None else 'all of it'}\n"
            yield reading.text
            part = reading.next

    def _hear(self, published: Published) -> None:
        """Print what the thread publishes; a question can be answered from here on."""
        if isinstance(published, Event):
            self._asking.hear(published)
        self._printer.show(published)

    def _interrupt(self) -> None:
        """Ctrl-C: interrupt the turn; with none running, or nobody to go on, leave. In a pager it is the pager's."""
        if self._paging:
            return
        running = self._thread is not None and self._thread.cancel()
        if not running or not self._terminal:
            self._leave()

    def _break(self, loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        """Leave for what failed in a callback, which nobody awaits."""
        if self._broken is None and isinstance(context.get("exception"), Exception):
            self._broken = context["exception"]
            self._leave()

    def _leave(self) -> None:
        """End the conversation without what still waits in the input."""
        if self._thread is not None:
            self._thread.cancel()
        while not self._typed.empty():
            self._typed.get_nowait()
        self._left = True
        self._typed.put_nowait(None)


def _exit_status(outcome: Outcome) -> int:
    return {Outcome.DONE: 0, Outcome.INTERRUPTED: EXIT_INTERRUPTED}.get(outcome, EXIT_FAILED)
