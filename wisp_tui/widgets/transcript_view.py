"""The scrolling view under the transcript: blocks laid out by height, drawn as they come into view, within bounds."""

from collections.abc import Iterable
from typing import Any

from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.geometry import Region, Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.strip import Strip

from wisp_tui.widgets.block import BAR_CELLS, Block, Drawn
from wisp_tui.widgets.render_palette import COMPONENTS, PALETTE_CSS, Palette, palette_of
from wisp_tui.widgets.transcript_heights import Heights

# Rows of blocks that have left the view are kept up to this many.
KEPT_ROWS = 4000
# Drawing what is in view may change heights and so what is in view; this many rounds always came to rest.
SETTLE_ROUNDS = 8


class TranscriptView(ScrollView, can_focus=True):
    """Blocks in order, most of them only guessed at; `following` keeps the end in view."""

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

    class FollowChanged(Message):
        """Whether the end is kept in view; `unseen` tells that something was added below since it is not."""

        def __init__(self, following: bool, unseen: bool) -> None:
            self.following = following
            self.unseen = unseen
            super().__init__()

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(id=id, classes=classes)
        self.blocks: list[Block] = []
        self.following = True
        self._unseen = False
        self._heights = Heights()
        self._kept: dict[Block, int] = {}
        self._kept_rows = 0
        self._width = 0
        self._palette: Palette | None = None
        self._palette_stale = True
        self._settling = False

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

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        """Follow the end from when it is reached, and draw what has come into view."""
        super().watch_scroll_y(old_value, new_value)
        if not self._settling and self._width:
            self._set_following(new_value >= self.max_scroll_y)
            self._settle()

    def on_resize(self, event: events.Resize) -> None:
        """Lay out anew for another width."""
        self._fit()

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

    # Layout.

    def _fit(self) -> None:
        """Lay the blocks out anew when the width or the styles have changed, the block at the top kept there."""
        width = self.scrollable_content_region.width
        if self._palette_stale and self.is_attached:
            self._palette_stale = False
            palette = palette_of(self)
            if palette != self._palette:
                self._palette = palette
                self._forget_all()
                self.refresh()
        if width == self._width or width <= BAR_CELLS:
            return
        first, into = self._heights.find(round(self.scroll_y))
        height = self._heights[first] if first < len(self.blocks) else 0
        self._width = width
        self._forget_all()
        self._guess_all()
        if not self.following and first < len(self.blocks):
            self._measure(first)
            gap = self._gap(first)
            if into > gap:
                into = gap + (into - gap) * (self._heights[first] - gap) // max(1, height - gap)
            self._set_scroll(self._heights.top(first) + into)
        self._settle()

    def _settle(self, shift: int = 0) -> None:
        """Draw what is in view, so that its heights are exact, and put the view where it belongs."""
        if self._settling or self._width <= BAR_CELLS or self._palette is None:
            return
        self._settling = True
        height = self.scrollable_content_region.height
        for _ in range(SETTLE_ROUNDS):
            self._set_scroll(self._heights.total if self.following else self.scroll_y + shift)
            shift, changed = self._measure_visible(height)
            if not changed:
                break
        self._set_scroll(self._heights.total if self.following else self.scroll_y + shift)
        self._settling = False
        self._drop_unseen_rows()
        self.refresh()

    def _measure_visible(self, height: int) -> tuple[int, bool]:
        """Draw the blocks in view; return by how much the view must move to keep its place, and whether any changed."""
        top = round(self.scroll_y)
        index, into = self._heights.find(top)
        y = top - into
        shift, changed, first = 0, False, index
        while index < len(self.blocks) and y < top + height:
            change = self._measure(index)
            changed = changed or bool(change)
            if index == first and into > 0:
                shift = change
            y += self._heights[index]
            index += 1
        return shift, changed

    def _set_scroll(self, row: float) -> None:
        guard, self._settling = self._settling, True
        size = Size(self._width, self._heights.total)
        if size != self.virtual_size:
            self.virtual_size = size
        self.scroll_y = self.scroll_target_y = max(0, min(row, self.max_scroll_y))
        self._settling = guard

    def _measure(self, index: int) -> int:
        """Draw a block; return by how much its height was off."""
        if self._palette is None or self._width <= BAR_CELLS:
            return 0
        rows = len(self._draw(self.blocks[index]).rows)
        return self._heights.set(index, rows + self._gap(index) if rows else 0)

    def _draw(self, block: Block) -> Drawn:
        assert self._palette is not None
        drawn = block.draw(self._width - BAR_CELLS, self._palette)
        self._kept_rows += len(drawn.rows) - self._kept.pop(block, 0)
        self._kept[block] = len(drawn.rows)
        return drawn

    def _drop_unseen_rows(self) -> None:
        if self._kept_rows <= KEPT_ROWS:
            return
        first, _ = self._heights.find(round(self.scroll_y))
        last, _ = self._heights.find(round(self.scroll_y) + self.scrollable_content_region.height)
        stay = {*self.blocks[first : last + 1], *(block for block in self.blocks[-2:])}
        for block in [block for block in self._kept if block not in stay]:
            if self._kept_rows <= KEPT_ROWS:
                return
            self._kept_rows -= self._kept.pop(block)
            block.forget()

    def _forget_all(self) -> None:
        for block in self._kept:
            block.forget()
        self._kept.clear()
        self._kept_rows = 0

    def _guess_all(self) -> None:
        self._heights = Heights(self._guess(block) for block in self.blocks)

    def _guess(self, block: Block) -> int:
        return block.gap + block.guess(max(8, self._width - BAR_CELLS))

    def _gap(self, index: int) -> int:
        return self.blocks[index].gap if index else 0

    def _index(self, block: Block) -> int | None:
        # What changes is nearly always near the end.
        for index in range(len(self.blocks) - 1, -1, -1):
            if self.blocks[index] is block:
                return index
        return None

    def _set_following(self, following: bool) -> None:
        if following != self.following:
            self.following = following
            self._unseen = False
            self.post_message(self.FollowChanged(following, False))

    def _note_unseen(self) -> None:
        if not self.following and not self._unseen:
            self._unseen = True
            self.post_message(self.FollowChanged(False, True))
