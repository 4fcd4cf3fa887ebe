"""Tool output as styled lines: colour kept, cursor and mode sequences left out, all else made visible. Pure."""

import re

from rich.color import Color
from rich.style import Style

from wisp_tui.widgets.render_text import Line, expand_tabs, visible

_SGR = re.compile(r"\x1b\[([0-9;:]{0,64})m")
# Sequences of parameters alone hide no text; OSC, DCS and their kind carry text and are therefore shown instead.
_CSI = re.compile(r"\x1b\[[0-?]{0,64}[ -/]{0,4}[@-ln-~]|\x1b[()][0-9A-Za-z]|\x1b[=>78]")
_ATTRIBUTES: dict[int, dict[str, bool]] = {
    1: {"bold": True},
    2: {"dim": True},
    3: {"italic": True},
    4: {"underline": True},
    7: {"reverse": True},
    9: {"strike": True},
    22: {"bold": False, "dim": False},
    23: {"italic": False},
    24: {"underline": False},
    27: {"reverse": False},
    29: {"strike": False},
}
_EXTENDED = {38: "color", 48: "bgcolor"}


class Ink:
    """What SGR sequences have set so far; `style` is it over the plain style of the output."""

    def __init__(self, plain: Style) -> None:
        self._plain = plain
        self._flags: dict[str, bool] = {}
        self._colours: dict[str, Color] = {}
        self.style = plain

    def apply(self, parameters: str) -> None:
        """Take one SGR sequence's parameters, e.g. `1;31`; what is unknown changes nothing."""
        codes = [int(code) if code else 0 for code in re.split("[;:]", parameters)]
        while codes:
            code = codes.pop(0)
            if code == 0:
                self._flags.clear()
                self._colours.clear()
            elif code in _ATTRIBUTES:
                self._flags.update(_ATTRIBUTES[code])
            elif code in _EXTENDED:
                self._extended(_EXTENDED[code], codes)
            else:
                self._plain_colour(code)
        ground = self._colours.get("bgcolor")
        if ground is not None and ground == self._colours.get("color"):
            ground = None  # text in its own background's colour would be hidden
        self.style = self._plain + Style(
            color=self._colours.get("color"),
            bgcolor=ground,
            bold=self._flags.get("bold"),
            dim=self._flags.get("dim"),
            italic=self._flags.get("italic"),
            underline=self._flags.get("underline"),
            reverse=self._flags.get("reverse"),
            strike=self._flags.get("strike"),
        )

    def _plain_colour(self, code: int) -> None:
        if 30 <= code <= 37 or 90 <= code <= 97:
            self._colours["color"] = Color.from_ansi(code - 30 if code < 90 else code - 82)
        elif 40 <= code <= 47 or 100 <= code <= 107:
            self._colours["bgcolor"] = Color.from_ansi(code - 40 if code < 100 else code - 92)
        elif code in (39, 49):
            self._colours.pop("color" if code == 39 else "bgcolor", None)

    def _extended(self, place: str, codes: list[int]) -> None:
        kind = codes.pop(0) if codes else 0
        values = codes[: 1 if kind == 5 else 3]
        if (kind, len(values)) not in ((5, 1), (2, 3)) or max(values) > 255:
            codes.clear()
            return
        del codes[: len(values)]
        self._colours[place] = Color.from_ansi(values[0]) if kind == 5 else Color.from_rgb(*values)


def ansi_lines(text: str, plain: Style) -> list[Line]:
    """Return the lines of a tool's output with the colours it set over `plain`."""
    if "\x1b" not in text:
        return [[(expand_tabs(line), plain)] for line in visible(text).removesuffix("\n").split("\n")] if text else []
    ink = Ink(plain)
    lines = []
    for raw in text.replace("\r\n", "\n").removesuffix("\n").split("\n"):
        lines.append(_ansi_line(raw.rstrip("\r").rsplit("\r", 1)[-1], ink))
    return lines


def _ansi_line(raw: str, ink: Ink) -> Line:
    parts = _SGR.split(_CSI.sub("", raw))
    line: Line = []
    for index, part in enumerate(parts):
        if index % 2:
            ink.apply(part)
        elif part:
            line.append((expand_tabs(visible(part)), ink.style))
    return line or [("", ink.style)]
