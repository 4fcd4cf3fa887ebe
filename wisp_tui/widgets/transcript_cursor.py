"""The block cursor over the transcript's view: move, fold, copy, open."""

from typing import ClassVar

from textual import events
from textual.binding import Binding, BindingType
from textual.message import Message

from wisp_tui.widgets.block import Block
from wisp_tui.widgets.transcript_view import TranscriptView

STEP_ROWS = 3


class TranscriptCursor(TranscriptView):
    """A cursor on one block, or on one code block of a reply; it shows while the widget has the focus."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter,space", "fold", "Fold", id="transcript.fold"),
        Binding("c", "copy", "Copy", id="transcript.copy"),
        Binding("o", "open", "Open", id="transcript.open"),
        Binding("alt+up", "block(-1)", "Previous", id="transcript.previous"),
        Binding("alt+down", "block(1)", "Next", id="transcript.next"),
        Binding("up", "step(-1)", "Up", show=False, id="transcript.up"),
        Binding("down", "step(1)", "Down", show=False, id="transcript.down"),
        Binding("home", "first", "Start", show=False, id="transcript.first"),
        Binding("end", "last", "End", show=False, id="transcript.last"),
    ]

    class CopyRequested(Message, namespace="transcript"):
        """Text to put on the clipboard; `what` names it for the person, e.g. `the reply`."""

        def __init__(self, text: str, what: str) -> None:
            self.text = text
            self.what = what
            super().__init__()

    class OpenRequested(Message, namespace="transcript"):
        """A block to open in the pager: its entry's id and call, where it has them, and its text."""

        def __init__(self, entry: int | None, call: str | None, *, text: str) -> None:
            self.entry = entry
            self.call = call
            self.text = text
            super().__init__()

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(id=id, classes=classes)
        self._at: Block | None = None
        self._part: int | None = None

    @property
    def chosen(self) -> Block | None:
        """The block that the cursor is on."""
        return self._at if self._place() is not None else None

    def choose_entry(self, entry: int) -> bool:
        """Put the cursor on the block of an entry, or the next that has one; tell whether there is any."""
        found = (at for at, block in enumerate(self.blocks) if block.entry is not None and block.entry >= entry)
        index = next(found, None)
        if index is not None:
            self._set_following(False)
            self._show_chosen(index, None)
        return index is not None

    def mark_at(self, block: Block, row: int) -> bool:
        """Mark the block that the cursor is on, or the part of it."""
        if block is not self._at or not self.has_focus:
            return False
        parts = block.drawn.parts if block.drawn else []
        if self._part is None or self._part >= len(parts):
            return True
        return parts[self._part].start <= row < parts[self._part].end

    def watch_has_focus(self, has_focus: bool) -> None:
        """Show the cursor while the widget has the focus, on the newest block when it is on none."""
        super().watch_has_focus(has_focus)
        if has_focus:
            self._ensure()
        self.refresh()

    def on_click(self, event: events.Click) -> None:
        """Put the cursor on the block that was clicked, and nothing else, whatever its text says."""
        offset = event.get_content_offset(self)
        if offset is not None:
            index, _ = self._heights.find(round(self.scroll_y) + offset.y)
            if index < len(self.blocks):
                self._at, self._part = self.blocks[index], None
                self.refresh()

    def action_block(self, step: int) -> None:
        """Go to the next code block of this block that way, else to the next block."""
        self._move(step)

    def action_step(self, step: int) -> None:
        """Go to the next block that way, through what is longer than the view first."""
        place = self._place()
        top = round(self.scroll_y)
        first, last = self._rows(place) if place is not None else (top, top)
        seen = first >= top if step < 0 else last <= top + self.scrollable_content_region.height
        if seen:
            self._move(step)
        else:
            self.go_to(self.scroll_y + step * STEP_ROWS)

    def action_fold(self) -> None:
        """Fold or unfold the block, its first row kept where it is."""
        place = self._ensure()
        if place is None or not self.blocks[place].foldable:
            return
        row = self._heights.top(place) - self.scroll_y
        self._set_following(False)
        self.blocks[place].toggle()
        self.update_block(self.blocks[place])
        self.go_to(self._heights.top(place) - max(0, row))
        self._set_following(round(self.scroll_y) >= self.max_scroll_y)

    def action_copy(self) -> None:
        """Ask for the block's text on the clipboard, or for the code where the cursor is on a code block."""
        place = self._ensure()
        if place is None:
            return
        block = self.blocks[place]
        parts = block.drawn.parts if block.drawn else []
        if self._part is not None and self._part < len(parts):
            self.post_message(self.CopyRequested(parts[self._part].text, "the code"))
        else:
            self.post_message(self.CopyRequested(*block.source()))

    def action_open(self) -> None:
        """Ask for the block in the pager."""
        place = self._ensure()
        if place is not None:
            block = self.blocks[place]
            self.post_message(self.OpenRequested(block.entry, block.call, text=block.source()[0]))

    def action_first(self) -> None:
        """Go to the first block."""
        self._choose(self._near(-1, 1), None)
        self.go_to(0)

    def action_last(self) -> None:
        """Go to the last block and follow the end."""
        self._choose(self._near(len(self.blocks), -1), None)
        self.follow()

    def _place(self) -> int | None:
        return None if self._at is None else self._index(self._at)

    def _ensure(self) -> int | None:
        """Return where the cursor is; on nothing, it goes to the newest block first."""
        if self._place() is None:
            self._choose(self._near(len(self.blocks), -1), None)
        return self._place()

    def _near(self, index: int, step: int) -> int | None:
        """Return the next block from `index` that has rows."""
        index += step
        while 0 <= index < len(self.blocks):
            first, last = self.rows_of(index)
            if last > first:
                return index
            index += step
        return None

    def _move(self, step: int) -> None:
        place = self._place()
        if place is None:
            self._show_chosen(self._near(len(self.blocks), -1), None)
            return
        self._measure(place)
        parts = len(drawn.parts) if (drawn := self.blocks[place].drawn) else 0
        # The stops in a block: itself, then its code blocks.
        stop = (0 if self._part is None else self._part + 1) + step
        if 0 <= stop <= parts:
            self._show_chosen(place, stop - 1 if stop else None)
            return
        near = self._near(place, step)
        if near is None:
            self.go_to(self.max_scroll_y if step > 0 else 0)
            return
        drawn = self.blocks[near].drawn
        back = step < 0 and drawn is not None and drawn.parts
        self._show_chosen(near, len(drawn.parts) - 1 if back and drawn else None)

    def _choose(self, index: int | None, part: int | None) -> None:
        self._at = None if index is None else self.blocks[index]
        self._part = part
        self.refresh()

    def _show_chosen(self, index: int | None, part: int | None) -> None:
        self._choose(index, part)
        if index is not None:
            self.reveal(*self._rows(index))

    def _rows(self, index: int) -> tuple[int, int]:
        """Return the rows of the whole that the cursor stands at."""
        first, last = self.rows_of(index)
        drawn = self.blocks[index].drawn
        if self._part is not None and drawn is not None and self._part < len(drawn.parts):
            part = drawn.parts[self._part]
            return first + part.start, first + part.end
        return first, last
