"""Finds in a command the words that may name a path, as a shell could take them; looks at no file."""

import os
import re
from collections.abc import Iterator
from fnmatch import fnmatchcase
from pathlib import Path
from posixpath import basename
from urllib.parse import unquote

from wisp_core.permissions.plain import Words, plain_commands

LONGEST_WORD = 4096  # characters; no path is longer
MOST_TEXT = 100_000  # characters of a command that are looked through

_ENDS = re.compile(r"[\s'\"=@:,;&|()<>`]+")
_BRACES = re.compile(r"\{[^{}\s]{0,4096}\}")
_ANSI_C = re.compile(r"\$'((?:[^'\\]|\\.)*)'")
_ESCAPED = re.compile(r"\\x([0-9A-Fa-f]{1,2})|\\([0-7]{1,3})")
_VARIABLE = re.compile(r"\$\{[^{}\s]{0,200}\}|\$\w+|\$[^\w\s/]")
# Where these lead depends on the process that opens them.
_OF_A_PROCESS = re.compile(r"/+proc/+[^/]+/+(?:task/+[^/]+/+)?(?:root|cwd|fd|map_files)(?:/|\Z)|/+dev/+fd(?:/|\Z)")
_GLOB = re.compile(r"[*?\[]")
# These show names or make them; they never go over what a folder holds, but for `ls -R`.
# fmt: off
_SHALLOW = frozenset((
    "ls", "stat", "file", "test", "echo", "printf", "basename", "dirname", "realpath", "readlink", "mkdir", "df",
    "pwd", "touch", "which", "type",
))
# fmt: on
# These go over the working directory when no other is named.
_WALKERS = frozenset(("find", "fd", "fdfind", "rg", "ag", "ack", "tree", "du", "ncdu"))
_WALKERS_WITH = {"grep": "rR", "egrep": "rR", "fgrep": "rR", "ls": "R", "zip": "r"}


def named_paths(command: str, *, home: Path, cwd: Path) -> Iterator[str]:
    """Yield the words that may be paths: the home's and the folder's names filled in, what is unknown as a `*`."""
    known, seen = {"HOME": str(home), "PWD": str(cwd)}, set[str]()
    for text in _readings(command[:MOST_TEXT]):
        filled = _BRACES.sub("*", _VARIABLE.sub(lambda found: known.get(found.group().strip("${}"), "*"), text))
        for word in _ENDS.split(filled):
            for piece in _pieces(word):
                full = _from_home(piece, home)
                if full not in seen:
                    seen.add(full)
                    yield full


def doubtful_path(word: str) -> bool:
    """Whether a path leads through a process, so that nobody can say where to."""
    return _OF_A_PROCESS.match(os.path.normpath(word)) is not None


def glob_names(path: str, places: set[str]) -> bool:
    """Whether a path with a glob could name one of the places (in lower case), or something in it."""
    if not _GLOB.search(path):
        return False
    wanted = os.path.normpath(path).casefold().split("/")
    for place in places:
        parts = place.split("/")
        if len(wanted) >= len(parts) and all(map(fnmatchcase, parts, wanted)):
            return True
    return "**" in path


def searched_folders(command: str, *, home: Path, cwd: Path) -> Iterator[Path]:
    """Yield the folders that a command may go over as a whole; any program may, but those that are known not to."""
    commands = plain_commands(command)
    if commands is None:
        commands = [command[:MOST_TEXT].replace("'", "").replace('"', "").split()]
    for words in commands:
        name = basename(words[0]) if words else ""
        if name in _SHALLOW and not _walks(name, words):
            continue
        if _walks(name, words):
            yield cwd
        for word in dict.fromkeys(words[1:]):
            value = word.partition("=")[2] if word.startswith("-") and "=" in word else word
            # A sign in a sentence is no path.
            if value and not re.search(r"\s", value) and len(value) <= LONGEST_WORD:
                yield cwd / _from_home(value, home)


def _walks(name: str, words: Words) -> bool:
    letters = _WALKERS_WITH.get(name)
    if letters is None:
        return name in _WALKERS
    short = any(word[:1] == "-" and word[:2] != "--" and set(letters) & set(word) for word in words)
    return short or any(len(word) > 4 and "--recursive".startswith(word) for word in words)


def _readings(command: str) -> Iterator[str]:
    """Yield the text as it stands and as it is without its quotes."""
    yield command
    bare = _ANSI_C.sub(lambda found: _ESCAPED.sub(_sign, found.group(1)), command)
    bare = re.sub(r"['\"\\]", "", bare)
    if bare != command:
        yield bare


def _sign(found: re.Match[str]) -> str:
    return chr(int(found.group(1), 16) if found.group(1) else int(found.group(2), 8) & 0xFF)


def _pieces(word: str) -> Iterator[str]:
    """Yield a word and its ends that may be a path: one may follow an option's letter at once."""
    if not word or len(word) > LONGEST_WORD:
        return
    inner = {word.find("/"), word.find("~"), word.find("."), 2 if word.startswith("-") else 0}
    starts = {0} if word[0] in "/~." else {0} | inner
    for start in sorted(starts - {-1}):
        if piece := word[start:]:
            yield piece
            if "%" in piece:
                yield unquote(piece)


def _from_home(piece: str, home: Path) -> str:
    if piece == "~" or piece.startswith("~/"):
        return str(home) + piece[1:]
    return os.path.expanduser(piece) if piece.startswith("~") else piece
