"""One chunk of Markdown as rows of the screen. Pure.

Raw HTML, reference definitions and link targets are shown as text, so that nothing in the source is hidden.
"""

from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING

from rich.cells import cell_len
from rich.style import Style

from wisp_tui.widgets.render_chunks import MAX_CHUNK_CHARACTERS, Chunk
from wisp_tui.widgets.render_code import code_lines
from wisp_tui.widgets.render_palette import Palette
from wisp_tui.widgets.render_table import table_lines
from wisp_tui.widgets.render_text import Line, Row, Wrapping, expand_tabs, lines_of, visible, width_of, wrap

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.tree import SyntaxTreeNode

MAX_NESTING = 24
# Inline parsing is quadratic for some texts (`[[[[…`); a longer stretch is shown as it is.
MAX_INLINE_CHARACTERS = 4 * 1024
MIN_WIDTH = 8
CODE_INDENT = 2

BOLD, ITALIC, STRIKE = Style(bold=True), Style(italic=True), Style(strike=True)


@dataclass(frozen=True, slots=True)
class Part:
    """A stretch of rows, [start, end), that can be chosen by itself; `text` is what copying it gives."""

    start: int
    end: int
    text: str


@dataclass(slots=True)
class Rendered:
    """Rows in order and the code blocks among them."""

    rows: list[Row] = field(default_factory=list)
    parts: list[Part] = field(default_factory=list)


def render_chunk(chunk: Chunk, width: int, *, palette: Palette) -> Rendered:
    """Return a chunk in rows of at most `width` cells (at least `MIN_WIDTH`)."""
    width = max(MIN_WIDTH, width)
    if chunk.fence:
        return _fence_alone(chunk.source, width, palette=palette)
    if chunk.plain or len(chunk.source) > MAX_CHUNK_CHARACTERS:
        return _plain_text(chunk.source, width, palette=palette)
    source = visible(chunk.source)
    parser = _parser()
    tokens = parser.parse(source)
    if any(token.level >= MAX_NESTING - 1 for token in tokens):
        return _plain_text(chunk.source, width, palette=palette)  # the parser would leave out what is deeper
    for token in tokens:
        if token.type == "inline" and len(token.content) <= MAX_INLINE_CHARACTERS:
            token.children = []
            parser.inline.parse(token.content, parser, {}, token.children)
    out = Rendered()
    _Writer(out, palette)._children(_tree(tokens), width, place=_Place([], palette.text))
    return out


def _plain_text(source: str, width: int, *, palette: Palette) -> Rendered:
    """Return text as it is, wrapped at words."""
    rows = [
        Row(line, palette.text) for text in lines_of(source) for line in wrap([(text, palette.text)], max(2, width))
    ]
    return Rendered(rows)


def _code_rows(lines: list[Line], width: int, *, palette: Palette) -> list[Row]:
    """Return lines of code as rows: indented, on the code's ground as wide as `width`, broken at the last cell."""
    inner = width - 2 * CODE_INDENT
    return [code_row(row, width, palette=palette) for line in lines for row in wrap(line, inner, how=Wrapping.CODE)]


def code_row(line: Line, width: int, *, palette: Palette, label: str = "") -> Row:
    """Return one row of code, a label at its right end."""
    spare = width - CODE_INDENT - width_of(line) - cell_len(label) - (1 if label else 0)
    tail: Line = [
        (" " * max(0, spare), palette.code),
        (label, palette.code_label),
        (" " if label else "", palette.code),
    ]
    return Row([(" " * CODE_INDENT, palette.code), *line, *tail], palette.text)


def _fence_alone(source: str, width: int, *, palette: Palette) -> Rendered:
    """Render a fence without the parser: its text may be large, and the scanner knows where it is."""
    first, *body = source.split("\n")
    mark = first.strip()
    if body and len(body[-1].strip()) >= 3 and not body[-1].strip().strip(mark[0]):
        body.pop()
    indent = len(first) - len(first.lstrip())
    if indent:
        body = [line[min(indent, len(line) - len(line.lstrip(" "))) :] for line in body]
    out = Rendered()
    _add_code(
        out, "\n".join(body), info=mark.lstrip(mark[0]), width=width, place=_Place([], palette.code), palette=palette
    )
    return out


@dataclass(frozen=True, slots=True)
class _Place:
    """Where a block stands: what is written before its rows, and the style of its text."""

    before: Line
    style: Style
    first: Line | None = None


def _add_code(out: Rendered, code: str, *, info: str, width: int, place: _Place, palette: Palette) -> None:
    language = (info.split() or [""])[0]
    lines = lines_of(code)
    rows = _code_rows(code_lines(lines, language, palette=palette) or [[("", palette.code)]], width, palette=palette)
    label = visible(language)[:16]
    first = rows[0].spans[1:-3]
    if label and width_of(first) + cell_len(label) + 3 * CODE_INDENT <= width:
        rows[0] = code_row(first, width, palette=palette, label=label)
    start = len(out.rows)
    out.rows.extend(Row([*place.before, *row.spans], row.fill) for row in rows)
    out.parts.append(Part(start, len(out.rows), code))


@lru_cache(maxsize=1)
def _parser() -> "MarkdownIt":
    from markdown_it import MarkdownIt  # loaded with the first reply, off the start-up path

    parser = MarkdownIt("commonmark", {"html": False, "maxNesting": MAX_NESTING}).enable(["table", "strikethrough"])
    return parser.disable(["inline", "reference"])


def _tree(tokens: list) -> "SyntaxTreeNode":  # type: ignore[type-arg]  # tokens of the parser
    from markdown_it.tree import SyntaxTreeNode  # loaded with the first reply, off the start-up path

    return SyntaxTreeNode(tokens)


class _Writer:
    """Writes a tree's blocks into `out`, one method a kind of block."""

    def __init__(self, out: Rendered, palette: Palette) -> None:
        self._out = out
        self._palette = palette

    def _children(self, node: "SyntaxTreeNode", width: int, *, place: _Place, loose: bool = True) -> None:
        """Write the blocks under a node, a blank row between them where `loose`."""
        for index, child in enumerate(node.children):
            if index and loose:
                self._out.rows.append(Row(list(place.before), self._palette.text))
            self._block(child, width, place=place if not index else _Place(place.before, place.style))

    def _block(self, node: "SyntaxTreeNode", width: int, *, place: _Place) -> None:
        match node.type:
            case "heading":
                style = place.style + self._palette.heading
                level = int(node.tag[1])
                self._text(node, width, place=place, style=style + Style(underline=level == 1, italic=level > 2))
            case "bullet_list" | "ordered_list":
                self._list(node, width, place=place)
            case "blockquote":
                bar: Line = [("▎ ", self._palette.faint)] if width > MIN_WIDTH + 2 else []
                inner = _Place([*(place.first or place.before), *bar], self._palette.muted)
                self._children(node, width - width_of(bar), place=inner)
            case "fence" | "code_block":
                if place.first is not None:
                    self._out.rows.append(Row(place.first, self._palette.text))
                _add_code(
                    self._out,
                    node.content.removesuffix("\n"),
                    info=node.info,
                    width=width,
                    place=place,
                    palette=self._palette,
                )
            case "hr":
                self._rows([[("─" * width, self._palette.faint)]], place)
            case "table":
                self._table(node, width, place=place)
            case _:
                self._text(node, width, place=place, style=place.style)

    def _text(self, node: "SyntaxTreeNode", width: int, *, place: _Place, style: Style) -> None:
        lines = (
            _inline_lines(node.children[0], style, palette=self._palette)
            if node.children
            else [[(node.content, style)]]
        )
        self._rows([row for line in lines for row in wrap(line, width)], place)

    def _rows(self, rows: list[Line], place: _Place) -> None:
        before = place.before if place.first is None else place.first
        for row in rows:
            self._out.rows.append(Row([*before, *row], self._palette.text))
            before = place.before

    def _list(self, node: "SyntaxTreeNode", width: int, *, place: _Place) -> None:
        start = int(node.attrs.get("start", 1)) if node.type == "ordered_list" else None
        marks = [f"{start + i}{item.markup} " if start is not None else "• " for i, item in enumerate(node.children)]
        room = max(map(len, marks))
        # Where there is no room for a mark beside the text, it stands above it.
        above = width - room < MIN_WIDTH
        # Spaces between the items are kept where the source has them.
        loose = any(not child.hidden for item in node.children for child in item.children if child.type == "paragraph")
        first = place.first
        for index, item in enumerate(node.children):
            if index and loose:
                self._out.rows.append(Row(list(place.before), self._palette.text))
            mark = (marks[index].rjust(room)[:width], self._palette.muted)
            lead = [*(first if first is not None else place.before), mark]
            first = None
            inner = _Place([*place.before, (" " * room, self._palette.text)], place.style, lead)
            if above:
                self._out.rows.append(Row(lead, self._palette.text))
                inner = _Place(place.before, place.style)
            elif not item.children:
                self._rows([[("", place.style)]], inner)
            self._children(item, width if above else width - room, place=inner, loose=loose)

    def _table(self, node: "SyntaxTreeNode", width: int, *, place: _Place) -> None:
        rows = [
            [
                [span for line in _inline_lines(cell.children[0], place.style, palette=self._palette) for span in line]
                if cell.children
                else []
                for cell in row.children
            ]
            for part in node.children
            for row in part.children
        ]
        heads = node.children[0].children[0].children if node.children and node.children[0].children else []
        aligns = [str(cell.attrs.get("style", "")).removeprefix("text-align:") for cell in heads]
        self._rows(table_lines(rows, aligns, width=width, palette=self._palette), place)


def _inline_lines(node: "SyntaxTreeNode", style: Style, *, palette: Palette) -> list[Line]:
    """Return an inline node's text as styled lines; one that was not parsed stands as it is."""
    lines: list[Line] = [[]]
    if not node.children:
        return [[(expand_tabs(visible(text)), style)] for text in node.content.split("\n")]
    _inline(node, style, palette=palette, lines=lines)
    return lines


def _inline(node: "SyntaxTreeNode", style: Style, *, palette: Palette, lines: list[Line]) -> None:
    for child in node.children:
        match child.type:
            case "softbreak" | "hardbreak":
                lines.append([])
            case "strong":
                _inline(child, style + BOLD, palette=palette, lines=lines)
            case "em":
                _inline(child, style + ITALIC, palette=palette, lines=lines)
            case "s":
                _inline(child, style + STRIKE, palette=palette, lines=lines)
            case "code_inline":
                _say(child.content, style + Style(color=palette.inline_code.color), lines=lines)
            case "link":
                _link(child, str(child.attrs.get("href", "")), style=style, palette=palette, lines=lines)
            case "image":
                _say(f"[image: {child.content}] ({child.attrs.get('src', '')})", style, lines=lines)
            case _:
                # An entity may have become a control character, so it is made displayable after the parser too.
                _say(child.content, style, lines=lines)


def _say(text: str, style: Style, *, lines: list[Line]) -> None:
    first, *rest = visible(text).split("\n")
    lines[-1].append((expand_tabs(first), style))
    lines.extend([(expand_tabs(part), style)] for part in rest)


def _link(node: "SyntaxTreeNode", target: str, *, style: Style, palette: Palette, lines: list[Line]) -> None:
    start = (len(lines) - 1, len(lines[-1]))
    _inline(node, style + palette.link, palette=palette, lines=lines)
    said = "".join(text for text, _ in lines[start[0]][start[1] :])
    if target not in (said, f"mailto:{said}"):
        _say(f" ({target})", style + Style(color=palette.muted.color), lines=lines)
