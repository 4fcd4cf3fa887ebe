"""Code as styled lines, highlighted within bounds. Pure."""

from collections.abc import Hashable
from functools import lru_cache
from typing import TYPE_CHECKING

from rich.style import Style

from wisp_tui.widgets.render_palette import Palette
from wisp_tui.widgets.render_text import Line

if TYPE_CHECKING:
    from pygments.lexer import Lexer

MAX_LINE_BYTES = 2048
MAX_CODE_CHARACTERS = 24 * 1024

# The first name that starts a token's dotted type decides.
_ROLES = (
    ("Token.Comment", "comment"),
    ("Token.Keyword", "keyword"),
    ("Token.Operator.Word", "keyword"),
    ("Token.Literal.String", "string"),
    ("Token.Literal.Number", "number"),
    ("Token.Name.Function", "name"),
    ("Token.Name.Class", "name"),
    ("Token.Name.Decorator", "name"),
    ("Token.Name.Builtin", "name"),
    ("Token.Name.Tag", "keyword"),
    ("Token.Name.Attribute", "name"),
    ("Token.Generic.Inserted", "added"),
    ("Token.Generic.Deleted", "removed"),
    ("Token.Generic.Subheading", "comment"),
    ("Token.Generic.Heading", "keyword"),
)


def code_lines(code: list[str], language: str, *, palette: Palette) -> list[Line]:
    """Return lines (displayable, without ends) highlighted as `language`; plain where a bound is passed."""
    lexer = _lexer(language.lower()) if highlightable(code) else None
    if lexer is None:
        return [[(line, palette.code)] for line in code]
    lines: list[Line] = [[]]
    for kind, value in lexer.get_tokens("\n".join(code)):
        style = _style(kind, palette)
        first, *rest = value.split("\n")
        lines[-1].append((first, style))
        lines.extend([(part, style)] for part in rest)
    # The lexer ends the last line; anything else than one line a line of code means it lost some.
    if [_plain(line) for line in lines[: len(code)]] != code:
        return [[(line, palette.code)] for line in code]
    return lines[: len(code)]


def diff_lines(lines: list[str], plain: Style, *, palette: Palette) -> list[Line]:
    """Return the lines of a unified diff, what is added and removed in its colour."""
    return [[(line, _diff_style(line, plain, palette=palette))] for line in lines]


def is_diff(text: str) -> bool:
    """Tell whether a text is a unified diff: it has a hunk header below a file header."""
    start = text[:MAX_LINE_BYTES]
    return "\n@@ -" in start and (start.startswith(("--- ", "diff ")) or "\n--- " in start)


def highlightable(code: list[str]) -> bool:
    """Tell whether lines are within the bounds of highlighting."""
    if sum(len(line) + 1 for line in code) > MAX_CODE_CHARACTERS:
        return False
    return all(len(line) <= MAX_LINE_BYTES // 4 or len(line.encode()) <= MAX_LINE_BYTES for line in code)


def _plain(line: Line) -> str:
    return "".join(text for text, _ in line)


def _diff_style(line: str, plain: Style, *, palette: Palette) -> Style:
    if line.startswith("+") and not line.startswith("+++ "):
        return plain + Style(color=palette.added.color)
    if line.startswith("-") and not line.startswith("--- "):
        return plain + Style(color=palette.removed.color)
    if line.startswith("@@"):
        return plain + Style(color=palette.link.color)
    return plain


@lru_cache(maxsize=512)
def _role(kind: Hashable) -> str:
    return next((role for prefix, role in _ROLES if str(kind).startswith(prefix)), "code")


def _style(kind: Hashable, palette: Palette) -> Style:
    style: Style = getattr(palette, _role(kind))
    return palette.code + Style(color=style.color, bold=style.bold, italic=style.italic)


@lru_cache(maxsize=128)
def _lexer(language: str) -> "Lexer | None":
    from pygments.lexers import get_lexer_by_name  # loaded with the first code, off the start-up path
    from pygments.util import ClassNotFound  # off the start-up path too

    if not language:
        return None
    try:
        return get_lexer_by_name(language, stripnl=False, ensurenl=True)
    except ClassNotFound:
        return None
