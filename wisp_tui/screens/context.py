"""Ctrl-T: what the next request carries, entry by entry, with sizes and the exact text."""

from collections.abc import Callable

from textual.app import ComposeResult
from textual.binding import Binding
from textual.content import Content
from textual.screen import Screen
from textual.widgets import OptionList, Static
from textual.widgets.option_list import Option

from wisp_core.requests import Composition, Item
from wisp_core.text import displayable, one_line

BYTES_A_TOKEN = 4
BAR_CELLS = 40
COLUMNS = f"{'id':>4} {'kind':<12} {'origin':<7} {'turn':>4} {'as':<9} {'bytes':>7} {'tokens':>7}"


def tokens_of(size: int) -> int:
    """Return about how many tokens `size` bytes are."""
    return -(-size // BYTES_A_TOKEN)


def row_of(item: Item) -> Content:
    """Return one item as a row of the list."""
    where = "" if item.entry is None else str(item.entry)
    head = (
        f"{where:>4} {item.kind:<12.12} {item.origin:<7.7} {item.turn:>4} {item.rendering.value:<9} "
        f"{item.bytes:>7,} {'~' + format(tokens_of(item.bytes), ','):>7}  "
    )
    return Content.assemble(displayable(head), (one_line(displayable(item.text[:400]), 200), "$foreground 60%"))


class ContextScreen(Screen[None]):
    """The next request as a list; `window` in tokens, None where it is unknown."""

    BINDINGS = [
        Binding("escape", "dismiss", "Close", id="context.close"),
        Binding("ctrl+t,q", "dismiss", "Close", show=False),
        Binding("enter", "expand", "Exact text", show=False),
    ]

    def __init__(self, composition: Composition, window: int | None, *, expand: Callable[[str, str], None]) -> None:
        super().__init__()
        self._composition = composition
        self._window = window
        self._expand = expand

    def compose(self) -> ComposeResult:
        """Lay out the total, the list and the keys."""
        yield Static(self._total(), id="title", markup=False)
        yield Static(Content.styled(f" {COLUMNS}", "$foreground 60%"), id="columns", markup=False)
        yield OptionList(*(Option(row_of(item)) for item in self._composition.items), markup=False, compact=True)
        yield Static("Enter shows the exact text   Esc closes", id="foot", markup=False)

    def on_mount(self) -> None:
        """Begin at the newest item."""
        rows = self.query_one(OptionList)
        rows.focus()
        if rows.option_count:
            rows.highlighted = rows.option_count - 1

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """Show the exact text of an item."""
        item = self._composition.items[event.option_index]
        where = f"entry {item.entry}" if item.entry is not None else item.id
        self._expand(f"{item.kind}, {where}, {item.rendering.value}, turn {item.turn}", item.text)

    def _total(self) -> Content:
        size = sum(item.bytes for item in self._composition.items)
        tokens = tokens_of(size)
        words = f"next request: {len(self._composition.items)} entries, {size:,} bytes, ~{tokens:,} tokens"
        if not self._window:
            return Content(f"{words}, the window is not known yet")
        share = tokens / self._window
        full = min(BAR_CELLS, round(share * BAR_CELLS))
        return Content.assemble(
            f"{words}, ~{share * 100:.0f}% of {self._window:,}  ",
            ("━" * full, "$accent"),
            ("─" * (BAR_CELLS - full), "$foreground 35%"),
        )
