"""Keys act in the order in which they were typed, each on what the keys before it made of the screen."""

import asyncio
from collections import deque
from collections.abc import Set
from contextlib import suppress
from typing import Any

from textual import events
from textual.app import App
from textual.message_pump import MessagePump
from textual.widgets import Input, TextArea
from textual.worker import Worker

from wisp_tui.escapes import INTRODUCERS

BURST_GAP = 0.030  # seconds: keys closer than this come from a paste or a program, not from fingers
BURST_KEYS = 3  # keys: a run this long is a burst
ACT_SECONDS = 3.0  # that what a key set off may take before the next one goes on all the same
STUCK_SECONDS = 0.05  # likewise for the keys behind one that took longer, until one has acted in time
OPEN_SECONDS = 0.5  # of these for work that may open a screen; a slow command holds up no typing
LOOK_SECONDS = 0.005  # between two looks at whether a screen has come
ROUNDS = 2  # rounds in which nothing is left to do, after which a key has acted
BESIDE = frozenset({"core", "warm", "count", "retelling", "drafts", "pull"})  # work that no key waits for

Typed = events.Key | events.Paste


class InOrder(App[None]):
    """An app that hands on one key at a time; `typed_at` is when the one that acts was typed, in seconds.

    Textual hands on every key at once to what has the focus at that moment, but runs its binding only when the key has
    bubbled up to the app, and what the binding posts or starts comes later still. So of keys that come within a frame
    the later ones reach the widget, or the screen, that the earlier ones are about to change or to leave. Here a key
    goes on when the one before has bubbled up, what it set off has been done, and the screen that it opened stands.
    """

    def __init__(self) -> None:
        super().__init__()
        self._typed: asyncio.Queue[Typed] = asyncio.Queue()
        self._ahead: deque[Typed] = deque()  # taken out of the queue to see what follows
        self._acting = asyncio.Lock()
        self._taking = asyncio.Event()
        self._patience = ACT_SECONDS
        self.typed_at = float("-inf")
        self._burst = 0  # keys
        self._burst_broke = False

    def on_mount(self) -> None:
        """Hand on keys from now on, whenever they are taken."""
        self.run_worker(self._hand_on(), group="keys")

    def take_keys(self) -> None:
        """Let what was typed act: the input is there."""
        self._taking.set()

    async def hold_keys(self) -> None:
        """Keep what is typed until `take_keys`; returns once all that was handed on has acted."""
        self._taking.clear()
        async with self._acting:
            pass

    async def on_event(self, event: events.Event) -> None:
        """Put what is typed behind what was typed before."""
        if isinstance(event, Typed) and not event.is_forwarded:
            self._typed.put_nowait(event)
        else:
            await super().on_event(event)

    async def _hand_on(self) -> None:
        while True:
            event = self._ahead.popleft() if self._ahead else await self._typed.get()
            await self._taking.wait()
            async with self._acting:
                event = self._taken_apart(await self._as_meant(event))
                begun = set(self.workers)
                types = isinstance(event, events.Paste) or event.is_printable
                await super().on_event(event)
                try:
                    async with asyncio.timeout(self._patience):
                        await self._acted(None if types and isinstance(self.focused, Input | TextArea) else begun)
                    self._patience = ACT_SECONDS
                except TimeoutError:
                    self._patience = STUCK_SECONDS

    async def _as_meant(self, event: Typed) -> Typed:
        """Return what was typed; an Enter in the middle of text that comes all at once is a line break of a paste."""
        near = event.time - self.typed_at < BURST_GAP
        self.typed_at = event.time
        self._burst = self._burst + 1 if near and isinstance(event, events.Key) else 0
        self._burst_broke &= near
        if isinstance(event, events.Paste) or event.key != "enter":
            return event
        if self._burst < BURST_KEYS or not isinstance(self.focused, TextArea):
            return event
        self._burst_broke |= await self._text_follows(event.time)
        return _at(event.time, events.Paste("\n")) if self._burst_broke else event

    async def _text_follows(self, at: float) -> bool:
        """Tell whether text follows at once on what was typed at a time (seconds)."""
        if not self._ahead:
            with suppress(TimeoutError):
                async with asyncio.timeout(BURST_GAP):
                    self._ahead.append(await self._typed.get())
        after = self._ahead[0] if self._ahead else None
        if not isinstance(after, events.Key) or after.time - at >= BURST_GAP:
            return False
        return after.is_printable or after.key in {"enter", "tab"}

    def _taken_apart(self, event: Typed) -> Typed:
        """Return Esc for Alt with a character that means nothing, that next: terminals send the same for both."""
        if isinstance(event, events.Paste) or not event.key.startswith("alt+"):
            return event
        typed = event.character
        if typed is None or not typed.isprintable() or typed in INTRODUCERS or event.key in self.active_bindings:
            return event
        key = typed if typed.isalnum() else event.key.removeprefix("alt+")
        self._ahead.appendleft(_at(event.time, events.Key(key, typed)))
        return _at(event.time, events.Key("escape", "\x1b"))

    async def _acted(self, begun: Set[Worker[Any]] | None) -> None:
        """Wait until what a key set off is done: what it posted, and, but for those `begun` before, what it opens."""
        quiet, opened_by = 0, asyncio.get_running_loop().time() + OPEN_SECONDS
        while quiet < ROUNDS:
            way: list[MessagePump] = [*(self.focused or self.screen).ancestors_with_self]
            for node in way:
                done = asyncio.Event()
                if node.call_later(done.set):
                    await done.wait()
            opening = begun is not None and asyncio.get_running_loop().time() < opened_by and self._opening(begun)
            if opening:
                await asyncio.sleep(LOOK_SECONDS)
            quiet = 0 if opening or any(node.message_queue_size for node in way) else quiet + 1

    def _opening(self, begun: Set[Worker[Any]]) -> bool:
        """Tell whether the screen in view may still open another, or is still being filled."""
        return any(
            not worker.is_finished
            and worker.group not in BESIDE
            and worker not in begun
            and self.screen in worker.node.ancestors_with_self
            for worker in self.workers
        )


def _at(time: float, event: Typed) -> Typed:
    event.time = time
    return event
