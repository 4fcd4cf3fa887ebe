"""One request as the context panel shows it: a line about it, the window as a bar, and its items in order."""

from collections.abc import Iterator
from dataclasses import dataclass

from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content
from textual.widgets import Static

from wisp_core.requests import CHARACTERS_A_TOKEN, Item, Measurement
from wisp_tui.widgets.columns import about, percent
from wisp_tui.widgets.context_rows import ITEM_COLUMNS, heads, item_row, recalled_row
from wisp_tui.widgets.row_list import RowList
from wisp_tui.widgets.window_bar import Filling, WindowBar

EMPTY = Filling()
NOW = "now"  # the kind of the block that recollected passages are in
NOT_ITEMS = frozenset({"tools", "headroom", "free"})  # parts of the window that are no item's


@dataclass(frozen=True, slots=True)
class Carried:
    """A request's items, what its answer added, and what is known of its size; `words` tell of it, `alarm` of a fault.

    `measurement` is None until the request is measured. `recalled` are the entries of the passages in the now block,
    each with why it was chosen.
    """

    items: tuple[Item, ...] = ()
    answer: tuple[Item, ...] = ()
    measurement: Measurement | None = None
    filling: Filling = EMPTY
    words: str = ""
    alarm: bool = False
    recalled: tuple[tuple[int, str], ...] = ()


@dataclass(frozen=True, slots=True)
class _Row:
    """The row of the item or answer `at`, or of a passage that it carries."""

    at: int
    recalled: tuple[int, str] | None = None


class RequestView(Vertical):
    """The request; `carried` is what it shows."""

    DEFAULT_CSS = """
    RequestView {
        .words, .total, .heads { height: 1; text-wrap: nowrap; text-overflow: ellipsis; }
        .words, .total, WindowBar { padding: 0 1; }
    }
    """

    def __init__(self, *, id: str) -> None:
        super().__init__(id=id)
        self.carried = Carried()
        self._sizes: list[int] = []
        self._rows: list[_Row] = []
        self._rate = 1 / CHARACTERS_A_TOKEN

    @property
    def rows(self) -> RowList:
        """The list of its items."""
        return self.query_one(RowList)

    def compose(self) -> ComposeResult:
        """Lay out the lines about it over its items."""
        yield Static(classes="words", markup=False)
        yield Static(classes="total", markup=False)
        yield WindowBar()
        yield Static(heads(ITEM_COLUMNS), classes="heads", markup=False)
        yield RowList()

    def on_mount(self) -> None:
        """Show that nothing is known yet."""
        self.show(self.carried)

    def show(self, carried: Carried) -> None:
        """Show a request; of the same one with more known of it the place in the list stays."""
        before, self.carried = self.carried, carried
        if carried.items is not before.items or carried.answer is not before.answer or not self._sizes:
            self._sizes = [item.bytes for item in (*carried.items, *carried.answer)]
        size = sum(self._sizes[: len(carried.items)])
        used = sum(share.tokens for share in carried.filling.shares if share.part not in NOT_ITEMS)
        self._rate = used / size if used and size else 1 / CHARACTERS_A_TOKEN
        words = self.query_one(".words", Static)
        words.display = bool(carried.words)
        words.update(Content.styled(carried.words, "$text-warning" if carried.alarm else "$foreground"))
        total = self.query_one(".total", Static)
        total.display = bool(carried.items)
        total.update(self._total(size))
        self.query_one(WindowBar).show(carried.filling)
        self._rows = list(_rows(carried))
        keys = [_key(row, carried) for row in self._rows]
        last = sum(row.at < len(carried.items) for row in self._rows) - 1
        self.rows.show(keys, self._draw, start=last)

    def item_at(self, index: int) -> Item:
        """Return the item of a row; of a passage the block that it is in."""
        at, items = self._rows[index].at, self.carried.items
        return items[at] if at < len(items) else self.carried.answer[at - len(items)]

    def _draw(self, index: int, cells: int) -> Content:
        row = self._rows[index]
        if row.recalled is not None:
            return recalled_row(*row.recalled)
        size = self._sizes[row.at]
        added = row.at >= len(self.carried.items)
        return item_row(self.item_at(index), size, tokens=round(size * self._rate), cells=cells, added=added)

    def _total(self, size: int) -> Content:
        carried, count = self.carried, len(self.carried.items)
        measured = carried.measurement
        words = ["1 entry" if count == 1 else f"{count:,} entries", f"{size:,} bytes"]
        if measured is not None:
            words.append(f"{about(measured.tokens, counted=measured.counted)} tokens")
            window, source = carried.filling.window, carried.filling.source
            words.append(
                f"{percent(measured.tokens / window, counted=measured.counted)} of {window:,}"
                + (f" ({source})" if source else "")
                if window
                else "the window is not known yet"
            )
        return Content(" · ".join(words))


def _rows(carried: Carried) -> Iterator[_Row]:
    for at in range(len(carried.items) + len(carried.answer)):
        yield _Row(at)
        if at < len(carried.items) and carried.items[at].kind == NOW:
            yield from (_Row(at, recalled) for recalled in carried.recalled)


def _key(row: _Row, carried: Carried) -> str:
    if row.recalled is not None:
        return f"↳{row.recalled[0]}"
    added = row.at - len(carried.items)
    item = carried.items[row.at] if added < 0 else carried.answer[added]
    return f"{'' if added < 0 else '+'}{item.entry}:{item.id}"
