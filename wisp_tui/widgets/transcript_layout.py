"""Where the transcript's blocks stand: heights guessed until a block comes into view, and the end followed."""

from textual.geometry import Size
from textual.message import Message
from textual.scroll_view import ScrollView

from wisp_tui.widgets.block import BAR_CELLS, Block, Drawn
from wisp_tui.widgets.render_palette import Palette, palette_of
from wisp_tui.widgets.transcript_heights import Heights

# Rows of blocks that have left the view are kept up to this many.
KEPT_ROWS = 4000
# Drawing what is in view may change heights and so what is in view; this many rounds always came to rest.
SETTLE_ROUNDS = 8


class TranscriptLayout(ScrollView):
    """Blocks in order, drawn as they come into view; `following` keeps the end in view."""

    class FollowChanged(Message, namespace="transcript"):
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

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        """Follow the end from when it is reached, and draw what has come into view."""
        super().watch_scroll_y(old_value, new_value)
        if not self._settling and self._width:
            self._set_following(new_value >= self.max_scroll_y)
            self._settle()

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
