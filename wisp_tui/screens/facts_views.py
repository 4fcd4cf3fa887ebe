"""What is known, by scope and what is proposed, as rows; the history of one fact in their place."""

from collections.abc import Callable, Sequence
from datetime import datetime

from textual import on, work
from textual.app import ComposeResult
from textual.content import Content
from textual.events import Resize
from textual.screen import Screen
from textual.widgets import Input, Static

from wisp_core.errors import WispError
from wisp_core.fact import KnownFact
from wisp_core.text import displayable, one_line
from wisp_tui.screens.clock import utc_now
from wisp_tui.screens.facts_source import VIEWS, FactsSource, history_of, view_of
from wisp_tui.widgets.fact_rows import about, fact_heads, fact_row, title_of
from wisp_tui.widgets.keys import Keys
from wisp_tui.widgets.line_input import LineInput
from wisp_tui.widgets.pick_list import PickList
from wisp_tui.widgets.view_tabs import ViewTabs

SAID_CHARACTERS = 300
FOLLOW_AFTER = 0.1  # seconds in which what comes together is shown together
EMPTY = {
    "permanent": "nothing is known for every conversation yet; s on a fact of the thread moves it here",
    "thread": "nothing is known in this conversation yet; what tools show and you state is kept at the end of a turn",
    "session": "nothing of this session yet; what holds only until wisp ends stands here",
    "proposed": "nothing is proposed: no fact waits for you to keep it for every conversation",
}


class FactsViews(Screen[int | None]):
    """One view of four in sight, or a history; `now` tells the time that ages are counted from."""

    DEFAULT_CSS = """
    FactsViews {
        #heads { height: auto; max-height: 3; padding: 0 1; }
        #about { height: auto; max-height: 6; padding: 0 1; border-top: solid $border-blurred; }
        #words, #value { display: none; padding: 0 1; }
    }
    """

    def __init__(self, source: FactsSource, *, now: Callable[[], datetime] = utc_now) -> None:
        super().__init__()
        self.source = source
        self._now = now
        self.known: Sequence[KnownFact] = ()
        self._shown: Sequence[KnownFact] = ()
        self.of: KnownFact | None = None  # whose history is shown
        self.view = VIEWS[1]
        self._soon = False
        self._loaded = False

    def compose(self) -> ComposeResult:
        """Lay out the views' names, the facts, what there is to say of one, and the keys."""
        yield ViewTabs()
        yield Static(id="heads", markup=False)
        yield PickList()
        yield Static(id="about", markup=False)
        yield LineInput("only facts that hold this; Esc shows all", id="words")
        yield LineInput("the value, as you state it", id="value")
        yield Keys()

    def on_mount(self) -> None:
        """Show what is known."""
        self.rows.focus()
        self._load()

    def on_resize(self, event: Resize) -> None:
        """Name the columns anew."""
        self._say()

    @property
    def rows(self) -> PickList:
        """The list."""
        return self.query_one(PickList)

    @property
    def words(self) -> LineInput:
        """Where the person types what a fact has to hold."""
        return self.query_one("#words", LineInput)

    @property
    def value(self) -> LineInput:
        """Where the person types a value."""
        return self.query_one("#value", LineInput)

    @on(Input.Changed, "#words")
    def _filter(self) -> None:
        self.show_rows()

    def on_row_list_moved(self) -> None:
        """Say more of the row that the cursor is on."""
        self._say()

    def on_view_tabs_wanted(self, event: ViewTabs.Wanted) -> None:
        """Show the view that was clicked."""
        self.go(event.view)

    def hear(self, name: str) -> None:
        """Take the name of what the conversation published: facts may have changed."""
        if name.startswith("fact.") or name == "turn.end":
            self.follow()

    def follow(self) -> None:
        """Show anew what is known, with what comes in the same moment."""
        if self.is_mounted and not self._soon:
            self._soon = True
            self.set_timer(FOLLOW_AFTER, self._load)

    @work(group="load", exclusive=True)
    async def _load(self) -> None:
        self._soon = False
        try:
            self.known = await self.source.known()
        except WispError as error:
            self.tell(error.sentence(), alarm=True)
        self._loaded = True
        if self.query(PickList):  # else it was closed meanwhile
            self.show_rows()

    def show_rows(self) -> None:
        """Show anew what is in sight, of what is known."""
        text = self.words.value.strip()
        views = {view: view_of(self.known, view, text=text) for view in VIEWS}
        of = self.of
        self._shown = history_of(self.known, of) if of is not None else views[self.view]
        names = {view: f"{view.capitalize()} {len(found)}" for view, found in views.items()}
        if of is not None:
            names = {self.view: one_line(f"History of {title_of(of.fact)}", SAID_CHARACTERS)}
        self.query_one(ViewTabs).show(names, self.view)
        self.rows.show([one.fact.id for one in self._shown], self._draw, start=0)
        self._say()

    def go(self, view: str) -> None:
        """Show a view."""
        self.view, self.of = view, None
        self.show_rows()

    def _draw(self, index: int, cells: int) -> Content:
        return fact_row(self._shown[index], cells, now=self._now(), history=self.of is not None)

    def _say(self) -> None:
        known = self.at()
        heads, below = self.query_one("#heads", Static), self.query_one("#about", Static)
        below.display = known is not None
        if known is not None:
            below.update(about(known, thread=self.source.thread))
        if known is not None or not self._loaded:
            heads.update(fact_heads(self.size.width - 2))
        else:
            # Columns of nothing need no names: what there is to say of it stands where the first row would.
            heads.update("no fact of this view holds that" if self.words.value.strip() else EMPTY[self.view])
        self.refresh_bindings()

    def tell(self, sentence: str, *, alarm: bool = False) -> None:
        """Say for a moment what came of something."""
        said = one_line(displayable(sentence), SAID_CHARACTERS)
        self.app.notify(said, severity="error" if alarm else "information", markup=False)

    def at(self) -> KnownFact | None:
        """Return the fact that the cursor is on."""
        at = self.rows.cursor
        return self._shown[at] if 0 <= at < len(self._shown) else None
