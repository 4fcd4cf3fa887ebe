"""Looks through earlier prompts as words are typed: all of them on Ctrl-R, this thread's on Esc twice."""

from collections.abc import Sequence
from typing import Generic, TypeVar

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

T = TypeVar("T")


class HistoryScreen(ModalScreen[T | None], Generic[T]):
    """Ends with what stands for the chosen prompt, or None; `prompts` are pairs of text and that, newest first.

    `enter` says what Enter does.
    """

    BINDINGS = [
        Binding("escape", "leave", "Close", id="history.close"),
        Binding("up", "move(-1)", "Newer", show=False),
        Binding("down,ctrl+r", "move(1)", "Older", id="history.older", show=False),
    ]

    def __init__(self, prompts: Sequence[tuple[str, T]], *, title: str, enter: str) -> None:
        super().__init__()
        self._prompts = prompts
        self._title = title
        self._enter = enter
        self._found: list[tuple[str, T]] = []

    def compose(self) -> ComposeResult:
        """Lay out the words to look for over what was found."""
        with Vertical(id="history"):
            yield LineInput("search earlier prompts")
            yield OptionList(markup=False, compact=True)

    def on_mount(self) -> None:
        """Begin with the newest prompts."""
        self.query_one("#history").border_title = self._title
        self.query_one("#history").border_subtitle = f"Enter {self._enter} · Esc closes"
        self.query_one(OptionList).can_focus = False
        self._list("")

    def on_input_changed(self, event: Input.Changed) -> None:
        """Look for the words."""
        self._list(event.value)

    def on_input_submitted(self) -> None:
        """Take the chosen prompt."""
        at = self.query_one(OptionList).highlighted
        self.dismiss(self._found[at][1] if at is not None else None)

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """Take the prompt that was clicked."""
        self.dismiss(self._found[event.option_index][1])

    def action_move(self, step: int) -> None:
        """Choose the prompt above or below."""
        rows = self.query_one(OptionList)
        if self._found:
            rows.highlighted = ((rows.highlighted or 0) + step) % len(self._found)

    def action_leave(self) -> None:
        """Close and change nothing."""
        self.dismiss(None)

    def _list(self, words: str) -> None:
        wanted = words.casefold()
        self._found = [one for one in self._prompts if wanted in one[0].casefold()][:MOST_FOUND]
        rows = self.query_one(OptionList)
        rows.set_options(Option(Content(one_line(displayable(text), ROW_CELLS))) for text, _ in self._found)
        rows.highlighted = 0 if self._found else None
