"""Ctrl-T over the conversation, where there is no room for the panel beside it."""

from collections.abc import Callable

from textual.app import ComposeResult
from textual.binding import Binding
from textual.screen import Screen

from wisp_tui.screens.context_panel import ContextPanel
from wisp_tui.screens.context_source import ContextSource
from wisp_tui.widgets.keys import Keys


class ContextScreen(Screen[None]):
    """The panel on a screen of its own."""

    BINDINGS = [Binding("ctrl+t", "dismiss", "Close", show=False, id="context.away")]
    DEFAULT_CSS = "ContextScreen ContextPanel { height: 1fr; }"

    def __init__(self, source: ContextSource, *, expand: Callable[[str, str], None], view: str = "next") -> None:
        super().__init__()
        self.panel = ContextPanel(source, expand=expand, view=view)

    def compose(self) -> ComposeResult:
        """Lay out the panel over the keys."""
        yield self.panel
        yield Keys()

    def on_context_panel_closed(self) -> None:
        """Go back to the conversation."""
        self.dismiss()
