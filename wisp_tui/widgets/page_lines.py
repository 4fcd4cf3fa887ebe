"""The lines of the chunks of a text as rows of a width, and the ways between them; it knows no screen."""

import asyncio
from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import accumulate

from rich.cells import cell_len
from rich.style import Style

from wisp_tui.widgets.pages import Chunk, Held, Pages
from wisp_tui.widgets.render_ansi import ansi_lines
from wisp_tui.widgets.render_text import Line, Wrapping, wrap

MOST_CHARACTERS = 256 * 1024  # of lines that are laid out and held
MOST_COLOURED = 2  # chunks of which the coloured lines are held
BLOCK_CELLS = 512  # an unwrapped line is laid out in blocks of about so many cells
STYLE_BYTES = 16  # about what a span costs beside its characters, in characters


@dataclass(frozen=True, slots=True, order=True)
class Place:
    """A place in a text: the chunk, the line of the chunk, the character of the line as it is shown."""

    chunk: int = 0
    line: int = 0
    at: int = 0


class Laid:
    """One line laid out: `blocks` of styled text, each from the character `starts` says."""

    def __init__(self, line: Line, width: int) -> None:
        self.text = "".join(part for part, _ in line)
        self.blocks = wrap(line, width, how=Wrapping.CELLS)
        sizes = [sum(len(part) for part, _ in block) for block in self.blocks]
        self.starts = [0, *accumulate(sizes[:-1])]

    def row(self, at: int) -> int:
        """Return the block in which a character stands."""
        return max(0, bisect_right(self.starts, at) - 1)

    def cells(self, at: int) -> int:
        """Return the cells before a character."""
        return cell_len(self.text[:at])


class PageLines:
    """The lines of a text laid out: wrapped at `width` cells, or in blocks where not `wrapped`."""

    def __init__(self, pages: Pages) -> None:
        self.pages = pages
        self.width = 0
        self.wrapped = True
        self._plain = Style()
        self._laid: Held[tuple[int, int], Laid] = Held(MOST_CHARACTERS)
        self._coloured: Held[int, Sequence[Line]] = Held(MOST_COLOURED)

    def fit(self, width: int, plain: Style, *, wrapped: bool) -> None:
        """Lay out for another width or style."""
        if (width, plain, wrapped) != (self.width, self._plain, self.wrapped):
            self.width, self._plain, self.wrapped = width, plain, wrapped
            self.forget()

    def forget(self) -> None:
        """Lay out everything anew."""
        self._laid.clear()
        self._coloured.clear()

    async def laid(self, place: Place) -> Laid | None:
        """Return the line at a place, None where there is none."""
        held = self._laid.get((place.chunk, place.line))
        if held is not None:
            return held
        chunk = await self.pages.chunk(place.chunk)
        if chunk is None or place.line >= len(chunk.lines):
            return None
        line = self._styled(place.chunk, chunk, line=place.line)
        laid = Laid(line, self.width if self.wrapped else BLOCK_CELLS)
        weight = len(laid.text) + STYLE_BYTES * (len(line) + len(laid.blocks))
        return self._laid.put((place.chunk, place.line), laid, weight=weight)

    async def after(self, place: Place) -> Place | None:
        """Return the row below, None at the end."""
        laid = await self.laid(place)
        if laid is not None and self.wrapped:
            row = laid.row(place.at) + 1
            if row < len(laid.starts):
                return Place(place.chunk, place.line, laid.starts[row])
        index, line = place.chunk, place.line + 1
        while (chunk := await self.pages.chunk(index)) is not None:
            if line < len(chunk.lines):
                return Place(index, line)
            index, line = index + 1, 0
        return None

    async def before(self, place: Place) -> Place | None:
        """Return the row above, None at the start."""
        laid = await self.laid(place)
        if laid is not None and self.wrapped and (row := laid.row(place.at)):
            return Place(place.chunk, place.line, laid.starts[row - 1])
        index, line = place.chunk, place.line - 1
        while line < 0 and index > 0:
            index -= 1
            chunk = await self.pages.chunk(index)
            line = len(chunk.lines) - 1 if chunk is not None else -1
        return await self.last_row(Place(index, line)) if line >= 0 else None

    async def last_row(self, place: Place) -> Place:
        """Return the last row of the line at a place."""
        laid = await self.laid(place)
        return Place(place.chunk, place.line, laid.starts[-1] if laid is not None and self.wrapped else 0)

    async def row_of(self, place: Place) -> Place:
        """Return the start of the row that a place stands in, in the nearest line that is there."""
        chunk = await self.pages.chunk(place.chunk)
        if chunk is None:
            return await self.end()
        place = Place(place.chunk, min(place.line, max(0, len(chunk.lines) - 1)), place.at)
        laid = await self.laid(place)
        at = laid.starts[laid.row(place.at)] if laid is not None and self.wrapped else 0
        return Place(place.chunk, place.line, at)

    async def step(self, place: Place, rows: int) -> Place:
        """Return the place so many rows below, or above, as far as there are any."""
        move = self.after if rows > 0 else self.before
        for _ in range(abs(rows)):
            moved = await move(place)
            if moved is None:
                break
            place = moved
        return place

    async def end(self) -> Place:
        """Return the last row of what has been read."""
        index = self.pages.known - 1
        chunk = await self.pages.chunk(index)
        if chunk is not None and chunk.lines:
            return await self.last_row(Place(index, len(chunk.lines) - 1))
        return await self.before(Place(index)) or Place()

    async def read_to_end(self, tell: Callable[[float], None]) -> None:
        """Read what has not been read yet, to know where it ends."""
        while await self.pages.reach(self.pages.known):
            tell(self.pages.share)
            await asyncio.sleep(0)  # a text in memory must not hold up the keys

    async def read_to_line(self, number: int, tell: Callable[[float], None]) -> None:
        """Read up to a line, to know where it is."""
        while self.pages.counted < number and await self.pages.reach(self.pages.known):
            tell(self.pages.share)
            await asyncio.sleep(0)

    def _styled(self, index: int, chunk: Chunk, *, line: int) -> Line:
        if "\x1b" not in chunk.text and not chunk.colour:
            found = ansi_lines(chunk.lines[line], self._plain)
            return found[0] if found else [("", self._plain)]
        coloured = self._coloured.get(index)
        if coloured is None:
            coloured = self._coloured.put(index, ansi_lines(chunk.colour + chunk.text, self._plain))
        return coloured[line]
