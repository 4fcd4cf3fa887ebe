"""Brings back what a file held before its latest edit, where it is still what that edit wrote."""

import hashlib
import os
from pathlib import Path

from wisp_core.errors import ToolFailure
from wisp_core.requests import EarlierFile
from wisp_core.tools.files import Protection, open_file
from wisp_core.tools.ledger import Ledger
from wisp_core.tools.previous import Previous
from wisp_core.tools.writing import remove_file, write_file


def undo(place: Path | None, *, previous: Previous, protection: Protection, ledger: Ledger) -> str:
    """Undo the latest edit of a file, by its real place, or of any (None), and say so in one line; blocks.

    Raises:
        ToolFailure: there is nothing to undo, or the file is no longer what was written.
    """
    earlier = previous.newest(place)
    if earlier is None:
        raise ToolFailure(f"there is no edit of {place} to undo" if place else "there is no edit to undo")
    path = Path(earlier.path)
    since = _unchanged(path, earlier, protection=protection)
    if earlier.before is None:
        remove_file(path, since=since, protection=protection)
    else:
        write_file(path, earlier.before, since=since, protection=protection)
    previous.drop(earlier.call)
    # The model knows only what it wrote itself.
    ledger.forget(path)
    return f"{path} is gone again: the edit had made it" if earlier.before is None else f"{path} is as before the edit"


def _unchanged(path: Path, earlier: EarlierFile, *, protection: Protection) -> os.stat_result:
    """Return the state of a file that holds what the edit wrote."""
    try:
        fd = open_file(path, protection=protection, writing=True)
    except FileNotFoundError as error:
        raise ToolFailure(f"{path} is gone, so its edit cannot be undone") from error
    with open(fd, "rb") as file:
        since = os.fstat(fd)
        if hashlib.sha256(file.read()).hexdigest() != earlier.after:
            raise ToolFailure(f"{path} has changed since the edit, so it is left as it is")
    return since
