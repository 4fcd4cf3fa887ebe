"""The names of the views of a panel on one row, the one in view marked; a click goes to one."""

from collections.abc import Mapping

from textual import events
from textual.content import Content
from textual.message import Message
from textual.style import Style
from textual.widget import Widget


class ViewTabs(Widget, can_focus=False):
    """The row; `names` are the words of each view by its id."""

    ALLOW_SELECT = False
    DEFAULT_CSS = "ViewTabs { height: 1; padding: 0 1; background: $surface; text-wrap: nowrap; }"

    class Wanted(Message):
        """The person clicked on a view's name."""

        def __init__(self, view: str) -> None:
            super().__init__()
            self.view = view

    def __init__(self) -> None:
        super().__init__()
        self._names: Mapping[str, str] = {}
        self._current = ""

    def show(self, names: Mapping[str, str], current: str) -> None:
        """Show these names, `current` marked."""
        self._names, self._current = dict(names), current
        self.refresh()

    def on_click(self, event: events.Click) -> None:
        """Go to the view that was clicked."""
        event.stop()
        view = event.style.meta.get("view")
        if view:
            self.post_message(self.Wanted(view))

    def render(self) -> Content:
        """Return the row."""
        pieces: list[Content] = []
        for view, name in self._names.items():
            at = view == self._current
            look = "bold underline $accent" if at else "$foreground 60%"
            word = Content.styled(name, look).stylize(Style.from_meta({"view": view}))
            # Brackets tell it apart without colour; every name has room for them, so that none moves.
            marked = at and len(self._names) > 1
            pieces.append(Content.assemble("[" if marked else " ", word, "]" if marked else " "))
        return Content(" ").join(pieces)
