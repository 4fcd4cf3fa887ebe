"""The rows of the context panel: an item of a request, what a turn changed, a version of the summary. Pure."""

from textual.content import Content

from wisp_core.records import Origin, Rendering, Summary
from wisp_core.requests import Item, TurnChanges
from wisp_tui.widgets.columns import about, column, percent
from wisp_tui.widgets.fill_line import share_of

DIM = "$foreground 60%"
NOTHING = "·"
SUMMARY_CELLS = 400
WHY_CELLS = 200
LEAST_CELLS = 12  # behind the columns, of which a text is shown
ITEM_COLUMNS = (("id", 5), ("kind", 12), ("origin", 9), ("sent as", 9), ("bytes", 9), ("tokens", 8))
TURN_COLUMNS = (
    ("turn", 5),
    ("ended", 11),
    ("added", 5),
    ("cut", 4),
    ("ref'd", 5),
    ("drop", 5),
    ("summ", 4),
    ("facts", 5),
    ("full", 5),
)
LEFT = frozenset({"kind", "origin", "sent as", "ended"})
COLOURS = {Rendering.WHOLE: DIM, Rendering.CUT: "$text-warning", Rendering.REFERENCE: "$text-secondary"}


def heads(columns: tuple[tuple[str, int], ...]) -> Content:
    """Return the names of columns as they stand over them."""
    return Content.styled(" " + " ".join(column(name, cells, right=name not in LEFT) for name, cells in columns), DIM)


def item_row(item: Item, size: int, *, tokens: int, cells: int, added: bool = False) -> Content:
    """Return one item in so many cells: `size` in bytes, `tokens` about; `added` tells that the answer brought it."""
    number = "–" if item.entry is None else str(item.entry)
    origin = item.origin if item.origin != Origin.TURN else f"turn {item.turn}" if item.turn else "start"
    how = "answer" if added else item.rendering.value
    words = [f"+{number}" if added else number, item.kind, origin]
    head = " ".join(
        column(word, cells, right=name not in LEFT) for word, (name, cells) in zip(words, ITEM_COLUMNS[:3], strict=True)
    )
    figures = f"{column(f'{size:,}', 9, right=True)} {column(about(tokens), 8, right=True)}"
    return Content.assemble(
        (head, DIM if added else ""),
        " ",
        (column(how, 9), DIM if added else COLOURS[item.rendering]),
        (f" {figures}", DIM if added else ""),
        (_rest(item.text, cells - _width(ITEM_COLUMNS)), DIM),
    )


def recalled_row(entry: int, why: str) -> Content:
    """Return why an earlier passage is in the now block above it (O25)."""
    return Content.assemble(
        (f"{'↳':>5} ", "$accent"), (column(f"entry {entry}", 12), DIM), f" {column(why, WHY_CELLS).rstrip()}"
    )


def turn_row(changes: TurnChanges, cells: int) -> Content:
    """Return what one turn changed in so many cells, a dot where nothing."""
    share = share_of(changes)
    full = NOTHING if share is None else percent(share, counted=changes.reported)
    counts = (changes.added, changes.cut, changes.referenced, changes.dropped, changes.summarised, changes.facts)
    words = [str(changes.turn), changes.outcome or "running", *(str(n) if n else NOTHING for n in counts), full]
    found = [
        (column(word, wide, right=name not in LEFT) + " ", DIM if word == NOTHING or name == "ended" else "")
        for word, (name, wide) in zip(words, TURN_COLUMNS, strict=True)
    ]
    size = ""
    if changes.tokens is not None:
        size = about(changes.tokens, counted=changes.reported)
        size += f" of {changes.window:,}" if changes.window else " tokens"
    return Content.assemble(*found, (_rest(size, cells - _width(TURN_COLUMNS)), DIM))


def summary_row(summary: Summary, *, current: bool) -> Content:
    """Return one version of the summary."""
    turns = "1 turn" if summary.turns == 1 else f"{summary.turns} turns"
    head = f"version {summary.version}" + (", current" if current else "")
    tail = f"{turns}, up to entry {summary.highest}, written at turn {summary.turn}"
    model = f" by {summary.model}" if summary.model else ""
    time = f", {summary.time}" if summary.time else ""
    return Content.assemble(column(head, 20), " ", column(tail + model + time, SUMMARY_CELLS).rstrip())


def _width(columns: tuple[tuple[str, int], ...]) -> int:
    return sum(wide + 1 for _, wide in columns)


def _rest(text: str, cells: int) -> str:
    """Return what of a text stands behind the columns, nothing where there is no room worth it."""
    return "  " + column(text, cells - 2).rstrip() if cells >= LEAST_CELLS else ""
