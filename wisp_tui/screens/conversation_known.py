"""What is known and what waits, over the conversation: the facts, the pending requests, and how many there are."""

from collections.abc import Callable

from textual import work
from textual.binding import Binding

from wisp_core.errors import WispError
from wisp_core.fact import disagreement
from wisp_tui.screens.conversation_threads import ConversationThreads
from wisp_tui.screens.facts import FactsScreen
from wisp_tui.screens.facts_source import OpenFacts
from wisp_tui.screens.models import InUse, ModelsScreen
from wisp_tui.screens.pending import PendingScreen
from wisp_tui.widgets.status import Status
from wisp_tui.widgets.transcript import Transcript


class ConversationKnown(ConversationThreads):
    """A conversation from which the facts and what waits in the home are reached."""

    BINDINGS = [
        Binding("ctrl+f", "facts", "Facts", id="facts"),
        Binding("ctrl+n", "pending", "Pending", id="pending"),
    ]

    _end_counting: Callable[[], None] | None = None

    async def tell_disagreement(self) -> None:
        """Say what sources disagree about in the conversation that was opened: what raised it may be far above."""
        if line := disagreement(await self.link.thread.knowledge.known()):
            self.query_one(Transcript).note(line)

    def show_screen(self, name: str) -> None:
        """Show the screen that a command asks for."""
        if name == "facts":
            self.action_facts()
        elif name == "models":
            self.action_models()
        else:
            self.action_pending()

    @work(group="facts", exclusive=True)
    async def action_facts(self) -> None:
        """Show what is known, and go to the entry that the person wants to see."""
        if self.link.opened:
            entry = await self.app.push_screen_wait(FactsScreen(OpenFacts(self.link)))
            if entry is not None:
                self._go_to(entry)

    @work(group="models", exclusive=True)
    async def action_models(self) -> None:
        """Show what models there are, and go on with the one that the person chooses."""
        if not self.link.opened:
            return
        thread = self.link.thread
        window = thread.window.tokens if thread.window else None
        screen = ModelsScreen(self.link.wisp.shelf, InUse(thread.model, window, self.link.wisp.why))
        chosen = await self.app.push_screen_wait(screen)
        if chosen is not None:
            await self._told(self.choose_model(chosen))

    async def choose_model(self, model: str) -> None:
        """Go on with another model; the screen above knows how."""
        raise NotImplementedError

    def action_pending(self) -> None:
        """Show what waits for the person."""
        if self.link.opened:
            self.app.push_screen(PendingScreen(self.link.wisp.pending))

    def tell_facts(self, name: str) -> None:
        """Let the facts hear what the conversation published, while they are open."""
        for screen in self.app.screen_stack:
            if isinstance(screen, FactsScreen):
                screen.hear(name)

    def count_pending(self) -> None:
        """Tell from now on how much waits."""
        self._end_counting = self.link.wisp.pending.subscribe(self._count_soon)
        self._count()

    def end_counting(self) -> None:
        """Tell it no longer."""
        if self._end_counting is not None:
            self._end_counting()
            self._end_counting = None

    def _count_soon(self) -> None:
        self._count()

    @work(group="count", exclusive=True)
    async def _count(self) -> None:
        try:
            count = await self.link.wisp.pending.count()
        except WispError:
            # The next change counts again; whoever writes is told of a home that cannot be read.
            return
        for status in self.query(Status):
            status.tell(pending=count)
