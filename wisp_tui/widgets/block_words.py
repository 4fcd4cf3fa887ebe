"""The blocks of words: the person's prompt, a model's reply and reasoning, a quiet note, and the welcome."""

from rich.style import Style

from wisp_core.text import count_lines
from wisp_tui.widgets.block import MARK_CELLS, Block, Drawn, guess_rows, lines_said, marked, size_of, text_rows
from wisp_tui.widgets.block_growing import Growing
from wisp_tui.widgets.render_markdown import Part
from wisp_tui.widgets.render_palette import Palette
from wisp_tui.widgets.render_text import Row

PROMPT_ROWS = 12
PROMPT_CHARACTERS = 2000


class PromptBlock(Block):
    """What the person sent; a long one is folded."""

    mark = "›"
    bar = "▌"

    def __init__(self, text: str, *, entry: int | None = None) -> None:
        super().__init__(entry=entry)
        self._text = text
        self.foldable = self.folded = text.count("\n") >= PROMPT_ROWS or len(text) > PROMPT_CHARACTERS

    def guess(self, width: int) -> int:
        """Return about how many rows the block takes."""
        rows = guess_rows(self._text, width - MARK_CELLS)
        return min(rows, PROMPT_ROWS) if self.folded else rows

    def rows(self, width: int, palette: Palette) -> tuple[list[Row], list[Part]]:
        """Return the rows and the parts that can be chosen."""
        text = self._text[:PROMPT_CHARACTERS] if self.folded else self._text
        rows = text_rows(text, width - MARK_CELLS - 1, style=palette.prompt) or [Row([], palette.prompt)]
        if self.folded:
            rows = rows[: PROMPT_ROWS - 1]
            said = (
                f"… {lines_said(count_lines(self._text))} in all, {size_of(len(self._text.encode('utf-8', 'replace')))}"
            )
            rows.append(Row([(said, palette.prompt_mark)], palette.prompt))
        return marked(rows, self.mark, style=palette.prompt_mark), []

    def source(self) -> tuple[str, str]:
        """Return the text as it came, and what it is."""
        return self._text, "the prompt"

    def bar_style(self, palette: Palette) -> Style:
        """Return the style of the bar at the left edge."""
        return palette.prompt_mark


class ReplyBlock(Block):
    """A model's reply as Markdown, grown by `add` while it streams; `columns` caps the width that it is read in."""

    def __init__(self, *, columns: int, entry: int | None = None) -> None:
        super().__init__(entry=entry)
        self._columns = columns
        self._growing = Growing()

    @property
    def text(self) -> str:
        """The source, character for character."""
        return self._growing.text

    def add(self, text: str) -> None:
        """Take a delta; the next draw shows it."""
        self._growing.add(text)

    def settle(self, text: str, *, entry: int | None = None) -> None:
        """Take the reply as it was stored; what has been drawn is kept where the text is the same."""
        if text != self._growing.text:
            self._growing = Growing()
            self._growing.add(text)
            self.drawn = None
        self._growing.close()
        self.entry = entry

    def guess(self, width: int) -> int:
        """Return about how many rows the block takes."""
        return guess_rows(self.text, min(width - MARK_CELLS - 1, self._columns))

    def draw(self, width: int, palette: Palette) -> Drawn:
        """Draw what has changed since it was last drawn."""
        changed = self._growing.draw(min(width - MARK_CELLS - 1, self._columns), palette)
        drawn = self.drawn
        if drawn is None or drawn.width != width:
            drawn = self.drawn = Drawn(width, self._growing.rows, self._growing.parts)
        for index in range(changed, max(drawn.strips, default=0) + 1 if drawn.strips else 0):
            drawn.strips.pop(index, None)
        return drawn

    def forget(self) -> None:
        """Throw away what was drawn."""
        super().forget()
        self._growing.forget()

    def source(self) -> tuple[str, str]:
        """Return the text as it came, and what it is."""
        return self.text, "the reply"


class ReasoningBlock(Block):
    """A model's reasoning: one line until it is unfolded."""

    foldable = True

    def __init__(self, text: str = "", *, columns: int, entry: int | None = None, live: bool = False) -> None:
        super().__init__(entry=entry)
        self._pieces = [text]
        self._columns = columns
        self._live = live

    @property
    def text(self) -> str:
        """The reasoning, character for character."""
        if len(self._pieces) > 1:
            self._pieces = ["".join(self._pieces)]
        return self._pieces[0]

    def add(self, text: str) -> None:
        """Take a delta."""
        self._pieces.append(text)

    def settle(self, text: str, *, entry: int | None = None) -> None:
        """Take the reasoning as it was stored."""
        self._pieces = [text]
        self._live = False
        self.entry = entry
        self.forget()

    def guess(self, width: int) -> int:
        """Return about how many rows the block takes."""
        return 1 if self.folded else 1 + guess_rows(self.text, min(width - MARK_CELLS - 1, self._columns))

    def rows(self, width: int, palette: Palette) -> tuple[list[Row], list[Part]]:
        """Return the rows and the parts that can be chosen."""
        head = f"{'thinking…' if self._live else 'reasoning'} · {len(self.text):,} characters"
        rows = [Row([(head, palette.muted)], palette.text)]
        if not self.folded:
            rows += text_rows(self.text, min(width - MARK_CELLS - 1, self._columns), style=palette.muted)
        return marked(rows, "▸" if self.folded else "▾", style=palette.muted), []

    def source(self) -> tuple[str, str]:
        """Return the text as it came, and what it is."""
        return self.text, "the reasoning"


class NoteBlock(Block):
    """A quiet line: what happened that is nobody's words."""

    marks = {"info": "·", "warning": "!", "error": "✗"}

    def __init__(self, text: str, kind: str = "info") -> None:
        super().__init__()
        self._text = text
        self._kind = kind if kind in self.marks else "info"

    def guess(self, width: int) -> int:
        """Return about how many rows the block takes."""
        return guess_rows(self._text, width - MARK_CELLS)

    def rows(self, width: int, palette: Palette) -> tuple[list[Row], list[Part]]:
        """Return the rows and the parts that can be chosen."""
        style = {"warning": palette.waiting, "error": palette.failed}.get(self._kind, palette.muted)
        rows = text_rows(self._text, width - MARK_CELLS - 1, style=style) or [Row([], style)]
        return marked(rows, self.marks[self._kind], style=style), []

    def source(self) -> tuple[str, str]:
        """Return the text as it came, and what it is."""
        return self._text, "the note"


class PageBlock(Block):
    """A heading and lines under it: the welcome, or what a slash command has to say."""

    def __init__(self, title: str, text: str, *, quiet: bool = False) -> None:
        super().__init__()
        self._title = title
        self._text = text
        self._quiet = quiet

    def guess(self, width: int) -> int:
        """Return about how many rows the block takes."""
        return 1 + guess_rows(self._text, width - MARK_CELLS)

    def rows(self, width: int, palette: Palette) -> tuple[list[Row], list[Part]]:
        """Return the rows and the parts that can be chosen."""
        inner = width - MARK_CELLS - 1
        rows = text_rows(self._title, inner, style=palette.heading)
        rows += text_rows(self._text, inner, style=palette.muted if self._quiet else palette.text)
        return marked(rows, " ", style=palette.text), []

    def source(self) -> tuple[str, str]:
        """Return the text as it came, and what it is."""
        return f"{self._title}\n{self._text}".strip(), "the text"
