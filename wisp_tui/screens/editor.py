"""Hands a text to the person's editor and takes it back; whatever fails there leaves the text as it was."""

import asyncio
import os
import shlex
import tempfile
from pathlib import Path

from textual.app import App, SuspendNotSupported

from wisp_core.text import sound

FALLBACK = "vi"


def editor() -> list[str]:
    """Return the editor's command with its arguments: `$VISUAL`, else `$EDITOR`, else vi."""
    named = os.environ.get("VISUAL") or os.environ.get("EDITOR") or FALLBACK
    try:
        return shlex.split(named) or [FALLBACK]
    except ValueError:
        return [named]


async def edit_text(app: App[object], text: str) -> str | None:
    """Return what the person made of `text`, None where it stays; says why when the editor failed.

    The event loop goes on meanwhile, so a turn that runs is not cut off by its server.
    """
    with tempfile.TemporaryDirectory(prefix="wisp-") as folder:
        path = Path(folder) / "prompt.md"
        path.write_text(text, "utf-8")
        command = editor()
        try:
            with app.suspend(), app.batch_update():
                process = await asyncio.create_subprocess_exec(*command, str(path))
                status = await process.wait()
        except (OSError, SuspendNotSupported) as error:
            app.notify(f"{command[0]} could not be started: {error}", severity="error", markup=False)
            return None
        if status != 0:
            app.notify(f"{command[0]} ended with {status}; the input is as it was", severity="warning", markup=False)
            return None
        return sound(path.read_bytes().decode("utf-8", "replace")).removesuffix("\n")
