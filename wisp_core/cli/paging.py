"""Hands a long text to the person's `$PAGER`."""

import asyncio
import contextlib
import os
import shlex
from collections.abc import AsyncIterator, Mapping

from wisp_core.text import displayable

# `less` leaves at once where everything fits the screen, as git asks of it.
LESS = "FRX"


async def run_pager(texts: AsyncIterator[str], environ: Mapping[str, str]) -> bool:
    """Show the texts, one after the other, in `$PAGER` until the person leaves it.

    False where `$PAGER` names none, it does not start, or it fails: the texts are then not shown.
    """
    try:
        command = shlex.split(environ.get("PAGER", ""))
    except ValueError:
        return False
    if not command:
        return False
    try:
        pager = await asyncio.create_subprocess_exec(
            *command, stdin=asyncio.subprocess.PIPE, env={"LESS": LESS, **environ}
        )
    except (OSError, ValueError):
        return False
    assert pager.stdin is not None
    # It may be left before it has read everything.
    with contextlib.suppress(BrokenPipeError, ConnectionResetError):
        async for text in texts:
            pager.stdin.write(displayable(text).encode("utf-8", "replace"))
            await pager.stdin.drain()
    with contextlib.suppress(BrokenPipeError, ConnectionResetError, OSError):
        pager.stdin.close()
        await pager.stdin.wait_closed()
    return await pager.wait() == os.EX_OK
