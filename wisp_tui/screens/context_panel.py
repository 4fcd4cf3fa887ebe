"""The context panel: the next request, that of any turn, what each turn changed, and the summary; it follows live."""

from typing import Any, ClassVar

from textual import work
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.message import Message
from textual.widgets import Input, Static

from wisp_core.requests import Item
from wisp_tui.screens.context_loading import load_next, load_turn, load_turns, words_of
from wisp_tui.screens.context_views import ContextViews
from wisp_tui.widgets.line_input import LineInput
from wisp_tui.widgets.request_view import RequestView
from wisp_tui.widgets.row_list import RowList
from wisp_tui.widgets.summary_view import SummaryView
from wisp_tui.widgets.turns_view import TurnsView

FOLLOWED = frozenset(
    {
        "prompt", "response", "tool.call", "tool.result", "command", "turn.end", "request.composed",
        "context.reference", "context.cut", "context.condensation", "context.compaction.undone", "context.shortened",
        "context.summary", "model.changed", "mode.changed", "thread.start",
    }
)  # fmt: skip
STEP_ENDS = frozenset({"context.condensation", "context.summary", "turn.end"})
FOLLOW_AFTER = 0.1  # seconds in which what comes together is shown together
NUMBER_DIGITS = 15  # that a turn's number has at most


class ContextPanel(ContextViews):
    """What the model carries; `expand(title, text)` shows an exact text."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "close", "Close", id="context.close"),
        Binding("q", "close", "Close", show=False, id="context.quit"),
    ]

    class Closed(Message):
        """The person wants the panel away."""

    _pending = False

    # What the keys do.

    def action_close(self) -> None:
        """Leave the question for a number, else the panel."""
        if self.query_one("#number").display:
            self._close_line()
        else:
            self.post_message(self.Closed())

    def action_step(self, step: int) -> None:
        """Show the request of the turn before, or after."""
        self.go_to_turn(self.shown_turn + step)

    def action_ask(self) -> None:
        """Ask for a turn's number."""
        line = self.query_one("#number", LineInput)
        line.value = ""
        line.display = True
        line.focus()

    def go_to_turn(self, turn: int) -> None:
        """Show the request of a turn, the nearest that there is."""
        self.turn = max(1, min(turn, self._source.last_turn))
        self.action_view("turn")

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Go to the turn of that number."""
        event.stop()
        self._close_line()
        answer = event.value.strip()
        if answer.isascii() and answer.isdigit() and len(answer) <= NUMBER_DIGITS:
            self.go_to_turn(int(answer))
        elif answer:
            said = words_of(f"a turn's number is a whole number from 1 on, not {answer}")
            self.app.notify(said, severity="warning", markup=False)

    def on_row_list_chosen(self, event: RowList.Chosen) -> None:
        """Show the exact text of an item or a version, or the request of a turn."""
        event.stop()
        match self.view:
            case "turns":
                self.go_to_turn(self.query_one(TurnsView).turns[event.index].turn)
            case "summary":
                chosen = self.query_one(SummaryView).summaries[event.index]
                self._expand(f"summary, version {chosen.version}", chosen.text)
            case view:
                item = self.query_one(f"#{view}", RequestView).item_at(event.index)
                self._expand(_title(item), item.text)

    # What follows the conversation.

    def hear(self, name: str, data: Any) -> None:
        """Take what the conversation published: an event's name and data, or a live part's."""
        if not self._open:
            return
        condensing = name == "note" and isinstance(data, dict) and data.get("kind") == "condensing"
        if condensing:
            self._tell_step(str(data.get("text", "")))
        elif name in STEP_ENDS:
            self._tell_step("")
        if condensing or name in FOLLOWED:
            self.follow()

    def follow(self) -> None:
        """Show anew what is in sight, with what comes in the same moment."""
        if self._open and not self._pending:
            self._pending = True
            self.set_timer(FOLLOW_AFTER, self.renew)

    def renew(self) -> None:
        """Show anew what is in sight."""
        self._pending = False
        super().renew()
        self._load(self.view)

    @work(exclusive=True, group="context")
    async def _load(self, view: str) -> None:
        match view:
            case "next":
                await load_next(self.query_one("#next", RequestView), self._source)
            case "turn":
                await load_turn(self.query_one("#turn", RequestView), self._source, turn=self.shown_turn)
            case "turns":
                await load_turns(self.query_one(TurnsView), self._source)
            case _:
                self.query_one(SummaryView).show(self._source.summaries)

    @property
    def _open(self) -> bool:
        return self.is_mounted and self.is_attached

    def _tell_step(self, text: str) -> None:
        step = self.query_one("#step", Static)
        step.display = bool(text)
        step.update(Content(words_of(text)))

    def _close_line(self) -> None:
        self.query_one("#number").display = False
        self.rows.focus()


def _title(item: Item) -> str:
    where = f"entry {item.entry}" if item.entry is not None else item.id
    return f"{item.kind}, {where}, {item.rendering.value}, turn {item.turn}"
