"""Takes a shell text apart into plain commands, where every shell would do it alike. Pure."""

import re
from collections.abc import Iterator
from posixpath import basename
from typing import TypeAlias

from wisp_core.text import revealed

Words: TypeAlias = list[str]

MOST_CHARACTERS = 16_000  # of a command that a rule may allow
# A word that a shell takes as it stands; everything that could mean more (operators, $, `, globs, ~, \) is left out,
# and so is a backslash in quotes, which some shells take for a sign of its own.
_WORD = r"[A-Za-z0-9_@%+=:,./-]+|'[^'\\\n]*'|\"[^\"$`\\!\n]*\""
# Redirections that keep nothing and read nothing.
_QUIET = r"(?:[012]?>&[12]|[12&]?>>?[ \t]*/dev/null|0?<[ \t]*/dev/null)(?=[ \t\n;&|]|\Z)"
_TOKEN = re.compile(rf"(?P<blank>[ \t]+)|(?P<quiet>{_QUIET})|(?P<operator>&&|\|\|?|[;&\n])|(?P<word>{_WORD})")
_GOES_ON = ("&&", "||", "|")
_NAME = re.compile(r"[A-Za-z0-9_./][^=]*")
# What runs something else, moves to where a pattern was not meant for, or sets what a later command obeys: no pattern
# is carried through it.
# fmt: off
WRAPPERS = frozenset((
    "cd", "pushd", "popd", "sudo", "doas", "su", "runuser", "pkexec", "sg", "env", "xargs", "parallel", "sh", "bash",
    "rbash", "zsh", "dash", "ash", "ksh", "mksh", "fish", "csh", "tcsh", "pwsh", "busybox", "toybox", "nohup", "time",
    "timeout", "nice", "ionice", "chrt", "taskset", "setarch", "prlimit", "setsid", "stdbuf", "unbuffer", "script",
    "watch", "entr", "strace", "ltrace", "perf", "gdb", "valgrind", "command", "builtin", "exec", "eval", "source",
    ".", "trap", "alias", "unalias", "export", "declare", "typeset", "local", "readonly", "set", "unset", "setenv",
    "shopt", "setopt", "enable", "hash", "let", "autoload", "zmodload", "noglob", "nocorrect", "ssh", "chroot",
    "fakeroot", "unshare", "nsenter", "bwrap", "firejail", "flock", "systemd-run", "start-stop-daemon", "at", "batch",
    "crontab", "screen", "tmux", "if", "then", "else", "elif", "fi", "for", "foreach", "repeat", "while", "until", "do",
    "done", "case", "esac", "in", "select", "function", "coproc", "begin", "end", "and", "or", "not", "switch",
))
# fmt: on


def plain_words(command: str) -> Words | None:
    """Return the words of one plain command, None where it may be anything else.

    Plain is: words of letters, digits and `_@%+=:,./-`, or wholly in quotes without anything a shell expands. So no
    operator, redirection, substitution, glob, `~`, newline or invisible character, no variable set first, no wrapper.
    """
    commands = plain_commands(command)
    return commands[0] if commands and len(commands) == 1 and not has_operators(command) else None


def has_operators(command: str) -> bool:
    """Whether a text of plain commands is more than one plain command alone."""
    return any(kind in ("operator", "quiet") for kind, _ in _tokens(command))


def plain_commands(text: str) -> list[Words] | None:
    """Return the words of each command of a text of plain ones, None where it may be anything else.

    They are joined by `;`, `&`, `|`, `&&`, `||` or a line end; `2>&1` and redirections to `/dev/null` are left out.
    """
    if len(text) > MOST_CHARACTERS or revealed(text) != text:
        return None
    commands, words, apart, goes_on = list[Words](), Words(), True, False
    for kind, token in _tokens(text):
        if kind == "blank":
            apart = True
        elif kind == "operator":
            if words:
                commands.append(words)
            elif token != "\n":
                return None
            goes_on = token in _GOES_ON or (goes_on and not words)
            words, apart = [], True
        elif not kind or not apart:
            return None
        elif kind == "word":
            words.append(token.strip(token[0]) if token[0] in "'\"" else token)
            apart = False
        elif not words:
            return None
        else:
            apart = False
    if words:
        commands.append(words)
    elif goes_on:
        return None
    return commands if commands and all(_is_plain_name(each[0]) for each in commands) else None


def _tokens(text: str) -> Iterator[tuple[str, str]]:
    """Yield each token with its kind; what is none ends them with an empty kind."""
    place = 0
    while place < len(text):
        found = _TOKEN.match(text, place)
        if found is None:
            yield "", text[place]
            return
        yield str(found.lastgroup), found.group()
        place = found.end()


def _is_plain_name(name: str) -> bool:
    return _NAME.fullmatch(name) is not None and basename(name) not in WRAPPERS
