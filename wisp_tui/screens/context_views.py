"""The four views of the context panel and the ways between them."""

from collections.abc import Callable
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.widgets import ContentSwitcher, Static

from wisp_tui.screens.context_source import ContextSource
from wisp_tui.widgets.line_input import LineInput
from wisp_tui.widgets.request_view import RequestView
from wisp_tui.widgets.row_list import RowList
from wisp_tui.widgets.summary_view import SummaryView
from wisp_tui.widgets.turns_view import TurnsView
from wisp_tui.widgets.view_tabs import ViewTabs

VIEWS = ("next", "turn", "turns", "summary")


class ContextViews(Vertical):
    """One view of four in sight, with the keys in its list; `turn` is the turn chosen, 0 for the latest."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("n", "view('next')", "Next", id="context.next"),
        Binding("t", "view('turn')", "Turn", id="context.turn"),
        Binding("u", "view('turns')", "Turns", id="context.turns"),
        Binding("s", "view('summary')", "Summary", id="context.summary"),
        Binding("comma", "step(-1)", "Back", key_display=",", id="context.earlier"),
        Binding("full_stop", "step(1)", "On", key_display=".", id="context.later"),
        Binding("enter", "open", "Open", id="context.open"),
        Binding("g", "ask", "Go to", id="context.go"),
        Binding("tab,right,l", "turn_over(1)", "Next view", show=False, id="context.view_on"),
        Binding("shift+tab,left,h", "turn_over(-1)", "View before", show=False, id="context.view_back"),
    ]
    DEFAULT_CSS = """
    ContextViews {
        background: $background;
        ContentSwitcher { height: 1fr; }
        #step { display: none; height: 1; padding: 0 1; color: $text-warning; text-wrap: nowrap; }
        #number { display: none; padding: 0 1; }
    }
    """

    def __init__(self, source: ContextSource, *, expand: Callable[[str, str], None], view: str = "next") -> None:
        super().__init__()
        self._source = source
        self._expand = expand
        self._first = view
        self.turn = 0

    @property
    def view(self) -> str:
        """The view in sight."""
        return self.query_one(ContentSwitcher).current or self._first

    @property
    def rows(self) -> RowList:
        """The list of that view."""
        return self.query_one(f"#{self.view} RowList", RowList)

    @property
    def shown_turn(self) -> int:
        """The turn that the view of one turn shows, 0 before the first."""
        last = self._source.last_turn
        return min(self.turn, last) or last

    def compose(self) -> ComposeResult:
        """Lay out the names of the views over the one in sight."""
        yield ViewTabs()
        yield Static(id="step", markup=False)
        with ContentSwitcher(initial=self._first):
            yield RequestView(id="next")
            yield RequestView(id="turn")
            yield TurnsView(id="turns")
            yield SummaryView(id="summary")
        yield LineInput("go to turn", id="number")

    def on_mount(self) -> None:
        """Begin with what is to be seen."""
        self.rows.focus()
        self.renew()

    def focus(self, scroll_visible: bool = True) -> "ContextViews":
        """Give the keys to the list in sight."""
        self.rows.focus(scroll_visible)
        return self

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Tell whether an action is possible now: a view is gone to from the others, a turn from the one beside it."""
        if action == "view":
            return parameters != (self.view,)
        return self.view == "turn" if action == "step" else True

    def action_view(self, view: str) -> None:
        """Show a view."""
        self.query_one("#number").display = False
        self.query_one(ContentSwitcher).current = view
        self.rows.focus()
        self.refresh_bindings()
        self.renew()

    def action_open(self) -> None:
        """Show more of the row at the cursor."""
        self.rows.choose()

    def action_turn_over(self, step: int) -> None:
        """Show the view after, or before."""
        self.action_view(VIEWS[(VIEWS.index(self.view) + step) % len(VIEWS)])

    def on_view_tabs_wanted(self, event: ViewTabs.Wanted) -> None:
        """Show the view that was clicked."""
        event.stop()
        self.action_view(event.view)

    def renew(self) -> None:
        """Show anew what is in sight; every other view is asked for when it is shown."""
        turn = self.shown_turn
        names = {"next": "Next", "turn": f"Turn {turn}" if turn else "Turn", "turns": "Turns", "summary": "Summary"}
        self.query_one(ViewTabs).show(names, self.view)
