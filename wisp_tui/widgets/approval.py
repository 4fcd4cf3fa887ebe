"""The question whether a call may run: shown whole, taken only from keys that were meant for it."""

import json
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

from wisp_core.requests import Answer, Approval, Verdict
from wisp_core.text import displayable, revealed
from wisp_tui.widgets.line_input import LineInput

VISIBLE_BEFORE = 0.5  # seconds that it has been visible before a key may answer it
QUIET_BEFORE = 2.0  # seconds since something was last typed before a key may answer it
ALONE_FOR = 0.25  # seconds that a letter must stand alone to answer; the start of a word goes to the draft
REASON_WORDS = "why not? Enter sends it to the model, Esc goes back"


def question(approval: Approval) -> Content:
    """Return what would run, in full and with nothing hidden: what runs is what stands here."""
    arguments = dict(approval.arguments)
    parts: list[Content] = []
    command = arguments.pop("command", None)
    if isinstance(command, str):
        parts.append(Content.assemble(("$ ", "$accent"), (revealed(command), "bold")))
    elif command is not None:
        arguments["command"] = command
    for name, value in arguments.items():
        text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        parts.append(Content.assemble((f"{revealed(str(name))}: ", "$foreground 60%"), revealed(text)))
    parts.append(Content.assemble(("in   ", "$foreground 60%"), revealed(approval.cwd)))
    if approval.why:
        parts.append(Content.assemble(("why  ", "$foreground 60%"), revealed(approval.why)))
    return Content("\n").join(parts)


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
    """The panel above the input; it never has the focus but for a reason that is being typed."""

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

        def __init__(self, approval: Approval, answer: Answer) -> None:
            super().__init__()
            self.approval = approval
            self.answer = answer

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__(id="approval")
        self._clock = clock
        self._approval: Approval | None = None
        self._visible_since: float | None = None
        self._letter = ""
        self._settling: Timer | None = None

    def compose(self) -> ComposeResult:
        """Lay out the call, the keys, and the line for a reason."""
        with Body():
            yield Static(id="approval-text", markup=False)
        yield Static(id="approval-keys", markup=False)
        yield LineInput(REASON_WORDS, id="approval-reason")

    def ask(self, approval: Approval | None, waiting: int = 0) -> None:
        """Show a question, `waiting` more behind it, or none; the one that is shown already only counts anew."""
        if approval is not None:
            more = f" · {waiting} more after this" if waiting else ""
            self.border_title = Content(displayable(f"May {approval.tool} run?{more}"))
            if approval is self._approval:
                return
        self._approval = approval
        self._visible_since = None
        self.withdraw()
        self.display = approval is not None
        self.remove_class("-reason", "-ready")
        if approval is None:
            return
        self.query_one("#approval-text", Static).update(question(approval))
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
        elif key in {"y", "a", "n", "r"}:
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
        allows = letter == "y" or (letter == "a" and self._approval is not None and bool(self._approval.rule))
        if allows and self.query_one(Body).whole:
            self._answer(Answer(Verdict.ONCE if letter == "y" else Verdict.THREAD))
        elif letter == "n":
            self._answer(Answer(Verdict.NO))
        elif letter == "r" and self.open:
            self.add_class("-reason")
            self.query_one(LineInput).value = ""
            self.query_one(LineInput).focus()

    def scroll_body(self, key: str) -> None:
        """Scroll what would run by a row or a page."""
        body = self.query_one(Body)
        page = max(1, body.container_size.height - 1)
        step = {"up": -1, "down": 1, "pageup": -page, "pagedown": page}[key]
        body.scroll_relative(y=step, animate=False)

    @property
    def open(self) -> bool:
        """Whether a question is shown."""
        return self._approval is not None

    def action_back(self) -> None:
        """Leave the reason and go back to the question."""
        self.remove_class("-reason")
        self.screen.focus_next()

    def on_input_submitted(self, event: LineInput.Submitted) -> None:
        """Refuse with the reason typed."""
        event.stop()
        self._answer(Answer(Verdict.NO, reason=event.value.strip()))

    def on_body_seen(self, event: Body.Seen) -> None:
        """Tell that it can be approved, or that there is more to see."""
        event.stop()
        self._tell()

    def on_descendant_blur(self, _event: events.DescendantBlur) -> None:
        """A reason that is left is dropped: the question stands as before."""
        self.remove_class("-reason")

    def _answer(self, answer: Answer) -> None:
        approval, self._approval = self._approval, None
        if approval is not None:
            self.post_message(self.Answered(approval, answer))

    def _appeared(self) -> None:
        if self._approval is not None:
            self._visible_since = self._clock()
            self._tell()

    def _tell(self) -> None:
        whole = self.query_one(Body).whole
        self.set_class(whole, "-ready")
        rule = revealed(self._approval.rule) if self._approval else ""
        always = f" · a for this conversation: {rule}" if rule else ""
        yes = f"y once{always}" if whole else f"PageDown shows the rest, then y{' or a' if rule else ''}"
        self.query_one("#approval-keys", Static).update(Content(f"{yes} · n no · r no, with a reason"))
