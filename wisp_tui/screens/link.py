"""What joins the screen to the core: opens it after the first paint, sends prompts in order, keeps the queue."""

import asyncio
import importlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from wisp_core.errors import ResumeError, WispError
from wisp_core.records import Mode, Outcome
from wisp_core.requests import Answer, Approval, Question
from wisp_tui.screens.start import Start

if TYPE_CHECKING:
    from collections.abc import Awaitable

    from wisp_core.events import Published
    from wisp_core.thread import Thread
    from wisp_core.wisp import Wisp


@dataclass(frozen=True, slots=True)
class Waiting:
    """A prompt in the queue; `kept` is its id in the store, None while it is not there."""

    text: str
    kept: int | None = None


class Link:
    """One conversation's way to the core; `wisp` is there from `open` on, `thread` from `enter` on."""

    wisp: "Wisp"
    thread: "Thread"

    def __init__(
        self,
        start: Start,
        *,
        hear: "Callable[[Published], None]",
        ask: "Callable[[Approval | Question], Awaitable[Answer]]",
        changed: Callable[[], None],
        tell: Callable[[str, str], None],
    ) -> None:
        self._start = start
        self._hear = hear
        self._ask = ask
        self._changed = changed
        self._tell = tell
        self._wake = asyncio.Event()
        self._registry: Any = None
        self.opened = False
        self.queue: list[Waiting] = []
        self.held = False
        self.left_behind = ""  # a sentence on the prompts that wait in the conversation before

    @property
    def busy(self) -> bool:
        """Whether a turn runs."""
        return self.opened and self.thread.busy

    @property
    def commands(self) -> Sequence[tuple[str, str, str]]:
        """The slash commands as (name, usage, help)."""
        return [(c.name, c.usage, c.help) for c in self._registry.COMMANDS.values()] if self._registry else []

    async def load(self) -> None:
        """Load the core beside the screen that is up already."""
        self._core = await asyncio.to_thread(importlib.import_module, "wisp_core.wisp")
        self._registry = await asyncio.to_thread(importlib.import_module, "wisp_core.commands.registry")

    async def open(self) -> str | None:
        """Open the home and return the id of the thread that was asked for, None for a new one.

        Raises:
            WispError: a setting, the home or the conversation; the message is for the person.
        """
        start = self._start
        given = {key: value for key, value in (("model", start.model), ("mode", start.mode)) if value}
        self.wisp = await self._core.Wisp.open(face="tui", cwd=start.cwd, given=given, resume=start.resume)
        if start.resume:
            return str(await self.wisp.library.named(start.resume))
        newest = await self.wisp.library.newest(self.wisp.cwd)
        if not start.newest:
            await self._tell_behind(newest, "wisp-tui --continue")
            return None
        if newest is None:
            raise ResumeError("there is no conversation of this folder to continue", "start one with `wisp-tui`")
        return newest

    async def enter(self, thread: str | None) -> None:
        """Begin in the thread of this id, or in a new one, with the model and mode that were asked for.

        Raises:
            WispError: it cannot be opened.
        """
        await self._open_thread(thread, model=self._start.model, mode=self._start.mode)
        self.opened = True

    async def switch(self, thread: str | None) -> None:
        """Go on in the thread of this id, or in a new one.

        Raises:
            WispError: it cannot be opened; the one before stays open.
        """
        before = self.thread
        await self._open_thread(thread)
        try:
            await before.close()
        except WispError as error:
            self._tell(error.sentence(), "error")
        await self._tell_behind(before.record.id, f"/resume {before.record.id}")

    async def _tell_behind(self, thread: str | None, way: str) -> None:
        """Say how many prompts wait in the conversation before, and which command goes there."""
        count = len(await self.wisp.desk.queue_list(thread)) if thread else 0
        wait = "1 prompt waits" if count == 1 else f"{count} prompts wait"
        self.left_behind = f"{wait} in the conversation before; {way} goes back to it" if count else ""

    async def _open_thread(self, named: str | None, *, model: str | None = None, mode: str | None = None) -> None:
        if named is None:
            self.thread = await self.wisp.new_thread(listen=self._hear, ask=self._ask)
        else:
            self.thread = await self.wisp.open_thread(
                named, listen=self._hear, ask=self._ask, model=model, mode=Mode(mode) if mode else None
            )
        typed = [waiting.text for waiting in self.queue if waiting.kept is None]
        rows = await self.wisp.desk.queue_list(self.thread.record.id)
        self.queue = [Waiting(row.text, row.id) for row in rows]
        self.held = bool(self.queue)
        for text in typed:
            await self._keep(text)
        self._wake.set()
        self._changed()

    async def send(self, text: str) -> None:
        """Send a prompt now, or behind what runs."""
        if not self.opened:
            self.queue.append(Waiting(text))
        elif self.busy or self.queue:
            await self._keep(text)
        else:
            self.queue.append(Waiting(text))
        if self.held:
            self._changed()
        else:
            self.release()

    def release(self) -> None:
        """Send what is held."""
        self.held = False
        self._wake.set()
        self._changed()

    async def take_back(self) -> str:
        """Take the last prompt out of the queue and return its text, empty where none waits."""
        if not self.queue:
            return ""
        last = self.queue.pop()
        await self._forget(last)
        return last.text

    async def drop(self) -> None:
        """Drop every prompt that waits."""
        while self.queue:
            await self._forget(self.queue.pop())

    async def serve(self) -> None:
        """Send the prompts of the queue in order, for as long as the screen lives."""
        while True:
            await self._wake.wait()
            self._wake.clear()
            while self.queue and not self.held and not self.busy:
                await self._settle(await self._send(self.queue.pop(0)))

    async def command(self, line: str) -> Any:
        """Run a slash command and return what it asks of the screen.

        Raises:
            WispError: what was wrong.
        """
        was = self.thread
        try:
            return await self._registry.run(line, thread=self.thread, wisp=self.wisp)
        finally:
            turn = was.record.turns.get(was.record.last_turn)
            await self._settle(turn.outcome if turn is not None and turn.outcome else Outcome.DONE)
            self._wake.set()

    async def shell(self, command: str) -> None:
        """Run the person's own command.

        Raises:
            WispError: it could not be run.
        """
        await self.thread.run_command(command)
        self._wake.set()

    def interrupt(self) -> bool:
        """Interrupt the turn; tell whether there was one."""
        return self.opened and self.thread.cancel()

    async def close(self) -> None:
        """Leave the thread and the home in order; what waits is held for the next start."""
        self.held = True
        if self.opened:
            await self.thread.close()
        if hasattr(self, "wisp"):
            await self.wisp.close()

    async def _send(self, waiting: Waiting) -> Outcome:
        self._changed()
        # Sending begins before the place in the queue is given up: a crash between the two repeats, never loses.
        sending = asyncio.create_task(self.thread.send(waiting.text))
        try:
            await self._forget(waiting)
            return await sending
        except WispError as error:
            self._tell(error.sentence(), "error")
            return Outcome.FAILED

    async def _settle(self, outcome: Outcome) -> None:
        if outcome is not Outcome.DONE and self.queue:
            self.held = True
            await self.wisp.desk.queue_hold(self.thread.record.id)
        self._changed()

    async def _keep(self, text: str) -> None:
        self.queue.append(Waiting(text, await self.wisp.desk.queue_put(self.thread.record.id, text)))

    async def _forget(self, waiting: Waiting) -> None:
        if waiting.kept is not None:
            await self.wisp.desk.queue_remove(waiting.kept)
        self._changed()
