"""A list of any length of which only the rows in view are made; it keeps its place when its rows change."""

from collections.abc import Callable, Sequence
from typing import ClassVar

from textual import events
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.geometry import Region, Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.strip import Strip
from textual.style import Style
from textual.visual import Visual

BAR = "▌"

Draw = Callable[[int, int], Content]


class RowList(ScrollView, can_focus=True):
    """Rows that `draw(index, cells)` makes when they come into view; `keys` name them so that a place can be kept."""

    ALLOW_SELECT = False
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up,k", "move(-1)", "Up", show=False, id="context.up"),
        Binding("down,j", "move(1)", "Down", show=False, id="context.down"),
        Binding("pageup", "page(-1)", "A page up", show=False, id="context.page_up"),
        Binding("pagedown,space", "page(1)", "A page down", show=False, id="context.page_down"),
        Binding("home", "edge(-1)", "First", show=False, id="context.first"),
        Binding("end,G", "edge(1)", "Last", show=False, id="context.last"),
    ]
    DEFAULT_CSS = """
    RowList {
        height: 1fr;
        overflow-x: hidden;
        overflow-y: scroll;
        scrollbar-size-vertical: 1;
        background: $background;
        color: $foreground;
        text-wrap: nowrap;
        text-overflow: ellipsis;
    }
    """

    class Chosen(Message):
        """The person wants to see more of the row `index`."""

        def __init__(self, rows: "RowList", index: int) -> None:
            super().__init__()
            self.rows = rows
            self.index = index

        @property
        def control(self) -> "RowList":
            """The list that it is a row of."""
            return self.rows

    class Moved(Chosen):
        """The cursor stands on another row."""

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._keys: Sequence[str] = ()
        self._draw: Draw = lambda index, cells: Content()
        self.cursor = -1

    @property
    def count(self) -> int:
        """How many rows there are."""
        return len(self._keys)

    def show(self, keys: Sequence[str], draw: Draw, *, start: int = -1) -> None:
        """Show other rows: the cursor stays on its key, else where it was, else begins at row `start`."""
        before, above = self.cursor, self.cursor - round(self.scroll_y)
        key = self._keys[before] if 0 <= before < len(self._keys) else None
        self._keys, self._draw = keys, draw
        self.virtual_size = Size(0, len(keys))
        if key is None:
            self.cursor = start % len(keys) if keys else -1
            self.call_after_refresh(self._reveal)
        else:
            # What comes is added at the end: most often the key stands where it stood.
            same = before < len(keys) and keys[before] == key
            self.cursor = before if same else _find(keys, key, near=before)
            if self.cursor >= 0:
                self.scroll_to(y=max(0, self.cursor - above), animate=False)
                self.call_after_refresh(self._reveal)
        self.refresh()
        self._tell()

    def move_to(self, index: int) -> None:
        """Put the cursor on a row, the nearest there is, and bring it into view."""
        if self._keys:
            self.cursor = max(0, min(len(self._keys) - 1, index))
            self._reveal()
            self.refresh()
            self._tell()

    def action_move(self, rows: int) -> None:
        """Go by rows."""
        self.move_to(self.cursor + rows)

    def action_page(self, step: int) -> None:
        """Go by as many rows as are in view."""
        self.move_to(self.cursor + step * max(1, self._height - 1))

    def action_edge(self, step: int) -> None:
        """Go to the first row or the last."""
        self.move_to(self.count if step > 0 else 0)

    def choose(self) -> None:
        """Ask for more of the row at the cursor."""
        if self._keys:
            self.post_message(self.Chosen(self, self.cursor))

    def on_click(self, event: events.Click) -> None:
        """Put the cursor on a row; a click on it again shows more."""
        event.stop()
        index = event.y + self.scroll_offset.y
        if index == self.cursor:
            self.choose()
        elif index < self.count:
            self.move_to(index)

    def on_resize(self) -> None:
        """Keep the cursor in view."""
        self._reveal()

    def on_focus(self) -> None:
        """Show that keys go here."""
        self.refresh()

    def on_blur(self) -> None:
        """Show that keys go elsewhere."""
        self.refresh()

    def render_line(self, y: int) -> Strip:
        """Return one row of the view."""
        width = self.scrollable_content_region.width
        index = self.scroll_offset.y + y
        style = self.visual_style
        if index >= self.count or width < 1:
            return Strip.blank(width, style.rich_style)
        at = index == self.cursor
        if at:
            style += Style(bold=True) if self.has_focus else Style()
        bar = (BAR, "$accent") if at and self.has_focus else (BAR, "$foreground 35%") if at else " "
        row = Content.assemble(bar, self._draw(index, width - 1))
        strips = Visual.to_strips(self, row, width, 1, style, pad=True)
        return strips[0].adjust_cell_length(width) if strips else Strip.blank(width, style.rich_style)

    @property
    def _height(self) -> int:
        return self.scrollable_content_region.height

    def _reveal(self) -> None:
        if self.cursor >= 0 and self._height:
            self.scroll_to_region(Region(0, self.cursor, 1, 1), animate=False, force=True)

    def _tell(self) -> None:
        if self._keys:
            self.post_message(self.Moved(self, self.cursor))


def _find(keys: Sequence[str], key: str, *, near: int) -> int:
    """Return where `key` stands, else the row nearest to where it was, -1 where there is none."""
    return keys.index(key) if key in keys else min(near, len(keys) - 1)
