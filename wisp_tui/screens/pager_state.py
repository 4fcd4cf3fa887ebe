"""How the pager stands: what it does in the background, what it says of where it is, and the line it asks in."""

from collections.abc import Awaitable, Callable

from textual import work
from textual.content import Content
from textual.screen import Screen
from textual.widgets import Static
from textual.worker import Worker

from wisp_core.text import byte_size, displayable, one_line
from wisp_tui.widgets.line_input import LineInput
from wisp_tui.widgets.page_view import PageView

SAID_CHARACTERS = 200
ASKED = {"search": "search for", "line": "go to line", "save": "save to a new file"}


class PagerState(Screen[None]):
    """A text in view, one thing at a time done in the background, and a line that says how it stands."""

    def __init__(self, *, following: bool) -> None:
        super().__init__()
        self._asked = ""
        self._doing = ""
        self._said = ""
        self._walking: Worker[None] | None = None
        self._following = following

    @property
    def view(self) -> PageView:
        """The text."""
        return self.query_one(PageView)

    @property
    def line(self) -> LineInput:
        """Where the person answers."""
        return self.query_one("#asked", LineInput)

    def action_ask(self, what: str) -> None:
        """Ask for a word, a line's number or a file's name."""
        self._asked = what
        line = self.line
        line.value = ""
        line.placeholder = ASKED[what]
        line.display = True
        line.focus()

    def _walk(self, work: Callable[[], Awaitable[None]]) -> None:
        """Do something that may take a while, in place of what is being done; Esc stops it."""
        self._said = ""
        self._walking = self._run(work)

    @work(exclusive=True, group="walk")
    async def _run(self, work: Callable[[], Awaitable[None]]) -> None:
        try:
            await work()
        finally:
            self._doing = ""
            if self.is_attached:
                self._tell()

    def _progress(self, what: str) -> Callable[[float], None]:
        def tell(share: float) -> None:
            doing = f"{what} {100 * min(1.0, share):.0f}% · Esc stops"
            if doing != self._doing:
                self._doing = doing
                self._tell()

        return tell

    def follow_on(self) -> None:
        """Go on to the end of what has come; the screen above knows how."""

    def _close_line(self) -> None:
        self.line.display = False
        self.view.focus()

    def _say(self, sentence: str) -> None:
        self._said = sentence
        self._tell()

    def on_page_rows_moved(self) -> None:
        """Say where it is now; what is followed stays at its end, whatever the height."""
        if self._following and not self.view.at_end:
            self.follow_on()
        self._tell()

    def _tell(self) -> None:
        words = self._doing or self._said or self._state()
        self.query_one("#state", Static).update(Content(one_line(displayable(words), SAID_CHARACTERS)))
        note = self.view.pages.note
        about = self.query_one("#note", Static)
        about.display = bool(note)
        about.update(Content(one_line(displayable(note), SAID_CHARACTERS)))

    def _state(self) -> str:
        view = self.view
        pages, shown = view.pages, view.shown
        if not shown:
            return "there is nothing in it"
        first, last = shown[0].number, shown[-1].number
        share = 1.0 if view.at_end else shown[-1].byte / max(1, pages.total)
        words = [f"line {first:,}" if first == last else f"lines {first:,}–{last:,}"]
        if pages.lines is not None:
            words[0] += f" of {pages.lines:,}"
        words += [f"{100 * share:.0f}%", byte_size(pages.total)]
        words += [] if view.wrapped else ["not wrapped"]
        words += ["following"] if self._following else []
        words += ["choosing: c copies"] if view.mark is not None else []
        return " · ".join(words)
