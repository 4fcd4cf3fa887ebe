"""Remembers what a conversation has read of each file, so that nothing is edited unseen."""

import hashlib
import os
from pathlib import Path
from typing import IO

from wisp_core.settings import MIB

# A larger file is read, but not edited.
EDITABLE_BYTES = 16 * MIB


class Ledger:
    """The SHA-256 of each file, by its real place, as the conversation last read or wrote it."""

    def __init__(self) -> None:
        self._known: dict[str, str] = {}

    def known(self, place: Path) -> str:
        """Return the SHA-256 of what was last seen in a file, empty where it was never read."""
        return self._known.get(str(place), "")

    def note(self, place: Path, sha256: str) -> None:
        """Remember what a file holds."""
        self._known[str(place)] = sha256

    def forget(self, place: Path) -> None:
        """Take the file for one that was never read."""
        self._known.pop(str(place), None)

    def note_read(self, file: IO[bytes], place: Path, *, since: os.stat_result) -> None:
        """Remember an open file that has been read `since`; one that has changed meanwhile or is too large is not."""
        if since.st_size > EDITABLE_BYTES:
            return
        file.seek(0)
        digest = hashlib.sha256()
        while block := file.read(MIB):
            digest.update(block)
        now = os.fstat(file.fileno())
        if (now.st_mtime_ns, now.st_size) == (since.st_mtime_ns, since.st_size):
            self.note(place, digest.hexdigest())
