"""What a rule finds, and how text from outside becomes a value: one short line without controls. Pure."""

import re
from dataclasses import dataclass

from wisp_core.text import one_line, revealed, shorten

VALUE_CHARACTERS = 160
# A longer name would have to be cut, and then two commands could share one.
NAME_CHARACTERS = 400
# A program's own summary and error lines are shorter; the rest of a longer line is not looked at.
LINE_CHARACTERS = 500

# Colours, titles and links, character sets: what a terminal acts on and does not show.
_ESCAPES = re.compile("\x1b(?:\\[[0-?]*+[ -/]*+[@-~]|\\][^\x07\x1b]*+(?:\x07|\x1b\\\\)?|[()*+][0-9A-Za-z]|[=>78cDEHM])")


@dataclass(frozen=True, slots=True)
class Found:
    """What a rule found: an identity's subject and name, and its value."""

    subject: str
    name: str
    value: str


def uncoloured(text: str) -> str:
    """Return `text` without the escape sequences that a terminal acts on."""
    return _ESCAPES.sub("", text) if "\x1b" in text else text


def flat(text: str, limit: int = VALUE_CHARACTERS) -> str:
    """Return `text` on one line in at most `limit` characters, what cannot be seen made visible."""
    return shorten(revealed(one_line(uncoloured(text), limit)), limit)
