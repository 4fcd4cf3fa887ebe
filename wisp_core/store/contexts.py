"""Saved contexts: the exact request as Markdown for people and beside it as JSON for programs."""

import secrets
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from wisp_core.events import now
from wisp_core.records import JsonObject
from wisp_core.requests import Composition, Item, Measurement, Message, ToolSchema, Window
from wisp_core.store.documents import chat_message, code, dump_json, fence
from wisp_core.store.home import make_folder
from wisp_core.store.private import storing, write_new

VERSION = 1


@dataclass(frozen=True, slots=True)
class Circumstances:
    """What a request is saved with: what it is (`title`), its size, the model's window, what was in force."""

    title: str
    model: str
    measurement: Measurement
    window: Window | None
    settings: JsonObject
    schemas: Sequence[ToolSchema]


def write_context(
    folder: Path, composition: Composition, *, about: Circumstances, time: str | None = None
) -> tuple[Path, Path]:
    """Write the request under `folder` and return the files, Markdown and JSON; their names sort by time.

    `time` is as of `now`, which it is where it is not given. The caller sees to it that the audit is on (A8).

    Raises:
        StorageError: it cannot be written.
    """
    time = time or now()
    stem = f"{time.translate(_OUT_OF_NAMES)}-{secrets.token_hex(4)}"
    page, data = folder / f"{stem}.md", folder / f"{stem}.json"
    with storing("the context"):
        make_folder(folder)
        value = _as_object(composition, about, time=time)
        write_new(data, (dump_json(value, indent=1) + "\n").encode())
        write_new(page, "\n\n".join([*_as_page(composition, about, time=time), ""]).encode())
    return page, data


# Some file systems take no colon in a name.
_OUT_OF_NAMES = str.maketrans({":": "-", "/": "-", ".": "-"})


def _as_object(composition: Composition, about: Circumstances, *, time: str) -> JsonObject:
    return {
        "version": VERSION,
        "time": time,
        "title": about.title,
        "model": about.model,
        "tokens": about.measurement.tokens,
        "counted": about.measurement.counted,
        "window": about.window.tokens if about.window else None,
        "windowSource": about.window.source if about.window else None,
        "sha256": composition.sha256,
        "instructions": composition.instructions,
        "settings": about.settings,
        "items": [{**asdict(item), "bytes": item.bytes} for item in composition.items],
        "messages": [_as_message(message) for message in composition.messages],
        "tools": [asdict(schema) for schema in about.schemas],
    }


def _as_message(message: Message) -> JsonObject:
    calls = [(call.id, call.name, call.arguments) for call in message.calls]
    return chat_message(message.role.value, message.text, calls=calls, answers=message.call_id, name=message.name)


def _as_page(composition: Composition, about: Circumstances, *, time: str) -> Iterator[str]:
    tokens = f"{'' if about.measurement.counted else '~'}{about.measurement.tokens:,}"
    window = "unknown" if about.window is None else f"{about.window.tokens:,} ({about.window.source})"
    yield f"# Context: {code(about.title)}"
    yield "\n".join(
        [
            f"- time: {time}",
            f"- model: {code(about.model)}",
            f"- tokens: {tokens} of {window}",
            f"- bytes: {sum(item.bytes for item in composition.items):,}",
            f"- SHA-256: `{composition.sha256}`",
            f"- instructions: version {composition.instructions}",
        ]
    )
    yield "## Items"
    yield "\n".join(_table(composition.items))
    yield "## Messages"
    for number, message in enumerate(composition.messages, 1):
        yield from _message(number, message)
    if about.schemas:
        yield "## Tools"
        yield fence(dump_json([asdict(schema) for schema in about.schemas], indent=2), "json")
    yield "## Settings"
    yield fence(dump_json(about.settings, indent=2), "json")


def _table(items: Sequence[Item]) -> Iterator[str]:
    yield "| item | entry | kind | turn | origin | rendering | bytes |"
    yield "|---|---:|---|---:|---|---|---:|"
    for item in items:
        entry = "" if item.entry is None else item.entry
        cells = [code(item.id), entry, item.kind, item.turn, item.origin, item.rendering.value, f"{item.bytes:,}"]
        yield f"| {' | '.join(str(cell).replace('|', '¦') for cell in cells)} |"


def _message(number: int, message: Message) -> Iterator[str]:
    answers = f", the result of {code(message.call_id)}" if message.call_id else ""
    name = f" {code(message.name)}" if message.name else ""
    yield f"### {number}. {message.role.value}{name}{answers}"
    if message.text or not message.calls:
        yield fence(message.text, "text")
    for call in message.calls:
        yield f"call {code(call.id)} of {code(call.name)}:"
        yield fence(call.arguments, "json")
