"""How the list of threads stands: what is in it, what a row of it shows, what is said of the row at the cursor."""

from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.events import Resize
from textual.screen import Screen
from textual.timer import Timer
from textual.widgets import Static

from wisp_core.text import displayable, one_line
from wisp_tui.screens.clock import utc_now
from wisp_tui.screens.place import directory_of
from wisp_tui.screens.threads_items import Item, Shelf, ThreadOf, Wish, gather
from wisp_tui.widgets.keys import Keys
from wisp_tui.widgets.line_input import LineInput
from wisp_tui.widgets.row_list import RowList
from wisp_tui.widgets.thread_rows import QUIET, ThreadLine, age, heads, passage_row, saved_row, thread_row

SAID_CHARACTERS = 300


class Words(LineInput):
    """The words to look for; Enter goes on in what they found."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("enter", "screen.resume", "Resume", show=True)]


class ThreadsState(Screen[Wish | None]):
    """The rows over the library; `current` is the thread that is open here.

    Exports are written into `folder`; `now` tells the time that ages are counted from.
    """

    DEFAULT_CSS = """
    ThreadsState {
        #title { height: 1; }
        #words, #asked { padding: 0 1; }
        #asked { display: none; }
        #heads { height: 1; padding: 0 1; }
        #state { height: 1; padding: 0 1; color: $text-muted; text-wrap: nowrap; text-overflow: ellipsis; }
    }
    """

    def __init__(self, shelf: Shelf, *, current: str, folder: Path, now: Callable[[], datetime] = utc_now) -> None:
        super().__init__()
        self._shelf = shelf
        self._current = current
        self._folder = folder
        self._now = now
        self._items: list[Item] = []
        self._renamed = ""
        self._waiting: Timer | None = None

    def compose(self) -> ComposeResult:
        """Lay out the words to look for, the rows, what there is to say of one, and the keys."""
        yield Static(Content("Threads"), id="title", markup=False)
        yield Words("/ searches what was said", id="words")
        yield Static(id="heads", markup=False)
        yield RowList()
        yield Static(id="state", markup=False)
        yield LineInput("a title", id="asked")
        yield Keys()

    def on_resize(self, event: Resize) -> None:
        """Name the columns anew."""
        # A row is set in by its cursor's cell and leaves one to the scrollbar.
        self.query_one("#heads", Static).update(heads(event.size.width - 2))

    @property
    def rows(self) -> RowList:
        """The list."""
        return self.query_one(RowList)

    @property
    def words(self) -> Words:
        """Where the person types what to look for."""
        return self.query_one("#words", Words)

    @property
    def asked(self) -> LineInput:
        """Where the person types a title."""
        return self.query_one("#asked", LineInput)

    async def show_found(self) -> None:
        """Show what is in the library now, or what holds the words.

        Raises:
            WispError: the home cannot be read.
        """
        text = self.words.value.strip()
        self._items = await gather(self._shelf, text)
        self.rows.show([item.key for item in self._items], self._draw, start=0)
        count = sum(item.thread is not None and item.passage is None for item in self._items)
        self.query_one("#title", Static).update(Content(f"Threads · {count:,}{' found' if text else ''}"))
        self.refresh_bindings()
        none = f"nothing that was said holds {text}" if text else "there is no thread yet; the first prompt begins one"
        self._say(self._about() if self._items else none)

    def _item(self) -> Item | None:
        at = self.rows.cursor
        return self._items[at] if 0 <= at < len(self._items) else None

    def _thread(self) -> ThreadOf | None:
        item = self._item()
        return None if item is None else item.thread

    def _draw(self, index: int, cells: int) -> Content:
        item, now = self._items[index], self._now()
        if item.passage is not None:
            return passage_row(item.passage, cells)
        if item.saved is not None:
            return saved_row(item.saved.name, item.saved.bytes, cells=cells, when=age(item.saved.time, now))
        thread = item.thread
        if thread is None:
            return Content.styled(item.words, QUIET)
        state = "here" if thread.id == self._current else "open" if thread.open_by else ""
        when = age(thread.updated, now)
        return thread_row(
            ThreadLine(thread.title, directory_of(thread.cwd), when, thread.turns, thread.bytes, state), cells
        )

    def _about(self) -> str:
        item = self._item()
        if item is not None and item.saved is not None:
            return f"saved {_minute(item.saved.time)} · resumed as a new thread"
        if item is None or item.thread is None:
            return ""
        thread = item.thread
        words = [thread.id, _minute(thread.updated), directory_of(thread.cwd)]
        if thread.id == self._current:
            words.insert(0, "open here")
        elif thread.open_by:
            words.insert(0, f"open in another wisp, process {thread.open_by}")
        return " · ".join(words)

    def _say(self, sentence: str) -> None:
        self.query_one("#state", Static).update(Content(one_line(displayable(sentence), SAID_CHARACTERS)))


def _minute(time: str) -> str:
    return time[:16].replace("T", " ")
