"""What is done to text from outside: made sound, read as JSON, split into lines, cut, made displayable. Pure."""

import json
import math
import re
import unicodedata
from typing import Any

MOST_NESTED = 64
"""JSON from outside may have this many levels; some servers refuse a request with 128."""

_UNSOUND = re.compile("[\x00\ud800-\udfff]")
_LINE_END = re.compile("\r\n|\r|\n")
# A terminal acts on C0, DEL and C1; the rest is text that a reader cannot see or that reorders what they see.
_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_UNSEEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e"
    "\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\U000e0000-\U000e0fff]"
)
_BIDI = re.compile("[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")


def sound(text: str) -> str:
    """Return `text` with NUL and lone surrogates as U+FFFD, so that it can be stored, sent and encoded."""
    return _UNSOUND.sub("\ufffd", text)


def decode(data: bytes) -> str:
    """Return bytes from outside as sound text, invalid UTF-8 as U+FFFD."""
    return sound(data.decode("utf-8", "replace"))


def load_json(text: str, *, strict: bool = True) -> Any:
    """Return the JSON value of a text, one that any server takes and reads alike; not `strict` takes raw controls.

    Python's own reader also takes NaN, numbers beyond any other reader's, and an object's key twice.

    Raises:
        ValueError: it is no such JSON.
    """
    try:
        value = json.loads(
            text,
            strict=strict,
            parse_int=_whole,
            parse_float=_real,
            parse_constant=_constant,
            object_pairs_hook=_object,
        )
    except RecursionError as error:
        raise ValueError("nested too deeply") from error
    _bound(value, MOST_NESTED)
    return value


def load_object(text: str) -> dict[str, Any] | None:
    """Return the JSON object that a text is, as `load_json` reads it; None where it is none."""
    try:
        value = load_json(text)
    except ValueError:
        return None
    return value if isinstance(value, dict) else None


def _real(digits: str) -> float:
    number = float(digits)
    if not math.isfinite(number):
        raise ValueError("a number too large")
    return number


def _whole(digits: str) -> int:
    _real(digits)
    return int(digits)


def _constant(word: str) -> Any:
    raise ValueError(f"{word} is no JSON")


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) < len(pairs):
        raise ValueError("a key stands twice in one object")
    return value


def _bound(value: Any, levels: int) -> None:
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else None
    if inner is None:
        return
    if levels == 0:
        raise ValueError("nested too deeply")
    for one in inner:
        _bound(one, levels - 1)


def split_lines(text: str) -> list[str]:
    """Return the lines without their ends; only CR, LF and CRLF end a line (U+2028 and its kind are text)."""
    lines = _LINE_END.split(text)
    if lines[-1] == "":
        lines.pop()
    return lines


def count_lines(text: str) -> int:
    """Return the number of lines, an unfinished last one included."""
    ends = sum(1 for _ in _LINE_END.finditer(text))
    return ends + (1 if text and text[-1] not in "\r\n" else 0)


def head_bytes(text: str, limit: int) -> str:
    """Return the longest start of `text` that takes at most `limit` bytes of UTF-8, never part of a character."""
    data = text.encode()
    return text if len(data) <= limit else data[: max(0, limit)].decode("utf-8", "ignore")


def tail_bytes(text: str, limit: int) -> str:
    """Return the longest end of `text` that takes at most `limit` bytes of UTF-8, never part of a character."""
    data = text.encode()
    return text if len(data) <= limit else data[len(data) - max(0, limit) :].decode("utf-8", "ignore")


def whole_end(data: bytes) -> bytes:
    """Return UTF-8 without an unfinished last character; a single byte stays."""
    for back in range(1, min(3, len(data) - 1) + 1):
        byte = data[-back]
        if byte >= 0xC0:
            size = 4 if byte >= 0xF0 else 3 if byte >= 0xE0 else 2
            return data[:-back] if size > back else data
        if byte < 0x80:
            break
    return data


def whole_start(data: bytes) -> int:
    """Return how many bytes at the start of UTF-8 are the rest of a character (at most 3)."""
    for index, byte in enumerate(data[:4]):
        if not 0x80 <= byte < 0xC0:
            return index
    return 0


def shorten(text: str, limit: int) -> str:
    """Return `text` in at most `limit` characters, the last an … where something is left out."""
    return text if len(text) <= limit else text[: max(0, limit - 1)] + "…"


def one_line(text: str, limit: int) -> str:
    """Return `text` with every run of white space as one space, in at most `limit` characters."""
    return shorten(" ".join(text.split()), limit)


def count_cells(text: str) -> int:
    """Return the cells that a terminal takes for `text`, counting two for each wide character."""
    return sum(2 if unicodedata.east_asian_width(character) in "WF" else 1 for character in text)


def byte_size(count: int) -> str:
    """Return a size in bytes for a reader, such as `180 KiB`, rounded up so that it never understates."""
    if count < 1024:
        return f"{count} byte" if count == 1 else f"{count} bytes"
    if count <= 1023 * 1024:
        return f"{-(-count // 1024)} KiB"
    power, unit = (2, "MiB") if count <= 1023 * 1024**2 else (3, "GiB")
    tenths = -(-count * 10 // 1024**power)
    return f"{tenths // 10}.{tenths % 10} {unit}" if tenths % 10 else f"{tenths // 10} {unit}"


def displayable(text: str) -> str:
    """Return text from outside as a terminal may have it: tabs and line ends stay, other controls become visible.

    A CR that is no line end starts the line anew, as on a terminal: what stood before it on the line goes.
    """
    text = sound(text).replace("\r\n", "\n")
    if "\r" in text:
        text = "\n".join(line.rstrip("\r").rsplit("\r", 1)[-1] for line in text.split("\n"))
    text = _CONTROL.sub(lambda match: _picture(match.group()), text)
    return _BIDI.sub(lambda match: f"<U+{ord(match.group()):04X}>", text)


def revealed(text: str) -> str:
    """Return text for an approval: whatever cannot be seen or reorders what is seen stands as `<U+XXXX>`."""
    return _UNSEEN.sub(lambda match: f"<U+{ord(match.group()):04X}>", sound(text))


def revealed_line(text: str) -> str:
    """Return `revealed` text that stays on its line: a line end and a tab stand as `<U+XXXX>` too."""
    return revealed(text).replace("\n", "<U+000A>").replace("\t", "<U+0009>")


def _picture(control: str) -> str:
    code = ord(control)
    if code < 0x20:
        return chr(0x2400 + code)
    return "\u2421" if code == 0x7F else f"<U+{code:04X}>"
