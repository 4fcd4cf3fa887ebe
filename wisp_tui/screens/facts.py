"""Ctrl-F: what is known, by scope and what is proposed; history, keep, drop, delete, change scope, edit, filter."""

from collections.abc import Awaitable
from typing import ClassVar

from textual import on, work
from textual.binding import Binding, BindingType
from textual.widgets import Input

from wisp_core.errors import WispError
from wisp_core.fact import FactScope, FactState
from wisp_core.text import displayable, one_line
from wisp_tui.screens.choice import ChoiceScreen
from wisp_tui.screens.facts_source import VIEWS
from wisp_tui.screens.facts_views import SAID_CHARACTERS, FactsViews
from wisp_tui.widgets.fact_rows import title_of, waits
from wisp_tui.widgets.line_input import LineInput

VALUE_CHARACTERS = 2_000  # of a value that can be edited
DELETE = {"keep": "keep it", "delete": "delete it; the audit keeps that it was"}
MOVES = {
    FactScope.PERMANENT: "permanent: for every conversation",
    FactScope.THREAD: "thread: for this conversation",
    FactScope.SESSION: "session: until wisp ends",
}


class FactsScreen(FactsViews):
    """Ends with the id of the entry that the person wants to see, None for none."""

    _edited = ""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "close", "Close", id="facts.close"),
        Binding("enter", "open", "Where from", id="facts.open"),
        Binding("tab", "turn_over(1)", "View", key_display="⇥", id="facts.view_on"),
        Binding("k", "keep", "Keep", id="facts.keep"),
        Binding("d", "drop", "Drop", id="facts.drop"),
        Binding("e", "edit", "Edit", id="facts.edit"),
        Binding("s", "move_scope", "Scope", id="facts.scope"),
        Binding("x", "delete", "Delete", id="facts.delete"),
        Binding("h", "history", "History", id="facts.history"),
        Binding("slash", "filter", "Filter", key_display="/", id="facts.filter"),
        Binding("right", "turn_over(1)", "View", show=False, id="facts.right"),
        Binding("shift+tab,left", "turn_over(-1)", "View before", show=False, id="facts.view_back"),
        Binding("ctrl+f", "leave", "Close", show=False, id="facts.away"),
        Binding("pageup", "page(-1)", "A page up", show=False, id="facts.page_up"),
        Binding("pagedown", "page(1)", "A page down", show=False, id="facts.page_down"),
    ]

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Tell whether an action is possible: letters are text while a line is open."""
        if action in ("close", "leave"):
            return True
        if self.focused is not self.rows:
            return False
        known = self.at()
        current = known is not None and known.fact.state == FactState.CURRENT
        match action:
            case "keep" | "drop":
                return known is not None and waits(known.fact)
            case "delete":
                return current
            case "move_scope" | "edit":
                return current and known is not None and known.here
            case "open" | "history":
                return known is not None and not (action == "history" and self.of is not None)
            case _:
                return True

    def on_descendant_focus(self) -> None:
        """Show the keys that work now."""
        self.refresh_bindings()

    # What the keys do.

    def action_close(self) -> None:
        """Leave what is open, the innermost first: a line, a history, the filter, the screen."""
        if self.value.display:
            self._shut(self.value)
        elif self.focused is self.words:
            self.rows.focus()
        elif self.of is not None:
            self.of = None
            self.show_rows()
        elif self.words.value:
            self.words.value = ""
            self._shut(self.words)
        else:
            self.dismiss(None)

    def action_leave(self) -> None:
        """Leave the screen."""
        self.dismiss(None)

    def action_turn_over(self, step: int) -> None:
        """Show the view after, or before."""
        self.go(VIEWS[(VIEWS.index(self.view) + step) % len(VIEWS)])

    def action_page(self, step: int) -> None:
        """Go by as many rows as are in view."""
        self.rows.action_page(step)

    def action_filter(self) -> None:
        """Go to the words."""
        self.of = None
        self.words.display = True
        self.words.focus()

    def action_history(self) -> None:
        """Show every version of what the fact is about."""
        self.of = self.at()
        self.show_rows()

    def action_open(self) -> None:
        """Go to the entry that the fact came from, or say why there is none."""
        if (known := self.at()) is None:
            return
        fact = known.fact
        if fact.thread != self.source.thread:
            self.tell(f"it came from another conversation; /resume {fact.thread} goes there")
        elif not fact.entries:
            self.tell("it came from no entry of the conversation: it was stated, or observed at the start")
        else:
            self.dismiss(fact.entries[0])

    def action_edit(self) -> None:
        """Ask for the value that the person states in its place."""
        if (known := self.at()) is not None:
            self._edited = known.fact.id
            self.value.value = one_line(displayable(known.fact.value), VALUE_CHARACTERS)
            self.value.display = True
            self.value.focus()

    @work(group="act")
    async def action_keep(self) -> None:
        """Make it permanent."""
        if (known := self.at()) is not None:
            await self._do(self.source.keep(known.fact.id))

    @work(group="act")
    async def action_drop(self) -> None:
        """Leave it in its thread."""
        if (known := self.at()) is not None:
            await self._do(self.source.drop(known.fact.id))

    @work(group="act")
    async def action_delete(self) -> None:
        """Delete it, when the person says so once more."""
        if (known := self.at()) is None:
            return
        question = f"delete {title_of(known.fact)}: {one_line(known.fact.value, SAID_CHARACTERS // 2)}?"
        if await self.app.push_screen_wait(ChoiceScreen(question, DELETE, leave="keeps it")) == "delete":
            await self._do(self.source.delete(known.fact.id))

    @work(group="act")
    async def action_move_scope(self) -> None:
        """Move it to another scope."""
        if (known := self.at()) is None:
            return
        ways = {"": f"{known.fact.scope}: as it is"} | {k: w for k, w in MOVES.items() if k != known.fact.scope}
        question = f"where does {title_of(known.fact)} hold?"
        if scope := await self.app.push_screen_wait(ChoiceScreen(question, ways, leave="leaves it")):
            await self._do(self.source.move(known.fact.id, scope))

    # What is typed, and clicked.

    @on(Input.Submitted, "#words")
    def _take_filtered(self) -> None:
        self.rows.focus()

    @on(Input.Submitted, "#value")
    @work(group="act")
    async def _take_value(self, event: Input.Submitted) -> None:
        self._shut(self.value)
        await self._do(self.source.correct(self._edited, event.value))

    def on_row_list_chosen(self) -> None:
        """Go to where the row that was clicked came from."""
        self.action_open()

    # How it is done.

    async def _do(self, done: Awaitable[str]) -> None:
        """Tell for a moment what came of what the person wanted."""
        try:
            self.tell(await done)
        except WispError as error:
            self.tell(error.sentence(), alarm=True)
        self.follow()

    def _shut(self, line: LineInput) -> None:
        line.display = False
        self.rows.focus()
