"""The tool `notify`: tells the person something, on the desktop where there is one and in the conversation always."""

import html
import shlex
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

from pydantic import Field, field_validator

from wisp_core.records import new_id
from wisp_core.requests import ToolKind, ToolResult
from wisp_core.text import one_line, revealed
from wisp_core.tools.process import Command, run_process
from wisp_core.tools.tool import Arguments, Running, Tool
from wisp_core.tools.walking import quiet_environment

TITLE = "wisp"
TEXT_CHARACTERS = 300
# A desktop that does not take it at once never does.
DESKTOP_SECONDS = 3.0
_APPLE_SCRIPT = ("on run argv", "display notification (item 1 of argv) with title (item 2 of argv)", "end run")

Show: TypeAlias = Callable[[str], None]
"""Tells the faces, which show a line, and where they can the terminal's own notification."""


class NotifyArguments(Arguments):
    """What is said."""

    text: str = Field(description="one line")

    @field_validator("text")
    @classmethod
    def _not_empty(cls, text: str) -> str:
        if not text.strip():
            raise ValueError("a text")
        return text


class Notify(Tool[NotifyArguments]):
    """Notifies; `show` tells the faces."""

    name = "notify"
    kind = ToolKind.SHOWS
    description = "Show the person a desktop notification."
    arguments = NotifyArguments

    def __init__(self, show: Show) -> None:
        self._show = show

    async def run(self, arguments: NotifyArguments, running: Running) -> ToolResult:
        """Return how it was shown; at most a few seconds are waited for the desktop."""
        text = revealed(one_line(arguments.text, TEXT_CHARACTERS))
        self._show(text)
        shown = await notify_desktop(text)
        said = "shown on the desktop and in the conversation" if shown else "shown in the conversation"
        return ToolResult(said, bytes=len(said.encode()), lines=1)


async def notify_desktop(text: str) -> bool:
    """Show one line on the desktop and tell whether there is one that took it, after a few seconds at most."""
    command = desktop_command(text)
    return command is not None and await _succeeds(command)


def desktop_command(text: str) -> str | None:
    """Return the shell command that notifies on this desktop, None where there is none."""
    if program := shutil.which("notify-send"):
        # Some desktops take the body for markup.
        return shlex.join((program, "--app-name", TITLE, "--", TITLE, html.escape(text, quote=False)))
    if program := shutil.which("osascript"):
        script = [part for line in _APPLE_SCRIPT for part in ("-e", line)]
        return shlex.join((program, *script, text, TITLE))
    return None


async def _succeeds(command: str) -> bool:
    def receive(stream: str, data: bytes) -> None:
        """Want nothing of what it prints."""

    run = Command("/bin/sh", f"exec {command}", Path("/"), quiet_environment(), DESKTOP_SECONDS, new_id())
    try:
        ended = await run_process(run, receive)
    except OSError:
        return False
    return ended.status == 0 and not ended.timed_out
