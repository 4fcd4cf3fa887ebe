"""A list of rows beside keys of its screen: it takes the arrows and leaves every letter and page key alone."""

from typing import ClassVar

from textual.binding import Binding, BindingType

from wisp_tui.widgets.row_list import RowList


class PickList(RowList, inherit_bindings=False):
    """The list; what a letter does to the row at its cursor is the screen's to say."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up", "move(-1)", "Up", show=False, id="rows.up"),
        Binding("down", "move(1)", "Down", show=False, id="rows.down"),
        Binding("home", "edge(-1)", "First", show=False, id="rows.first"),
        Binding("end", "edge(1)", "Last", show=False, id="rows.last"),
    ]
