"""The ways through a text of any size: by rows and pages, to a line, to the end, to what was found, to the side."""

from collections.abc import Callable

from textual import events

from wisp_core.text import displayable
from wisp_tui.widgets.page_lines import PageLines, Place
from wisp_tui.widgets.page_rows import PageRows
from wisp_tui.widgets.page_search import without_sequences
from wisp_tui.widgets.pages import Pages, Read

WHEEL_ROWS = 3
SIDE_CELLS = 16  # a step to the side


class PageView(PageRows, can_focus=True):
    """A text that is moved through; while lines are chosen (`mark` is set) it is the cursor that moves."""

    async def open(self, read: Read, *, line: int = 1) -> None:
        """Show another text, from one of its lines on, from its start where it has not so many."""
        async with self._drawing:
            self.lines = PageLines(Pages(read))
            self.hit = self.mark = None
            self._fit()
            self.top = Place(*(await self.pages.find_line(line) or (0, 0)))
            await self._draw()

    async def move(self, rows: int) -> None:
        """Go down by so many rows, or up."""
        if self.mark is not None:
            self.cursor = await self.lines.step(self.cursor, rows)
            await self.reveal(self.cursor)
        elif not (rows > 0 and self.at_end):
            await self.show(await self.lines.step(self.top, rows))

    async def reveal(self, place: Place, *, above: int | None = None) -> None:
        """Bring a place into view, with so many rows above it; where it is in view already, nothing moves."""
        row = await self.lines.row_of(place)
        top = self.top
        if not self.shown or not self.shown[0].place <= row <= self.shown[-1].place:
            rows = above if above is not None else 0 if row < top else self.size.height - 1
            top = await self.lines.step(row, -rows)
        await self.show(top)

    async def show_hit(self, place: Place) -> None:
        """Show what was found, to the side as well."""
        self.hit = place
        laid = await self.lines.laid(place)
        if laid is not None and not self.wrapped:
            cells = laid.cells(place.at)
            if not self.side <= cells < self.side + self.lines.width - SIDE_CELLS:
                self.side = max(0, cells - self.lines.width // 2)
        if self.mark is not None:
            self.cursor = await self.lines.row_of(place)
        await self.reveal(place, above=self.size.height // 2)

    async def show_end(self, tell: Callable[[float], None]) -> None:
        """Show the last rows; what was not read yet is read for it."""
        await self.lines.read_to_end(tell)
        self.cursor = await self.lines.end()
        await self.show(self.cursor)

    async def show_line(self, number: int, tell: Callable[[float], None]) -> bool:
        """Show a line at the top; tell whether there is one of that number."""
        await self.lines.read_to_line(number, tell)
        found = await self.pages.find_line(number)
        if found is None:
            return False
        self.cursor = Place(*found)
        await self.show(self.cursor)
        return True

    async def set_wrapped(self, wrapped: bool) -> None:
        """Wrap long lines, or let them go on to the side."""
        self.wrapped = wrapped
        self.side = 0
        await self.show(self.top)

    async def move_side(self, steps: int) -> None:
        """Go to the side, where lines are not wrapped."""
        if not self.wrapped:
            self.side = max(0, self.side + steps * SIDE_CELLS)
            await self.show(self.top)

    def choose(self) -> None:
        """Begin to choose lines at the current one."""
        self.mark = self.cursor = self.current
        self.refresh()

    async def take(self, most: int) -> tuple[str, bool]:
        """Return the chosen lines, else the current one, in at most so many characters, and whether that is all."""
        first, last = sorted((self.current if self.mark is None else self.mark, self.current))
        index, line = await self._line_start(first)
        pieces: list[str] = []
        size = 0
        while (chunk := await self.pages.chunk(index)) is not None:
            while line < len(chunk.lines) and size <= most:
                if (index, line) > (last.chunk, last.line) and not (chunk.inside and not line):
                    return "".join(pieces).removesuffix("\n"), True
                open_end = bool(chunk.after) and line == len(chunk.lines) - 1
                text = displayable(without_sequences(chunk.lines[line])) + ("" if open_end else "\n")
                pieces.append(text)
                size += len(text)
                line += 1
            if size > most:
                return "".join(pieces)[:most], False
            index, line = index + 1, 0
        return "".join(pieces).removesuffix("\n"), True

    async def on_resize(self) -> None:
        """Lay out anew; who was at the end stays there."""
        if self.at_end and self.shown and self.top > Place():
            self.top = self.shown[-1].place
        await self.draw_anew()

    async def on_mouse_scroll_down(self, event: events.MouseScrollDown) -> None:
        """Go down."""
        event.stop()
        await self.move(WHEEL_ROWS)

    async def on_mouse_scroll_up(self, event: events.MouseScrollUp) -> None:
        """Go up."""
        event.stop()
        await self.move(-WHEEL_ROWS)

    def notify_style_update(self) -> None:
        """Take the theme's colours anew."""
        super().notify_style_update()
        if self.shown:
            self.call_later(self.draw_anew)

    @property
    def current(self) -> Place:
        """The line that a copy takes: the cursor's, that of what was found, else the first in view."""
        if self.mark is not None:
            return self.cursor
        return self.hit if self.hit is not None and self.found >= 0 else self.top

    async def _line_start(self, place: Place) -> tuple[int, int]:
        """Return the chunk and the line there at which the line of a place begins."""
        index, line = place.chunk, place.line
        while line == 0 and index > 0 and (chunk := await self.pages.chunk(index)) is not None and chunk.inside:
            index -= 1
            before = await self.pages.chunk(index)
            line = len(before.lines) - 1 if before is not None else 0
        return index, line
