"""The commands that show an output again: whole, a part of it, what matches, or its notable lines."""

from typing import assert_never

from wisp_core.commands.here import Here
from wisp_core.commands.results import Page, Result, Said
from wisp_core.errors import UsageError
from wisp_core.parts import FORMS, Reading, parse_part
from wisp_core.records import CommandContent, OutputContent
from wisp_core.text import one_line
from wisp_core.thread import Thread

PART = "[from line N|lines A-B|head N|tail N|matching PATTERN|summary]"
COMMAND_CHARACTERS = 60


class Show:
    """Shows an output by its id."""

    name, usage, help = "show", f"ID {PART}", "show a tool's output by its call or entry id, whole or a part"
    while_running = True

    async def run(self, argument: str, here: Here) -> Result:
        """Return the page of the output that the first word names, or the part that the others ask for."""
        id, _, words = argument.partition(" ")
        if not id:
            raise UsageError("/show needs the id of an output", f"/last shows the latest; of a part: {FORMS}")
        found = await here.thread.reader.find_output(id)
        if found is None:
            raise UsageError(f"there is no output `{id[:80]}` in this conversation", "/last shows the latest")
        return await _show(_page(*found), words, thread=here.thread)


class Last:
    """Shows the latest output."""

    name, usage, help = "last", PART, "show the latest tool output, whole or a part"
    while_running = True

    async def run(self, argument: str, here: Here) -> Result:
        """Return the page of the latest output, or the part that is asked for."""
        found = await here.thread.reader.find_output()
        if found is None:
            raise UsageError("no tool has given an output in this conversation yet")
        return await _show(_page(*found), argument, thread=here.thread)


def say_part(page: Page, reading: Reading) -> Said:
    """Return a part of an output as it is shown: what it is, the part, and how to go on."""
    lines = [f"{page.title}: {reading.note}", reading.text.removesuffix("\n")]
    if reading.next is not None:
        lines.append(f"more: /show {page.call} {reading.next}")
    return Said(page.title, "\n".join(line for line in lines if line), reading)


async def _show(page: Page, words: str, *, thread: Thread) -> Result:
    if not words.strip():
        return page
    reading = await thread.reader.read_output(page.call, parse_part(words))
    if reading is None:
        raise UsageError(f"there is no output `{page.call}` in this conversation", "/last shows the latest")
    return say_part(page, reading)


def _page(entry: int, content: OutputContent | CommandContent) -> Page:
    match content:
        case OutputContent(call=call, tool=tool, text=text):
            return Page(call, f"{tool}, entry {entry}, output {call}", text, entry)
        case CommandContent(call=call, command=command, output=text):
            title = f"!{one_line(command, COMMAND_CHARACTERS)}, entry {entry}, output {call}"
            return Page(call, title, text, entry)
    assert_never(content)
