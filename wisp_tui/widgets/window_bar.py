"""The window as a bar stacked by part, with marks at target and budget and a legend; a letter begins each part."""

from collections.abc import Sequence
from dataclasses import dataclass

from textual.content import Content
from textual.geometry import Size
from textual.widget import Widget

from wisp_core.requests import Share
from wisp_tui.widgets.columns import column, percent, short

GAP = "   "
SHORT_SCREEN = 24  # rows under which the legend takes fewer
LEGEND_ROWS = 4
LEGEND_ROWS_SHORT = 2
NAME_CELLS = 24
FULL, HEADROOM, FREE = "━", "╌", "─"
DIM, FAINT = "$foreground 60%", "$foreground 25%"


@dataclass(frozen=True, slots=True)
class Look:
    """How a part is told: its letter, its name, its colour, and what fills it."""

    letter: str
    name: str
    colour: str
    fill: str = FULL


LOOKS = {
    "instructions": Look("I", "instructions", "$secondary"),
    "tools": Look("T", "tools", "$foreground 60%"),
    "earlier": Look("E", "earlier block", "$warning"),
    "turns": Look("L", "literal turns", "$primary"),
    "now": Look("N", "now block", "$success"),
    "request": Look("R", "request", "$foreground"),
    "headroom": Look("H", "headroom", DIM, HEADROOM),
    "free": Look("F", "free", FAINT, FREE),
}
OTHER = Look("?", "other", DIM)


@dataclass(frozen=True, slots=True)
class Filling:
    """What the bar tells: the shares in the window's order, target and budget as shares of the `window` in tokens.

    `window` is None where it is unknown; then the bar shows how the parts stand to each other. `source` tells where it
    comes from, where that is known.
    """

    shares: tuple[Share, ...] = ()
    window: int | None = None
    target: float = 0.60
    budget: float = 0.85
    source: str = ""


def bar(filling: Filling, width: int) -> Content:
    """Return the bar in `width` cells."""
    shares = [share for share in filling.shares if share.tokens > 0]
    cells = allot([share.tokens for share in shares], width)
    pieces: list[tuple[str, str]] = []
    before = ""
    for share, count in zip(shares, cells, strict=True):
        look = LOOKS.get(share.part, OTHER)
        letter = look.letter.lower() if share.part == before else look.letter
        before = share.part
        if count and look.fill != FREE:
            pieces += [(letter, f"bold {look.colour}"), (look.fill * (count - 1), look.colour)]
        else:
            pieces.append((look.fill * count, look.colour))
    return Content.assemble(*pieces) if pieces else Content.styled(FREE * width, FAINT)


def marks(filling: Filling, width: int) -> Content:
    """Return the row under the bar: where target and budget are, nothing where the window is unknown."""
    total = max(filling.window or 0, sum(share.tokens for share in filling.shares))
    if not filling.window or width < 1:
        return Content()
    row = [" "] * width
    places = [
        (min(width - 1, int(share * filling.window / total * width)), name, share)
        for name, share in (("target", filling.target), ("budget", filling.budget))
    ]
    if total > filling.window:
        places.append((min(width - 1, int(filling.window / total * width)), "window", 1.0))
    for index, (at, name, share) in enumerate(places):
        end = places[index + 1][0] if index + 1 < len(places) else width
        for label in (f"▴ {name} {percent(share, counted=True)}", f"▴ {name}", "▴"):
            if at + len(label) <= end:
                row[at : at + len(label)] = label
                break
    return Content.styled("".join(row).rstrip(), DIM)


def legend(filling: Filling, width: int, *, rows: int) -> Content:
    """Return what the letters stand for, in at most `rows` rows where that can be: then instructions are one entry."""
    shares = [share for share in filling.shares if share.tokens > 0]
    lines = _wrap(_entries(shares), width)
    if len(lines) > rows:
        lines = _wrap(_entries(_joined(shares)), width)
    return Content("\n").join(lines)


def allot(amounts: Sequence[int], cells: int) -> list[int]:
    """Return how many of `cells` each amount takes: all of them together, at least one each while there are enough."""
    total = sum(amounts)
    if not total or cells < 1:
        return [0] * len(amounts)
    least = 1 if len(amounts) <= cells else 0
    exact = [amount * cells / total for amount in amounts]
    found = [max(least, int(size)) for size in exact]
    for _ in range(abs(cells - sum(found))):
        lacking = [size - taken for size, taken in zip(exact, found, strict=True)]
        if sum(found) < cells:
            found[lacking.index(max(lacking))] += 1
        else:
            large = [lack if taken > least else float("inf") for lack, taken in zip(lacking, found, strict=True)]
            found[large.index(min(large))] -= 1
    return found


def _entries(shares: Sequence[Share]) -> list[Content]:
    entries: list[Content] = []
    before = ""
    for share in shares:
        look = LOOKS.get(share.part, OTHER)
        more = share.part == before
        label = column(share.label, NAME_CELLS).rstrip() if share.label and share.label != share.part else ""
        name = label if more and label else f"{look.name} {label}" if label else look.name
        size = f" ~{short(share.tokens)}"
        letter = look.letter.lower() if more else look.letter if look.fill != FREE else look.fill
        entries.append(Content.assemble((letter, f"bold {look.colour}"), f" {name}", (size, DIM)))
        before = share.part
    return entries


def _joined(shares: Sequence[Share]) -> list[Share]:
    """Return the shares with neighbours of one part as one."""
    found: list[Share] = []
    for share in shares:
        if found and found[-1].part == share.part:
            found[-1] = Share(share.part, "", found[-1].tokens + share.tokens)
        else:
            found.append(share)
    return found


def _wrap(entries: Sequence[Content], width: int) -> list[Content]:
    lines: list[list[Content]] = []
    used = 0
    for entry in entries:
        if lines and used + len(GAP) + entry.cell_length <= width:
            lines[-1].append(entry)
            used += len(GAP) + entry.cell_length
        else:
            lines.append([entry])
            used = entry.cell_length
    return [Content(GAP).join(line) for line in lines]


class WindowBar(Widget, can_focus=False):
    """The bar, its marks and its legend, for the width there is."""

    ALLOW_SELECT = False
    # Away while it has nothing to tell: a height of none that was measured then would stay, Textual keeps heights.
    DEFAULT_CSS = "WindowBar { display: none; height: auto; text-wrap: nowrap; text-overflow: ellipsis; }"

    def __init__(self) -> None:
        super().__init__()
        self.filling = Filling()

    def show(self, filling: Filling) -> None:
        """Show another window."""
        if filling != self.filling:
            self.filling = filling
            self.display = bool(filling.shares)
            self.refresh(layout=True)

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:  # signature of Textual
        """Return how many rows it takes."""
        return len(self._lines(width))

    def render(self) -> Content:
        """Return the rows."""
        return Content("\n").join(self._lines(self.content_size.width))

    def _lines(self, width: int) -> list[Content]:
        if not self.filling.shares:
            return []
        tall = self.app.size.height >= SHORT_SCREEN
        under = marks(self.filling, width)
        words = legend(self.filling, width, rows=LEGEND_ROWS if tall else LEGEND_ROWS_SHORT)
        lines = [bar(self.filling, width), *([under] if under.plain else []), *words.split("\n")]
        return [Content(), *lines, Content()] if tall else lines
