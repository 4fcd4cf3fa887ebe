"""The status line: what runs, the context meter, model and mode, what is queued and pending, the place, the tokens."""

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from rich.cells import cell_len
from textual.content import Content
from textual.reactive import reactive
from textual.widget import Widget

from wisp_core.text import displayable, one_line

BAR_CELLS = 12
TICK = 1.0  # seconds between two drawings of a running time
MODEL_CELLS = 32
BRANCH_CELLS = 24
PLACE_CELLS = 40


@dataclass(frozen=True, slots=True)
class Condition:
    """What the line tells; `share`, `target` and `budget` are shares of the window, `since` is in monotonic seconds;
    while it lies ahead, what is done is waited for.

    `unseen` tells that something was added below what is in view, `pending` how much waits for an answer in the home.
    """

    doing: str = "starting"
    since: float | None = None
    model: str = ""
    mode: str = ""
    share: float | None = None
    estimated: bool = False
    target: float = 0.60
    budget: float = 0.85
    queued: int = 0
    held: bool = False
    directory: str = ""
    branch: str = ""
    tokens: int = 0
    unseen: bool = False
    pending: int = 0


def line(now: Condition, width: int, *, clock: float) -> Content:
    """Return the line in at most `width` cells; what matters least goes first when it is narrow."""
    parts = _parts(now, clock)
    for leave in ("tokens", "branch", "directory", "mode", "bar", "model", "unseen", "queued", "pending"):
        if _length(parts) <= width:
            break
        parts.pop(leave, None)
    shown = Content("  ").join(parts.values())
    return shown.truncate(width, ellipsis=True) if shown.cell_length > width else shown


def _length(parts: dict[str, Content]) -> int:
    return sum(part.cell_length + 2 for part in parts.values()) - 2


def _parts(now: Condition, clock: float) -> dict[str, Content]:
    doing = _clean(now.doing, MODEL_CELLS)
    running = now.since is not None
    if now.since is not None and now.since > clock:
        doing = f"trying again in {duration(math.ceil(now.since - clock))}"
    elif now.since is not None and clock - now.since >= 1:
        doing += f" {duration(clock - now.since)}"
    parts = {"doing": Content.assemble(("● " if running else "○ ", "$accent" if running else "$foreground 60%"), doing)}
    if now.pending:
        parts["pending"] = Content.styled(f"{now.pending} pending", "$text-warning")
    if now.unseen:
        parts["unseen"] = Content.styled("↓ more below", "$accent")
    if now.queued:
        word = "held" if now.held else "queued"
        parts["queued"] = Content.assemble((f"{now.queued} {word}", "$text-warning"))
    if now.share is not None:
        parts["bar"] = meter(now.share, target=now.target, budget=now.budget)
        mark = "~" if now.estimated else ""
        parts["share"] = Content(f"context {mark}{now.share * 100:.0f}%")
    muted = {
        "model": _clean(now.model, MODEL_CELLS),
        "mode": now.mode,
        "directory": _clean(now.directory, PLACE_CELLS),
        "branch": _clean(now.branch, BRANCH_CELLS),
        "tokens": f"{_thousands(now.tokens)} tokens" if now.tokens else "",
    }
    return parts | {name: Content.styled(text, "$foreground 60%") for name, text in muted.items() if text}


def meter(share: float, *, target: float, budget: float) -> Content:
    """Return the context bar, with marks at target and budget."""
    filled = max(0, min(BAR_CELLS, round(share * BAR_CELLS)))
    marks = {min(BAR_CELLS - 1, int(target * BAR_CELLS)), min(BAR_CELLS - 1, int(budget * BAR_CELLS))}
    colour = "$text-error" if share > budget else "$text-warning" if share > target else "$accent"
    cells: list[Any] = []
    for at in range(BAR_CELLS):
        full = at < filled
        sign = ("╋" if full else "┼") if at in marks else ("━" if full else "─")
        cells.append((sign, colour if full else "$foreground 35%"))
    return Content.assemble(*cells)


def duration(seconds: float) -> str:
    """Return seconds as people read them: `12 s`, `3 min 05 s`."""
    whole = int(seconds)
    return f"{whole} s" if whole < 60 else f"{whole // 60} min {whole % 60:02} s"


def _clean(text: str, most: int) -> str:
    text = one_line(displayable(text), most)
    while cell_len(text) > most:
        text = text[:-2] + "…"
    return text


def _thousands(count: int) -> str:
    return str(count) if count < 1000 else f"{count / 1000:.1f}k" if count < 1_000_000 else f"{count / 1_000_000:.1f}M"


class Status(Widget, can_focus=False):
    """The line itself; it draws anew each second while something runs."""

    DEFAULT_CSS = "Status { height: 1; padding: 0 1; }"

    condition: reactive[Condition] = reactive(Condition())

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__()
        self.clock = clock

    def on_mount(self) -> None:
        """Begin to tell the time of what runs."""
        self.set_interval(TICK, self._tick)

    def tell(self, **changes: Any) -> None:
        """Change some of what the line tells."""
        self.condition = replace(self.condition, **changes)

    def render(self) -> Content:
        """Return the line for the width there is."""
        return line(self.condition, max(1, self.size.width), clock=self.clock())

    def _tick(self) -> None:
        if self.condition.since is not None:
            self.refresh()
