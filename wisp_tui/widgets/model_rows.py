"""Rows of the list of models: name, size, window, and which is in use. Pure."""

from dataclasses import dataclass

from textual.content import Content

from wisp_core.text import byte_size
from wisp_tui.widgets.columns import column
from wisp_tui.widgets.thread_rows import QUIET

SIZE_CELLS, WINDOW_CELLS, STATE_CELLS = 9, 10, 8
UNKNOWN = "–"


@dataclass(frozen=True, slots=True)
class ModelLine:
    """A model as its row shows it: `size` in bytes and `window` in tokens, None where they are not known."""

    name: str
    size: int | None = None
    window: int | None = None
    usable: bool = True
    in_use: bool = False


def model_heads(cells: int) -> Content:
    """Return the names of the columns."""
    tail = f"{'size':>{SIZE_CELLS}} {'window':>{WINDOW_CELLS}} {'':{STATE_CELLS}}"
    return Content.styled(f"{column('model', _width(cells))} {tail}", QUIET)


def model_row(line: ModelLine, cells: int) -> Content:
    """Return a model in so many cells."""
    size = byte_size(line.size) if line.size else UNKNOWN
    window = f"{line.window:,}" if line.window else UNKNOWN
    state = "in use" if line.in_use else "" if line.usable else "not now"
    return Content.assemble(
        (column(line.name, _width(cells)), "" if line.usable else QUIET),
        (f" {column(size, SIZE_CELLS, right=True)} {column(window, WINDOW_CELLS, right=True)} ", QUIET),
        (column(state, STATE_CELLS, right=True), "$accent" if line.in_use else "$text-warning"),
    )


def _width(cells: int) -> int:
    return max(1, cells - SIZE_CELLS - WINDOW_CELLS - STATE_CELLS - 3)
