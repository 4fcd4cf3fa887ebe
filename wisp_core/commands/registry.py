"""Finds the slash command that a line names and runs it."""

import difflib
from typing import Protocol

from wisp_core.commands.facts import FactCommand, Task
from wisp_core.commands.here import Here
from wisp_core.commands.inspect import Inspect
from wisp_core.commands.library import Export, Find, Fork, Rename, Resume, Save, Threads
from wisp_core.commands.pending import Facts, Pending
from wisp_core.commands.results import Result, Said
from wisp_core.commands.session import Continue, Effort, Mode, Model, New, Quit, Retry, Theme, Undo
from wisp_core.commands.tokens import Tokens
from wisp_core.commands.view import Last, Show
from wisp_core.errors import UsageError
from wisp_core.thread import Thread
from wisp_core.wisp import Wisp

USAGE_CELLS = 26


class Command(Protocol):
    """One slash command: its name without the slash, its arguments as shown, one line of help.

    `while_running` tells that it may run in the middle of a turn.
    """

    name: str
    usage: str
    help: str
    while_running: bool

    async def run(self, argument: str, here: Here) -> Result:
        """Do it; a `WispError` says what was wrong."""


def list_command(name: str, usage: str, *, help: str) -> str:
    """Return a command as a row, or two where its usage is long."""
    head = f"/{name} {usage}".rstrip()
    return f"{head}\n{'':<{USAGE_CELLS}}{help}" if len(head) >= USAGE_CELLS - 1 else f"{head:<{USAGE_CELLS}}{help}"


class Help:
    """Lists the commands."""

    name, usage, help = "help", "", "list the commands"
    while_running = True

    async def run(self, argument: str, here: Here) -> Result:
        """Return one line a command."""
        return Said("commands", "\n".join(list_command(c.name, c.usage, help=c.help) for c in COMMANDS.values()))


_ALL: tuple[Command, ...] = (
    Help(),
    New(),
    Continue(),
    Retry(),
    Undo(),
    Model(),
    Effort(),
    Mode(),
    FactCommand(),
    Task(),
    Facts(),
    Pending(),
    Inspect(),
    Tokens(),
    Show(),
    Last(),
    Threads(),
    Find(),
    Resume(),
    Rename(),
    Fork(),
    Save(),
    Export(),
    Theme(),
    Quit(),
)
COMMANDS: dict[str, Command] = {command.name: command for command in _ALL}


def find(line: str) -> tuple[Command, str]:
    """Return the command that `line` (`/name argument`) names, and its argument.

    Raises:
        UsageError: there is no such command; the hint names the nearest.
    """
    name, _, argument = line.strip().removeprefix("/").partition(" ")
    command = COMMANDS.get(name)
    if command is None:
        near = difflib.get_close_matches(name, COMMANDS, n=1, cutoff=0.4)
        raise UsageError(f"there is no command /{name}", f"did you mean /{near[0]}?" if near else "/help lists them")
    return command, argument.strip()


async def run(line: str, *, thread: Thread, wisp: Wisp) -> Result:
    """Run the command that `line` names.

    Raises:
        WispError: what was wrong, as one sentence.
    """
    command, argument = find(line)
    if thread.busy and not command.while_running:
        raise UsageError(f"/{command.name} waits until the running turn has ended", "Esc interrupts it")
    return await command.run(argument, Here(thread, wisp))
