"""The commands about every conversation of the home: find, list, resume, rename, fork, save, export."""

from pathlib import Path

from wisp_core.commands.here import Here
from wisp_core.commands.results import Open, Result, Said
from wisp_core.errors import UsageError
from wisp_core.requests import FoundPassage
from wisp_core.text import one_line

LISTED_THREADS = 30
FOUND = 30
TITLE_CHARACTERS = 60
LONGEST_TURN = 9
MARKS = str.maketrans({"\ue000": "[", "\ue001": "]"})


class Threads:
    """Lists the conversations of this home."""

    name, usage, help = "threads", "[TEXT]", "list the conversations of this home, newest first, or those with a text"
    while_running = True

    async def run(self, argument: str, here: Here) -> Result:
        """Return one line a thread, then the saved transcripts."""
        rows = await here.wisp.library.threads(LISTED_THREADS, text=argument)
        lines = [
            f"{r.id}  {r.updated[:16].replace('T', ' ')}  {r.turns:>4} turns {r.bytes:>11,} B  "
            f"{one_line(r.title, TITLE_CHARACTERS)}" + (f"  (open in process {r.open_by})" if r.open_by else "")
            for r in rows
        ]
        if not argument:
            saved = here.wisp.library.transcripts()
            lines += [f"{t.name}  {t.time[:16].replace('T', ' ')}  {t.bytes:,} B  (saved transcript)" for t in saved]
        return Said("threads", "\n".join(lines) or "there is no such conversation")


class Find:
    """Searches every conversation."""

    name, usage, help = "find", "TEXT", "search prompts, replies, commands and outputs of every conversation"
    while_running = True

    async def run(self, argument: str, here: Here) -> Result:
        """Return the passages that hold the words, best first."""
        if not argument:
            raise UsageError("/find needs a word to look for")
        found = await here.wisp.library.find(argument, limit=FOUND)
        return Said("found", "\n".join(_passage(one) for one in found) or f"nothing holds `{one_line(argument, 80)}`")


def _passage(one: FoundPassage) -> str:
    head = f"{one.thread}  turn {one.turn}, entry {one.entry}, {one.kind}  {one_line(one.title, TITLE_CHARACTERS)}"
    return f"{head}\n    {one.excerpt.translate(MARKS)}"


class Resume:
    """Goes on with an earlier conversation."""

    name, usage, help = "resume", "NAME", "go on with a saved transcript, or a conversation by id or title"
    while_running = False

    async def run(self, argument: str, here: Here) -> Result:
        """Return the wish to open it."""
        if not argument:
            raise UsageError("/resume needs the name or id of a conversation", "/threads lists them")
        return Open(await here.wisp.library.named(argument))


class Rename:
    """Gives the conversation a title."""

    name, usage, help = "rename", "TITLE", "give this conversation a title"
    while_running = True

    async def run(self, argument: str, here: Here) -> Result:
        """Record the title."""
        if not argument:
            raise UsageError("/rename needs a title")
        return Said("title", await here.wisp.library.rename(_begun(here), argument))


class Fork:
    """Goes on in a copy."""

    name, usage, help = (
        "fork",
        "[TURN | ID [TURN]]",
        "go on in a copy of this conversation, or of another, up to a turn",
    )
    while_running = False

    async def run(self, argument: str, here: Here) -> Result:
        """Return the wish to open the copy."""
        match argument.split():
            case []:
                source, turn = _begun(here), None
            case [number] if number.isdecimal() and len(number) < LONGEST_TURN:
                source, turn = _begun(here), int(number)
            case [id]:
                source, turn = await here.wisp.library.known(id), None
            case [id, number] if number.isdecimal() and len(number) < LONGEST_TURN:
                source, turn = await here.wisp.library.known(id), int(number)
            case _:
                raise UsageError("/fork takes the number of a turn, or the id of a conversation and a turn")
        return Open(await here.wisp.library.fork(source, turn), copied=source)


class Save:
    """Saves a portable copy."""

    name, usage, help = "save", "NAME [messages]", "save a copy under transcripts/, resumed with --resume NAME"
    while_running = False

    async def run(self, argument: str, here: Here) -> Result:
        """Write the copy; `messages` writes the list of messages alone, which cannot be resumed."""
        name, _, rest = argument.partition(" ")
        if not name or rest.strip() not in ("", "messages"):
            raise UsageError("/save needs one name", "/save NAME messages writes the messages alone")
        path = await here.wisp.library.save(_begun(here), name, messages_only=bool(rest.strip()))
        again = "it cannot be resumed" if rest.strip() else "and is saved there again on leaving"
        return Said("saved", f"saved as {path}, {again}")


class Export:
    """Writes the conversation for reading."""

    name, usage, help = "export", "[md|json|html]", "write this conversation, as you saw it, into the working folder"
    while_running = True

    async def run(self, argument: str, here: Here) -> Result:
        """Write the file and return where it is."""
        folder = Path(here.thread.record.cwd)
        path = await here.wisp.library.export(_begun(here), argument.strip() or "md", folder=folder)
        return Said("exported", f"written to {path}")


def _begun(here: Here) -> str:
    """Return the id of the open conversation.

    Raises:
        UsageError: it has not begun, so there is nothing to work on.
    """
    if not here.thread.record.created:
        raise UsageError("this conversation has not begun", "it begins with its first prompt")
    return here.thread.record.id
