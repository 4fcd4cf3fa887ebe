"""The commands that show an output again, whole."""

from wisp_core.commands.here import Here
from wisp_core.commands.results import Page, Result
from wisp_core.errors import UsageError
from wisp_core.records import CommandContent, Entry, OutputContent
from wisp_core.thread import Thread


class Show:
    """Shows an output by its id."""

    name, usage, help = "show", "ID", "show a tool's output whole, by its call or entry id"
    while_running = True

    async def run(self, argument: str, here: Here) -> Result:
        """Return the page of the output that `argument` names."""
        for entry in here.thread.record.active_entries():
            page = _page(entry)
            if page is not None and argument in (page.call, str(entry.id)):
                return page
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
        return found[-1]


def outputs(thread: Thread) -> list[Page]:
    """Return the outputs of tools and of the person's commands that are active, in order."""
    return [page for entry in thread.record.active_entries() if (page := _page(entry)) is not None]


def _page(entry: Entry) -> Page | None:
    match entry.content:
        case OutputContent() as content:
            return Page(content.call, f"{content.tool}, entry {entry.id}, output {content.call}", content.text)
        case CommandContent() as content:
            return Page(content.call, f"!{content.command}, entry {entry.id}, output {content.call}", content.output)
        case _:
            return None
