"""Reads rules such as `run_command(git status)` and matches them against one plain command or one path. Pure."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from posixpath import basename, join, normpath

from wisp_core.errors import SettingsError
from wisp_core.text import revealed

_RULE = re.compile(r"([A-Za-z0-9_-]{1,64})(?:\((.+)\))?", re.DOTALL)
# A word that a shell takes as it stands; everything that could mean more (operators, $, `, globs, ~, \) is left out.
_BARE = r"[A-Za-z0-9_@%+=:,./-]+"
_WORD = re.compile(rf"({_BARE})|'([^'\n]*)'|\"([^\"$`\\!\n]*)\"")
_COMMAND = re.compile(rf"[ \t]*(?:{_WORD.pattern})(?:[ \t]+(?:{_WORD.pattern}))*[ \t]*")
# What runs something else, or moves to where a pattern was not meant for: no pattern is carried through it.
# fmt: off
WRAPPERS = frozenset((
    "cd", "pushd", "popd", "sudo", "doas", "su", "env", "xargs", "parallel", "sh", "bash", "zsh", "dash", "ash",
    "ksh", "fish", "csh", "tcsh", "busybox", "nohup", "time", "timeout", "nice", "ionice", "chrt", "taskset",
    "setsid", "stdbuf", "unbuffer", "script", "watch", "strace", "ltrace", "command", "builtin", "exec", "eval",
    "source", ".", "trap", "alias", "ssh", "chroot", "unshare", "nsenter", "flock", "systemd-run", "if", "then",
    "else", "elif", "fi", "for", "while", "until", "do", "done", "case", "esac", "in", "select", "function", "coproc",
    "!", "{", "}", "[[", "]]",
))
# fmt: on
_SEPARATORS = re.compile(r"[;&|\n()`]+")


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule: the `tool` that it is about and the `pattern` of its command or path, None for every call."""

    tool: str
    pattern: str | None
    text: str


def read_rule(text: str, key: str = "permissions") -> Rule:
    """Return the rule that `text` says; `key` is the setting that it stands in.

    Raises:
        SettingsError: it is no rule.
    """
    found = _RULE.fullmatch(text.strip())
    if found is None or (found.group(2) is not None and not found.group(2).strip()):
        hint = "write a tool's name, or a name and a pattern as in `run_command(git status)` or `read_file(docs/**)`"
        raise SettingsError(f"`{key}`: {revealed(text)[:80]!r} is no rule", hint)
    pattern = found.group(2).strip() if found.group(2) else None
    if pattern in ("*", "**"):
        pattern = None
    return Rule(found.group(1), pattern, text.strip())


def plain_words(command: str) -> list[str] | None:
    """Return the words of one plain command, None where it may be anything else.

    Plain is: words of letters, digits and `_@%+=:,./-`, or wholly in quotes without anything a shell expands. So no
    operator, redirection, substitution, glob, `~`, newline or invisible character, no variable set first, no wrapper.
    """
    if revealed(command) != command or not _COMMAND.fullmatch(command):
        return None
    words = [bare or single or double for bare, single, double in _WORD.findall(command)]
    if "=" in words[0] or not words[0] or basename(words[0]) in WRAPPERS:
        return None
    return words


def likely_words(command: str) -> Iterator[list[str]]:
    """Yield the words of each command that stands in a text which is not plain, as well as can be told.

    Good for refusing and asking alone: a shell may see more in the text than this does.
    """
    for part in _SEPARATORS.split(command):
        words = [word.strip("'\"") for word in part.split()]
        yield words
        while words and (basename(words[0]) in WRAPPERS or "=" in words[0]):
            words = words[1:]
            while words and words[0].startswith("-"):
                words = words[1:]
            yield words


def matches_command(pattern: str | None, words: list[str]) -> bool:
    """Return whether a pattern is about these words; no pattern is about every command.

    A last `*` stands for any more words, a `*` in a word for a part of it; the command's name is matched as it stands.
    """
    if pattern is None:
        return True
    wanted = plain_pattern(pattern)
    rest = wanted[-1:] == ["*"] and len(wanted) > 1
    fixed = wanted[:-1] if rest else wanted
    if not words or len(words) < len(fixed) or (not rest and len(words) != len(fixed)):
        return False
    if not fixed or fixed[0] != words[0]:
        return False
    return all(_matches_word(want, word) for want, word in zip(fixed[1:], words[1:], strict=False))


def plain_pattern(pattern: str) -> list[str]:
    """Return the words of a pattern; quotes in it are taken as in a command, `*` is kept."""
    words = [bare or single or double for bare, single, double in _PATTERN_WORD.findall(pattern)]
    return words if _PATTERN.fullmatch(pattern) else [pattern]


def matches_path(pattern: str, path: str, *, cwd: str) -> bool:
    """Return whether a pattern is about a path: `*` or `?` in a name, `**` over folders; relative ones are in `cwd`."""
    wanted, found = normpath(join(cwd, pattern)), normpath(join(cwd, path))
    return _path_expression(wanted).fullmatch(found) is not None


_PATTERN_BARE = r"[A-Za-z0-9_@%+=:,./*-]+"
_PATTERN_WORD = re.compile(_WORD.pattern.replace(_BARE, _PATTERN_BARE))
_PATTERN = re.compile(rf"(?:{_PATTERN_WORD.pattern})(?:[ \t]+(?:{_PATTERN_WORD.pattern}))*")


def _matches_word(want: str, word: str) -> bool:
    return re.fullmatch(".*".join(map(re.escape, want.split("*"))), word, re.DOTALL) is not None


def _path_expression(pattern: str) -> re.Pattern[str]:
    parts = re.split(r"(/\*\*/|/\*\*$|\*\*|\*|\?)", pattern)
    special = {"/**/": "/(?:.*/)?", "/**": "(?:/.*)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}
    return re.compile("".join(special.get(part, re.escape(part)) for part in parts), re.DOTALL)
