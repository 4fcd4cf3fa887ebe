"""Writes a tool's arguments as a grammar for llama.cpp: one line of JSON, whatever the schema asks beyond that. Pure.

llama.cpp's own converter leaves white space free, and where it does not understand a schema it enforces nothing.
"""

import json
from collections.abc import Iterable, Sequence
from typing import Any

from wisp_core.records import JsonObject

DEEPEST = 2
"""How many objects and lists may stand inside one another before the rest is any value."""
MOST_PROPERTIES = 8
"""How many of an object's properties are offered; those that it requires always are."""
MOST_CHOICES = 64
"""A value of more choices than this is any value of its type."""

_TERMINALS = r"""
string ::= "\"" ([^"\\\x00-\x1f\x7f] | "\\" ["\\/bfnrt])* "\""
integer ::= "-"? ("0" | [1-9] [0-9]{0,14})
number ::= integer ("." [0-9]{1,14})?
boolean ::= "true" | "false"
value ::= string | number | boolean | "null" | list | object
list ::= "[" (value (", " value)*)? "]"
object ::= "{" (string ": " value (", " string ": " value)*)? "}"
"""
_KINDS = {"string": "string", "integer": "integer", "number": "number", "boolean": "boolean", "null": '"null"'}


def write_choice(words: Iterable[str]) -> str:
    """Return the grammar of an answer that is one of the words, after a space and to the end of the line."""
    return "root ::= " + " | ".join(_literal(f" {word}\n") for word in words)


def write_arguments(schema: JsonObject) -> str:
    """Return the grammar of the arguments of a tool, as a JSON object after a space; `schema` is from outside."""
    return f'root ::= " " {_object(schema, 0)}{_TERMINALS}'


def _object(schema: JsonObject, depth: int) -> str:
    """Return the object's expression: what it requires in order, then what it may leave out."""
    properties = schema.get("properties")
    if not isinstance(properties, dict) or depth >= DEEPEST:
        return '"{}"' if depth == 0 else "object"
    named = schema.get("required")
    required = [name for name in properties if name in named] if isinstance(named, list) else []
    optional = [name for name in properties if name not in required][: max(0, MOST_PROPERTIES - len(required))]
    offered = (*required, *optional)
    pairs = [f"{_literal(f'{json.dumps(name)}: ')} {_value(properties[name], depth + 1)}" for name in offered]
    rest = pairs[len(required) :]
    inner = ' ", " '.join(pairs[: len(required)])
    if required:
        inner += "".join(f' (", " {pair})?' for pair in rest)
    elif rest:
        inner = f"({' | '.join(_chains(rest))})?"
    return f'"{{" {inner} "}}"'


def _chains(pairs: Sequence[str]) -> Iterable[str]:
    """Yield each way to begin a list of pairs of which any may be left out."""
    for at, pair in enumerate(pairs):
        yield pair + "".join(f' (", " {later})?' for later in pairs[at + 1 :])


def _value(schema: Any, depth: int) -> str:
    if not isinstance(schema, dict):
        return "value"
    choices = [schema["const"]] if "const" in schema else schema.get("enum")
    if isinstance(choices, list) and 0 < len(choices) <= MOST_CHOICES:
        return f"({' | '.join(_literal(json.dumps(choice, ensure_ascii=False)) for choice in choices)})"
    kind = schema.get("type")
    if isinstance(kind, str) and kind in _KINDS:
        return _KINDS[kind]
    if kind == "array":
        return _list(schema, depth)
    return _object(schema, depth) if kind == "object" else "value"


def _list(schema: JsonObject, depth: int) -> str:
    if depth >= DEEPEST:
        return "list"
    item = _value(schema.get("items"), depth + 1)
    return f'"[" ({item} (", " {item})*)? "]"'


def _literal(text: str) -> str:
    """Return the text as a terminal; beyond plain characters it goes by code point."""
    return '"' + "".join(c if " " <= c <= "~" and c not in '"\\' else f"\\U{ord(c):08X}" for c in text) + '"'
