"""The rows of a text of any size that are in view: laid out from the place at the top, painted with what was found."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

from rich.segment import Segment
from rich.style import Style
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget

from wisp_tui.widgets.page_lines import Laid, PageLines, Place
from wisp_tui.widgets.page_search import Needle
from wisp_tui.widgets.pages import Chunk, Pages, Read
from wisp_tui.widgets.render_text import Line, Row, strip_of, width_of

LEAST_DIGITS = 3
GAP_CELLS = 1  # between the number and the text
BAR_CELLS = 1
PARTS = ("number", "match", "hit", "chosen", "bar", "thumb")


@dataclass(frozen=True, slots=True)
class Shown:
    """One row in view: its place, its line's number, whether the line begins there, its text, that as drawn, its byte.

    `byte` is about right, as far as lines of one page are of one length.
    """

    place: Place
    number: int
    begins: bool
    text: str
    line: Line
    byte: float


class PageRows(Widget):
    """A window onto a text, as many rows as it is high from `top` on; the size of the text never matters."""

    COMPONENT_CLASSES = {f"page--{part}" for part in PARTS}
    DEFAULT_CSS = """
    PageRows {
        height: 1fr;
        & > .page--number { color: $foreground 40%; }
        & > .page--match { background: $warning 30%; }
        & > .page--hit { background: $warning; color: $background; text-style: bold; }
        & > .page--chosen { background: $primary 30%; }
        & > .page--bar { color: $foreground 15%; }
        & > .page--thumb { color: $foreground 45%; }
        &:ansi > .page--number { text-style: dim; }
        &:ansi > .page--match { text-style: underline; }
        &:ansi > .page--hit, &:ansi > .page--chosen { text-style: reverse; }
    }
    """
    ALLOW_SELECT = False

    class Moved(Message):
        """Something else is in view."""

    def __init__(self, read: Read) -> None:
        super().__init__()
        self.lines = PageLines(Pages(read))
        self.top = Place()
        self.side = 0
        self.wrapped = True
        self.needle: Needle | None = None
        self.hit: Place | None = None
        self.mark: Place | None = None
        self.cursor = Place()
        self.shown: list[Shown] = []
        self.at_end = False
        self._styles: dict[str, Style] = {}
        self._digits = LEAST_DIGITS
        self._drawing = asyncio.Lock()

    @property
    def pages(self) -> Pages:
        """The text."""
        return self.lines.pages

    @property
    def rows(self) -> list[str]:
        """The texts of the rows in view."""
        return [row.text for row in self.shown]

    @property
    def found(self) -> int:
        """The row in view in which what was found begins, -1 for none."""
        hit = self.hit
        return -1 if hit is None else next((at for at, row in enumerate(self.shown) if _holds(row, hit)), -1)

    async def show(self, place: Place) -> None:
        """Bring the row at a place to the top, or as far up as the end of the text lets it."""
        async with self._drawing:
            self.top = place
            await self._draw()

    async def draw_anew(self) -> None:
        """Lay out for the size and the colours as they are now; what is at the top stays there."""
        self._styles.clear()
        await self.show(self.top)

    def render_line(self, y: int) -> Strip:
        """Return one row of the view."""
        width = self.size.width
        if y >= len(self.shown) or width <= BAR_CELLS or not self._styles:
            return Strip.blank(width, self.rich_style)
        row = self.shown[y]
        ground = self.rich_style
        line = row.line
        if self._is_chosen(row.place):
            chosen = self._styles["chosen"]
            ground += chosen
            line = [(text, style + chosen) for text, style in line]
        number = f"{row.number:>{self._digits}}" if row.begins else " " * self._digits
        sign = "›" if self.mark is not None and row.place == self.cursor else " "
        gutter = [(number + sign, self._styles["number"])]
        strip = strip_of(Row([*gutter, *line], ground), width - BAR_CELLS)
        return Strip.join([strip, Strip([self._bar(y)], BAR_CELLS)])

    async def _draw(self) -> None:
        height = self.size.height
        if not height:
            return
        for _ in range(2):  # a second time where the numbers turn out wider
            self._fit()
            self.top = await self.lines.row_of(self.top)
            await self._fill(height)
            if self.at_end and len(self.shown) < height and self.top > Place():
                last = self.shown[-1].place if self.shown else await self.lines.end()
                self.top = await self.lines.step(last, 1 - height)
                await self._fill(height)
            if not self._fit():
                break
        self.refresh()
        self.post_message(self.Moved())

    def _fit(self) -> bool:
        """Take the width and the colours as they are now; tell whether the width for the text is another."""
        if not self._styles:
            self._styles = {part: self.get_component_rich_style(f"page--{part}") for part in PARTS}
        self._digits = max(LEAST_DIGITS, len(str(self.pages.counted)))
        width = max(2, self.size.width - BAR_CELLS - GAP_CELLS - self._digits)
        changed = width != self.lines.width
        self.lines.fit(width, self.rich_style, wrapped=self.wrapped)
        return changed

    async def _fill(self, height: int) -> None:
        shown: list[Shown] = []
        place: Place | None = self.top
        while place is not None and len(shown) < height:
            laid = await self.lines.laid(place)
            chunk = await self.pages.chunk(place.chunk)
            if laid is None or chunk is None:
                place = None
                break
            shown.append(self._row(place, laid, chunk=chunk))
            place = await self.lines.after(place)
        self.shown = shown
        self.at_end = place is None

    def _row(self, place: Place, laid: Laid, *, chunk: Chunk) -> Shown:
        begins = place.at == 0 and not (chunk.inside and place.line == 0)
        if self.wrapped:
            line = laid.blocks[laid.row(place.at)]
            text = "".join(part for part, _ in line)
            line = painted(line, self._marked(place, laid, first=place.at, past=place.at + len(text)))
        else:
            line, text = self._cropped(place, laid), laid.text
        start = self.pages.offset(place.chunk)
        into = (place.line + place.at / max(1, len(laid.text))) / len(chunk.lines)
        byte = start + (self.pages.offset(place.chunk + 1) - start) * into
        return Shown(place, chunk.number + place.line, begins, text, line, byte)

    def _cropped(self, place: Place, laid: Laid) -> Line:
        """Return what is in view of a line that goes on to the side."""
        cells, before, out, first = 0, 0, [], 0
        for start, block in zip(laid.starts, laid.blocks, strict=True):
            width = width_of(block)
            if cells + width <= self.side:
                before, first = cells + width, start + sum(len(text) for text, _ in block)
            elif cells < self.side + self.lines.width:
                out += block
            cells += width
        past = first + sum(len(text) for text, _ in out)
        segments = [
            Segment(text, style) for text, style in painted(out, self._marked(place, laid, first=first, past=past))
        ]
        strip = Strip(segments).crop(self.side - before, self.side - before + self.lines.width)
        return [(segment.text, segment.style or self.rich_style) for segment in strip]

    def _marked(self, place: Place, laid: Laid, *, first: int, past: int) -> list[tuple[int, int, Style]]:
        """Return what is found between two characters of a line, counted from the first of them, and its style."""
        needle = self.needle
        if needle is None:
            return []
        size = len(needle.text) - 1
        marked = []
        for start, end in needle.places(laid.text, start=max(0, first - size), end=past + size):
            style = self._styles["hit" if Place(place.chunk, place.line, start) == self.hit else "match"]
            marked.append((start - first, end - first, style))
        return marked

    def _is_chosen(self, place: Place) -> bool:
        if self.mark is None:
            return False
        first, last = sorted(((self.mark.chunk, self.mark.line), (self.cursor.chunk, self.cursor.line)))
        return first <= (place.chunk, place.line) <= last

    def _bar(self, y: int) -> Segment:
        total = max(1, self.pages.total)
        height = self.size.height
        first = self.shown[0].byte / total
        last = 1.0 if self.at_end else self.shown[-1].byte / total
        top = min(height - 1, int(first * height))
        if top <= y < max(top + 1, round(last * height)):
            return Segment("█", self._styles["thumb"])
        return Segment("│", self._styles["bar"])


def painted(line: Line, marked: Sequence[tuple[int, int, Style]]) -> Line:
    """Return a line with styles laid over characters [first, past) of it, in their order."""
    for first, past, style in marked:
        out: Line = []
        at = 0
        for text, plain in line:
            start, end = max(0, first - at), max(0, past - at)
            out += [(text[:start], plain), (text[start:end], plain + style), (text[end:], plain)]
            at += len(text)
        line = [span for span in out if span[0]]
    return line


def _holds(row: Shown, place: Place) -> bool:
    same = (row.place.chunk, row.place.line) == (place.chunk, place.line)
    return same and row.place.at <= place.at < row.place.at + max(1, len(row.text))
