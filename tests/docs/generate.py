"""Writes the pages of docs/ that are made from the code: `make docs`."""

import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from wisp_core.event_shape import CallData, SegmentData, UsageData
from wisp_core.events import EVENTS
from wisp_core.settings import ENVIRONMENT, Section, Settings

DOCS = Path(__file__).parent.parent.parent / "docs"

MADE = "<!-- Made by `make docs` from the code; change it there. -->"

EVENTS_HEAD = f"""# Events
{MADE}

Whatever changes durably is an event: one line of JSON in the audit, written once, never changed.
Every line has the keys

| key | is |
|---|---|
| `id` | 24 hex digits, unique |
| `seq` | counts up in the thread; null outside of one |
| `time` | RFC 3339, UTC, milliseconds |
| `session` | the run of wisp that wrote it |
| `thread` | the conversation, null outside of one |
| `turn` | its turn, null outside of one |
| `group` | events that count only together share it; null where one stands alone |
| `event` | the name below |
| `data` | the fields below; what is null is left out |

`wisp chat --json` prints the same lines, and between them `delta`, `note` and `view`, which are not recorded.
"""

SETTINGS_HEAD = f"""# Settings
{MADE}

`config.json` in the home (`~/.wisp`, or `WISP_HOME`) holds a JSON object with any of these keys; the dots are nesting.
Keys are written in snake_case or camelCase alike. An unknown key or a wrong type is an error that names the nearest
key. Later wins: defaults, `config.json`, the environment, the command line.
"""


def main() -> int:
    """Write every generated page and print its name."""
    for name, page in PAGES.items():
        (DOCS / name).write_text(page(), "utf-8")
        print(f"docs/{name}")
    return 0


def events_page() -> str:
    """Return docs/events.md: every event with when it is written and its fields."""
    parts = [EVENTS_HEAD]
    for name, model in sorted(EVENTS.items(), key=lambda pair: pair[1].__module__.endswith("event_context")):
        parts.append(f"## `{name}`\n{sentence(model)}\n")
        parts.append(fields(model))
    parts.append("## Shapes that several events share\n")
    for shape in (SegmentData, CallData, UsageData):
        parts.append(f"### {shape.__name__}\n{sentence(shape)}\n")
        parts.append(fields(shape))
    return "\n".join(parts).rstrip() + "\n"


def fields(model: type[BaseModel]) -> str:
    """Return the table of a model's fields."""
    if not model.model_fields:
        return "No fields.\n"
    rows = [f"| `{name}` | {kind(field)} | {default(field)} |" for name, field in model.model_fields.items()]
    return "\n".join(["| field | type | default |", "|---|---|---|", *rows]) + "\n"


def settings_page() -> str:
    """Return docs/settings.md: every setting with type, default and bounds, by section."""
    parts = [SETTINGS_HEAD]
    for prefix, section in sections(Settings, ""):
        parts.append(f"## {f'`{prefix}`' if prefix else 'At the top'}\n{sentence(section)}\n")
        rows = [
            f"| `{join(prefix, field.alias or name)}` | {kind(field)} | {default(field)} | {bounds(field)} |"
            for name, field in section.model_fields.items()
            if section_of(field) is None
        ]
        parts.append("\n".join(["| key | type | default | bounds |", "|---|---|---|---|", *rows]) + "\n")
    rows = [f"| `{variable}` | `{key}` |" for variable, key in ENVIRONMENT.items()]
    parts.append("\n".join(["## Environment\n", "| variable | sets |", "|---|---|", *rows]) + "\n")
    return "\n".join(parts).rstrip() + "\n"


def sections(section: type[BaseModel], prefix: str) -> Iterator[tuple[str, type[BaseModel]]]:
    """Yield a section and those inside it, each with its key; an item of a map stands as `NAME`."""
    yield prefix, section
    for name, field in section.model_fields.items():
        inner = section_of(field)
        if inner is not None:
            yield from sections(inner, join(prefix, name))
        elif item := item_of(field):
            yield from sections(item, join(prefix, name) + ".NAME")


def join(prefix: str, name: str) -> str:
    """Return a key below another."""
    return f"{prefix}.{name}" if prefix else name


def section_of(field: FieldInfo) -> type[Section] | None:
    """Return the section that a field holds, if it holds one."""
    return field.annotation if isinstance(field.annotation, type) and issubclass(field.annotation, Section) else None


def item_of(field: FieldInfo) -> type[Section] | None:
    """Return the section that a map's values are, if they are one."""
    for part in get_args(field.annotation):
        if isinstance(part, type) and issubclass(part, Section):
            return part
    return None


def sentence(model: type[BaseModel]) -> str:
    """Return a model's docstring as one paragraph."""
    return " ".join((model.__doc__ or "").split()).replace("None", "none")


def kind(field: FieldInfo) -> str:
    """Return a field's type as the code spells it."""
    return f"`{spell(field.annotation)}`".replace("|", "\\|")


def spell(annotation: Any) -> str:
    """Return a type in the words of JSON where it has one."""
    if get_origin(annotation) is Literal:
        return " | ".join(json.dumps(choice) for choice in get_args(annotation))
    if get_origin(annotation) in (Union, UnionType) and any(
        get_origin(part) is Literal for part in get_args(annotation)
    ):
        return " | ".join("null" if part is NoneType else spell(part) for part in get_args(annotation))
    if get_args(annotation):
        text = str(annotation)
        for module in ("typing.", "wisp_core.event_shape.", "wisp_core.settings."):
            text = text.replace(module, "")
        return text.replace("Dict[str, Any]", "object").replace("dict[str, Any]", "object").replace("None", "null")
    return str(getattr(annotation, "__name__", annotation))


def default(field: FieldInfo) -> str:
    """Return a field's default as JSON has it, or that it must be given."""
    if field.is_required():
        return "required"
    value = field.get_default(call_default_factory=True)
    return "none" if value is None else f"`{json.dumps(value)}`"


def bounds(field: FieldInfo) -> str:
    """Return a field's bounds, empty where it has none."""
    signs = {"ge": "at least", "gt": "over", "le": "at most", "lt": "under"}
    found = [
        f"{words} {getattr(rule, sign):g}"
        for rule in field.metadata
        for sign, words in signs.items()
        if getattr(rule, sign, None) is not None
    ]
    return ", ".join(found)


PAGES: dict[str, Callable[[], str]] = {"events.md": events_page, "settings.md": settings_page}

if __name__ == "__main__":
    sys.exit(main())
