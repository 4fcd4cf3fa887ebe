"""What counts as a failed answer of a side call, and which values an answer made up. Pure."""

import re
from collections.abc import Iterator

_TOOL_MARKUP = re.compile(
    r"</?(?:tool_call|tool_response|function_call|function|invoke|tool|parameter)\b[^>]*>|<\|[\w./-]{1,40}\|>|\[TOOL_CALLS\]|"
    r'^\s*\{\s*"(?:name|tool|function)"\s*:\s*"[^"]*"\s*,\s*"(?:arguments|parameters|input)"\s*:',
    re.IGNORECASE,
)
_ERROR = re.compile(
    r"\s*(?:\W{0,3}(?:error|exception|failed|failure|traceback|internal server error|bad gateway|service unavailable|"
    r"rate limit(?:ed)?|too many requests|timeout|timed out|unauthorized|invalid api key)\b\s*[:(\d\n]|"
    r'\{\s*"(?:error|detail)"\s*:|<!doctype html|<html\b|HTTP/\d|'
    r"\d{3} (?:internal|bad|service|too|unauth|forbidden|not found))",
    re.IGNORECASE,
)
_CUT = frozenset({"length", "max_tokens", "max_output_tokens", "interrupted", "failed"})

# What can be checked by looking it up; a lone digit and an ordinal cannot.
_QUOTED = re.compile(r"[\"“«`]([^\"“”«»`]{2,200})[\"”»`]|(?<!\w)['‘]([^'‘’]{2,200})['’](?!\w)")
_LOOKED_UP = re.compile(
    r"""(?P<path>(?:[A-Za-z]:\\|\\\\|~?/|\.{1,2}/)[^\s,;"'`)(\]]+|[\w.-]+(?:/[\w.-]+)+/?)
    |(?P<identifier>[^\W\d]\w*_\w+|_\w+|[a-z]+\d*[A-Z]\w*|[A-Z][a-z0-9]+[A-Z]\w*|[A-Za-z][\w]*(?:[-.:@]\w+)*[-.:@]\w*\d\w*
        |[\w.+-]+@[\w-]+(?:\.[\w-]+)+|[\w-]+(?:\.[\w-]+)*\.[A-Za-z]{2,10}(?![\w.])|(?=\w*\d)(?=\w*[A-Za-z])\w{4,})
    |(?P<number>\d[\d.,:]*\d)""",
    re.VERBOSE,
)
_GROUPED = re.compile(r"(?<=\d)[,'’\u00a0\u202f ](?=\d{3}(?!\d))")
_ABBREVIATION = re.compile(r"(?:e\.g|i\.e|etc|vs)\.?", re.IGNORECASE)


def find_fault(answer: str, *, source: str, finish: str = "stop") -> str:
    """Return why an answer counts as failed (C10a), "" where it does not; `source` is what it was made from."""
    text = answer.strip()
    if not text:
        return "the answer is empty"
    if finish in _CUT:
        return f"the answer was cut ({finish})"
    if _TOOL_MARKUP.search(text):
        return "the answer is tool markup"
    if _ERROR.match(text):
        return "the answer is an error"
    if len(text.encode()) > len(source.encode()):
        return "the answer is longer than its source"
    return ""


class Shown:
    """What a model was shown, so that what it says can be looked up in it."""

    def __init__(self, text: str) -> None:
        self._text = _plain(text)

    def unsupported(self, value: str) -> tuple[str, ...]:
        """Return the paths, identifiers, quoted strings and numbers of two or more digits that occur nowhere in it."""
        return tuple(dict.fromkeys(part for part in _parts(value) if not self._holds(part)))

    def _holds(self, part: str) -> bool:
        plain = _plain(part)
        before = r"(?<![\w])" if plain[:1].isalnum() or plain[:1] == "_" else ""
        after = r"(?![\w])" if plain[-1:].isalnum() or plain[-1:] == "_" else ""
        if plain.replace(".", "").isdigit():
            before, after = r"(?<![\d])(?<!\d\.)", r"(?!\d)(?!\.\d)"
        return re.search(before + re.escape(plain) + after, self._text) is not None


def _parts(value: str) -> Iterator[str]:
    rest = value
    for quoted in _QUOTED.finditer(value):
        yield (quoted[1] or quoted[2]).strip()
        rest = rest.replace(quoted.group(), " ")
    for found in _LOOKED_UP.finditer(rest):
        part = found.group().rstrip(".,;:!?")
        if len(part) > 1 and not _ABBREVIATION.fullmatch(part):
            yield part


def _plain(text: str) -> str:
    return _GROUPED.sub("", " ".join(text.casefold().split()))
