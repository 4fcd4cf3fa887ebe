"""Ctrl-L: every thread of the home and the saved transcripts; search, resume, read, rename, fork, export, delete."""

from collections.abc import Awaitable, Callable
from typing import ClassVar, ParamSpec

from textual import on, work
from textual.binding import Binding, BindingType
from textual.widgets import Input

from wisp_core.errors import WispError
from wisp_core.text import displayable, one_line
from wisp_tui.screens.choice import ChoiceScreen
from wisp_tui.screens.threads_items import Fork, Read, ThreadOf
from wisp_tui.screens.threads_state import SAID_CHARACTERS, ThreadsState

P = ParamSpec("P")

SEARCH_AFTER = 0.15  # seconds without a key after which is looked for what was typed
FORMS = {"md": "Markdown", "html": "a page for a browser", "json": "JSON, for programs"}
DELETE = {"keep": "keep it", "delete": "delete it here; the audit keeps what was said"}


class ThreadsScreen(ThreadsState):
    """Ends with what the person wants, None for nothing."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "keep_title", "Keep the title", id="threads.keep"),
        Binding("escape", "to_rows", "To the list", id="threads.list"),
        Binding("escape", "forget", "All threads", id="threads.all"),
        Binding("escape", "dismiss", "Close", id="threads.close"),
        Binding("enter", "resume", "Resume", id="threads.resume"),
        Binding("slash", "search", "Search", key_display="/", id="threads.search"),
        Binding("v", "view", "Read", id="threads.read"),
        Binding("r", "rename", "Rename", id="threads.rename"),
        Binding("f", "fork", "Fork", id="threads.fork"),
        Binding("e", "export", "Export", id="threads.export"),
        Binding("d", "delete", "Delete", id="threads.delete"),
        Binding("ctrl+l", "dismiss", "Close", show=False, id="threads.away"),
        Binding("up", "move(-1)", "Up", show=False),
        Binding("down", "move(1)", "Down", show=False),
    ]

    def on_mount(self) -> None:
        """Show the newest threads."""
        self.asked.select_on_focus = False  # a title is mended more often than replaced
        self.rows.focus()
        self._list()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Tell whether an action is possible: letters are text while a line is open."""
        typing = self.focused is not None and self.focused is not self.rows
        match action:
            case "keep_title":
                return bool(self.asked.display)
            case "to_rows" | "move":
                return typing
            case "forget":
                return bool(self.words.value)
            case "search":
                return not typing
            case "resume":
                item = self._item()
                return item is not None and item.resumed() is not None and not self.asked.display
            case "view" | "rename" | "fork" | "export" | "delete":
                return not typing and self._thread() is not None
            case _:
                return True

    def on_descendant_focus(self) -> None:
        """Show the keys that work now."""
        self.refresh_bindings()

    # What the keys do.

    def action_keep_title(self) -> None:
        """Leave the title as it is."""
        self.asked.display = False
        self.query_one("#state").display = True
        self.rows.focus()

    def action_to_rows(self) -> None:
        """Go to what was found."""
        self.rows.focus()

    def action_forget(self) -> None:
        """Show every thread again."""
        self.words.value = ""

    def action_search(self) -> None:
        """Go to the words."""
        self.words.focus()

    def action_move(self, step: int) -> None:
        """Go to the row above or below while words are typed."""
        if self.focused is self.words:
            self.rows.action_move(step)

    async def action_resume(self) -> None:
        """Go on in what the cursor is on; words that were not looked for yet are looked for first."""
        if self._waiting is not None:
            await self._look()
        item = self._item()
        wish = item.resumed() if item is not None else None
        if wish is not None:
            self.dismiss(wish)

    def action_view(self) -> None:
        """Read it."""
        if (thread := self._thread()) is not None:
            self.dismiss(Read(thread.id))

    def action_fork(self) -> None:
        """Go on in a copy of it."""
        if (thread := self._thread()) is not None:
            self.dismiss(Fork(thread.id))

    def action_rename(self) -> None:
        """Ask for a title."""
        if (thread := self._thread()) is not None:
            self._renamed = thread.id
            self.query_one("#state").display = False
            self.asked.value = one_line(displayable(thread.title), SAID_CHARACTERS)
            self.asked.display = True
            self.asked.focus()

    @work(group="act")
    async def action_export(self) -> None:
        """Write it for reading, in a form that the person chooses."""
        if (thread := self._thread()) is None:
            return
        form = await self.app.push_screen_wait(ChoiceScreen(f"export {_name(thread)} as", FORMS, leave="closes"))
        if form is not None:
            await self._do(self._export, thread.id, form)

    @work(group="act")
    async def action_delete(self) -> None:
        """Delete it, when the person says so once more."""
        if (thread := self._thread()) is None:
            return
        said = await self.app.push_screen_wait(ChoiceScreen(f"delete {_name(thread)}?", DELETE, leave="keeps it"))
        if said == "delete":
            await self._do(self._delete, thread.id)

    # What is typed.

    @on(Input.Changed, "#words")
    def _look_soon(self) -> None:
        """Look for the words once the fingers rest."""
        if self._waiting is not None:
            self._waiting.stop()
        self._waiting = self.set_timer(SEARCH_AFTER, self._list)

    @on(Input.Submitted, "#asked")
    @work(group="act")
    async def _take_title(self, event: Input.Submitted) -> None:
        self.action_keep_title()
        await self._do(self._rename, self._renamed, event.value)

    async def on_row_list_chosen(self) -> None:
        """Go on in the row that was clicked."""
        await self.action_resume()

    def on_row_list_moved(self) -> None:
        """Say more of the row that the cursor is on."""
        self._say(self._about())
        self.refresh_bindings()

    # How it is done.

    @work(group="list", exclusive=True)
    async def _list(self) -> None:
        await self._look()

    async def _look(self) -> None:
        if self._waiting is not None:
            self._waiting.stop()
            self._waiting = None
        try:
            await self.show_found()
        except WispError as error:
            self._say(error.sentence())

    async def _do(self, act: Callable[P, Awaitable[str]], *args: P.args, **named: P.kwargs) -> None:
        """Do something and tell for a moment what came of it."""
        try:
            self.app.notify(displayable(await act(*args, **named)), markup=False)
        except WispError as error:
            self.app.notify(displayable(error.sentence()), severity="error", markup=False)

    async def _rename(self, thread: str, title: str) -> str:
        kept = await self._shelf.rename(thread, title)
        await self.show_found()
        return f"it is called {kept} now"

    async def _export(self, thread: str, form: str) -> str:
        return f"written to {await self._shelf.export(thread, form, folder=self._folder)}"

    async def _delete(self, thread: str) -> str:
        await self._shelf.delete(thread)
        await self.show_found()
        return "deleted; the audit keeps what was said"


def _name(thread: ThreadOf) -> str:
    return f"`{one_line(thread.title, 60)}`" if thread.title else "this thread"
