"""Ctrl-R: looks through earlier prompts as words are typed."""

from collections.abc import Callable

from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Input, OptionList
from textual.widgets.option_list import Option

from wisp_core.text import displayable, one_line
from wisp_tui.widgets.line_input import LineInput

MOST_FOUND = 100  # prompts listed
ROW_CELLS = 200


class HistoryScreen(ModalScreen[str | None]):
    """Ends with the chosen prompt as it was written, or None."""

    BINDINGS = [
        Binding("escape", "leave", "Close", id="history.close"),
        Binding("up", "move(-1)", "Newer", show=False),
        Binding("down,ctrl+r", "move(1)", "Older", id="history.older", show=False),
    ]

    def __init__(self, find: Callable[[str, int], list[str]]) -> None:
        super().__init__()
        self._find = find
        self._found: list[str] = []

    def compose(self) -> ComposeResult:
        """Lay out the words to look for over what was found."""
        with Vertical(id="history"):
            yield LineInput("search earlier prompts")
            yield OptionList(markup=False, compact=True)

    def on_mount(self) -> None:
        """Begin with the newest prompts."""
        self.query_one("#history").border_title = "Earlier prompts"
        self.query_one("#history").border_subtitle = "Enter takes · Esc closes"
        self.query_one(OptionList).can_focus = False
        self._list("")

    def on_input_changed(self, event: Input.Changed) -> None:
        """Look for the words."""
        self._list(event.value)

    def on_input_submitted(self) -> None:
        """Take the chosen prompt."""
        at = self.query_one(OptionList).highlighted
        self.dismiss(self._found[at] if at is not None else None)

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """Take the prompt that was clicked."""
        self.dismiss(self._found[event.option_index])

    def action_move(self, step: int) -> None:
        """Choose the prompt above or below."""
        rows = self.query_one(OptionList)
        if self._found:
            rows.highlighted = ((rows.highlighted or 0) + step) % len(self._found)

    def action_leave(self) -> None:
        """Close and change nothing."""
        self.dismiss(None)

    def _list(self, words: str) -> None:
        self._found = self._find(words, MOST_FOUND)
        rows = self.query_one(OptionList)
        rows.set_options(Option(Content(one_line(displayable(text), ROW_CELLS))) for text in self._found)
        rows.highlighted = 0 if self._found else None
