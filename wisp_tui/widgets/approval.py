"""The question whether a call may run: shown whole, taken only from keys that were meant for it."""

import time
from collections.abc import Callable

from textual import events
from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.message import Message
from textual.timer import Timer
from textual.widgets import Static

from wisp_core.requests import Answer, Question, Verdict
from wisp_tui.widgets.asked import REASON, WORDS, Asked, answer_by, answer_in_words, body, keys, letters, title
from wisp_tui.widgets.line_input import LineInput

VISIBLE_BEFORE = 0.5  # seconds that it has been visible before a key may answer it
QUIET_BEFORE = 2.0  # seconds since something was last typed before a key may answer it
ALONE_FOR = 0.25  # seconds that a letter must stand alone to answer; the start of a word goes to the draft


class Body(VerticalScroll, can_focus=False):
    """What would run; it counts the rows that have been on screen, from the first without a gap."""

    class Seen(Message):
        """More of it has been on screen, perhaps all."""

    def __init__(self) -> None:
        super().__init__(id="approval-body")
        self._rows = 0

    @property
    def whole(self) -> bool:
        """Whether every row has been on screen."""
        return 0 < self.virtual_size.height <= self._rows

    def begin(self) -> None:
        """Start counting anew: other text, or the same at another width."""
        self._rows = 0
        self.scroll_home(animate=False)
        self.call_after_refresh(self._look)

    def on_resize(self) -> None:
        """Count anew: the rows are others."""
        self.begin()

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        """Count what came into view once it is drawn."""
        super().watch_scroll_y(old_value, new_value)
        self.call_after_refresh(self._look)

    def _look(self) -> None:
        top, height = int(self.scroll_y), self.container_size.height
        if height and top <= self._rows < top + height:
            self._rows = top + height
            self.post_message(self.Seen())


class ApprovalPanel(Vertical, can_focus=False):
    """The panel; it never has the focus but for a reason that is being typed. Where Esc `denies`, its keys say so."""

    DEFAULT_CSS = """
    ApprovalPanel { height: auto; max-height: 60%; display: none; padding: 0 1; border: round $warning; }
    ApprovalPanel.-ready { border: round $accent; }
    ApprovalPanel #approval-body { height: auto; max-height: 100%; }
    ApprovalPanel #approval-text { height: auto; }
    ApprovalPanel #approval-keys { height: auto; dock: bottom; color: $text-muted; }
    ApprovalPanel #approval-reason { display: none; dock: bottom; }
    ApprovalPanel.-reason #approval-reason { display: block; }
    ApprovalPanel.-reason #approval-keys { display: none; }
    """

    BINDINGS = [Binding("escape", "back", "Back to the question", id="approval.back")]

    class Answered(Message):
        """The person answered the question that was shown."""

        def __init__(self, asked: Asked, answer: Answer) -> None:
            super().__init__()
            self.asked = asked
            self.answer = answer

    def __init__(self, clock: Callable[[], float] = time.monotonic, *, denies: bool = True) -> None:
        super().__init__(id="approval")
        self._clock = clock
        self._denies = denies
        self._asked: Asked | None = None
        self._visible_since: float | None = None
        self._letter = ""
        self._settling: Timer | None = None

    def compose(self) -> ComposeResult:
        """Lay out the call, the keys, and the line for a reason."""
        with Body():
            yield Static(id="approval-text", markup=False)
        yield Static(id="approval-keys", markup=False)
        yield LineInput(REASON, id="approval-reason")

    def ask(self, asked: Asked | None, waiting: int = 0) -> None:
        """Show what is asked, `waiting` more behind it, or nothing; what is shown already only counts anew."""
        if asked is not None:
            self.border_title = title(asked, waiting)
            if asked is self._asked:
                return
        self._asked = asked
        self._visible_since = None
        self.withdraw()
        self.display = asked is not None
        self.remove_class("-reason", "-ready")
        if asked is None:
            return
        self.query_one("#approval-text", Static).update(body(asked))
        self.query_one(LineInput).placeholder = WORDS if isinstance(asked, Question) else REASON
        self.query_one(Body).begin()
        self.appear()

    def appear(self) -> None:
        """Count from now how long it has been visible: it came up, or what covered it is gone."""
        self._visible_since = None
        self._tell()
        self.call_after_refresh(self._appeared)

    def takes(self, at: float, typed: float) -> bool:
        """Return whether a key pressed at `at` is meant for the question, the last thing typed at `typed`."""
        return self.open and self.was_visible(at) and at - typed >= QUIET_BEFORE

    def was_visible(self, at: float) -> bool:
        """Return whether it had been visible long enough at `at`."""
        return self._visible_since is not None and at - self._visible_since >= VISIBLE_BEFORE

    def press(self, key: str) -> bool:
        """Take a key that is meant for the question; return False for one that answers nothing."""
        if key in {"pageup", "pagedown", "up", "down"}:
            self.scroll_body(key)
        elif key == "escape":
            self._answer(Answer(Verdict.NO))
        elif self._asked is not None and key in letters(self._asked):
            self._letter = key
            self._settling = self.set_timer(ALONE_FOR, self._settle)
        else:
            return False
        return True

    @property
    def holding(self) -> bool:
        """Whether a letter was pressed that may still be the start of a word."""
        return bool(self._letter)

    def withdraw(self) -> str:
        """Give back the letter that is held: it was the start of a word."""
        letter, self._letter = self._letter, ""
        if self._settling is not None:
            self._settling.stop()
        return letter

    def _settle(self) -> None:
        letter, self._letter = self._letter, ""
        if self._asked is None or not letter:
            return
        if letter == "r":
            self.add_class("-reason")
            self.query_one(LineInput).value = ""
            self.query_one(LineInput).focus()
        elif (answer := answer_by(self._asked, letter, whole=self.query_one(Body).whole)) is not None:
            self._answer(answer)

    def scroll_body(self, key: str) -> None:
        """Scroll what would run by a row or a page."""
        body = self.query_one(Body)
        page = max(1, body.container_size.height - 1)
        step = {"up": -1, "down": 1, "pageup": -page, "pagedown": page}[key]
        body.scroll_relative(y=step, animate=False)

    @property
    def open(self) -> bool:
        """Whether a question is shown."""
        return self._asked is not None

    def action_back(self) -> None:
        """Leave the reason and go back to the question."""
        self.remove_class("-reason")
        self.screen.focus_next()

    def on_input_submitted(self, event: LineInput.Submitted) -> None:
        """Answer with the words typed."""
        event.stop()
        if self._asked is not None:
            self._answer(answer_in_words(self._asked, event.value.strip()))

    def on_body_seen(self, event: Body.Seen) -> None:
        """Tell that it can be approved, or that there is more to see."""
        event.stop()
        self._tell()

    def on_descendant_blur(self, _event: events.DescendantBlur) -> None:
        """A reason that is left is dropped: the question stands as before."""
        self.remove_class("-reason")

    def _answer(self, answer: Answer) -> None:
        asked, self._asked = self._asked, None
        if asked is not None:
            self.post_message(self.Answered(asked, answer))

    def _appeared(self) -> None:
        if self._asked is not None:
            self._visible_since = self._clock()
            self._tell()

    def _tell(self) -> None:
        whole = self.query_one(Body).whole
        self.set_class(whole, "-ready")
        shown = keys(self._asked, whole=whole, denies=self._denies) if self._asked else ""
        self.query_one("#approval-keys", Static).update(Content(shown))
