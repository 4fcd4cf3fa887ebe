"""The context panel beside the conversation on a wide terminal, over it on another."""

from textual import events
from textual.screen import Screen

from wisp_tui.screens.context import ContextScreen
from wisp_tui.screens.context_panel import ContextPanel
from wisp_tui.screens.context_source import ContextSource, Meter, OpenContext
from wisp_tui.screens.link import Link
from wisp_tui.widgets.input_box import InputBox
from wisp_tui.widgets.recall import Draft
from wisp_tui.widgets.status import Status

BESIDE_CELLS = 150  # of a terminal from which the panel stands beside the conversation


class ContextBeside(Screen[None]):
    """A conversation that can show what the model carries; `box` is its input."""

    DEFAULT_CSS = """
    ContextBeside ContextPanel {
        dock: right;
        width: 50%;
        max-width: 100;
        height: 100%;
        border-left: solid $border-blurred;
    }
    """

    box: InputBox
    link: Link

    def show_text(self, title: str, text: str) -> None:
        """Page a text; the screen above knows how."""

    def context_source(self) -> ContextSource:
        """Return where the panel has its figures from."""
        return OpenContext(self.link, self._draft, meter=self._meter)

    async def action_context(self) -> None:
        """Show what the model carries, once there is a conversation."""
        if self.link.opened:
            await self.show_context()

    async def show_context(self) -> None:
        """Open the panel; where it is open beside the conversation, the keys change sides."""
        beside = self.query(ContextPanel)
        if beside and self.focused is not None and beside.first() in self.focused.ancestors:
            self.box.prompt.focus()
        elif beside:
            beside.first().focus()
        elif self.size.width >= BESIDE_CELLS:
            await self.mount(ContextPanel(self.context_source(), expand=self.show_text))
        else:
            self._show_context_over("next")

    async def on_context_panel_closed(self, event: ContextPanel.Closed) -> None:
        """Take the panel away."""
        event.stop()
        await self.query(ContextPanel).remove()
        self.box.prompt.focus()

    async def on_resize(self, event: events.Resize) -> None:
        """Put the panel over the conversation where there is no longer room beside it."""
        for panel in self.query(ContextPanel):
            if event.size.width < BESIDE_CELLS:
                view = panel.view
                await panel.remove()
                self._show_context_over(view)

    def on_input_box_edited(self, event: InputBox.Edited) -> None:
        """Show the draft as the request."""
        self.renew_context()

    def tell_context(self, name: str, data: object) -> None:
        """Let the panel hear what the conversation published, while it is open."""
        for panel in self._panels():
            panel.hear(name, data)

    def renew_context(self) -> None:
        """Show another conversation, or another draft."""
        for panel in self._panels():
            panel.follow()

    def _panels(self) -> list[ContextPanel]:
        over = [screen.panel for screen in self.app.screen_stack if isinstance(screen, ContextScreen)]
        return [*over, *self.query(ContextPanel)]

    def _show_context_over(self, view: str) -> None:
        self.app.push_screen(ContextScreen(self.context_source(), expand=self.show_text, view=view))

    def _meter(self) -> Meter | None:
        """Return what the status line says of the context."""
        now = self.query_one(Status).condition
        return None if now.share is None else Meter(now.share, now.estimated)

    def _draft(self) -> str:
        """Return what stands in the input as the prompt that it would be; a command is none."""
        draft = self.box.prompt.draft
        if draft.literal or not draft.text.strip():
            return draft.text if draft.literal else ""
        return "" if draft.text[0] in "/!" else Draft.read(draft.text).text
