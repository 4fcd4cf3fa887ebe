"""Markdown from outside as HTML that holds nothing but text, its structure, and links that are safe to follow. Pure."""

import re
from functools import cache
from html import escape
from typing import TYPE_CHECKING

from wisp_core.settings import KIB
from wisp_core.text import displayable

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

MOST_BYTES = 64 * KIB
"""A longer text is shown as it is: some blocks take more time than their length."""
MOST_INLINE_CHARACTERS = 4 * KIB
"""A longer stretch is shown as it is: inline parsing is quadratic for some texts."""
MOST_NESTING = 24

_SAFE_LINK = re.compile(r"(?:https?://|mailto:)[^\s]+", re.IGNORECASE)
_ALIGNED = {"text-align:left": "left", "text-align:center": "center", "text-align:right": "right"}


def as_markup(text: str) -> str:
    """Return Markdown as HTML: no raw HTML, no images, no links but http, https and mailto, no attribute of its own."""
    shown = displayable(text)
    if len(shown.encode()) > MOST_BYTES:
        return as_text(text)
    parser = _parser(html=False)
    tokens = parser.parse(shown)
    if any(token.level >= MOST_NESTING - 1 for token in tokens):
        return as_text(text)  # the parser would leave out what is deeper
    for token in tokens:
        if token.type == "inline":
            token.children = _inline(parser, token)
        _plain_attributes(token)
    return str(parser.renderer.render(tokens, parser.options, {}))


def as_text(text: str) -> str:
    """Return text as it is, as one block of HTML."""
    # A browser passes over the first line end.
    return f"<pre>\n{escape(displayable(text))}</pre>\n"


def is_plain(text: str) -> bool:
    """Tell whether Markdown holds no HTML, as far as that can be told in bounded time."""
    if "<" not in text:
        return True
    if len(text.encode()) > MOST_BYTES:
        return False
    parser = _parser(html=True)
    for token in parser.parse(text):
        if token.level >= MOST_NESTING - 1:
            return False  # the parser would leave out what is deeper
        if token.type == "html_block" or (token.type == "inline" and not _plain_inline(parser, token)):
            return False
    return True


@cache
def _parser(*, html: bool) -> "MarkdownIt":
    from markdown_it import MarkdownIt  # loaded with the first export, off the start-up path

    parser = MarkdownIt("commonmark", {"html": html, "maxNesting": MOST_NESTING}).enable(["table", "strikethrough"])
    # The hook that it offers for this.
    parser.validateLink = lambda url: _SAFE_LINK.fullmatch(url) is not None  # type: ignore[method-assign]
    return parser.disable(["inline", "reference", "image"])


def _inline(parser: "MarkdownIt", token: "Token") -> "list[Token]":
    from markdown_it.token import Token  # loaded with the first export, off the start-up path

    if len(token.content) > MOST_INLINE_CHARACTERS:
        return [Token("text", "", 0, content=token.content)]
    children: list[Token] = []
    parser.inline.parse(token.content, parser, {}, children)
    for child in children:
        _plain_attributes(child)
    return children


def _plain_inline(parser: "MarkdownIt", token: "Token") -> bool:
    if "<" not in token.content:
        return True
    if len(token.content) > MOST_INLINE_CHARACTERS:
        return False
    return all(child.type != "html_inline" for child in _inline(parser, token))


def _plain_attributes(token: "Token") -> None:
    """Leave a token the attributes that wisp means it to have."""
    token.info = ""
    kept: dict[str, str | int | float] = {}
    if token.type == "link_open":
        kept = {"href": str(token.attrs.get("href", "")), "rel": "noreferrer noopener"}
    elif token.type == "ordered_list_open" and isinstance(token.attrs.get("start"), int):
        kept = {"start": token.attrs["start"]}
    elif aligned := _ALIGNED.get(str(token.attrs.get("style", ""))):
        kept = {"class": aligned}
    token.attrs = kept
