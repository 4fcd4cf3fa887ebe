"""The block of a tool call, or of the person's own command: how it stands, and its output under it."""

import json
import time

from rich.style import Style

from wisp_core.records import CallContent, CommandContent, OutputContent
from wisp_core.text import count_lines, one_line
from wisp_tui.widgets.block import (
    MARK_CELLS,
    Block,
    guess_rows,
    lines_said,
    marked,
    seconds_of,
    size_of,
    text_rows,
)
from wisp_tui.widgets.render_ansi import ansi_lines
from wisp_tui.widgets.render_code import diff_lines, is_diff
from wisp_tui.widgets.render_markdown import Part
from wisp_tui.widgets.render_palette import Palette
from wisp_tui.widgets.render_text import CHARACTERS_PER_CELL, Line, Row, Wrapping, lines_of, visible, width_of, wrap

PREVIEW_ROWS = 12
UNFOLDED_ROWS = 400
LIVE_CHARACTERS = 16 * 1024
SUMMARY_CHARACTERS = 400
ARGUMENT_CHARACTERS = 16 * 1024
MIN_SUMMARY_CELLS = 16
LEAST_SECONDS = 0.05
PAGER_KEY = "ctrl+o"

MARKS = {"waiting": "○", "running": "◐", "ok": "●", "failed": "✗", "denied": "⊘", "cancelled": "◌"}
_RAIL = "│ "
# The argument that says most, by the names that tools give it.
_TELLING = ("command", "path", "pattern", "query", "url", "text", "name")


class CallBlock(Block):
    """One call: `tool  what it is asked`, its state, and its output in at most `PREVIEW_ROWS` rows until unfolded."""

    foldable = True

    def __init__(self, tool: str, asked: str, *, arguments: str = "", call: str | None, entry: int | None) -> None:
        super().__init__(entry=entry, call=call)
        self.state = "waiting"
        self._tool = tool
        self._asked = asked
        self._arguments = arguments
        self._seconds: float | None = None
        self._started: float | None = None
        self._result: OutputContent | None = None
        self._live = ""
        self._live_lines = 0
        self._live_bytes = 0

    @classmethod
    def of_call(cls, content: CallContent, entry: int) -> "CallBlock":
        """Return the block of a model's call."""
        asked = _asked(content.arguments)
        return cls(content.tool, asked, arguments=content.arguments, call=content.call, entry=entry)

    @classmethod
    def of_command(cls, content: CommandContent, entry: int) -> "CallBlock":
        """Return the block of the person's own command, which has ended."""
        block = cls("!", content.command, call=None, entry=entry)
        size = len(content.output.encode("utf-8", "replace"))
        block.end(
            OutputContent(
                "",
                "!",
                content.output,
                ok=content.exit_status in (0, None),
                exit_status=content.exit_status,
                bytes=size,
                lines=count_lines(content.output),
            )
        )
        if content.exit_status is None and content.call:  # without a call it is an /undo
            block.state = "cancelled"
        return block

    def set_state(self, state: str, seconds: float | None) -> None:
        """Take the state of the call and how long it has taken."""
        if state == "running" and self.state != "running":
            self._started = time.monotonic() - (seconds or 0.0)
        self.state = state if state in MARKS else "failed"
        self._seconds = seconds if seconds is not None else self._seconds
        self.forget()

    def add(self, text: str) -> None:
        """Take output while the call runs; the end of it is what is kept."""
        self._live_lines += text.count("\n")
        self._live_bytes += len(text.encode("utf-8", "replace"))
        self._live = (self._live + text)[-LIVE_CHARACTERS:]

    def end(self, result: OutputContent) -> None:
        """Take the output as it was stored."""
        self._result = result
        self._live = ""
        if self.state != "denied":
            self.state = "ok" if result.ok else "failed"
        self._seconds = result.seconds or self._seconds
        self.forget()

    def guess(self, width: int) -> int:
        """Return about how many rows the block takes."""
        if self._result is None:
            return 1
        most = PREVIEW_ROWS if self.folded else UNFOLDED_ROWS
        return 1 + min(most, guess_rows(self._result.text, width))

    def rows(self, width: int, palette: Palette) -> tuple[list[Row], list[Part]]:
        """Return the rows and the parts that can be chosen."""
        inner = width - MARK_CELLS - 1
        rows = self._head(inner, palette)
        body = inner - len(_RAIL)
        if not self.folded and self._arguments:
            rows += self._railed(text_rows(_told(self._arguments), body, style=palette.muted), palette)
        rows += self._railed(self._output(body, palette), palette)
        return marked(rows, MARKS[self.state], style=self._mark_style(palette)), []

    def source(self) -> tuple[str, str]:
        """Return the text as it came, and what it is."""
        if self._result is not None and self._result.text:
            return self._result.text, f"the output of {'the command' if self._tool == '!' else self._tool}"
        return self._asked or self._arguments, "the call"

    def _head(self, width: int, palette: Palette) -> list[Row]:
        name = one_line(visible(self._tool), 40)
        state: Line = [(text, style) for text, style in self._state(palette) if text]
        asked = one_line(visible(self._asked[:SUMMARY_CHARACTERS]), SUMMARY_CHARACTERS)
        room = width - width_of([(name, palette.tool)]) - 2
        beside = room - width_of(state) - 2
        asked_cells = width_of([(asked, palette.text)])
        head: Line = [(name, palette.tool), ("  ", palette.text)]
        if beside >= min(asked_cells, MIN_SUMMARY_CELLS):
            return [
                Row([*head, *_fitted(asked, beside, style=palette.text), ("  ", palette.text), *state], palette.text)
            ]
        return [
            *[
                Row(line, palette.text)
                for line in wrap([*head, *_fitted(asked, max(2, room), style=palette.text)], width)
            ],
            *[Row(line, palette.text) for line in wrap(state, width)],
        ]

    def _state(self, palette: Palette) -> Line:
        result = self._result
        word = {"waiting": "waiting", "running": "running…"}.get(self.state, self.state)
        if result is not None and result.exit_status:
            word = f"exit {result.exit_status}"
        figures = []
        seconds = self._seconds
        if self.state == "running" and self._started is not None:
            seconds = time.monotonic() - self._started
        if seconds and seconds >= LEAST_SECONDS:
            figures.append(seconds_of(seconds))
        lines, size = (result.lines, result.bytes) if result else (self._live_lines, self._live_bytes)
        if size:
            figures += [lines_said(lines), size_of(size)]
        return [(word, self._mark_style(palette)), ("".join(f" · {figure}" for figure in figures), palette.muted)]

    def _mark_style(self, palette: Palette) -> Style:
        return {"ok": palette.ok, "failed": palette.failed, "denied": palette.failed, "cancelled": palette.muted}.get(
            self.state, palette.waiting
        )

    def _railed(self, rows: list[Row], palette: Palette) -> list[Row]:
        return [Row([(_RAIL, palette.faint), *row.spans], row.fill) for row in rows]

    def _output(self, width: int, palette: Palette) -> list[Row]:
        if self._result is None:
            start = self._live.find("\n") + 1 if len(self._live) == LIVE_CHARACTERS else 0
            return _rows(self._live[start:], width, palette=palette)[-PREVIEW_ROWS:]
        text = self._result.text
        if not self.folded:
            return self._first(text, width, palette=palette)
        return self._ends(text, width, palette=palette)

    def _ends(self, text: str, width: int, *, palette: Palette) -> list[Row]:
        """Return the first and the last rows of an output, and between them how much is left out."""
        bound = PREVIEW_ROWS * max(1, width) * CHARACTERS_PER_CELL
        whole = len(text) <= bound
        head = _rows(text[:bound], width, palette=palette)
        if whole and len(head) <= PREVIEW_ROWS:
            return head
        first = PREVIEW_ROWS // 2 - 1
        tail = head if whole else _rows(_from_line(text[-bound:]), width, palette=palette)
        last = tail[first + 1 - PREVIEW_ROWS :]
        return [*head[:first], self._left_out([*head[:first], *last], palette), *last]

    def _first(self, text: str, width: int, *, palette: Palette) -> list[Row]:
        rows = _rows(text[: UNFOLDED_ROWS * max(1, width)], width, palette=palette)
        if len(rows) <= UNFOLDED_ROWS and len(text) <= UNFOLDED_ROWS * max(1, width):
            return rows
        return [*rows[:UNFOLDED_ROWS], self._left_out(rows[:UNFOLDED_ROWS], palette)]

    def _left_out(self, shown: list[Row], palette: Palette) -> Row:
        result = self._result
        lines, size = (result.lines, result.bytes) if result else (0, 0)
        seen = sum(len(text) for row in shown for text, _ in row.spans)
        more = lines - len(shown)
        said = (
            f"{more:,} more {'line' if more == 1 else 'lines'}" if more > 0 else f"{size_of(max(1, size - seen))} more"
        )
        return Row([(f"… {said} · {PAGER_KEY}", palette.muted + Style(italic=True))], palette.text)


def _rows(text: str, width: int, *, palette: Palette) -> list[Row]:
    plain = palette.muted
    lines = diff_lines(lines_of(text), plain, palette=palette) if is_diff(text) else ansi_lines(text, plain)
    return [Row(row, palette.text) for line in lines for row in wrap(line, width, how=Wrapping.CELLS)]


def _from_line(text: str) -> str:
    """Return a stretch of text from its first line's start on, where it has one before its end."""
    at = text.find("\n") + 1
    return text[at:] if 0 < at < len(text) else text


def _fitted(text: str, cells: int, *, style: Style) -> Line:
    if width_of([(text, style)]) <= cells:
        return [(text, style)]
    return [*wrap([(text, style)], max(2, cells - 1), how=Wrapping.CELLS)[0], ("…", style)]


def _arguments(arguments: str) -> dict[str, object]:
    try:
        found = json.loads(arguments)
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def _asked(arguments: str) -> str:
    """Return what a call asks in a line: its telling argument, else all of them."""
    given = _arguments(arguments) if len(arguments) <= ARGUMENT_CHARACTERS else {}
    if not given:
        return arguments[:SUMMARY_CHARACTERS] if arguments.strip() not in ("", "{}") else ""
    telling = next((key for key in _TELLING if isinstance(given.get(key), str)), None)
    rest = [f"{key}={_short(value)}" for key, value in given.items() if key != telling]
    return "  ".join([*([str(given[telling])] if telling else []), *rest])


def _told(arguments: str) -> str:
    """Return a call's arguments for reading: one line an argument, a long text as it is."""
    given = _arguments(arguments) if len(arguments) <= ARGUMENT_CHARACTERS else {}
    if not given:
        return arguments[:ARGUMENT_CHARACTERS] if arguments.strip() not in ("", "{}") else ""
    return "\n".join(f"{key}: {value if isinstance(value, str) else _short(value)}" for key, value in given.items())


def _short(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
