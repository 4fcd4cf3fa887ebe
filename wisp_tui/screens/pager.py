"""Ctrl-O: a text or an output of any size, whole: a page read as it scrolls, searched, followed, saved and copied."""

from collections.abc import Awaitable
from pathlib import Path
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.widgets import Input, Static

from wisp_core.text import byte_size, displayable, one_line
from wisp_tui.screens.pager_state import PagerState
from wisp_tui.screens.saving import save
from wisp_tui.widgets.keys import Keys
from wisp_tui.widgets.line_input import LineInput
from wisp_tui.widgets.live_output import LiveOutput
from wisp_tui.widgets.page_lines import Place
from wisp_tui.widgets.page_search import Needle, search
from wisp_tui.widgets.page_view import PageView
from wisp_tui.widgets.pages import Part, Read, read_text

__all__ = ["PageView", "PagerScreen", "Part", "Read", "read_text"]

COPY_CHARACTERS = 256 * 1024  # more is for a file
TITLE_CHARACTERS = 200


class PagerScreen(PagerState):
    """One text, from its start; `read` gives the part at an offset, `live` what a call that still runs has shown.

    A relative file to save to stands in `folder`.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "close", "Close", id="pager.close"),
        Binding("q,ctrl+o", "dismiss", "Close", show=False, id="pager.quit"),
        Binding("slash", "ask('search')", "Search", key_display="/", id="pager.search"),
        Binding("n", "again(1)", "Next", id="pager.next"),
        Binding("N", "again(-1)", "Previous", show=False, id="pager.previous"),
        Binding("g", "ask('line')", "Line", id="pager.line"),
        Binding("G", "end", "End", id="pager.end"),
        Binding("w", "wrap", "Wrap", id="pager.wrap"),
        Binding("f", "follow", "Follow", id="pager.follow"),
        Binding("s", "ask('save')", "Save", id="pager.save"),
        Binding("v", "choose", "Choose", id="pager.choose"),
        Binding("c", "copy", "Copy", id="pager.copy"),
        Binding("down,j", "move(1)", "Down", show=False, id="pager.down"),
        Binding("up,k", "move(-1)", "Up", show=False, id="pager.up"),
        Binding("pagedown,space", "page(1)", "A page down", show=False, id="pager.page_down"),
        Binding("pageup,b", "page(-1)", "A page up", show=False, id="pager.page_up"),
        Binding("colon", "ask('line')", "Line", show=False, id="pager.line_colon"),
        Binding("end", "end", "End", show=False, id="pager.last"),
        Binding("home", "start", "Start", show=False, id="pager.start"),
        Binding("right,l", "side(1)", "Right", show=False, id="pager.right"),
        Binding("left,h", "side(-1)", "Left", show=False, id="pager.left"),
    ]
    DEFAULT_CSS = """
    PagerScreen {
        #title { height: 1; padding: 0 1; background: $surface; color: $accent; }
        #note { display: none; height: 1; padding: 0 1; color: $text-warning; }
        #state { height: 1; padding: 0 1; color: $text-muted; }
        #asked { display: none; padding: 0 1; }
        PageView { padding: 0; }
    }
    """

    def __init__(self, title: str, read: Read, *, live: LiveOutput | None = None, folder: Path | None = None) -> None:
        super().__init__(following=live is not None and not live.ended)
        self._title = title
        self._read = read
        self._live = None if live is None or live.ended else live
        self._folder = folder or Path()
        self._stale = False

    def compose(self) -> ComposeResult:
        """Lay out the title, the text, how it stands, the line to answer in, and the keys."""
        yield Static(Content(one_line(displayable(self._title), TITLE_CHARACTERS)), id="title", markup=False)
        yield Static(id="note", markup=False)
        yield PageView(self._read if self._live is None else self._live.read)
        yield LineInput(id="asked")
        yield Static(id="state", markup=False)
        yield Keys()

    def on_mount(self) -> None:
        """Give the keys to the text, and hear of more of it."""
        self.query_one("#title").styles.height = 1  # a long title must not take the text's rows
        self.view.focus()
        if self._live is not None:
            self._live.changed = self.follow_on
            self.follow_on()

    def on_unmount(self) -> None:
        """Hear no more."""
        if self._live is not None:
            self._live.changed = None

    # What the keys do.

    def action_close(self) -> None:
        """Leave what is open, the innermost first: the question, what runs, the choice, the screen."""
        if self.line.display:
            self._close_line()
        elif self._walking is not None and self._walking.is_running:
            self._walking.cancel()
        elif self.view.mark is not None:
            self.view.mark = None
            self.view.refresh()
            self._tell()
        else:
            self.dismiss()

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Take the answer; an empty one looks for what was looked for before, and changes nothing else."""
        event.stop()
        self._close_line()
        answer = event.value
        match self._asked:
            case "search":
                if answer:
                    self.view.needle = Needle(answer)
                    self.view.hit = None
                self.action_again(1)
            case "line" if answer.strip():
                self._go_to_line(answer.strip())
            case "save" if answer.strip():
                self._save(answer.strip())

    def action_again(self, step: int) -> None:
        """Look on for the same, downwards or upwards."""
        if self.view.needle is None:
            self._say("nothing to look for yet; / takes a word")
        else:
            self._search(self.view.needle, back=step < 0)

    async def action_move(self, rows: int) -> None:
        """Go by rows."""
        await self._moved(self.view.move(rows), up=rows < 0)

    async def action_page(self, step: int) -> None:
        """Go by as many rows as are in view."""
        await self._moved(self.view.move(step * max(1, self.view.size.height - 1)), up=step < 0)

    async def action_start(self) -> None:
        """Go to the start."""
        view = self.view
        view.cursor = Place()
        await self._moved(view.show(Place()), up=True)

    def action_end(self) -> None:
        """Go to the end."""
        self._walk(self._show_end)

    async def action_side(self, step: int) -> None:
        """Go to the side where lines are not wrapped."""
        await self.view.move_side(step)

    async def action_wrap(self) -> None:
        """Wrap long lines, or not."""
        await self.view.set_wrapped(not self.view.wrapped)

    def action_follow(self) -> None:
        """Stay at the end while more comes, or no longer."""
        if self._live is None:
            self._say("it has ended: there is nothing to follow")
            return
        self._following = not self._following
        self._tell()
        if self._following:
            self.follow_on()

    def action_choose(self) -> None:
        """Begin to choose lines, or stop."""
        if self.view.mark is not None:
            self.action_close()
        elif self.view.shown:
            self._following = False
            self.view.choose()
            self._tell()

    async def action_copy(self) -> None:
        """Copy the chosen lines, else the current one."""
        text, whole = await self.view.take(COPY_CHARACTERS)
        self.app.copy_to_clipboard(text)
        more = "" if whole else f", the first {byte_size(COPY_CHARACTERS)} of it; s saves the whole to a file"
        self._say(f"sent {len(text):,} characters to the terminal's clipboard{more}")
        self.view.mark = None
        self.view.refresh()

    # What takes a while.

    def _search(self, needle: Needle, *, back: bool) -> None:
        async def work() -> None:
            view = self.view
            self._following = False
            start = view.hit if view.hit is not None and view.found >= 0 else self._edge(back=back)
            found = await search(view.lines, needle, start=start, back=back, tell=self._progress("searching"))
            if found is None:
                view.hit = None
                await view.show(view.top)
                self._say(f"not found: {needle.text}")
                return
            await view.show_hit(found[0])
            if found[1]:
                self._say("from the end again" if back else "from the start again")

        self._walk(work)

    def _edge(self, *, back: bool) -> Place:
        """Return the place before which nothing in view stands, or after which, for a search upwards."""
        view = self.view
        top = view.top
        return top if back else Place(top.chunk, top.line, top.at - 1)

    def _go_to_line(self, answer: str) -> None:
        number = int(answer) if answer.isascii() and answer.isdigit() and len(answer) < 16 else 0

        async def work() -> None:
            self._following = False
            if not number:
                self._say(f"a line's number is a whole number from 1 on, not {answer}")
            elif not await self.view.show_line(number, self._progress("going there")):
                self._say(f"there is no line {number:,}; there are {self.view.pages.lines or 0:,}")

        self._walk(work)

    async def _show_end(self) -> None:
        await self.view.show_end(self._progress("going to the end"))

    def _save(self, name: str) -> None:
        async def work() -> None:
            read = self._read if self._live is None else self._live.read
            try:
                said = await save(read, name, folder=self._folder, tell=self._progress("saving"))
            except FileExistsError:
                said = f"{name} is there already; nothing was written"
            except (OSError, ValueError) as error:
                why = error.strerror if isinstance(error, OSError) else "no file can have that name"
                said = f"{name} could not be written: {why}"
            self._say(said)

        self._walk(work)

    # A call that still runs.

    def follow_on(self) -> None:
        """Take what is new once the loop is free: it comes in many small pieces."""
        if not self._stale and self.is_attached:
            self._stale = True
            self.call_later(self._grow)

    async def _grow(self) -> None:
        self._stale = False
        live, view = self._live, self.view
        if live is None:
            return
        if live.ended:
            line = view.shown[0].number if view.shown else 1
            self._live = live.changed = None
            await view.open(self._read, line=line)
            if self._following:
                self.action_end()
            self._following = False
            return
        view.pages.grew()
        if self._following:
            await view.show_end(lambda _share: None)
        elif view.at_end:
            await view.show(view.top)
        self._tell()

    async def _moved(self, moving: Awaitable[None], *, up: bool) -> None:
        if up:
            self._following = False
        self._said = ""
        await moving
