"""Reads rules such as `run_command(git status)` and matches them against one plain command or one path. Pure."""

import re
from dataclasses import dataclass
from functools import lru_cache
from posixpath import basename, join, normpath

from wisp_core.errors import SettingsError
from wisp_core.permissions.plain import WRAPPERS, Words
from wisp_core.permissions.runners import running_words
from wisp_core.text import revealed

SHELL_TOOL = "run_command"
SHOWN_CHARACTERS = 80
RULE_HINT = "write a tool's name, or a name and a pattern as in `run_command(git status)` or `read_file(docs/**)`"
_RULE = re.compile(r"([A-Za-z0-9_-]{1,64})(?:\((.+)\))?", re.DOTALL)
# What is in no plain command cannot be in a pattern either, but for the *; a pattern that only refuses may name more.
_PATTERN = re.compile(r"""[ \t]*(?:(?:'[^'\n]*'|"[^"\n]*"|[^\s'"`;&|<>()\\]+)(?:[ \t]+|\Z))+""")
_PATTERN_WORD = re.compile(r"""'([^'\n]*)'|"([^"\n]*)"|([^\s'"]+)""")


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule: the `tool` that it is about and the `pattern` of its command or path, None for every call."""

    tool: str
    pattern: str | None
    text: str


def read_rule(text: str, key: str = "permissions", *, allows: bool = True) -> Rule:
    """Return the rule that `text` says; `key` is the setting that it stands in, `allows` what it would do.

    Raises:
        SettingsError: it is no rule, or one that could never match.
    """
    found = _RULE.fullmatch(text.strip())
    shown = f"`{key}`: {revealed(text)[:SHOWN_CHARACTERS]!r}"
    if found is None or (found.group(2) is not None and not found.group(2).strip()):
        raise SettingsError(f"{shown} is no rule", RULE_HINT)
    pattern = found.group(2).strip() if found.group(2) else None
    if pattern in ("*", "**"):
        pattern = None
    rule = Rule(found.group(1), pattern, text.strip())
    if pattern is not None and rule.tool == SHELL_TOOL:
        _check_command(pattern, shown, allows=allows)
    return rule


def _check_command(pattern: str, shown: str, *, allows: bool) -> None:
    if not _PATTERN.fullmatch(pattern) or revealed(pattern) != pattern:
        raise SettingsError(
            f"{shown} can never match: a rule is about one plain command, without operators or redirections",
            "write a rule for each of its commands",
        )
    name = plain_pattern(pattern)[0]
    if allows and basename(name) in WRAPPERS:
        raise SettingsError(
            f"{shown} can never allow anything: `{name}` runs or changes what follows, so it is always asked about",
            "write a rule for the command that it runs",
        )
    if allows and "*" in name:
        raise SettingsError(
            f"{shown} can never allow anything: a program is named in full", "write its name without a *"
        )


def permits(pattern: str | None, words: Words) -> bool:
    """Return whether a pattern allows one plain command: it matches, and names whatever runs another program itself."""
    if not matches_command(pattern, words):
        return False
    running = running_words(words)
    if not running:
        return True
    fixed = _fixed(pattern)[0] if pattern is not None else ()
    # The word after an option is what it runs.
    named = {place for place in range(len(fixed)) if fixed[place] == words[place] and "*" not in fixed[place]}
    return all({place, min(place + 1, len(words) - 1)} <= named for place in running)


def refuses(pattern: str | None, words: Words) -> bool:
    """Return whether a pattern that refuses or asks is about these words; the program may be named by any path."""
    if matches_command(pattern, words):
        return True
    return bool(words) and "/" in words[0] and matches_command(pattern, [basename(words[0]), *words[1:]])


def matches_command(pattern: str | None, words: Words) -> bool:
    """Return whether a pattern is about these words; no pattern is about every command.

    A last `*` stands for any more words, a `*` in a word for a part of it; the command's name is matched as it stands.
    """
    if pattern is None:
        return True
    fixed, rest = _fixed(pattern)
    if not words or len(words) < len(fixed) or (not rest and len(words) != len(fixed)):
        return False
    if not fixed or fixed[0] != words[0]:
        return False
    return all(_matches_word(want, word) for want, word in zip(fixed[1:], words[1:], strict=False))


def plain_pattern(pattern: str) -> Words:
    """Return the words of a pattern; quotes in it are taken as in a command, `*` is kept."""
    return [single or double or bare for single, double, bare in _PATTERN_WORD.findall(pattern)]


def matches_path(pattern: str, path: str, *, cwd: str) -> bool:
    """Return whether a pattern is about a path: `*` or `?` in a name, `**` over folders; relative ones are in `cwd`."""
    wanted, found = normpath(join(cwd, pattern)), normpath(join(cwd, path))
    return path_expression(wanted).fullmatch(found) is not None


def holds_path(pattern: str, path: str) -> bool:
    """Return whether an absolute pattern is about an absolute path or a folder that it lies in, in one pass."""
    wanted = pattern.split("/")
    reached = _beyond({0}, wanted)
    for name in path.split("/"):
        steps = {at if wanted[at] == "**" else at + 1 for at in reached if path_expression(wanted[at]).fullmatch(name)}
        reached = _beyond(steps, wanted)
        if len(wanted) in reached:
            return True
    return False


def _beyond(places: set[int], wanted: list[str]) -> set[int]:
    """Return the places in a pattern with those that stand behind a `**`, which may be about no folder at all."""
    found = set[int]()
    for place in places:
        found.add(place)
        while place < len(wanted) and wanted[place] == "**":
            place += 1
            found.add(place)
    return found


@lru_cache(maxsize=512)
def path_expression(pattern: str) -> re.Pattern[str]:
    """Return a path's pattern as an expression; `**` goes over folders, `*` and `?` stay in a name."""
    parts = re.split(r"(/\*\*/|/\*\*$|\*\*|\*|\?)", pattern)
    special = {"/**/": "/(?:.*/)?", "/**": "(?:/.*)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}
    return re.compile("".join(special.get(part, re.escape(part)) for part in parts), re.DOTALL)


@lru_cache(maxsize=512)
def _fixed(pattern: str) -> tuple[tuple[str, ...], bool]:
    """Return the words that must be there, and whether any more may follow."""
    words = plain_pattern(pattern)
    rest = words[-1:] == ["*"] and len(words) > 1
    return tuple(words[:-1] if rest else words), rest


def _matches_word(want: str, word: str) -> bool:
    """Match a word in one pass: the parts between the stars follow each other."""
    first, *others = want.split("*")
    if not others:
        return want == word
    last = others.pop()
    if not word.startswith(first) or not word.endswith(last) or len(word) < len(first) + len(last):
        return False
    place, end = len(first), len(word) - len(last)
    for part in others:
        place = word.find(part, place, end)
        if place < 0:
            return False
        place += len(part)
    return True
