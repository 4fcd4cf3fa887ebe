"""Which part of an output is asked for, in the words that `/show`, `/last` and the memory tool share. Pure."""

import re
from dataclasses import dataclass
from typing import TypeAlias

from wisp_core.errors import UsageError

FORMS = "from line N, lines A-B, head N, tail N, matching PATTERN or summary"
MOST_DIGITS = 15


@dataclass(frozen=True, slots=True)
class FromLine:
    """From line `line` on (1 is the first), or inside it from its byte `byte` (0 is the first)."""

    line: int = 1
    byte: int = 0

    def __str__(self) -> str:
        return f"from line {self.line}" + (f" byte {self.byte}" if self.byte else "")


@dataclass(frozen=True, slots=True)
class Lines:
    """Lines `first` to `last`, both included; `byte` as of `FromLine`."""

    first: int
    last: int
    byte: int = 0

    def __str__(self) -> str:
        return f"lines {self.first}-{self.last}" + (f" byte {self.byte}" if self.byte else "")


@dataclass(frozen=True, slots=True)
class Tail:
    """The last `count` lines."""

    count: int

    def __str__(self) -> str:
        return f"tail {self.count}"


@dataclass(frozen=True, slots=True)
class Matching:
    """The lines that match `pattern`, from line `line` on."""

    pattern: str
    line: int = 1

    def __str__(self) -> str:
        start = f"from line {self.line} " if self.line > 1 else ""
        return f"{start}matching {self.pattern}"


@dataclass(frozen=True, slots=True)
class Summary:
    """The notable lines."""

    def __str__(self) -> str:
        return "summary"


Part: TypeAlias = FromLine | Lines | Tail | Matching | Summary


@dataclass(frozen=True, slots=True)
class Reading:
    """What a part gave: `text`, one `note` on what it is, and the part to ask `next`, None where nothing is left.

    The texts of `FromLine` and `Lines`, each followed by its `next`, joined are what is stored.
    """

    text: str
    note: str
    next: Part | None = None


_START = r"from line (?P<line>[\d,]+)"
_FORMS = (
    re.compile(rf"(?:{_START} )?matching (?P<pattern>.+)", re.DOTALL),
    re.compile(rf"{_START}(?: byte (?P<byte>[\d,]+))?"),
    re.compile(r"lines? (?P<first>[\d,]+)(?: ?[-–] ?(?P<last>[\d,]+))?(?: byte (?P<byte>[\d,]+))?"),
    re.compile(r"(?P<end>head|tail) (?P<count>[\d,]+)"),
    re.compile(r"summary"),
)


def parse_part(words: str) -> Part:
    """Return the part that `words` ask for, such as `lines 10-20`.

    Raises:
        UsageError: they ask for none; the hint lists the forms.
    """
    words = words.strip()
    for form in _FORMS:
        if match := form.fullmatch(words):
            return _part(words, {key: value for key, value in match.groupdict().items() if value is not None})
    raise UsageError(f"an output has no part `{words[:80]}`", f"ask for {FORMS}")


def _part(words: str, said: dict[str, str]) -> Part:
    byte = _number(said.get("byte", "0"), least=0)
    match said:
        case {"pattern": pattern}:
            return Matching(pattern, _number(said.get("line", "1")))
        case {"line": line}:
            return FromLine(_number(line), byte)
        case {"first": first}:
            last = said.get("last", first)
            if _number(last) < _number(first):
                raise UsageError(f"`{words[:80]}` ends before it begins", f"lines {last}-{first}, perhaps")
            return Lines(_number(first), _number(last), byte)
        case {"end": "head", "count": count}:
            return Lines(1, _number(count))
        case {"count": count}:
            return Tail(_number(count))
    return Summary()


def _number(digits: str, least: int = 1) -> int:
    bare = digits.replace(",", "")
    if not bare or len(bare) > MOST_DIGITS or int(bare) < least:
        raise UsageError(f"`{digits[:80]}` is no line of an output", "lines are counted from 1")
    return int(bare)
