"""Edits a file's text and leaves everything else of it as it was: encoding, byte order mark, line ends. Pure."""

import codecs
import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

from wisp_core.errors import ToolFailure
from wisp_core.tools.capture import BINARY_SAMPLE_BYTES, is_binary
from wisp_core.tools.diff import opcodes

# Of the places where a text occurs several times so many are named, and so many are counted.
PLACES_SHOWN = 8
PLACES_COUNTED = 1000
_BREAK = re.compile("\r\n|\n")
# A break at any point of a file, but not the second half of a CRLF.
_ANY_BREAK = "(?:\r\n|(?<!\r)\n)"
_NUMBERED = re.compile(r"\A\s*\d+\t")


@dataclass(frozen=True, slots=True)
class Found:
    """A file's text and how it stands in bytes: `bom`, then `encoding` with the `errors` that lose nothing."""

    text: str
    encoding: str = "utf-8"
    bom: bytes = b""
    errors: str = "strict"

    def encode(self, text: str) -> bytes:
        """Return another text in the same bytes' way.

        Raises:
            ToolFailure: a character cannot stand in the file's encoding.
        """
        try:
            return self.bom + text.encode(self.encoding, self.errors)
        except UnicodeEncodeError as error:
            bad = text[error.start : error.start + 1]
            raise ToolFailure(f"the file is {self.encoding}, which cannot hold {bad!r}; nothing was written") from error


def read_text(data: bytes) -> Found | None:
    """Return a file's bytes as text from which the same bytes can be made again, None where it is no text."""
    for bom, encoding, errors in (
        (codecs.BOM_UTF8, "utf-8", "strict"),
        (codecs.BOM_UTF16_LE, "utf-16-le", "surrogatepass"),
        (codecs.BOM_UTF16_BE, "utf-16-be", "surrogatepass"),
    ):
        if data.startswith(bom):
            return _decode(data, bom=bom, encoding=encoding, errors=errors)
    if is_binary(data[:BINARY_SAMPLE_BYTES]):
        return None
    found = _decode(data, bom=b"", encoding="utf-8", errors="strict")
    if found is not None or b"\0" in data:
        return found
    # Bytes that are no UTF-8: a stray one in UTF-8 is carried along, a text without any UTF-8 in it is Latin-1.
    loose = data.decode("utf-8", "surrogateescape")
    if any(character > "\x7f" and not "\udc80" <= character <= "\udcff" for character in loose):
        return Found(loose, errors="surrogateescape")
    return Found(data.decode("latin-1"), "latin-1")


def write_whole(found: Found | None, content: str) -> str:
    """Return the text that replaces a whole file; lines that stay keep their ends, new ones end as those around."""
    return _with_ends(found.text, content, fallback="") if found else content


def append(found: Found, added: str) -> str:
    """Return the text with `added` at its end, its lines ending as the file's last."""
    return found.text + _with_ends("", added, fallback=_end_near(found.text, len(found.text)))


def replace(found: Found, old: str, *, new: str) -> str:
    """Return the text with the one place where `old` stands holding `new`; a break of either kind is a break.

    Raises:
        ToolFailure: it stands nowhere, or in several places; the sentence says where.
    """
    places = list(islice(_places(found.text, old), PLACES_COUNTED))
    if not places:
        raise ToolFailure(_not_found(found, old))
    if len(places) > 1:
        raise ToolFailure(_several(found.text, places))
    start, end = places[0]
    put = _with_ends(found.text[start:end], new, fallback=_end_near(found.text, end))
    return found.text[:start] + put + found.text[end:]


def _decode(data: bytes, *, bom: bytes, encoding: str, errors: str) -> Found | None:
    try:
        text = data[len(bom) :].decode(encoding, errors)
        same = text.encode(encoding, errors) == data[len(bom) :]
    except UnicodeError:
        return None
    return Found(text, encoding, bom, errors) if same and "\0" not in text else None


def _places(text: str, old: str) -> Iterator[tuple[int, int]]:
    """Yield start and end of each place, those that overlap too."""
    pattern = re.compile(_ANY_BREAK.join(re.escape(part) for part in _BREAK.split(old)))
    position = 0
    while match := pattern.search(text, position):
        yield match.span()
        position = match.start() + 1


def _line(text: str, position: int) -> int:
    return text.count("\n", 0, position) + 1


def _several(text: str, places: list[tuple[int, int]]) -> str:
    lines = ", ".join(str(_line(text, start)) for start, _ in places[:PLACES_SHOWN])
    count = f"{len(places):,} times" if len(places) < PLACES_COUNTED else f"at least {PLACES_COUNTED:,} times"
    more = ", …" if len(places) > PLACES_SHOWN else ""
    return f"the old text occurs {count}, on lines {lines}{more}; give more of what stands around the one that is meant"


def _not_found(found: Found, old: str) -> str:
    said = "the old text does not occur in the file; nothing was written"
    if _NUMBERED.match(old):
        return f"{said}; give it without read_file's line numbers"
    if "\ufffd" in old:
        return f"{said}; what read_file shows as \ufffd are other bytes: choose an old text without it"
    words = old.split()
    if words:
        loose = re.search(r"\s+".join(re.escape(word) for word in words), found.text)
        if loose:
            return f"{said}; on line {_line(found.text, loose.start())} it stands with other white space"
    return f"{said}; read it again and copy the text exactly"


def _end_near(text: str, position: int) -> str:
    """Return the line end that follows a position, else the one before it, empty where there is none."""
    after = text.find("\n", position)
    at = after if after >= 0 else text.rfind("\n", 0, position)
    return "" if at < 0 else "\r\n" if text[at - 1 : at] == "\r" else "\n"


def _with_ends(before: str, given: str, *, fallback: str) -> str:
    """Return `given` with line ends as those of `before`: of equal lines their own, of others those of their place."""
    bare, ends = _BREAK.split(before), [*_BREAK.findall(before), ""]
    kinds = {end for end in ends if end} | ({fallback} if fallback else set())
    if not kinds:
        return given
    new = _BREAK.split(given)
    if len(kinds) == 1:
        return kinds.pop().join(new)
    chosen: list[str] = []
    known = fallback or ends[0]
    for _, a, b, c, d in opcodes(bare, new):
        for index in range(d - c):
            known = (ends[a + index] if a + index < b else "") or known
            chosen.append(known)
    return "".join(line + end for line, end in zip(new, [*chosen[:-1], ""], strict=True))
