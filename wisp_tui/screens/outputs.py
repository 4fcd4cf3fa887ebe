"""Reads the output of a call for the pager: the stored one, else what the tool returned, and says so."""

import errno
from typing import TYPE_CHECKING

from wisp_core.records import OutputContent
from wisp_tui.widgets.pages import Part, Read, read_text

if TYPE_CHECKING:
    from wisp_core.reader import Reader

RETURNED = "as the tool returned it: nothing more is kept"
GONE = "it is kept no longer"


def read_output(reader: "Reader", call: str, *, text: str) -> Read:
    """Return what reads the output of a call; `text` is shown where the record has none of it."""
    kept = False

    async def read(offset: int) -> Part:
        nonlocal kept
        page = await reader.output_page(call, offset)
        if page is not None:
            kept = True
            return Part(page.text, page.next, page.total)
        if kept:
            raise FileNotFoundError(errno.ENOENT, GONE)
        found = await reader.find_output(call)
        if found is None:
            return await read_text(text, RETURNED)(offset)
        output = found[1]
        return await read_text(output.text if isinstance(output, OutputContent) else output.output, RETURNED)(offset)

    return read


async def call_of(reader: "Reader", entry: int | None) -> str:
    """Return the call whose output an entry is, empty where it is none."""
    found = await reader.find_output(str(entry)) if entry is not None else None
    return "" if found is None else found[1].call
