"""How full the window was over the turns: one column a turn, the latest that fit, condensations marked below."""

from collections.abc import Sequence

from textual.content import Content
from textual.geometry import Size
from textual.widget import Widget

from wisp_core.requests import TurnChanges
from wisp_tui.widgets.columns import percent
from wisp_tui.widgets.window_bar import DIM, FAINT, SHORT_SCREEN

BLOCKS = " ▁▂▃▄▅▆▇█"
STEPS = len(BLOCKS) - 1  # that a row is drawn in
ROWS, ROWS_SHORT = 4, 3  # of the line
LABEL_CELLS = 13
CONDENSED = "▴"
GRID = "┄"


def share_of(changes: TurnChanges) -> float | None:
    """Return how full the window was at the turn's last request, None where that is not known."""
    return changes.tokens / changes.window if changes.tokens is not None and changes.window else None


def condensed(changes: TurnChanges) -> bool:
    """Tell whether entries left the context in this turn."""
    return bool(changes.dropped or changes.summarised)


def columns_of(width: int) -> int:
    """Return how many turns fit in `width` cells."""
    return max(1, width - LABEL_CELLS)


def fill_lines(turns: Sequence[TurnChanges], width: int, *, rows: int, target: float, budget: float) -> list[Content]:
    """Return the rows, from a full window down to an empty one, and below them where it was condensed."""
    room = columns_of(width)
    shown = turns[-room:]
    grid = {_row(share, rows): f"{name} {percent(share, counted=True)}" for name, share in _marks(target, budget)}
    lines: list[Content] = []
    for row in reversed(range(rows)):
        blank = (GRID, FAINT) if row in grid else (" ", "")
        cells = [_cell(share_of(one), row, rows=rows, budget=budget) or blank for one in shown]
        lines.append(Content.assemble(*cells, *[blank] * (room - len(shown)), (f" {grid.get(row, '')}", DIM)))
    if any(condensed(one) for one in shown):
        signs = "".join(CONDENSED if condensed(one) else " " for one in shown)
        lines.append(Content.styled(f"{signs:<{room}} condensed", "$warning"))
    return lines


def _marks(target: float, budget: float) -> tuple[tuple[str, float], ...]:
    return (("target", target), ("budget", budget))


def _row(share: float, rows: int) -> int:
    return min(rows - 1, int(share * rows))


def _cell(share: float | None, row: int, *, rows: int, budget: float) -> tuple[str, str] | None:
    """Return a cell of a column, None where it does not reach."""
    if share is None:
        return None
    steps = max(1, round(share * rows * STEPS)) - row * STEPS
    if steps <= 0:
        return None
    colour = "$warning" if share > budget else "$primary 70%"
    return BLOCKS[min(STEPS, steps)], colour


class FillLine(Widget, can_focus=False):
    """The line, for the width there is."""

    ALLOW_SELECT = False
    # Away while it has nothing to tell: a height of none that was measured then would stay, Textual keeps heights.
    DEFAULT_CSS = "FillLine { display: none; height: auto; text-wrap: nowrap; }"

    def __init__(self) -> None:
        super().__init__()
        self._turns: Sequence[TurnChanges] = ()
        self._target, self._budget = 0.60, 0.85

    def show(self, turns: Sequence[TurnChanges], *, target: float, budget: float) -> None:
        """Show these turns; `target` and `budget` are shares of the window."""
        self._turns, self._target, self._budget = turns, target, budget
        self.display = bool(turns)
        self.refresh(layout=True)

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:  # signature of Textual
        """Return how many rows it takes."""
        return len(self._lines(width))

    def render(self) -> Content:
        """Return the rows."""
        return Content("\n").join(self._lines(self.content_size.width))

    def _lines(self, width: int) -> list[Content]:
        if not self._turns:
            return []
        tall = self.app.size.height >= SHORT_SCREEN
        rows = ROWS if tall else ROWS_SHORT
        lines = fill_lines(self._turns, width, rows=rows, target=self._target, budget=self._budget)
        return [Content(), *lines, Content()] if tall else lines
