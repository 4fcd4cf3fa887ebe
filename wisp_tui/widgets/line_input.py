"""A one-line input whose pasted text is made displayable first."""

from textual import events
from textual.widgets import Input

from wisp_core.text import displayable, one_line

MOST_CHARACTERS = 2_000  # characters of one line


class LineInput(Input):
    """An input for a word to look for or a reason to give."""

    DEFAULT_CSS = "LineInput { height: 1; border: none; padding: 0; background: $surface; }"

    def __init__(self, placeholder: str = "", *, id: str | None = None) -> None:
        super().__init__(placeholder=placeholder, compact=True, max_length=MOST_CHARACTERS, id=id)

    def _on_paste(self, event: events.Paste) -> None:
        event.stop()
        event.prevent_default()
        self.insert_text_at_cursor(one_line(displayable(event.text), MOST_CHARACTERS))
