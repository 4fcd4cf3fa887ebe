"""Ctrl-O: pages through a text or a stored output, a part read at a time, with search."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from rich.cells import cell_len, chop_cells
from rich.segment import Segment
from rich.style import Style
from textual import work
from textual.app import ComposeResult
from textual.binding import Binding
from textual.content import Content
from textual.geometry import Size
from textual.screen import Screen
from textual.scroll_view import ScrollView
from textual.strip import Strip
from textual.widgets import Input, Static

from wisp_core.text import displayable, one_line
from wisp_tui.widgets.line_input import LineInput

TAB_CELLS = 8
NEAR_END = 50  # rows from the end at which the next part is read
MOST_SEARCHED = 64  # parts read on for one search


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a text and the offset in bytes of the next, None at the end; `total` in bytes."""

    text: str
    next: int | None
    total: int


Read = Callable[[int], Awaitable[Part]]


class PageView(ScrollView, can_focus=True):
    """The rows read so far, wrapped to the width."""

    def __init__(self) -> None:
        super().__init__()
        self._lines: list[str] = []
        self._open = ""
        self.rows: list[str] = []
        self.found = -1

    def add(self, text: str, *, last: bool) -> None:
        """Take the next part; a line that goes on in the part after it waits for that."""
        lines = (self._open + text).split("\n")
        self._open = "" if last else lines.pop()
        if last and lines[-1:] == [""]:
            lines.pop()
        if len(self._open) > len(text) > 0:  # one line longer than a part: shown in pieces
            lines, self._open = [*lines, self._open], ""
        cleaned = [displayable(line).expandtabs(TAB_CELLS) for line in lines]
        self._lines += cleaned
        self._wrap(cleaned)

    def on_resize(self) -> None:
        """Wrap anew."""
        self.rows = []
        self._wrap(self._lines)

    def render_line(self, y: int) -> Strip:
        """Return one row; the row that was found stands out."""
        at = y + self.scroll_offset.y
        style = self.rich_style
        if at >= len(self.rows):
            return Strip.blank(self.size.width, style)
        if at == self.found:
            style += Style(reverse=True)
        row = self.rows[at]
        return Strip([Segment(row, style)], cell_len(row)).adjust_cell_length(self.size.width, style)

    def find(self, word: str, start: int) -> int | None:
        """Return the first row from `start` that holds `word`, case aside, None where none does."""
        wanted = word.casefold()
        return next((at for at in range(start, len(self.rows)) if wanted in self.rows[at].casefold()), None)

    def go_to(self, row: int) -> None:
        """Show a row that was found."""
        self.found = row
        self.scroll_to(y=max(0, row - self.size.height // 2), animate=False)
        self.refresh()

    def _wrap(self, lines: list[str]) -> None:
        width = self.scrollable_content_region.width
        if width <= 0:
            return
        for line in lines:
            self.rows += [line] if cell_len(line) <= width else chop_cells(line, width)
        self.virtual_size = Size(width, len(self.rows))
        self.refresh()


class PagerScreen(Screen[None]):
    """One text, from its start; `read` gives the part at an offset."""

    BINDINGS = [
        Binding("escape", "close", "Close", id="pager.close"),
        Binding("q", "dismiss", "Close", show=False),
        Binding("slash", "search", "Search", key_display="/", id="pager.search"),
        Binding("n", "next", "Next", id="pager.next"),
        Binding("c", "copy", "Copy", id="pager.copy"),
    ]

    def __init__(self, title: str, read: Read) -> None:
        super().__init__()
        self._title = title
        self._read = read
        self._next: int | None = 0
        self._text: list[str] = []
        self._word = ""

    def compose(self) -> ComposeResult:
        """Lay out the title, the text and the line to search with."""
        yield Static(Content(one_line(displayable(self._title), 200)), id="title", markup=False)
        yield PageView()
        yield LineInput("search", id="search")
        yield Static("Esc closes   / searches   n next   c copies", id="foot", markup=False)

    def on_mount(self) -> None:
        """Read the start."""
        self.query_one("#search").display = False
        view = self.query_one(PageView)
        view.focus()
        self.watch(view, "scroll_y", self._near_end, init=False)
        self.call_after_refresh(self._read_on)

    def action_close(self) -> None:
        """Leave the search, or the screen."""
        search = self.query_one("#search")
        if search.display:
            search.display = False
            self.query_one(PageView).focus()
        else:
            self.dismiss()

    def action_search(self) -> None:
        """Take a word to look for."""
        search = self.query_one("#search", LineInput)
        search.display = True
        search.focus()

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Look for the word."""
        self._word = event.value
        self.action_close()
        self._look(self.query_one(PageView).scroll_offset.y)

    def action_next(self) -> None:
        """Look for the word again, after the place where it was found."""
        self._look(self.query_one(PageView).found + 1)

    def action_copy(self) -> None:
        """Copy what was read so far."""
        text = "".join(self._text)
        self.app.copy_to_clipboard(text)
        self.app.notify(f"{len(text):,} characters sent to the terminal's clipboard (OSC 52)", markup=False)

    def _near_end(self) -> None:
        view = self.query_one(PageView)
        if self._next is not None and view.scroll_offset.y + view.size.height + NEAR_END >= len(view.rows):
            self._read_on()

    @work(exclusive=True, group="read")
    async def _read_on(self) -> None:
        await self._read_part()

    async def _read_part(self) -> bool:
        if self._next is None:
            return False
        part = await self._read(self._next)
        self._next = part.next
        self._text.append(part.text)
        self.query_one(PageView).add(part.text, last=part.next is None)
        return True

    @work(exclusive=True, group="read")
    async def _look(self, start: int) -> None:
        if not self._word:
            return
        view = self.query_one(PageView)
        for _ in range(MOST_SEARCHED):
            found = view.find(self._word, start)
            if found is not None:
                view.go_to(found)
                return
            start = len(view.rows)
            if not await self._read_part():
                break
        self.app.notify(f"not found from here on: {self._word}", markup=False)
