"""The commands that show an output again, whole."""

from wisp_core.commands.here import Here
from wisp_core.commands.results import Page, Result
from wisp_core.errors import UsageError
from wisp_core.records import Entry, OutputContent
from wisp_core.thread import Thread


class Show:
    """Shows an output by its id."""

    name, usage, help = "show", "ID", "show a tool's output whole, by its call or entry id"
    while_running = True

    async def run(self, argument: str, here: Here) -> Result:
        """Return the page of the output that `argument` names."""
        for entry in outputs(here.thread):
            content = entry.content
            assert isinstance(content, OutputContent)
            if argument in (content.call, str(entry.id)):
                return _page(entry)
        raise UsageError(f"there is no output `{argument}` in this conversation", "/last shows the latest")


class Last:
    """Shows the latest output."""

    name, usage, help = "last", "", "show the latest tool output whole"
    while_running = True

    async def run(self, argument: str, here: Here) -> Result:
        """Return the page of the latest output."""
        found = outputs(here.thread)
        if not found:
            raise UsageError("no tool has given an output in this conversation yet")
        return _page(found[-1])


def outputs(thread: Thread) -> list[Entry]:
    """Return the outputs of the conversation that are active, in order."""
    return [entry for entry in thread.record.active_entries() if isinstance(entry.content, OutputContent)]


def _page(entry: Entry) -> Page:
    content = entry.content
    assert isinstance(content, OutputContent)
    return Page(content.call, f"{content.tool}, output {content.call}", content.text)
