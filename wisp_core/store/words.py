"""The words of a search: how a text is split for the index, a person's query made, a match shown in its line. Pure."""

import re
import unicodedata
from dataclasses import dataclass

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

    def match(self, thread: str | None = None) -> str:
        """Return it as FTS5 has it, in one thread or in all: whatever a person types is words and never syntax."""
        quoted = " ".join(f'"{spaced(word)}"' for word in self.words)
        text = f"text : ({quoted}{'*' if _is_start(self.words[-1]) else ''})"
        return text if thread is None else f'thread : "{thread.replace(chr(34), "")}" AND {text}'

    def inside(self, title: str) -> bool:
        """Tell whether each word stands somewhere in a title."""
        plain = _plain(title)
        return all(_plain(word) in plain for word in self.words)

    def excerpt(self, text: str) -> str:
        """Return one line around the first match, with matches in U+E000 and U+E001."""
        text = text.replace(MATCH_STARTS, "\ufffd").replace(MATCH_ENDS, "\ufffd")
        plain = _plain(text)
        pattern = self._pattern()
        first = pattern.search(plain)
        start = max(0, (first.start() if first else 0) - BEFORE_CHARACTERS)
        end = min(len(text), start + EXCERPT_CHARACTERS)
        parts, at = ["…" if start else ""], start
        for match in pattern.finditer(plain, start, end):
            if match.end() > match.start() >= at:
                parts += [text[at : match.start()], MATCH_STARTS, text[match.start() : match.end()], MATCH_ENDS]
                at = match.end()
        parts += [text[at:end], "…" if end < len(text) else ""]
        return " ".join("".join(parts).split())

    def _pattern(self) -> re.Pattern[str]:
        last = len(self.words) - 1
        return re.compile("|".join(_phrase(word, whole=at < last) for at, word in enumerate(self.words)))


def read_query(text: str) -> Query | None:
    """Return what is looked for, None where no word is in it."""
    words = text[:QUERY_CHARACTERS].replace('"', " ").replace("\0", " ").split()
    found = tuple(word for word in words if _TOKEN.search(_plain(word)))
    return Query(found) if found else None


def _is_start(word: str) -> bool:
    return len(word) >= PREFIX_CHARACTERS


def _phrase(word: str, *, whole: bool) -> str:
    """Return the pattern of a word in plain text: its parts in order, no letter before it, or after a whole one."""
    tokens = _TOKEN.findall(spaced(_plain(word)))
    parts = [_MARKS.join(map(re.escape, token)) + _MARKS for token in tokens]
    before = "" if _UNSPACED.match(tokens[0]) else r"(?<![^\W_])"
    after = "" if _UNSPACED.match(tokens[-1]) or not (whole or not _is_start(word)) else r"(?![^\W_])"
    return before + _GAP.join(parts) + after


class _Plain(dict[int, str]):
    """Each character without its case and its marks, as one character, so that places stay what they are."""

    def __missing__(self, code: int) -> str:
        character = chr(code)
        # A syllable of Hangul comes apart into letters, of which the first alone is another syllable's too.
        base = character if "\uac00" <= character <= "\ud7a3" else unicodedata.normalize("NFD", character)[0]
        plain = base.lower()[0]
        self[code] = plain
        return plain


_PLAIN = _Plain()


def _plain(text: str) -> str:
    return text.lower() if text.isascii() else text.translate(_PLAIN)
