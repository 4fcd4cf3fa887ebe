"""F1: the keys as they are bound now, and the slash commands with their help."""

from collections.abc import Sequence

from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Static

KEY_CELLS = 22


class HelpScreen(ModalScreen[None]):
    """A page of keys and commands, made from the bindings and the registry."""

    BINDINGS = [
        Binding("escape,f1,q", "dismiss", "Close", id="help.close"),
        Binding("up", "scroll(-1)", "Up", show=False),
        Binding("down", "scroll(1)", "Down", show=False),
    ]

    def __init__(self, keys: Sequence[tuple[str, str, str]], commands: Sequence[tuple[str, str, str]]) -> None:
        super().__init__()
        self._keys = keys
        self._commands = commands

    def compose(self) -> ComposeResult:
        """Lay out one scrolling page."""
        with VerticalScroll(id="page"):
            yield Static(self._page(), markup=False)

    def on_mount(self) -> None:
        """Say how to leave."""
        page = self.query_one("#page")
        page.border_title = "Help"
        page.border_subtitle = "Esc closes"
        page.focus()

    def action_scroll(self, step: int) -> None:
        """Scroll by a row."""
        self.query_one("#page").scroll_relative(y=step, animate=False)

    def _page(self) -> Content:
        rows = [Content.styled("Keys", "bold $accent")]
        rows += [
            Content.assemble((f"{key:<{KEY_CELLS}}", "bold"), what, (f"  {name}", "$foreground 35%"))
            for key, what, name in self._keys
        ]
        rows += [
            Content(),
            Content("Change a key in config.json under keys, by the name at the end of its line."),
            Content(),
            Content.styled("Commands", "bold $accent"),
        ]
        rows += [
            Content.assemble((f"{f'/{name} {usage}':<{KEY_CELLS}}", "bold"), what)
            for name, usage, what in self._commands
        ]
        rows += [
            Content(),
            Content("A prompt that begins with / ! or @ and means just that: paste it, or type \\ before it."),
        ]
        return Content("\n").join(rows)
