"""Reads a command line: which program ran, with which words, and under which name its outcome is kept. Pure."""

import re
from dataclasses import dataclass

MOST_CHARACTERS = 4000
# What stands before a program, prints nothing when it succeeds, and is not what the command is about.
_QUIET = {"cd", "export", "source", ".", "set", "mkdir", "rm", "cp", "mv", "touch", "true"}
_PREFIXES = {"time", "nice", "nohup", "command", "exec", "sudo", "env"}
_RUNNERS = {"uv", "poetry", "pdm", "pipenv", "hatch", "rye"}

_QUOTED = r"'[^']*+'" + r'|"(?:[^"\\]|\\.)*+"'
_TOKEN = re.compile(
    r"(?P<space>[ \t]++)|(?P<both>2>&1)(?=[ \t|]|$)|(?P<sign>&&|\|(?!\|))"
    rf"|(?P<word>(?:[^\s;|&<>()'\"\\`]|\\.|{_QUOTED})++)",
    re.DOTALL,
)
_QUOTE = re.compile(r"'([^']*+)'" + r'|"((?:[^"\\]|\\.)*+)"' + r"|\\(.)", re.DOTALL)
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*+=")
_PYTHON = re.compile(r"(?:python|pypy|py)[\d.]*")


@dataclass(frozen=True, slots=True)
class Command:
    """One program's run: the `name` that its outcome goes by, and its `words`, the program's own name first.

    Neither has what stands before the program: a change of folder, assignments, the program's folder. `words` has no
    wrapper either (`timeout 60`, `uv run`, `python -m`).
    """

    name: str
    words: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class CommandLine:
    """The commands of one line that follow each other by `&&`.

    `piped` tells that the exit status is another program's, `tailed` that only the end of the output is to be seen.
    """

    commands: tuple[Command, ...]
    piped: bool = False
    tailed: bool = False


def read_line(text: str) -> CommandLine | None:
    """Return the command line, None for one that is not certain: other pipes, lists, files, several lines."""
    words = _tokens(text)
    if words is None:
        return None
    tailed = False
    parts = _split(words, "|")
    if len(parts) == 2 and parts[1] and parts[1][0] in ("tail", "cat", "tee"):
        tailed = parts[1][0] == "tail"
    elif len(parts) != 1:
        return None
    pieces = _split(parts[0], "&&")
    while len(pieces) > 1 and _is_quiet(pieces[0]):
        pieces = pieces[1:]
    commands = [_command(piece) for piece in pieces]
    found = tuple(command for command in commands if command is not None)
    if len(found) != len(commands) or (len(parts) > 1 and len(found) > 1):
        return None
    return CommandLine(found, piped=len(parts) > 1, tailed=tailed)


def _tokens(text: str) -> list[str] | None:
    text = text.strip()
    if not text or len(text) > MOST_CHARACTERS:
        return None
    tokens: list[str] = []
    place = 0
    while place < len(text):
        token = _TOKEN.match(text, place)
        if token is None:
            return None
        place = token.end()
        if token.lastgroup in ("word", "sign"):
            tokens.append(token.group())
    return tokens


def _split(tokens: list[str], sign: str) -> list[list[str]]:
    pieces: list[list[str]] = [[]]
    for token in tokens:
        if token == sign:
            pieces.append([])
        else:
            pieces[-1].append(token)
    return pieces


def _is_quiet(piece: list[str]) -> bool:
    return bool(piece) and (piece[0] in _QUIET or piece[:2] == ["git", "add"])


def _command(piece: list[str]) -> Command | None:
    while piece and _ASSIGNMENT.match(piece[0]):
        piece = piece[1:]
    if not piece or piece[0].startswith("#"):
        return None
    name = " ".join([_program(piece[0]), *piece[1:]])
    words = _unwrapped([_unquoted(word) for word in piece])
    return Command(" ".join(name.split()), (_program(words[0]), *words[1:])) if words else None


def _unwrapped(words: list[str]) -> list[str]:
    """Return the words of the program that does the work."""
    while words:
        program, rest = _program(words[0]), words[1:]
        if program in _PREFIXES or _ASSIGNMENT.match(words[0]):
            words = rest
        elif _takes_one(program, rest):
            words = rest[1:]
        elif program == "npx":
            words = rest[1:] if rest and rest[0] in ("--no-install", "--no", "--yes", "-y") else rest
        elif program == "coverage" and rest[:2] == ["run", "-m"]:
            words = rest[2:]
        else:
            break
    return words


def _takes_one(program: str, rest: list[str]) -> bool:
    """Tell whether a wrapper is followed by one word and then by the program: `timeout 60`, `uv run`, `python -m`."""
    first = rest[0] if rest else ""
    return (
        (program in ("timeout", "gtimeout") and first[:1].isdigit())
        or (program in _RUNNERS and first == "run")
        or (program == "pnpm" and first == "exec")
        or (_PYTHON.fullmatch(program) is not None and first == "-m")
    )


def _program(word: str) -> str:
    return word.rpartition("/")[2] or word


def _unquoted(word: str) -> str:
    return _QUOTE.sub(lambda found: found.group(1) or found.group(2) or found.group(3) or "", word)
