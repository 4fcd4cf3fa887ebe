"""Exports a conversation as the person saw it: Markdown, JSON or HTML."""

from collections.abc import Sequence
from dataclasses import asdict
from itertools import count
from pathlib import Path

from wisp_core.errors import UsageError
from wisp_core.records import Entry, JsonObject, ThreadRecord, Turn
from wisp_core.store.documents import dump_json
from wisp_core.store.export_html import as_html
from wisp_core.store.export_markdown import as_markdown
from wisp_core.store.private import storing, write_new
from wisp_core.store.told import tell

FORMS = ("md", "json", "html")
VERSION = 1


def export(form: str, entries: Sequence[Entry], *, record: ThreadRecord) -> str:
    """Return the conversation in a form of `FORMS`; `entries` are all of the thread's, in order, with their contents.

    Raises:
        UsageError: there is no such form.
    """
    match form:
        case "md":
            return as_markdown(tell(entries, record), record)
        case "html":
            return as_html(tell(entries, record), record)
        case "json":
            return dump_json(_as_object(entries, record), indent=1) + "\n"
    raise UsageError(f"there is no form `{form[:40]}` to export in", f"it is one of {', '.join(FORMS)}")


def write_export(folder: Path, form: str, *, entries: Sequence[Entry], record: ThreadRecord) -> Path:
    """Write the conversation to a new file in `folder`, 0600, and return it; no file that is there is touched.

    Raises:
        UsageError: there is no such form.
        StorageError: it cannot be written.
    """
    data = export(form, entries, record=record).encode()
    with storing("the export"):
        for number in count(1):
            path = folder / f"wisp-{record.id}{f'-{number}' if number > 1 else ''}.{form}"
            try:
                write_new(path, data)
            except FileExistsError:
                continue
            return path
    raise AssertionError("unreachable")


def _as_object(entries: Sequence[Entry], record: ThreadRecord) -> JsonObject:
    return {
        "version": VERSION,
        "thread": record.id,
        "title": record.title,
        "created": record.created,
        "updated": record.updated,
        "cwd": record.cwd,
        "model": record.model,
        "turns": [_turn(turn) for turn in record.turns.values()],
        "entries": [_entry(entry) for entry in entries],
    }


def _turn(turn: Turn) -> JsonObject:
    outcome = None if turn.outcome is None else turn.outcome.value
    return {"turn": turn.number, "time": turn.time, "ended": turn.ended, "outcome": outcome, "error": turn.error}


def _entry(entry: Entry) -> JsonObject:
    return {
        "entry": entry.id,
        "id": entry.wire_id,
        "kind": entry.kind.value,
        "turn": entry.turn,
        "time": entry.time,
        "origin": entry.origin.value,
        "state": entry.state.value,
        "content": None if entry.content is None else asdict(entry.content),
    }
