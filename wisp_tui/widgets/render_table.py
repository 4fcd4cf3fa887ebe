"""A table as rows of cells that fit the width: columns shrink, then wrap; too many of them stack. Pure."""

from rich.style import Style

from wisp_tui.widgets.render_palette import Palette
from wisp_tui.widgets.render_text import Line, width_of, wrap

MIN_COLUMN = 5
SEPARATOR = " │ "

_BOLD = Style(bold=True)


def table_lines(rows: list[list[Line]], aligns: list[str], *, width: int, palette: Palette) -> list[Line]:
    """Return the lines of a table of `width` cells at most; the first row is the header."""
    columns = max((len(row) for row in rows), default=0)
    if not columns:
        return []
    room = width - len(SEPARATOR) * (columns - 1)
    if room < MIN_COLUMN * columns:
        return _stacked(rows, width, palette=palette)
    widths = _fit([max(width_of(row[i]) if i < len(row) else 0 for row in rows) or 1 for i in range(columns)], room)
    out: list[Line] = []
    for index, row in enumerate(rows):
        out.extend(_row(row, widths, aligns=aligns, palette=palette, header=index == 0))
        if index == 0:
            out.append([("─┼─".join("─" * cells for cells in widths), palette.faint)])
    return out


def _fit(natural: list[int], room: int) -> list[int]:
    """Return column widths that sum to at most `room`: narrow columns keep theirs, wide ones share the rest."""
    widths = list(natural)
    wide = sorted(range(len(natural)), key=lambda i: natural[i])
    left = room
    for place, column in enumerate(wide):
        share = left // (len(wide) - place)
        widths[column] = min(natural[column], max(1, share))
        left -= widths[column]
    return widths


def _row(row: list[Line], widths: list[int], *, aligns: list[str], palette: Palette, header: bool) -> list[Line]:
    cells = []
    for index, cells_wide in enumerate(widths):
        cell: Line = [(text.replace("\n", " "), style) for text, style in row[index]] if index < len(row) else []
        if header:
            cell = [(text, style + _BOLD) for text, style in cell]
        cells.append(wrap(cell, cells_wide) if cell else [[]])
    height = max(map(len, cells))
    out: list[Line] = []
    for at in range(height):
        line: Line = []
        for index, lines in enumerate(cells):
            if index:
                line.append((SEPARATOR, palette.faint))
            part = lines[at] if at < len(lines) else []
            line.extend(
                _aligned(part, widths[index], align=aligns[index] if index < len(aligns) else "", pad=palette.text)
            )
        out.append(line)
    return out


def _aligned(line: Line, cells: int, *, align: str, pad: Style) -> Line:
    spare = max(0, cells - width_of(line))
    left = spare if align == "right" else spare // 2 if align == "center" else 0
    return [(" " * left, pad), *line, (" " * (spare - left), pad)]


def _stacked(rows: list[list[Line]], width: int, *, palette: Palette) -> list[Line]:
    """Return one line a cell, under its header's name, for a table with more columns than there is room for."""
    head, *body = rows
    names = ["".join(text for text, _ in cell) for cell in head]
    out: list[Line] = []
    for row in body or [head]:
        for index, cell in enumerate(row):
            name = f"{names[index]}: " if index < len(names) and body else ""
            out.extend(wrap([(name, palette.muted), *cell], width))
        out.append([])
    return out[:-1]
