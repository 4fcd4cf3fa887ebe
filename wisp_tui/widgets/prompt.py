"""The input: many lines, long pastes as labels that cannot be broken, and Enter that sends."""

from collections.abc import Callable

from textual import events
from textual.binding import Binding
from textual.message import Message
from textual.widgets import TextArea
from textual.widgets.text_area import Edit, EditResult

from wisp_core.text import displayable
from wisp_tui.widgets.pastes import Pastes
from wisp_tui.widgets.recall import Draft

CHORD_SECONDS = 2.0  # how long Ctrl-X waits for its second key
WHOLE_LINES = 200  # lines: a draft that was put here and is longer stands as a label
WHOLE_CHARACTERS = 20_000  # characters: likewise


class Prompt(TextArea):
    """The input; `gate` sees each key first and returns whether it took it."""

    BINDINGS = [
        Binding("enter", "submit", "Send", id="prompt.send", show=False),
        Binding(
            "ctrl+j,shift+enter,alt+enter,ctrl+enter,shift+\r",
            "newline",
            "New line",
            id="prompt.newline",
            show=False,
            key_display="^j",
        ),
        Binding("up", "earlier", "Earlier prompt", id="prompt.earlier", show=False),
        Binding("down", "later", "Later prompt", id="prompt.later", show=False),
        Binding("tab", "complete", "Complete", id="prompt.complete", show=False),
        Binding("ctrl+x", "chord", "Cut, or with Ctrl-E the editor", show=False),
        Binding("end,ctrl+e", "end", "End of line", show=False),
        Binding("alt+b", "cursor_word_left", "A word back", show=False),
        Binding("alt+f", "cursor_word_right", "A word on", show=False),
        Binding("alt+d", "delete_word_right", "Delete a word", show=False),
    ]

    class Submitted(Message):
        """The person sends `draft`."""

        def __init__(self, draft: Draft) -> None:
            super().__init__()
            self.draft = draft

    class Reached(Message):
        """The cursor wants to leave the first row upwards (`step` -1) or the last downwards (1)."""

        def __init__(self, step: int) -> None:
            super().__init__()
            self.step = step

    class Completed(Message):
        """The person wants what they type completed."""

    class EditorWanted(Message):
        """The person wants to go on in their editor."""

    def __init__(self, gate: Callable[[events.Key], bool], *, id: str = "prompt") -> None:
        super().__init__(id=id, soft_wrap=True, compact=True, highlight_cursor_line=False)
        self._gate = gate
        self._pastes = Pastes()
        self._literal = False  # the first character of the text means only itself
        self._pasted = False  # some draft since the last `put` did
        self._pasting = False
        self._last_key = events.Key("", None)
        self._chord_until = 0.0
        self.typed_at = float("-inf")  # seconds: when a key or a paste last went into the draft

    @property
    def draft(self) -> Draft:
        """What would be sent."""
        return Draft(self._pastes.expand(self.text), self._literal)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Leave the page keys to the conversation while the whole draft is in view."""
        if action in {"cursor_page_up", "cursor_page_down"}:
            return self.wrapped_document.height > self.size.height
        return super().check_action(action, parameters)

    def put(self, draft: Draft) -> None:
        """Put a draft here, the cursor at its end; one too long to edit at ease stands as a label."""
        self._pastes.forget()
        text = draft.text
        long = text.count("\n") > WHOLE_LINES or len(text) > WHOLE_CHARACTERS
        self.text = self._pastes.label(text) if long or displayable(text) != text else text
        self._literal = self._pasted = draft.literal
        self.move_cursor(self.document.end)

    def take(self, event: events.Key) -> None:
        """Type a key that was pressed where it means nothing."""
        self.typed_at = event.time
        self.insert(event.character or "")

    def edit(self, edit: Edit) -> EditResult:
        """Make an edit, widened so that it takes a label whole or leaves it whole."""
        top, bottom = sorted((edit.from_location, edit.to_location))
        lines = [self.document.get_line(row) if row < self.document.line_count else "" for row in (top[0], bottom[0])]
        spans = [self._pastes.spans(line) for line in lines]
        start, end = outside(top, spans[0], later=top == bottom), outside(bottom, spans[1], later=True)
        widened = Edit(edit.text, start, end, edit.maintain_selection_offset)
        if top == (0, 0) and edit.text:
            self._literal = self._pasting
            self._pasted |= self._pasting
        return super().edit(widened)

    def action_undo(self) -> None:
        """Undo; a text that may be a paste again means nothing by its first character."""
        super().action_undo()
        self._literal |= self._pasted

    def action_redo(self) -> None:
        """Redo, with the same care."""
        super().action_redo()
        self._literal |= self._pasted

    def action_submit(self) -> None:
        """Send, unless a backslash before Enter breaks the line."""
        if self._last_key.key != "enter" or not break_at_backslash(self):
            self.post_message(self.Submitted(self.draft))

    def action_newline(self) -> None:
        """Break the line."""
        self.insert("\n")

    def action_earlier(self) -> None:
        """Go up a row, out of the first one."""
        if self.wrapped_document.location_to_offset(self.cursor_location).y == 0:
            self.post_message(self.Reached(-1))
        else:
            self.action_cursor_up()

    def action_later(self) -> None:
        """Go down a row, out of the last one."""
        if self.wrapped_document.location_to_offset(self.cursor_location).y >= self.wrapped_document.height - 1:
            self.post_message(self.Reached(1))
        else:
            self.action_cursor_down()

    def action_complete(self) -> None:
        """Ask for a completion."""
        self.post_message(self.Completed())

    def action_chord(self) -> None:
        """Cut the selection, or wait for the second key of Ctrl-X Ctrl-E."""
        if self.selected_text:
            self.action_cut()
        else:
            self._chord_until = self._last_key.time + CHORD_SECONDS

    def action_end(self) -> None:
        """Go to the end of the line; after Ctrl-X, into the editor."""
        if self._last_key.time < self._chord_until:
            self._chord_until = 0.0
            self.post_message(self.EditorWanted())
        else:
            self.action_cursor_line_end()

    async def _on_key(self, event: events.Key) -> None:
        self._last_key = event
        if self._gate(event):
            event.stop()
            event.prevent_default()
            return
        if event.is_printable or event.key in {"backspace", "delete", "enter", "ctrl+j"}:
            self.typed_at = event.time
        if event.key == "enter" or event.key.startswith("alt+"):
            event.prevent_default()  # the text area would type them, whatever they are bound to

    async def _on_paste(self, event: events.Paste) -> None:
        event.stop()
        event.prevent_default()
        self.typed_at = event.time
        text = event.text.replace("\r\n", "\n").replace("\r", "\n")
        if not text:
            return
        self._pasting = True
        try:
            shown = self._pastes.label(text) if self._pastes.collapses(text) else text
            result = self._replace_via_keyboard(shown, *self.selection)
        finally:
            self._pasting = False
        if result is not None:
            self.move_cursor(result.end_location)
            self.focus()


def outside(place: tuple[int, int], spans: list[tuple[int, int]], *, later: bool) -> tuple[int, int]:
    """Return a place (row, column), moved out of the label of `spans` that it is in: to its end, or its start."""
    row, column = place
    for first, last in spans:
        if first < column < last:
            return (row, last if later else first)
    return place


def break_at_backslash(area: TextArea) -> bool:
    """Turn a backslash before the cursor into a line break, and tell whether there was one."""
    row, column = area.cursor_location
    if area.selected_text or column == 0 or area.document.get_line(row)[column - 1] != "\\":
        return False
    area.replace("\n", (row, column - 1), (row, column))
    return True
