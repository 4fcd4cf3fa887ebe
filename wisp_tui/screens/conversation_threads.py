"""Going from thread to thread: the list, a thread that another wisp writes, a fork before an earlier prompt."""

import time
from collections.abc import Awaitable, Callable
from pathlib import Path

from textual import work

from wisp_core.errors import ThreadLockedError, WispError
from wisp_core.text import one_line
from wisp_tui.screens.choice import ChoiceScreen
from wisp_tui.screens.conversation_actions import ConversationActions
from wisp_tui.screens.history import HistoryScreen
from wisp_tui.screens.reading import ReadingScreen
from wisp_tui.screens.retelling import Retelling, earlier_prompts
from wisp_tui.screens.threads import ThreadsScreen
from wisp_tui.screens.threads_items import Fork, Read, Resume, ResumeSaved, Wish
from wisp_tui.widgets.recall import MARKS, Draft

AGAIN_SECONDS = 2.0  # in which a second Esc offers the earlier prompts
TITLE_CHARACTERS = 60
WAYS = {
    "read": "read it, and write nothing",
    "fork": "go on in a copy of it",
    "new": "begin a new thread",
}
BUSY = "that waits until the running turn has ended; Esc interrupts it"


class ConversationThreads(ConversationActions):
    """A conversation that can become another."""

    _esc_at = float("-inf")
    _copied = ""  # the thread of which the one that opens next is a new copy

    async def show_thread(self) -> Retelling:
        """Show the thread that the link has opened; the screen above knows how."""
        raise NotImplementedError

    @work(group="threads", exclusive=True)
    async def action_threads(self) -> None:
        """List every thread, and do what the person wants with one."""
        if not self.link.opened:
            return
        here = self.link.thread.record.id
        library, folder = self.link.wisp.library, Path(self.link.wisp.cwd)
        wish = await self.app.push_screen_wait(ThreadsScreen(library, current=here, folder=folder))
        if wish is not None:
            await self._told(self._grant(wish))

    def action_earlier(self) -> None:
        """Offer to edit an earlier prompt, the second time."""
        now = time.monotonic()
        if now - self._esc_at > AGAIN_SECONDS:
            self._esc_at = now
            self.app.notify("Esc again: edit an earlier prompt, in a copy", timeout=AGAIN_SECONDS, markup=False)
            return
        self._esc_at = float("-inf")
        self.app.clear_notifications()  # it would cover what is offered
        self._edit_earlier()

    @work(group="threads", exclusive=True)
    async def _edit_earlier(self) -> None:
        await self._told(self._fork_before())

    async def _fork_before(self) -> None:
        thread = self.link.thread
        found = [(text, (text, turn)) for text, turn in await earlier_prompts(thread.reader)]
        asking = HistoryScreen(found, title="Edit an earlier prompt", enter="forks the thread before it")
        chosen = await self.app.push_screen_wait(asking)
        if chosen is None or self._busy():
            return
        text, turn = chosen
        if await self.switch_to_copy(await self.link.wisp.library.fork(thread.record.id, turn - 1), thread.record.id):
            self.box.put(Draft(text, literal=text[:1] in MARKS))

    async def switch_to_copy(self, copy: str, source: str) -> bool:
        """Go on in a new copy of a thread, and say so; tell whether it is open.

        Raises:
            WispError: it cannot be opened; the one before stays open.
        """
        self._copied = source
        try:
            return await self.switch(copy)
        finally:
            self._copied = ""

    async def tell_copy(self) -> None:
        """Say of a conversation that was just copied what it is a copy of, and how to go back."""
        source, self._copied = self._copied, ""
        if source:
            record = (await self.link.wisp.library.reader(source)).record
            named = (
                f"`{one_line(record.title, TITLE_CHARACTERS)}`" if record.title else "a conversation without a title"
            )
            turn = self.link.thread.record.last_turn
            upto = f" up to turn {turn}" if turn < record.last_turn else ""
            self.transcript.note(f"this is a copy of {named}{upto}; /resume {source} goes back to it")

    async def switch(self, thread: str | None, *, entry: int | None = None) -> bool:
        """Go on in the thread of this id, or in a new one, at an entry where one is given; tell whether it is open.

        Raises:
            WispError: it cannot be opened; the one before stays open.
        """
        if thread is None or thread != self.link.thread.record.id:
            if not await self.reach(thread, self.link.switch, leave="stays here"):
                return False
            telling = await self.show_thread()
            self.renew_context()
            self.tell_rest(telling, entry)
        elif entry is not None:
            self._go_to(entry)
        return True

    async def reach(self, thread: str | None, enter: Callable[[str | None], Awaitable[None]], *, leave: str) -> bool:
        """Enter a thread, or, where another wisp writes it, what the person says instead; tell whether one was.

        Raises:
            WispError: it cannot be opened.
        """
        while True:
            try:
                await enter(thread)
            except ThreadLockedError as error:
                if thread is None:
                    raise
                said = await self.app.push_screen_wait(ChoiceScreen(error.message, WAYS, leave=leave))
                if said is None:
                    return False
                if said == "new":
                    thread = None
                elif said == "fork" or await self._read(thread):
                    copy = await self.link.wisp.library.fork(thread)
                    self._copied, thread = thread, copy
            else:
                return True

    async def _grant(self, wish: Wish) -> None:
        library = self.link.wisp.library
        if isinstance(wish, Read):
            if not await self._read(wish.thread):
                return
            wish = Fork(wish.thread)
        if self._busy():
            return
        match wish:
            case Resume(thread, entry):
                await self.switch(thread, entry=entry)
            case ResumeSaved(name):
                await self.switch(await library.named(name))
            case Fork(thread):
                await self.switch_to_copy(await library.fork(thread), thread)

    def _busy(self) -> bool:
        """Tell whether a turn runs, and the person that this has to wait."""
        if self.link.busy:
            self.app.notify(BUSY, severity="warning", markup=False)
        return self.link.busy

    async def _read(self, thread: str) -> bool:
        """Show a thread to be read; tell whether the person wants to go on in a copy."""
        reader = await self.link.wisp.library.reader(thread)
        wants: bool = await self.app.push_screen_wait(ReadingScreen(reader))
        return wants

    async def _told(self, doing: Awaitable[None]) -> None:
        try:
            await doing
        except WispError as error:
            self.transcript.note(error.sentence(), "error")

    @work(group="retelling", exclusive=True)
    async def tell_rest(self, telling: Retelling, entry: int | None = None) -> None:
        """Show what was said before what is shown already, then go to an entry where one is given."""
        await self._told(telling.go_on())
        if entry is not None:
            self._go_to(entry)

    def _go_to(self, entry: int) -> None:
        if self.transcript.choose_entry(entry):
            self.transcript.focus()
