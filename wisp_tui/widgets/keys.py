"""The footer: the keys that work now, each a thing to click as well, and what waits where no status line says it."""

from textual.binding import Binding
from textual.content import Content
from textual.screen import Screen
from textual.style import Style
from textual.widget import Widget

from wisp_tui.widgets.status import Condition, Status

GAP = "   "


class Keys(Widget, can_focus=False):
    """One line made of the screen's active bindings, so that it follows the person's own keys."""

    DEFAULT_CSS = """
    Keys { height: 1; padding: 0 1; color: $text-muted; link-style: none; link-color: $foreground 60%; }
    """

    _waits = 0

    def on_mount(self) -> None:
        """Follow the bindings, and what waits for the person."""
        self.screen.bindings_updated_signal.subscribe(self, self._follow)
        for below in self.app.screen_stack:
            if below is not self.screen:
                for status in below.query(Status):
                    self.watch(status, "condition", self._count)

    def _count(self, condition: Condition) -> None:
        if condition.pending != self._waits:
            self._waits = condition.pending
            self.refresh()

    def _follow(self, _screen: Screen[object]) -> None:
        self.refresh()

    def render(self) -> Content:
        """Return as many keys as fit: what Esc does first, then as they were bound, Shift-Tab last."""
        shown: list[Content] = []
        left = self.size.width
        if self._waits:
            shown.append(Content.styled(f"{self._waits} pending", "$text-warning"))
            left -= shown[0].cell_length + len(GAP)
        active = self.screen.active_bindings.values()
        for node, binding, enabled, _ in sorted(active, key=lambda one: _place(one.binding)):
            if not binding.show or not enabled:
                continue
            where = "app" if node is self.app else "screen"
            action = binding.action if "." in binding.action else f"{where}.{binding.action}"
            click = Style.from_meta({"@click": action})
            item = Content.assemble((self.app.get_key_display(binding), "$accent"), (f" {binding.description}", click))
            if item.cell_length > left:
                break
            left -= item.cell_length + len(GAP)
            shown.append(item)
        return Content(GAP).join(shown)


def _place(binding: Binding) -> int:
    """Return a key's place: Textual lists Shift-Tab first, where it stands for moving the focus."""
    return {"escape": 0, "shift+tab": 2}.get(binding.key, 1)
