"""Ctrl-N: what waits for the person in any conversation of the home, whichever wisp asks; shown in full, answered."""

from collections.abc import Awaitable, Callable, Sequence
from datetime import datetime
from typing import ClassVar, Protocol

from textual import events, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.screen import Screen
from textual.widgets import Input, Static

from wisp_core.errors import WispError
from wisp_core.requests import Answer
from wisp_core.text import displayable, one_line
from wisp_tui.screens.clock import utc_now
from wisp_tui.widgets.approval import ApprovalPanel
from wisp_tui.widgets.asked import Asked
from wisp_tui.widgets.keys import Keys
from wisp_tui.widgets.pending_rows import PendingLine, pending_heads, pending_row, who_asks
from wisp_tui.widgets.pick_list import PickList

SAID_CHARACTERS = 300
NOTHING = "nothing waits for you, in any conversation; what comes shows here at once"


class OpenOf(Protocol):
    """A request as the core lists it: `closed` says why it cannot be answered, empty where it can."""

    @property
    def id(self) -> str: ...  # noqa: D102
    @property
    def kind(self) -> str: ...  # noqa: D102
    @property
    def thread(self) -> str: ...  # noqa: D102
    @property
    def title(self) -> str: ...  # noqa: D102
    @property
    def who(self) -> str: ...  # noqa: D102
    @property
    def why(self) -> str: ...  # noqa: D102
    @property
    def time(self) -> str: ...  # noqa: D102
    @property
    def asked(self) -> Asked: ...  # noqa: D102
    @property
    def closed(self) -> str: ...  # noqa: D102
    @property
    def process(self) -> int: ...  # noqa: D102
    @property
    def here(self) -> bool: ...  # noqa: D102


class PendingSource(Protocol):
    """What the screen needs of the core."""

    def list(self) -> Awaitable[Sequence[OpenOf]]:
        """Return everything that waits, newest first."""

    def answer(self, id: str, answer: Answer) -> Awaitable[str]:
        """Answer what waits under this id, and return what came of it as a sentence."""

    def subscribe(self, listener: Callable[[], None]) -> Callable[[], None]:
        """Have `listener` called when something else waits than before; the function returned ends that."""


class PendingScreen(Screen[None]):
    """The requests over the one at the cursor in full; `now` tells the time that ages are counted from."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "dismiss", "Close", id="pending.close"),
        Binding("ctrl+n", "dismiss", "Close", show=False, id="pending.away"),
        Binding("pageup", "scroll_asked('pageup')", "A page up", show=False, id="pending.page_up"),
        Binding("pagedown", "scroll_asked('pagedown')", "Read on", show=False, id="pending.page_down"),
        Binding("tab,shift+tab", "stay", show=False, id="pending.stay"),
    ]
    DEFAULT_CSS = """
    PendingScreen {
        #title { height: 1; }
        #heads { height: auto; max-height: 3; padding: 0 1; }
        #who { height: auto; max-height: 3; padding: 0 1; color: $text-muted; }
        PickList { min-height: 2; }
        ApprovalPanel { max-height: 65%; }
    }
    """

    def __init__(self, source: PendingSource, *, now: Callable[[], datetime] = utc_now) -> None:
        super().__init__()
        self._source = source
        self._now = now
        self._open: Sequence[OpenOf] = ()
        self._loaded = False
        self._shown = ""  # the id of what stands in the panel
        self._answered: set[str] = set()  # ids whose answer is on its way
        self._typed_at = float("-inf")
        self._unsubscribe: Callable[[], None] | None = None

    def compose(self) -> ComposeResult:
        """Lay out the requests, who asks, what is asked in full, and the keys."""
        yield Static(Content("Pending"), id="title", markup=False)
        yield Static(id="heads", markup=False)
        yield PickList()
        yield Static(id="who", markup=False)
        yield ApprovalPanel(denies=False)
        yield Keys()

    def on_mount(self) -> None:
        """Show what waits, and follow it."""
        self.rows.focus()
        self._unsubscribe = self._source.subscribe(self._follow)
        self._load()

    def on_unmount(self) -> None:
        """Follow no longer."""
        if self._unsubscribe is not None:
            self._unsubscribe()

    def on_resize(self, event: events.Resize) -> None:
        """Name the columns anew."""
        self._name_columns()

    def on_screen_resume(self) -> None:
        """Count anew how long it has been visible: another screen covered it."""
        if self.panel.open:
            self.panel.appear()

    @property
    def rows(self) -> PickList:
        """The list."""
        return self.query_one(PickList)

    @property
    def panel(self) -> ApprovalPanel:
        """What is asked in full."""
        return self.query_one(ApprovalPanel)

    def action_scroll_asked(self, key: str) -> None:
        """Scroll what is asked by a page."""
        self.panel.scroll_body(key)

    def action_stay(self) -> None:
        """Leave the keys with the list."""
        self.rows.focus()

    def on_key(self, event: events.Key) -> None:
        """Give what is asked its keys; a letter that begins a word, or comes too soon, answers nothing."""
        panel = self.panel
        if self.focused is not self.rows or not (event.is_printable or event.key == "enter"):
            self._typed_at = event.time if event.is_printable else self._typed_at
            return
        event.stop()
        event.prevent_default()
        if panel.holding:
            panel.withdraw()
            self._typed_at = event.time
        elif panel.takes(event.time, self._typed_at):
            panel.press(event.key)

    def on_input_changed(self, event: Input.Changed) -> None:
        """Keep in mind that something is being typed: it is no answer to what may come up meanwhile."""
        self._typed_at = event.time

    @work(group="answer")
    async def on_approval_panel_answered(self, event: ApprovalPanel.Answered) -> None:
        """Hand the answer on, and tell for a moment what came of it."""
        event.stop()
        self.rows.focus()
        id, self._shown = self._shown, ""
        self.panel.ask(None)
        self._answered.add(id)
        try:
            self._tell(await self._source.answer(id, event.answer))
        except WispError as error:
            self._answered.discard(id)
            self._tell(error.sentence(), alarm=True)
        self._load()

    def on_row_list_moved(self) -> None:
        """Show the row that the cursor is on in full."""
        self._ask()

    def _follow(self) -> None:
        self._load()

    @work(group="load", exclusive=True)
    async def _load(self) -> None:
        try:
            self._open = await self._source.list()
        except WispError as error:
            self._tell(error.sentence(), alarm=True)
        if not (self.query("#title") and self.query(PickList)):
            return  # it was closed meanwhile
        self._loaded = True
        count = sum(not one.closed for one in self._open)
        self.query_one("#title", Static).update(Content(f"Pending · {count}"))
        self.rows.show([one.id for one in self._open], self._draw, start=0)
        self._ask()

    def _ask(self) -> None:
        """Show what is asked at the cursor; what is shown already stays as it is."""
        at = self.rows.cursor
        one = self._open[at] if 0 <= at < len(self._open) else None
        who = self.query_one("#who", Static)
        who.display = one is not None
        self._name_columns()
        if one is not None:
            # What is asked of a call says itself why; a question's reason is the question.
            why = one.why if one.kind == "fact" else ""
            who.update(who_asks(one.who, why, where=_where(one), closed=one.closed))
        wanted = one.id if one is not None and not one.closed and one.id not in self._answered else ""
        if wanted != self._shown:
            self._shown = wanted
            self.panel.ask(one.asked if one is not None and wanted else None)

    def _name_columns(self) -> None:
        # Columns of nothing need no names: what there is to say of it stands where the first row would.
        empty = self._loaded and not self._open
        self.query_one("#heads", Static).update(NOTHING if empty else pending_heads(self.size.width - 2))

    def _draw(self, index: int, cells: int) -> Content:
        one = self._open[index]
        return pending_row(PendingLine(one.kind, one.asked, one.title, one.time, one.closed), cells, now=self._now())

    def _tell(self, sentence: str, *, alarm: bool = False) -> None:
        said = one_line(displayable(sentence), SAID_CHARACTERS)
        self.app.notify(said, severity="error" if alarm else "information", markup=False)


def _where(one: OpenOf) -> str:
    if one.here:
        return "in a conversation of this wisp"
    return f"in process {one.process}" if one.process else "and waits without limit"
