"""Normalises the names of facts, so that one thing has one name however it is written. Pure."""

import posixpath
import re
import unicodedata
from collections.abc import Mapping
from typing import Protocol

_QUOTES = "\"'`\u2018\u2019\u201a\u201c\u201d\u201e\u00ab\u00bb\u2039\u203a()[]{}<>"
_BEFORE = _QUOTES + "\u00bf\u00a1 "
# Only what ends a sentence: the `++` of c++ and the `#` of c# are part of the name.
_AFTER = _QUOTES + ".,;:!?\u2026 "
_ARTICLE = re.compile(r"^(?:the|an|a) (?=\S)")
_WORD = r"(?:\"[^\"]*\"|'[^']*'|[^\s\"';&|])+"
_DIRECTORY = re.compile(rf"^cd {_WORD} && (?=\S)")
_ASSIGNMENT = re.compile(rf"^[A-Za-z_][A-Za-z0-9_]*=(?:{_WORD})? (?=\S)")
_AFTER_COLON = re.compile(r":(\d+)")
_DIGITS = re.compile(r"\d+")


class FactNameNormaliser(Protocol):
    """Turns a name into the one that stands for it; the same again gives the same."""

    def __call__(self, name: str, *, cwd: str) -> str:
        """Return the normalised name; `cwd` is the thread's working directory, an absolute path."""


def text_name(name: str, *, cwd: str) -> str:
    """Return the name case folded, white space collapsed, without outer quotes and punctuation and a leading article.

    A name of nothing else stays as it is.
    """
    found = _folded(name)
    while True:
        bare = _ARTICLE.sub("", _folded(found).lstrip(_BEFORE).rstrip(_AFTER))
        if bare in ("", found):
            return found
        found = bare


def command_name(name: str, *, cwd: str) -> str:
    """Return a command with single spaces, without `cd DIR &&`, environment assignments and its program's directory."""
    found = " ".join(name.split())
    while (bare := _bare_command(found)) != found:
        found = bare
    return found


def path_name(name: str, *, cwd: str) -> str:
    """Return the path as an absolute one, taken from `cwd`, with `.` and `..` resolved by text alone."""
    path = name.strip()
    while path:
        found = "/" + posixpath.normpath(posixpath.join(cwd, path)).lstrip("/")
        if found == found.strip():
            return found
        path = found.strip()
    return ""


def port_name(name: str, *, cwd: str) -> str:
    """Return the digits of a port, those after the last colon where an address is given."""
    found = _AFTER_COLON.findall(name)[-1:] or _DIGITS.findall(name)[:1]
    return (found[0].lstrip("0") or "0") if found else text_name(name, cwd=cwd)


def plain_name(name: str, *, cwd: str) -> str:
    """Return the name as it is, white space collapsed."""
    return " ".join(name.split())


NORMALISERS: Mapping[str, FactNameNormaliser] = {
    "text": text_name,
    "command": command_name,
    "path": path_name,
    "port": port_name,
    "none": plain_name,
}


def fold(text: str) -> str:
    """Return text as values are compared (F8): case folded, white space collapsed."""
    return _folded(text)


def _folded(text: str) -> str:
    return " ".join(unicodedata.normalize("NFC", unicodedata.normalize("NFC", text).casefold()).split())


def _bare_command(command: str) -> str:
    command = _ASSIGNMENT.sub("", _DIRECTORY.sub("", command))
    program, space, rest = command.partition(" ")
    return f"{posixpath.basename(program) or program}{space}{rest}"
