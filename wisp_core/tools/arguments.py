"""Reads a tool call's arguments: repairs that lose nothing, then validation, told in one line. Pure."""

import json
import re
from typing import Any

from pydantic import ValidationError

from wisp_core.errors import ToolFailure
from wisp_core.records import JsonObject
from wisp_core.text import load_json, one_line, sound
from wisp_core.tools.tool import Arguments

SHOWN_CHARACTERS = 80
_FENCE = re.compile(r"\A```[A-Za-z]*\s*\n?(.*?)\n?\s*```\Z", re.DOTALL)
# A string is matched whole so that a comma inside it stays.
_TRAILING_COMMA = re.compile(r'"(?:[^"\\]|\\.)*"|,(?=\s*[}\]])', re.DOTALL)
_KINDS = {
    "string": "text",
    "integer": "a whole number",
    "number": "a number",
    "boolean": "true or false",
    "array": "a list of texts",
}


def read_arguments(model: type[Arguments], text: str, *, tool: str) -> JsonObject:
    """Return the arguments that `text` holds, as the tool takes them; `tool` is its name in what is said.

    Raises:
        ToolFailure: they are no JSON object, or not what the tool takes; one line says what was expected.
    """
    given = _object(text)
    if given is None:
        shown = json.dumps(one_line(sound(text), SHOWN_CHARACTERS), ensure_ascii=False)
        raise ToolFailure(f"the arguments of {tool} must be a JSON object with {_takes(model)}; found {shown}")
    # A null is how many models leave an argument out.
    given = {key: value for key, value in given.items() if value is not None}
    try:
        checked = model.model_validate(given)
    except ValidationError as error:
        raise ToolFailure(_explain(tool, model, error=error)) from error
    arguments = checked.model_dump(exclude_unset=True)
    for key, value in arguments.items():
        if any(
            sound(text) != text for text in (value if isinstance(value, list) else [value]) if isinstance(text, str)
        ):
            raise ToolFailure(f"{tool}: {key} holds a NUL or half a character; give it without")
    return arguments


def parameters(model: type[Arguments]) -> JsonObject:
    """Return the JSON schema of the arguments without what a model does not need (titles, nulls, bounds)."""
    schema = model.model_json_schema()
    properties = {name: _short(field) for name, field in schema.get("properties", {}).items()}
    found: JsonObject = {"type": "object", "properties": properties}
    if schema.get("required"):
        found["required"] = schema["required"]
    return found


def _object(text: str) -> JsonObject | None:
    """Return the JSON object in `text`, which may stand in a fence, inside a JSON string, or have a trailing comma."""
    found: Any = text.strip()
    for _ in range(3):
        if not isinstance(found, str):
            break
        found = found.strip()
        if found == "":
            return {}
        fenced = _FENCE.match(found)
        found = _load(fenced.group(1) if fenced else found)
    if found is None:
        return {}
    return found if isinstance(found, dict) else None


def _load(text: str) -> Any:
    """Return what the JSON says, False where it is none."""
    for candidate in (text, _TRAILING_COMMA.sub(lambda match: "" if match.group() == "," else match.group(), text)):
        try:
            return load_json(candidate, strict=False)
        except ValueError:
            continue
    return False


def _short(field: JsonObject) -> JsonObject:
    kinds = [kind for kind in field.get("anyOf", [field]) if kind.get("type") != "null"]
    short: JsonObject = {"type": kinds[0]["type"]}
    if "enum" in kinds[0]:
        short["enum"] = kinds[0]["enum"]
    if "items" in kinds[0]:
        short["items"] = _short(kinds[0]["items"])
    if "description" in field:
        short["description"] = field["description"]
    return short


def _takes(model: type[Arguments]) -> str:
    """Return the arguments in words, such as `path (text), offset (a whole number, optional)`."""
    shape = parameters(model)
    required = shape.get("required", [])
    words = [
        f"{name} ({_kind(field)}{'' if name in required else ', optional'})"
        for name, field in shape["properties"].items()
    ]
    return ", ".join(words) or "nothing in it"


def _kind(field: JsonObject) -> str:
    return "one of " + "|".join(field["enum"]) if "enum" in field else _KINDS[field["type"]]


def _explain(tool: str, model: type[Arguments], *, error: ValidationError) -> str:
    first: Any = error.errors()[0]
    key = one_line(sound(".".join(str(part) for part in first["loc"])), SHOWN_CHARACTERS)
    if first["type"] == "extra_forbidden":
        return f"{tool} has no argument {key}; it takes {_takes(model)}"
    if first["type"] == "missing":
        return f"{tool} needs {key}; it takes {_takes(model)}"
    expected = first["msg"].removeprefix("Input should be ").removeprefix("Value error, ")
    if not key:
        # A rule about several arguments together says itself what is wrong.
        return f"{tool}: {expected}; it takes {_takes(model)}"
    found = one_line(sound(json.dumps(first["input"], default=str, ensure_ascii=False)), SHOWN_CHARACTERS)
    return f"{tool}: {key} is wrong: expected {expected}, found {found}; it takes {_takes(model)}"
