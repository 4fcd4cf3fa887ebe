"""The words of a search: how a text is split for the index, a person's query made, a match shown in its line. Pure."""

import re
import unicodedata
from dataclasses import dataclass

from wisp_core.text import sound

QUERY_CHARACTERS = 200
"""How much of a query is looked for; what stands behind it is left out."""
PREFIX_CHARACTERS = 3
"""From how many characters on the last word may be the start of a longer one: a shorter one is in too many."""
BEFORE_CHARACTERS, EXCERPT_CHARACTERS = 40, 160
"""How much of a line is shown: before the first match, and in all."""
MATCH_STARTS, MATCH_ENDS = "\ue000", "\ue001"

# Scripts written without spaces: each character is a word to the index, and a person's word is a phrase of them.
_UNSPACED = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1100-\u11ff\u1780-\u17ff\u2e80-\u2fdf\u3040-\u31ff\u3400-\u4dbf\u4e00-\u9fff"
    "\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff\U00020000-\U0003ffff]"
)
_TOKEN = re.compile(r"[^\W_]+")
_GAP = r"[\W_]{0,40}"
_KEPT_CODES = 0xFFFF  # characters beyond are worked out each time, so that what is kept stays small
_MARKS = "[\u0300-\u036f]*"


def spaced(text: str) -> str:
    """Return the text as the index takes it: characters of scripts without spaces stand apart.

    What is indexed is taken out again by the same text, so this never changes for what it was given before.
    """
    return text if text.isascii() else _UNSPACED.sub(r" \g<0> ", text)


@dataclass(frozen=True, slots=True)
class Query:
    """What is looked for: `words` as they are typed, the last perhaps unfinished."""

    words: tuple[str, ...]

    def match(self, thread: str | None = None, *, start: bool = False) -> str:
        """Return it as FTS5 has it, in one thread or in all; with `start` the last word may be the start of one.

        Whatever a person types is words and never syntax.
        """
        quoted = " ".join(f'"{spaced(word)}"' for word in self.words)
        text = f"text : ({quoted}{'*' if start else ''})"
        return text if thread is None else f'thread : "{thread}" AND {text}'

    @property
    def may_start(self) -> bool:
        """Whether the last word is long enough to be looked for as the start of one."""
        return len(self.words[-1]) >= PREFIX_CHARACTERS

    def inside(self, title: str) -> bool:
        """Tell whether each word stands somewhere in a title."""
        plain = _plain(title)
        return all(_plain(word) in plain for word in self.words)

    def pattern(self) -> re.Pattern[str]:
        """Return what finds a match in a text without case and marks."""
        whole = [True] * (len(self.words) - 1) + [not self.may_start]
        return re.compile("|".join(map(_phrase, self.words, whole)))


def excerpt(text: str, pattern: re.Pattern[str]) -> str:
    """Return one line around the first match of a query's pattern, with matches in U+E000 and U+E001."""
    text = text.replace(MATCH_STARTS, "\ufffd").replace(MATCH_ENDS, "\ufffd")
    matches = pattern.finditer(_plain(text))
    match = next(matches, None)
    at = start = max(0, match.start() - BEFORE_CHARACTERS) if match else 0
    end = min(len(text), start + EXCERPT_CHARACTERS)
    parts = ["…"] if start else []
    while match is not None and match.start() < end:
        found = slice(match.start(), min(match.end(), end))
        parts += [text[at : found.start], MATCH_STARTS, text[found], MATCH_ENDS]
        at = found.stop
        match = next(matches, None)
    parts += [text[at:end], "…" if end < len(text) else ""]
    return " ".join("".join(parts).split())


def is_word(thread: str) -> bool:
    """Tell whether a thread's id is one word to the index, as every id is that wisp gives."""
    return _TOKEN.fullmatch(thread) is not None


def read_query(text: str) -> Query | None:
    """Return what is looked for, None where no word is in it."""
    words = sound(text[:QUERY_CHARACTERS]).replace('"', " ").split()
    found = tuple(word for word in words if _TOKEN.search(_plain(word)))
    return Query(found) if found else None


def _phrase(word: str, whole: bool) -> str:
    """Return the pattern of a word in plain text: its parts in order, no letter before it, or after a whole one."""
    tokens = _TOKEN.findall(spaced(_plain(word)))
    first, *parts = [_MARKS.join(map(re.escape, token)) + _MARKS for token in tokens]
    if not _UNSPACED.match(tokens[0]):
        # Looked back for behind the first letter: a pattern that begins with a letter is found many times faster.
        letter = re.escape(tokens[0][0])
        first = f"{letter}(?<![^\\W_]{letter}){first[len(letter) :]}"
    after = "" if _UNSPACED.match(tokens[-1]) or not whole else r"(?![^\W_])"
    return _GAP.join([first, *parts]) + after


class _Plain(dict[int, str]):
    """Each character without its case and its marks, as one character, so that places stay what they are."""

    def __missing__(self, code: int) -> str:
        character = chr(code)
        # A syllable of Hangul comes apart into letters, of which the first alone is another syllable's too.
        base = character if "\uac00" <= character <= "\ud7a3" else unicodedata.normalize("NFD", character)[0]
        plain = base.lower()[0]
        if code <= _KEPT_CODES:
            self[code] = plain
        return plain


_PLAIN = _Plain()


def _plain(text: str) -> str:
    return text.lower() if text.isascii() else text.translate(_PLAIN)
