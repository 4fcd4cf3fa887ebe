"""Markdown that grows: closed chunks are rendered once, the open one is plain text wrapped as it arrives. Pure."""

from rich.style import Style

from wisp_tui.widgets.block import MARK_CELLS
from wisp_tui.widgets.render_chunks import Chunk, ChunkScanner
from wisp_tui.widgets.render_markdown import CODE_INDENT, Part, code_row, render_chunk
from wisp_tui.widgets.render_palette import Palette
from wisp_tui.widgets.render_text import TAB_CELLS, Row, Wrapping, breaks, visible


class Tail:
    """Plain text as rows; taking more touches the last row alone, so one endless line costs what arrives.

    `changed` is the first row that differs since it was last set.
    """

    def __init__(self, width: int, how: Wrapping) -> None:
        self.rows: list[str] = [""]
        self.changed = 0
        self._width = width
        self._how = how
        self._line = 0
        self._held = ""

    def feed(self, text: str) -> None:
        """Take more text; a CR that ends no line starts the line anew."""
        text = self._held + text
        self._held = "\r" if text.endswith("\r") else ""
        text = text.removesuffix("\r").replace("\r\n", "\n")
        for index, piece in enumerate(text.split("\n")):
            if index:
                self._line = len(self.rows)
                self.rows.append("")
                self.changed = min(self.changed, self._line)
            if "\r" in piece:
                del self.rows[self._line :]
                self.rows.append("")
                self.changed = min(self.changed, self._line)
            self._append(visible(piece.rsplit("\r", 1)[-1]).replace("\t", " " * TAB_CELLS))

    def _append(self, text: str) -> None:
        if not text:
            return
        self.changed = min(self.changed, len(self.rows) - 1)
        last = self.rows.pop() + text
        self.rows.extend(last[start:end] for start, end, _ in breaks(last, self._width, how=self._how))


class Growing:
    """Markdown source that arrives in pieces, and its rows at the width and in the styles last drawn with."""

    def __init__(self) -> None:
        self.rows: list[Row] = []
        self.parts: list[Part] = []
        self._pieces: list[str] = []
        self._pending: list[str] = []
        self._scanner = ChunkScanner()
        self._chunks: list[Chunk] = []
        self._done_chunks = 0
        self._done_rows = 0
        self._tail: Tail | None = None
        self._tail_is_code = False
        self._drawn: tuple[int, Palette] | None = None

    @property
    def text(self) -> str:
        """All that was added, character for character."""
        if len(self._pieces) > 1:
            self._pieces = ["".join(self._pieces)]
        return self._pieces[0] if self._pieces else ""

    def add(self, text: str) -> None:
        """Take more source; `draw` shows it."""
        if text:
            self._pieces.append(text)
            self._pending.append(text)

    def close(self) -> None:
        """The source has ended: what is open is rendered as it stands."""
        self._scan()
        self._chunks.extend(self._scanner.finish())
        self._tail = None

    def forget(self) -> None:
        """Throw the rows away; the next `draw` makes them all."""
        self.rows, self.parts = [], []
        self._drawn = None

    def draw(self, width: int, palette: Palette) -> int:
        """Bring `rows` and `parts` up to date; return the first row that changed."""
        width = max(2, width)
        anew = self._drawn is None or self._drawn[0] != width or self._drawn[1] is not palette
        if anew:
            self.rows.clear()
            self.parts.clear()
            self._done_chunks = self._done_rows = 0
            self._drawn = (width, palette)
        new = self._scan()
        if self._done_chunks == len(self._chunks) and not anew and not new and self._tail is not None:
            return len(self.rows)
        same_chunk = self._done_chunks == len(self._chunks) and self._tail_is_code == self._scanner.in_fence
        if self._tail is not None and same_chunk and not anew:
            return self._draw_tail(new, palette)
        first = self._done_rows
        self._render_closed(width, palette)
        self._begin_tail(width)
        return min(first, self._draw_tail("", palette))

    def _scan(self) -> str:
        if not self._pending:
            return ""
        new = "".join(self._pending)
        self._pending.clear()
        self._chunks.extend(self._scanner.feed(new))
        return new

    def _render_closed(self, width: int, palette: Palette) -> None:
        del self.rows[self._done_rows :]
        for chunk in self._chunks[self._done_chunks :]:
            if self.rows:
                self.rows.append(Row([], palette.text))
            rendered = render_chunk(chunk, width, palette=palette)
            at = len(self.rows)
            self.parts.extend(Part(part.start + at, part.end + at, part.text) for part in rendered.parts)
            self.rows.extend(Row([_lead(palette.text), *row.spans], row.fill) for row in rendered.rows)
        self._done_chunks = len(self._chunks)
        self._done_rows = len(self.rows)

    def _begin_tail(self, width: int) -> None:
        source = self._scanner.open_source()
        self._tail = None
        self._tail_is_code = self._scanner.in_fence
        if not source:
            return
        if self._tail_is_code:
            self._tail = Tail(width - 2 * CODE_INDENT, Wrapping.CODE)
            source = source.partition("\n")[2]
        else:
            self._tail = Tail(width, Wrapping.WORDS)
        self._tail.feed(source)

    def _draw_tail(self, new: str, palette: Palette) -> int:
        if self._tail is None:
            del self.rows[self._done_rows :]
            return self._done_rows
        self._tail.feed(new)
        base = self._done_rows + (1 if self._done_rows else 0)
        keep = min(len(self.rows), base + self._tail.changed)
        del self.rows[self._done_rows if keep < base else keep :]
        first = len(self.rows)
        if first < base:
            self.rows.append(Row([], palette.text))
        # The row after a line end has nothing to show yet.
        shown = self._tail.rows if self._tail.rows[-1] else self._tail.rows[:-1]
        self.rows.extend(self._tail_row(text, palette) for text in shown[len(self.rows) - base :])
        self._tail.changed = len(shown)
        return first

    def _tail_row(self, text: str, palette: Palette) -> Row:
        if not self._tail_is_code or self._drawn is None:
            return Row([_lead(palette.text), (text, palette.text)], palette.text)
        return Row(
            [_lead(palette.text), *code_row([(text, palette.code)], self._drawn[0], palette=palette).spans],
            palette.text,
        )


def _lead(style: Style) -> tuple[str, Style]:
    return (" " * MARK_CELLS, style)
