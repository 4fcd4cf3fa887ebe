"""Reads the output of a call for the pager: the stored one, else what the tool returned, and says so."""

import errno
from typing import TYPE_CHECKING

from wisp_core.records import CommandContent, OutputContent, ThreadRecord
from wisp_tui.widgets.pages import Part, Read, read_text

if TYPE_CHECKING:
    from wisp_core.thread import Thread

RETURNED = "as the tool returned it: nothing more is kept"
GONE = "it is kept no longer"


def read_output(thread: "Thread", call: str, *, text: str) -> Read:
    """Return what reads the output of a call; `text` is shown where the record has none of it."""
    kept = False

    async def read(offset: int) -> Part:
        nonlocal kept
        page = await thread.reader.output_page(call, offset)
        if page is not None:
            kept = True
            return Part(page.text, page.next, page.total)
        if kept:
            raise FileNotFoundError(errno.ENOENT, GONE)
        returned = returned_by(thread.record, call)
        return await read_text(text if returned is None else returned, RETURNED)(offset)

    return read


def returned_by(record: ThreadRecord, call: str) -> str | None:
    """Return what the tool of a call returned, None where nothing is recorded of it."""
    for entry in reversed(record.entries.values()):
        match entry.content:
            case OutputContent(call=of, text=text) | CommandContent(call=of, output=text) if of == call:
                return text
            case _:
                pass
    return None


def call_of(record: ThreadRecord, entry: int | None) -> str:
    """Return the call whose output an entry is, empty where it is none."""
    found = record.entries.get(entry) if entry is not None else None
    match found.content if found is not None else None:
        case OutputContent(call=call) | CommandContent(call=call):
            return call
        case _:
            return ""
