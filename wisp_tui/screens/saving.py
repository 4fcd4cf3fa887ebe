"""Writes a text that is read a page at a time to a file that the person names."""

import asyncio
import os
from collections.abc import Callable
from pathlib import Path

from wisp_core.text import byte_size
from wisp_tui.widgets.pages import Read

MODE = 0o600


async def save(read: Read, name: str, *, folder: Path, tell: Callable[[float], None]) -> str:
    """Write the whole to a new file, `name` as the person typed it, under `folder` where it is relative; say what was.

    Raises:
        OSError: it could not be written; nothing is left of it. FileExistsError where there is something already.
        ValueError: no file can be named so.
    """
    path, fd = _create(name, folder)
    try:
        with os.fdopen(fd, "wb") as file:
            written, total = await _copy(read, file.write, tell=tell)
    except BaseException:
        path.unlink(missing_ok=True)
        raise
    said = f"saved {byte_size(written)} to {path}"
    return said if written == total else f"{said}; what is no text in it stands as U+FFFD"


def _create(name: str, folder: Path) -> tuple[Path, int]:
    path = folder / os.path.expanduser(name)  # of an unknown ~name it makes nothing, where Path raises
    # What is there already is not overwritten, a link to nothing neither.
    return path, os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, MODE)


async def _copy(read: Read, write: Callable[[bytes], int], *, tell: Callable[[float], None]) -> tuple[int, int]:
    written, offset = 0, 0
    while True:
        part = await read(offset)
        written += await asyncio.to_thread(write, part.text.encode("utf-8", "replace"))
        if part.next is None or part.next <= offset:
            return written, part.total
        offset = part.next
        tell(offset / max(1, part.total))
