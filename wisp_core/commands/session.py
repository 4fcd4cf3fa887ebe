"""The commands about the conversation itself: new, retry, model, mode, threads, leaving."""

from wisp_core import records, settings
from wisp_core.commands.here import Here
from wisp_core.commands.results import Answered, Begin, Leave, Restyle, Result, Said, Show
from wisp_core.errors import UsageError

EFFORTS: dict[str, settings.Effort] = {"low": "low", "medium": "medium", "high": "high", "off": ""}


class New:
    """Starts a new conversation."""

    name, usage, help = "new", "", "start a new conversation"
    while_running = False

    async def run(self, argument: str, here: Here) -> Result:
        """Return the wish to begin."""
        return Begin()


class Continue:
    """Goes on from a reply that ended for its length."""

    name, usage, help = "continue", "", "go on from a reply that was cut for its length"
    while_running = False

    async def run(self, argument: str, here: Here) -> Result:
        """Send the wish to go on as a prompt."""
        if _last_finish(here.thread.record) != "length":
            raise UsageError("the last reply was not cut for its length", "/retry answers a failed turn again")
        return Answered(await here.thread.send("Go on from where your reply was cut; do not repeat what stands there."))


def _last_finish(record: records.ThreadRecord) -> str:
    """Return how the latest reply finished, empty before the first."""
    for entry_id in reversed(record.active):
        content = record.entries[entry_id].content
        if isinstance(content, records.ReplyContent):
            return content.finish
    return ""


class Retry:
    """Answers the last turn again."""

    name, usage, help = "retry", "", "answer a failed or interrupted turn again; nothing that ran is run again"
    while_running = False

    async def run(self, argument: str, here: Here) -> Result:
        """Run the turn again over its own prompt."""
        return Answered(await here.thread.retry())


class Undo:
    """Undoes an edit of the model's."""

    name, usage, help = "undo", "[PATH]", "undo the model's latest edit, of a file or of any"
    while_running = False

    async def run(self, argument: str, here: Here) -> Result:
        """Undo it; what was done is an entry of the conversation, which every face shows."""
        await here.thread.undo(argument)
        return Said("", "")


class Model:
    """Shows or changes the model."""

    name, usage, help = "model", "[PROVIDER/NAME]", "show the model, or go on with another"
    while_running = False

    async def run(self, argument: str, here: Here) -> Result:
        """Return what is in use, or change it over the same record."""
        if argument:
            await here.thread.change(model=argument)
            await here.thread.warm()
        window = here.thread.window
        size = f"window {window.tokens:,} tokens ({window.source})" if window else "window unknown"
        said = f"{here.thread.model}, {size}"
        return Said("model", said) if argument else Show("model", f"{said}\n{here.wisp.why}", screen="models")


class Effort:
    """Shows or changes how hard the model thinks."""

    name, usage, help = "effort", "[low|medium|high|off]", "show or change how hard the model thinks, if it can be told"
    while_running = True

    async def run(self, argument: str, here: Here) -> Result:
        """Return the effort, or change it for the next request on."""
        if argument:
            effort = EFFORTS.get(argument.lower())
            if effort is None:
                raise UsageError(f"there is no effort `{argument}`", "low, medium, high, or off for the model's own")
            await here.thread.change(effort=effort)
        effort = here.thread.effort
        return Said("effort", f"effort {effort}, where the model takes one" if effort else "effort as the model has it")


class Mode:
    """Shows or changes the mode."""

    name, usage, help = "mode", "[plan|ask|auto]", "show or change what runs without asking"
    while_running = True

    async def run(self, argument: str, here: Here) -> Result:
        """Return the mode, or change it."""
        if argument:
            try:
                await here.thread.change(mode=records.Mode(argument))
            except ValueError as error:
                raise UsageError(f"there is no mode `{argument}`", "plan, ask or auto") from error
        return Said("mode", f"mode {here.thread.record.mode.value}")


class Theme:
    """Changes the colours."""

    name, usage, help = "theme", "[NAME]", "change the colours; without a name, list the themes"
    while_running = True

    async def run(self, argument: str, here: Here) -> Result:
        """Return the wish; a face without colours says so."""
        return Restyle(argument)


class Quit:
    """Leaves."""

    name, usage, help = "quit", "", "leave; the conversation is kept"
    while_running = True

    async def run(self, argument: str, here: Here) -> Result:
        """Return the wish to leave."""
        return Leave()
