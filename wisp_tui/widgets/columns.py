"""Columns of a row: text in so many cells, figures, and how a share of the window is written. Pure."""

from rich.cells import cell_len, set_cell_size

from wisp_core.text import displayable, one_line

MOST_CHARACTERS = 400  # of a text of which one row is shown


def column(text: str, cells: int, *, right: bool = False) -> str:
    """Return text from anywhere on one line in exactly so many cells, an … where it was longer."""
    text = one_line(displayable(text[:MOST_CHARACTERS]), MOST_CHARACTERS)
    size = cell_len(text)
    if size > cells:
        return set_cell_size(text, max(0, cells - 1)) + "…"[:cells]
    return " " * (cells - size) + text if right else text + " " * (cells - size)


def about(count: int, *, counted: bool = False) -> str:
    """Return a figure with its thousands set off, after a ~ where it is estimated."""
    return f"{'' if counted else '~'}{count:,}"


def percent(share: float, *, counted: bool = False) -> str:
    """Return a share as percent, after a ~ where it is estimated."""
    return f"{'' if counted else '~'}{100 * share:.0f}%"


def short(count: int) -> str:
    """Return a figure in a few characters: `940`, `1.2k`, `34k`, `1.3M`."""
    if count < 1000:
        return str(count)
    if count < 9950:
        return f"{count / 1000:.1f}k"
    return f"{count / 1000:.0f}k" if count < 999_500 else f"{count / 1_000_000:.1f}M"
