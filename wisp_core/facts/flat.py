"""Makes text from outside one line of a record: no line ends, controls, marks of lists or endings of its own. Pure."""

import re

from wisp_core.facts.rules.found import uncoloured
from wisp_core.text import displayable, shorten

_MARKS = re.compile(r"(?:[-*+•>#|=~_`]+|\d{1,3}[.)])\s+")
# A dash with these words after it is how a line of the record ends: only wisp writes that.
_ENDING = re.compile(r"—(?=\s*(?:from|the person|the assistant|the caller|the model|tool)\b)", re.IGNORECASE)


def flatten(text: str, limit: int | None = None) -> str:
    """Return `text` as one line of the record (F21), in at most `limit` characters."""
    line = " ".join(displayable(" ".join(uncoloured(text).split())).split())
    start = 0
    while mark := _MARKS.match(line, start):
        start = mark.end()
    line = _ENDING.sub("-", line[start:])
    return line if limit is None else shorten(line, limit)
