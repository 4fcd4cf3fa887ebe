"""Holds one stream of an output on its way: its first bytes in memory and then a nameless file, its last in memory."""

import os
import tempfile
from pathlib import Path
from typing import IO, Protocol

from wisp_core.settings import KIB

MEMORY_BYTES = 256 * KIB


class Source(Protocol):
    """A part of an output: `size` in bytes and `newlines` of the whole of it, though its middle may be lost."""

    size: int
    newlines: int

    def read(self, start: int, count: int) -> bytes:
        """Return bytes of the kept start or the kept end."""


class Spooled:
    """Keeps the first `head` and the last `tail` bytes of a stream; memory stays under 256 KiB and twice the tail."""

    def __init__(self, folder: Path, *, head: int, tail: int) -> None:
        self.size = 0
        self.newlines = 0
        self._folder = folder
        self._head_limit = head
        self._tail_limit = tail
        self._memory = bytearray()
        self._file: IO[bytes] | None = None
        self._tail = bytearray()

    def write(self, data: bytes, *, in_memory: bool = False) -> None:
        """Take the next bytes.

        Raises:
            OSError: the disk is full or the folder cannot be written.
        """
        kept = min(self.size, self._head_limit)
        head, tail = data[: self._head_limit - kept], data[self._head_limit - kept :]
        self.size += len(data)
        self.newlines += data.count(b"\n")
        if head:
            self._write_head(head, in_memory)
        if tail:
            self._tail += tail[-self._tail_limit :] if self._tail_limit else b""
            # Trimmed when twice too long, so that a flood of small pieces costs no move each.
            if len(self._tail) > 2 * self._tail_limit:
                del self._tail[: -self._tail_limit]

    def read(self, start: int, count: int) -> bytes:
        """Return `count` bytes from `start`, which lie in the kept start, the kept end, or both where they meet."""
        end = min(start + count, self.size)
        head = min(self.size, self._head_limit)
        found = self._read_head(start, min(end, head) - start) if start < head else b""
        if end > head:
            begin = self.size - len(self._tail)
            found += bytes(self._tail[max(start, head) - begin : end - begin])
        return found

    def close(self) -> None:
        """Let go of memory and file."""
        if self._file is not None:
            self._file.close()
            self._file = None
        self._memory.clear()
        self._tail.clear()

    def _write_head(self, data: bytes, in_memory: bool) -> None:
        if self._file is None and (in_memory or len(self._memory) + len(data) <= MEMORY_BYTES):
            self._memory += data
            return
        if self._file is None:
            make_folder(self._folder)
            # Nameless and 0600: nothing is left behind however the process ends.
            self._file = tempfile.TemporaryFile(dir=self._folder, buffering=0)  # noqa: SIM115 -- closed by `close`
            data, self._memory = bytes(self._memory) + data, bytearray()
        view = memoryview(data)
        while view:
            view = view[self._file.write(view) :]

    def _read_head(self, start: int, count: int) -> bytes:
        if self._file is None:
            return bytes(self._memory[start : start + count])
        return os.pread(self._file.fileno(), count, start)


def make_folder(folder: Path) -> None:
    """Make a session's folder and the one that holds it, both 0700 whatever the umask."""
    for each in (folder.parent, folder):
        each.mkdir(mode=0o700, parents=True, exist_ok=True)
        each.chmod(0o700)
