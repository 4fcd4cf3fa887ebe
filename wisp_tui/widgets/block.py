"""What every block of the transcript has: text, rows for a width, folding, and what copying gives."""

from dataclasses import dataclass, field

from rich.style import Style
from textual.strip import Strip

from wisp_tui.widgets.render_markdown import Part
from wisp_tui.widgets.render_palette import Palette
from wisp_tui.widgets.render_text import Line, Row, lines_of, strip_of, wrap

# A row is: one cell for the cursor's bar, one blank, one for the block's mark, one blank, then the text.
MARK_CELLS = 3
BAR_CELLS = 1


@dataclass(slots=True)
class Drawn:
    """A block's rows at one width; strips are made of them as they are shown."""

    width: int
    rows: list[Row]
    parts: list[Part] = field(default_factory=list)
    strips: dict[int, Strip] = field(default_factory=dict)

    def strip(self, index: int) -> Strip:
        """Return row `index` as a strip of the drawn width."""
        found = self.strips.get(index)
        if found is None:
            found = self.strips[index] = strip_of(self.rows[index], self.width)
        return found


class Block:
    """One block: its rows are made when it comes into view and may be thrown away when it has left.

    `entry` is the id of the entry shown (None for a note), `call` the call's id for a tool call.
    """

    foldable = False
    mark = " "
    bar = " "
    gap = 1

    def __init__(self, *, entry: int | None = None, call: str | None = None) -> None:
        self.entry = entry
        self.call = call
        self.folded = self.foldable
        self.drawn: Drawn | None = None

    def guess(self, width: int) -> int:
        """Return about how many rows the block takes in `width` cells, without drawing it."""
        raise NotImplementedError

    def rows(self, width: int, palette: Palette) -> tuple[list[Row], list[Part]]:
        """Return the block's rows of at most `width` cells and the parts that can be chosen in it."""
        raise NotImplementedError

    def source(self) -> tuple[str, str]:
        """Return (text, what it is): what copying the block gives."""
        raise NotImplementedError

    def bar_style(self, palette: Palette) -> Style:
        """Return the style of the cell at the left edge."""
        return palette.text

    def draw(self, width: int, palette: Palette) -> Drawn:
        """Return the block drawn for `width` cells, from what was drawn before where that still holds."""
        if self.drawn is None or self.drawn.width != width:
            rows, parts = self.rows(width, palette)
            self.drawn = Drawn(width, rows, parts)
        return self.drawn

    def forget(self) -> None:
        """Throw the drawn rows away; the next `draw` makes them anew."""
        self.drawn = None

    def toggle(self) -> bool:
        """Fold or unfold; tells whether that changed anything."""
        if not self.foldable:
            return False
        self.folded = not self.folded
        self.forget()
        return True


def marked(rows: list[Row], mark: str, *, style: Style) -> list[Row]:
    """Return rows set in by the mark's column; the first carries the mark."""
    out = []
    for index, row in enumerate(rows):
        lead: Line = [(" ", row.fill), (mark, style), (" ", row.fill)] if index == 0 else [("   ", row.fill)]
        out.append(Row([*lead, *row.spans], row.fill))
    return out


def moved(parts: list[Part], by: int) -> list[Part]:
    """Return parts with their rows moved down."""
    return [Part(part.start + by, part.end + by, part.text) for part in parts]


def text_rows(text: str, width: int, *, style: Style) -> list[Row]:
    """Return text from outside in one style, wrapped at words."""
    return [Row(line, style) for source in lines_of(text) for line in wrap([(source, style)], width)]


def guess_rows(text: str, width: int) -> int:
    """Return about how many rows a text takes."""
    return text.count("\n") + 1 + len(text) // max(1, width)


def size_of(count: int) -> str:
    """Return bytes as a person reads them: `812 B`, `1.2 KiB`, `3.4 MiB`."""
    if count < 1024:
        return f"{count} B"
    value, unit = float(count), "B"
    for unit in ("KiB", "MiB", "GiB"):  # noqa: B007  the unit that it stops at is used below
        value /= 1024
        if value < 1024:
            break
    return f"{value:.1f} {unit}"


def seconds_of(seconds: float) -> str:
    """Return a duration as a person reads it: `0.3 s`, `12 s`, `3 min 05 s`."""
    if seconds < 10:
        return f"{seconds:.1f} s"
    if seconds < 60:
        return f"{seconds:.0f} s"
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest:02d} s"


def lines_said(count: int) -> str:
    """Return a count of lines in words."""
    return f"{count:,} line" if count == 1 else f"{count:,} lines"
