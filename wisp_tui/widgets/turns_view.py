"""What each turn changed, one line a turn, under a line of how full the window was."""

from collections.abc import Sequence

from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content
from textual.widgets import Static

from wisp_core.requests import TurnChanges
from wisp_tui.widgets.context_rows import TURN_COLUMNS, heads, turn_row
from wisp_tui.widgets.fill_line import FillLine
from wisp_tui.widgets.row_list import RowList


class TurnsView(Vertical):
    """The turns in order, the newest at the end."""

    DEFAULT_CSS = """
    TurnsView {
        .heads { height: 1; text-wrap: nowrap; }
        .words { height: 1; padding: 0 1; }
        FillLine { padding: 0 1; }
    }
    """

    def __init__(self, *, id: str) -> None:
        super().__init__(id=id)
        self.turns: Sequence[TurnChanges] = ()

    @property
    def rows(self) -> RowList:
        """The list of turns."""
        return self.query_one(RowList)

    def compose(self) -> ComposeResult:
        """Lay out the line of fill over the turns."""
        yield Static(classes="words", markup=False)
        yield FillLine()
        yield Static(heads(TURN_COLUMNS), classes="heads", markup=False)
        yield RowList()

    def show(self, turns: Sequence[TurnChanges], *, target: float, budget: float, words: str = "") -> None:
        """Show these turns; `target` and `budget` are shares of the window, `words` say why there are none."""
        self.turns = turns
        about = self.query_one(".words", Static)
        about.display = bool(words)
        about.update(Content(words))
        self.query_one(FillLine).show(turns, target=target, budget=budget)
        self.rows.show([str(one.turn) for one in turns], lambda index, cells: turn_row(turns[index], cells))
