"""A palette without a theme."""

from rich.style import Style

from wisp_tui.widgets.render_palette import ROLES, Palette

PLAIN = Palette(**dict.fromkeys(ROLES, Style()))
