"""A thread to read and not to write: the same transcript, without an input."""

from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from textual import work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.screen import Screen
from textual.widgets import Static

from wisp_core.errors import WispError
from wisp_core.text import displayable, one_line
from wisp_tui.screens.outputs import call_of, read_output
from wisp_tui.screens.pager import PagerScreen
from wisp_tui.screens.retelling import Retelling
from wisp_tui.widgets.keys import Keys
from wisp_tui.widgets.pages import read_text
from wisp_tui.widgets.transcript import Transcript

if TYPE_CHECKING:
    from wisp_core.reader import Reader

TITLE_CHARACTERS = 200


class ReadingScreen(Screen[bool]):
    """Ends with whether the person wants to go on in a copy."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "leave", "Close", id="reading.close"),
        Binding("f", "fork", "Fork", id="reading.fork"),
        Binding("ctrl+o", "output", "Output", id="reading.output"),
        Binding("pageup", "page(-1)", "A page up", id="reading.page_up", show=False),
        Binding("pagedown", "page(1)", "A page down", id="reading.page_down", show=False),
        Binding("ctrl+home", "edge(-1)", "To the first turn", id="reading.first", show=False),
        Binding("ctrl+end", "edge(1)", "To the newest turn", id="reading.last", show=False),
    ]
    DEFAULT_CSS = """
    ReadingScreen {
        #title { height: 1; text-wrap: nowrap; text-overflow: ellipsis; }
        #state { height: 1; padding: 0 1; color: $text-muted; }
    }
    """

    def __init__(self, reader: "Reader") -> None:
        super().__init__()
        self._reader = reader

    def compose(self) -> ComposeResult:
        """Lay out the title, the transcript, that it is read-only, and the keys."""
        record = self._reader.record
        title = one_line(displayable(record.title), TITLE_CHARACTERS) or "untitled"
        yield Static(Content(title), id="title", markup=False)
        yield Transcript()
        yield Static(Content("read-only · f goes on in a copy"), id="state", markup=False)
        yield Keys()

    @property
    def transcript(self) -> Transcript:
        """What was said."""
        return self.query_one(Transcript)

    def on_mount(self) -> None:
        """Show it."""
        self.transcript.focus()
        self._tell()

    @work(group="retelling")
    async def _tell(self) -> None:
        telling = Retelling(self.transcript, self._reader)
        try:
            await telling.begin()
            await telling.go_on()
        except WispError as error:
            self.transcript.note(error.sentence(), "error")

    def action_leave(self) -> None:
        """Close."""
        self.dismiss(False)

    def action_fork(self) -> None:
        """Go on in a copy."""
        self.dismiss(True)

    def action_page(self, step: int) -> None:
        """Scroll by a page."""
        (self.transcript.scroll_page_down if step > 0 else self.transcript.scroll_page_up)(animate=False)

    def action_edge(self, step: int) -> None:
        """Scroll to the first turn or the newest."""
        (self.transcript.scroll_end if step > 0 else self.transcript.scroll_home)(animate=False)

    @work(group="line")
    async def action_output(self) -> None:
        """Page the output of the chosen block, else the latest."""
        chosen = self.transcript.chosen
        if chosen is not None and chosen.call:
            self.transcript.action_open()
            return
        found = await self._reader.find_output()
        if found is None:
            self.app.notify("no output is kept of this thread", markup=False)
        else:
            self._page(found[1].call, title=f"entry {found[0]}, output {found[1].call}", text="")

    def on_transcript_copy_requested(self, event: Transcript.CopyRequested) -> None:
        """Copy through the terminal."""
        self.app.copy_to_clipboard(event.text)
        self.app.notify(f"sent {event.what} to the terminal's clipboard", markup=False)

    @work(group="line")
    async def on_transcript_open_requested(self, event: Transcript.OpenRequested) -> None:
        """Page a block."""
        title = f"entry {event.entry}" if event.entry is not None else "note"
        call = event.call or await call_of(self._reader, event.entry)
        self._page(call, title=f"{title}, output {call}" if call else title, text=event.text)

    def _page(self, call: str, *, title: str, text: str) -> None:
        read = read_output(self._reader, call, text=text) if call else read_text(text)
        self.app.push_screen(PagerScreen(title, read, folder=Path(self._reader.record.cwd)))
