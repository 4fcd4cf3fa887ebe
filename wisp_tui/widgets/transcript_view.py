"""The rows of the transcript that are in view, made of its blocks."""

from collections.abc import Iterable
from typing import Any

from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.geometry import Region
from textual.strip import Strip

from wisp_tui.widgets.block import BAR_CELLS, Block
from wisp_tui.widgets.render_palette import COMPONENTS, PALETTE_CSS
from wisp_tui.widgets.transcript_layout import TranscriptLayout


class TranscriptView(TranscriptLayout, can_focus=True):
    """The rows in view, and what the widget above does with blocks."""

    COMPONENT_CLASSES = COMPONENTS
    DEFAULT_CSS = (
        """
    TranscriptView {
        height: 1fr;
        overflow-x: hidden;
        overflow-y: scroll;
        scrollbar-size-vertical: 1;
        background: $background;
        color: $foreground;
    }
    """
        + PALETTE_CSS
    )
    ALLOW_SELECT = False

    # What the widget above calls.

    def replace_blocks(self, blocks: Iterable[Block]) -> None:
        """Show these blocks and no others, the end in view."""
        self._forget_all()
        self.blocks = list(blocks)
        self.following, self._unseen = True, False
        self._guess_all()
        self._settle()

    def add_block(self, block: Block, *, before: Block | None = None) -> None:
        """Add a block at the end, or before another."""
        if before is not None:
            self.blocks.insert(self.blocks.index(before), block)
            self._guess_all()
        else:
            self.blocks.append(block)
            self._heights.append(self._guess(block))
        self._note_unseen()
        self._settle()

    def prepend_blocks(self, blocks: Iterable[Block]) -> None:
        """Put blocks above the first; what is in view stays where it is."""
        fresh = list(blocks)
        heights = [self._guess(block) for block in fresh]
        self.blocks[:0] = fresh
        self._heights = self._heights.after(heights)
        # What was the first block has something above it now, and so a gap.
        change = self._measure(len(fresh)) if len(fresh) < len(self.blocks) else 0
        self._settle(sum(heights) + change)

    def update_block(self, block: Block) -> None:
        """Show what changed in a block."""
        index = self._index(block)
        if index is not None and self._width:
            shift = self._measure(index)
            top, _ = self._heights.find(round(self.scroll_y))
            if shift > 0:
                self._note_unseen()
            self._settle(shift if index < top else 0)

    def reveal(self, first: int, last: int) -> None:
        """Bring rows [first, last) of the whole into view, their start where both do not fit."""
        height = self.scrollable_content_region.height
        top = self.scroll_y
        if last > top + height:
            top = last - height
        self.go_to(min(top, first))

    def go_to(self, row: float) -> None:
        """Scroll to a row of the whole, as a person would: at the end it follows."""
        self.scroll_to(y=row, animate=False)

    def follow(self) -> None:
        """Keep the end in view from now on."""
        self._set_following(True)
        self._settle()

    def rows_of(self, index: int) -> tuple[int, int]:
        """Return the rows of the whole, [first, last), that a block's text takes."""
        self._measure(index)
        top = self._heights.top(index)
        height = self._heights[index]
        return top + (self._gap(index) if height else 0), top + height

    def mark_at(self, block: Block, row: int) -> bool:
        """Tell whether the cursor's bar stands beside a row of a block; the layer above says."""
        return False

    # Textual's.

    def scroll_to(self, x: float | None = None, y: float | None = None, *, animate: bool = True, **rest: Any) -> None:
        """Scroll at once: the way there would draw every block that it passes."""
        super().scroll_to(x, y, animate=False, **rest)

    def on_resize(self, event: events.Resize) -> None:
        """Lay out anew for another width, and keep the end in view when the height changes too."""
        self._fit()
        self._settle()

    def notify_style_update(self) -> None:
        """Take the theme's styles anew when something is drawn next."""
        super().notify_style_update()
        self._palette_stale = True

    def render_lines(self, crop: Region) -> list[Strip]:
        """Render what is in view, laid out for the width as it is now."""
        self._fit()
        return super().render_lines(crop)

    def render_line(self, y: int) -> Strip:
        """Return one row of the view."""
        width = self.scrollable_content_region.width
        palette = self._palette
        if palette is None or not self._width:
            return Strip.blank(width, self.rich_style)
        index, into = self._heights.find(self.scroll_offset.y + y)
        if index >= len(self.blocks):
            return Strip.blank(width, palette.text)
        into -= self._gap(index)
        block = self.blocks[index]
        drawn = self._draw(block)
        if not 0 <= into < len(drawn.rows):
            return Strip.blank(width, palette.text)
        bar, style = block.bar, block.bar_style(palette)
        if self.mark_at(block, into):
            bar, style = "┃", Style(bgcolor=style.bgcolor) + Style(color=palette.cursor.color, bold=True)
        return Strip.join([Strip([Segment(bar, style)], BAR_CELLS), drawn.strip(into)]).adjust_cell_length(width)
