"""What `/` can be completed to: names with their help, one of them chosen."""

from collections.abc import Iterable

from textual.content import Content
from textual.reactive import reactive
from textual.widget import Widget

MOST_ROWS = 6  # rows shown at once; the list scrolls under the chosen one


def matching(typed: str, names: Iterable[str]) -> list[str]:
    """Return the names that `typed` may mean: those that begin with it, then those that hold its letters in order."""
    names = list(names)
    first = [name for name in names if name.startswith(typed)]
    return first + [name for name in names if name not in first and _holds(name, typed)]


def _holds(name: str, letters: str) -> bool:
    rest = iter(name)
    return all(letter in rest for letter in letters)


class Suggestions(Widget, can_focus=False):
    """The list above the input; hidden while it is empty."""

    DEFAULT_CSS = """
    Suggestions {
        height: auto;
        display: none;
        padding: 0 2;
        background: $surface;
        text-wrap: nowrap;
        text-overflow: ellipsis;
    }
    """

    rows: reactive[tuple[tuple[str, str], ...]] = reactive(tuple, layout=True)
    chosen: reactive[int] = reactive(0)

    def offer(self, rows: Iterable[tuple[str, str]]) -> None:
        """Show (name, help) rows, the first chosen."""
        self.rows = tuple(rows)
        self.chosen = 0
        self.display = bool(self.rows)

    def move(self, step: int) -> None:
        """Choose the next row or the one before, round and round."""
        self.chosen = (self.chosen + step) % len(self.rows)

    @property
    def name_chosen(self) -> str:
        """The chosen name, empty where nothing is offered."""
        return self.rows[self.chosen][0] if self.rows else ""

    def render(self) -> Content:
        """Return the rows around the chosen one."""
        start = max(0, min(self.chosen - MOST_ROWS + 1, len(self.rows) - MOST_ROWS))
        shown = self.rows[start : start + MOST_ROWS]
        width = max((len(name) for name, _ in shown), default=0)
        lines = [
            Content.assemble(
                ("› " if start + at == self.chosen else "  ", "$accent"),
                (f"/{name:<{width}}  ", "bold" if start + at == self.chosen else ""),
                (text, "$foreground 60%"),
            )
            for at, (name, text) in enumerate(shown)
        ]
        return Content("\n").join(lines)
