"""Reads shell text with a real shell grammar: what all of it runs, and whatever can be seen to run in it. Pure."""

import re
from collections.abc import Iterator
from functools import cache
from itertools import pairwise
from posixpath import basename
from typing import TYPE_CHECKING

from wisp_core.permissions.plain import WRAPPERS, Words, has_operators, plain_commands
from wisp_core.permissions.runners import running_words
from wisp_core.text import revealed

if TYPE_CHECKING:
    from tree_sitter import Node, Parser

# The grammar's recovery from errors takes time that grows with more than the square of such a text.
MOST_HOSTILE_CHARACTERS = 2000
DEEPEST = 5  # texts that are run inside of texts that are run
MOST_TAILS = 60  # of a wrapper's words, each taken for the start of what it runs

_COMMANDS = frozenset(("command", "declaration_command", "unset_command"))
_ASIDE = frozenset(("variable_assignment", "file_redirect", "herestring_redirect", "heredoc_redirect"))
# fmt: off
_SIMPLE = frozenset((
    "program", "list", "pipeline", "command", "command_name", "word", "number", "raw_string", "string",
    "string_content", "redirected_statement", "file_redirect", "file_descriptor",
))
# fmt: on
_SEPARATORS = re.compile(r"[;&|\n()`{}]+")
_BLANK_VARIABLE = re.compile(r"\$\{IFS[^}\n]*\}|\$IFS")
_ESCAPE = re.compile(r"\\(?:x([0-9A-Fa-f]{1,2})|u([0-9A-Fa-f]{1,4})|U([0-9A-Fa-f]{1,8})|([0-7]{1,3})|(.))", re.DOTALL)
_LETTERS = {"n": "\n", "t": "\t", "r": "\r", "a": "\a", "b": "\b", "e": "\x1b", "E": "\x1b", "f": "\f", "v": "\v"}


def every_command(text: str) -> list[Words] | None:
    """Return the words of each command that a text runs, None where it may run anything else.

    Two readings must agree: the plain one, which holds for every shell, and the grammar's. None asks the person.
    """
    plain = plain_commands(text)
    if plain is None or not has_operators(text):
        return plain
    found = list[Words]()
    for node in _nodes(text):
        if node.is_error or node.is_missing or (node.is_named and node.type not in _SIMPLE):
            return None
        if node.type == "command":
            found.append(_words(node))
    return plain if found == plain else None


def seen_commands(text: str, depth: int = 0) -> Iterator[Words]:
    """Yield the words of each command that can be seen in a text, also where it is run by another one.

    Good for refusing and asking alone: a shell may see more in the text than this does.
    """
    if depth > DEEPEST:
        return
    if len(text) > MOST_HOSTILE_CHARACTERS or revealed(text) != text:
        yield from _likely_commands(text)
        return
    broken = False
    for node in _nodes(text):
        broken = broken or node.is_error or node.is_missing
        if node.type in _COMMANDS:
            yield from _run_by(_words(node), depth)
        elif node.type in ("heredoc_body", "herestring_redirect") and _is_for_shell(node):
            given = _text(node) if node.type == "heredoc_body" else _unquoted(node.children[-1])
            yield from seen_commands(given, depth + 1)
        elif node.type == "heredoc_body" and not _is_literal(node):
            # The grammar takes backticks in a heredoc for text.
            for part in _text(node).split("`")[1:MOST_TAILS:2]:
                yield from seen_commands(part, depth + 1)
    if broken:
        yield from _likely_commands(text)
    if _BLANK_VARIABLE.search(text):
        yield from seen_commands(_BLANK_VARIABLE.sub(" ", text), depth + 1)


def _run_by(words: Words, depth: int) -> Iterator[Words]:
    """Yield a command and what it is told to run."""
    yield words
    starts = [place + 1 for place in running_words(words)]
    if words and basename(words[0]) in WRAPPERS:
        # Which word is the first of what is run depends on the wrapper's options: each may be.
        starts = list(range(1, min(len(words), MOST_TAILS)))
        yield from seen_commands(" ".join(words[1:])[: MOST_HOSTILE_CHARACTERS + 1], depth + 1)
    for start in starts[:MOST_TAILS]:
        yield words[start:]
        if start < len(words) and re.search(r"[\s;&|(`]", words[start]):
            yield from seen_commands(words[start], depth + 1)


def _likely_commands(text: str) -> Iterator[Words]:
    """Yield what may be commands in a text that the grammar cannot read."""
    for part in _SEPARATORS.split(text):
        words = [word.strip("'\"") for word in part.split()]
        yield words
        # What a wrapper runs begins behind it, its options and what is set for it.
        carried = [place for place, word in enumerate(words) if not word.startswith("-")][: MOST_TAILS + 1]
        for place, following in pairwise(carried):
            if basename(words[place]) not in WRAPPERS and "=" not in words[place]:
                break
            yield words[following:]


@cache
def _parser() -> "Parser":
    import tree_sitter_bash  # a megabyte of grammar that is not on the way to the first input
    from tree_sitter import Language, Parser  # the same: only a command with operators needs it

    return Parser(Language(tree_sitter_bash.language()))


def _nodes(text: str) -> Iterator["Node"]:
    """Yield every node of the text's tree, outer ones first; a text may nest deeper than Python does."""
    cursor = _parser().parse(text.encode()).walk()
    while True:
        if cursor.node is not None:
            yield cursor.node
        if cursor.goto_first_child():
            continue
        while not cursor.goto_next_sibling():
            if not cursor.goto_parent():
                return


def _words(command: "Node") -> Words:
    return [_unquoted(child) for child in command.children if child.is_named and child.type not in _ASIDE]


def _is_for_shell(node: "Node") -> bool:
    """Whether an input is given to something that may run it."""
    statement = node.parent
    while statement is not None and statement.type not in ("redirected_statement", "command"):
        statement = statement.parent
    if statement is None:
        return False
    body = statement if statement.type == "command" else statement.child_by_field_name("body")
    words = _words(body) if body is not None else []
    return not words or basename(words[0]) in WRAPPERS


def _is_literal(body: "Node") -> bool:
    """Whether nothing in a heredoc is expanded: its delimiter is quoted."""
    starts = body.parent.children if body.parent is not None else []
    return any(set("'\"\\") & set(_text(each)) for each in starts if each.type == "heredoc_start")


def _text(node: "Node") -> str:
    return (node.text or b"").decode("utf-8", "replace")


def _unquoted(node: "Node") -> str:
    """Return a word as the shell takes it, expansions as they stand."""
    text = _text(node)
    match node.type:
        case "word":
            return re.sub(r"\\(.?)", lambda found: found.group(1).strip("\n"), text, flags=re.DOTALL)
        case "raw_string":
            return text[1:-1]
        case "ansi_c_string":
            return _ESCAPE.sub(_escaped, text[2:-1])
        case "string":
            return re.sub(r"\\([\"$`\\\n])", lambda found: found.group(1).strip("\n"), text[1:-1])
        case "translated_string" | "command_name" | "concatenation":
            parts = [child for child in node.children if _text(child) != "$" or child.is_named]
            return "".join(map(_unquoted, parts)) if parts else text
        case _:
            return text


def _escaped(found: re.Match[str]) -> str:
    byte, short, long, octal, other = found.groups()
    if octal:
        return chr(int(octal, 8) & 0xFF)
    if other:
        return _LETTERS.get(other, other)
    code = int(byte or short or long, 16)
    return chr(code) if code < 0x110000 else ""
