"""What is painted first: an input that takes what is typed while everything else is still being loaded."""

from dataclasses import dataclass
from pathlib import Path

from textual.app import ComposeResult
from textual.containers import Vertical
from textual.screen import Screen

from wisp_tui.messages import InputReady, Painted
from wisp_tui.widgets.input_box import InputBox
from wisp_tui.widgets.keys import Keys
from wisp_tui.widgets.recall import Draft
from wisp_tui.widgets.status import Status


@dataclass(frozen=True, slots=True)
class Start:
    """How wisp was started; None and empty are what was not given."""

    prompt: str = ""
    resume: str | None = None
    newest: bool = False
    model: str | None = None
    mode: str | None = None
    cwd: Path | None = None


class StartScreen(Screen[None]):
    """The conversation's place before there is one; it looks the same."""

    def __init__(self) -> None:
        super().__init__()
        self._sent: list[Draft] = []

    def compose(self) -> ComposeResult:
        """Lay out the input where it will stay."""
        yield Vertical(id="room")
        yield InputBox(lambda _event: False)
        yield Status()
        yield Keys()

    def on_mount(self) -> None:
        """Take input at once, and tell when it is painted."""
        self.query_one(InputBox).prompt.focus()
        self.call_after_refresh(self.post_message, Painted())

    def on_descendant_focus(self) -> None:
        """Tell that keys reach the input now."""
        self.post_message(InputReady())

    def on_input_box_sent(self, event: InputBox.Sent) -> None:
        """Keep what is sent."""
        event.stop()
        self._sent.append(event.draft)

    def hand_over(self) -> tuple[Draft, list[Draft]]:
        """Return the draft and what was sent."""
        return self.query_one(InputBox).prompt.draft, self._sent
