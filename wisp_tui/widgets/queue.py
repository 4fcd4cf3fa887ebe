"""The prompts that wait behind the running turn, or are held until the person sends or drops them."""

from textual.content import Content
from textual.reactive import reactive
from textual.widget import Widget

from wisp_core.text import displayable, one_line

MOST_SHOWN = 3  # rows of queued prompts; the rest is counted


class Queue(Widget, can_focus=False):
    """The list above the input; hidden while nothing waits."""

    DEFAULT_CSS = """
    Queue { height: auto; display: none; padding: 0 2; color: $text-muted; }
    Queue.-held { color: $text-warning; }
    """

    texts: reactive[tuple[str, ...]] = reactive(tuple, layout=True)
    held: reactive[bool] = reactive(False, layout=True)

    def hold(self, texts: list[str], *, held: bool) -> None:
        """Show `texts` in their order."""
        self.texts, self.held = tuple(texts), held
        self.display = bool(texts)
        self.set_class(held, "-held")

    def render(self) -> Content:
        """Return a row a prompt, and how to send, take back or drop them."""
        if self.held:
            head = f"held · {_count(self.texts)} · Enter sends · Up takes back · F8 drops"
        else:
            head = f"queued · {_count(self.texts)} · Up takes back · F8 drops"
        width = max(10, self.size.width)
        rows = [Content(one_line(head, width))]
        rows += [Content(one_line(displayable(f"▸ {text}"), width)) for text in self.texts[:MOST_SHOWN]]
        if len(self.texts) > MOST_SHOWN:
            rows.append(Content(f"… and {len(self.texts) - MOST_SHOWN} more"))
        return Content("\n").join(rows)


def _count(texts: tuple[str, ...]) -> str:
    return "1 prompt" if len(texts) == 1 else f"{len(texts)} prompts"
