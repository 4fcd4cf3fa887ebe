"""A small question over the screen: a sentence and a few ways to go on."""

from collections.abc import Mapping

from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import OptionList, Static
from textual.widgets.option_list import Option

from wisp_core.text import displayable, one_line

QUESTION_CHARACTERS = 400


class ChoiceScreen(ModalScreen[str | None]):
    """Ends with the name of what was chosen, None on Esc; `ways` are the words of each by its name.

    The first is chosen at first and should do no harm: what is typed as the question appears may end with Enter. For
    the same reason no letter answers.
    """

    BINDINGS = [Binding("escape", "leave", "Close", id="choice.close")]
    DEFAULT_CSS = """
    ChoiceScreen { align: center middle; background: $background 60%; }
    ChoiceScreen > Vertical {
        width: 90%;
        max-width: 72;
        height: auto;
        max-height: 90%;
        padding: 0 1;
        border: round $accent;
        background: $surface;
    }
    ChoiceScreen Static { width: 100%; height: auto; margin-bottom: 1; }
    ChoiceScreen OptionList { width: 100%; }
    """

    def __init__(self, question: str, ways: Mapping[str, str], *, leave: str) -> None:
        super().__init__()
        self._question = question
        self._ways = ways
        self._leave = leave

    def compose(self) -> ComposeResult:
        """Lay out the question over the ways."""
        with Vertical():
            yield Static(Content(one_line(displayable(self._question), QUESTION_CHARACTERS)), markup=False)
            yield OptionList(*(Option(Content(words)) for words in self._ways.values()), markup=False, compact=True)

    def on_mount(self) -> None:
        """Say how to answer."""
        self.query_one(Vertical).border_subtitle = f"Enter takes · Esc {self._leave}"
        rows = self.query_one(OptionList)
        rows.highlighted = 0
        rows.focus()

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """End with what was chosen."""
        self.dismiss(list(self._ways)[event.option_index])

    def action_leave(self) -> None:
        """End with nothing."""
        self.dismiss(None)
