"""The running summary: its versions, newest first, and the text of the chosen one."""

from collections.abc import Sequence

from textual.app import ComposeResult
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.widgets import Static

from wisp_core.records import Summary
from wisp_core.text import displayable
from wisp_tui.widgets.context_rows import summary_row
from wisp_tui.widgets.row_list import RowList

NONE_YET = "no summary is written yet"
MOST_ROWS = 6  # of versions in view


class SummaryView(Vertical):
    """The versions over a text."""

    DEFAULT_CSS = """
    SummaryView {
        .words { height: 1; padding: 0 1; }
        VerticalScroll { height: 1fr; padding: 1 1 0 1; scrollbar-size-vertical: 1; }
        VerticalScroll > Static { height: auto; }
    }
    """

    def __init__(self, *, id: str) -> None:
        super().__init__(id=id)
        self.summaries: Sequence[Summary] = ()

    @property
    def rows(self) -> RowList:
        """The list of versions."""
        return self.query_one(RowList)

    def compose(self) -> ComposeResult:
        """Lay out the versions over the text."""
        yield Static(NONE_YET, classes="words", markup=False)
        yield RowList()
        with VerticalScroll(can_focus=False):
            yield Static(markup=False)

    def show(self, summaries: Sequence[Summary]) -> None:
        """Show the versions; `summaries` has the oldest first."""
        newest = list(reversed(summaries))
        self.summaries = newest
        self.query_one(".words", Static).display = not newest
        self.rows.styles.height = min(MOST_ROWS, len(newest)) or 1
        self.rows.show(
            [str(one.version) for one in newest],
            lambda index, cells: summary_row(newest[index], current=index == 0),
            start=0,
        )

    def on_row_list_moved(self, event: RowList.Moved) -> None:
        """Show the text of the version at the cursor."""
        if event.index < len(self.summaries):
            text = displayable(self.summaries[event.index].text)
            self.query_one("VerticalScroll > Static", Static).update(Content(text))
