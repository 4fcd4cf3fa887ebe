"""Takes a stream as it comes in bounded memory: first and last bytes, counts, and what the person sees meanwhile."""

import asyncio
import codecs
from collections.abc import Callable

from wisp_core.settings import KIB
from wisp_core.text import sound
from wisp_core.tools.bound import Stretch

PROGRESS_SECONDS = 0.1
PROGRESS_BYTES = 8 * KIB
# Text has fewer bytes that decode to nothing; output with more than this share of them is called binary.
BINARY_SHARE = 0.3
BINARY_SAMPLE_BYTES = 8 * KIB


class Capture:
    """One stream: at most `room` of its first bytes and twice that of its last."""

    def __init__(self, name: str, room: int) -> None:
        self._name = name
        self._room = room
        self._head = bytearray()
        self._tail = bytearray()
        self._size = 0
        self._newlines = 0
        self._nul = False
        self._ended = True

    def add(self, data: bytes) -> None:
        """Take the next bytes."""
        if not data:
            return
        self._size += len(data)
        self._newlines += data.count(b"\n")
        self._nul = self._nul or b"\0" in data
        self._ended = data.endswith(b"\n")
        if len(self._head) < self._room:
            self._head += data[: self._room - len(self._head)]
        self._tail += data[-self._room :]
        if len(self._tail) > 2 * self._room:
            del self._tail[: -self._room]

    @property
    def binary(self) -> bool:
        """Whether the stream holds a NUL or is mostly no UTF-8."""
        return self._nul or is_binary(bytes(self._head[:BINARY_SAMPLE_BYTES]))

    def stretch(self) -> Stretch:
        """Return what is at hand."""
        return Stretch(
            self._name, bytes(self._head), bytes(self._tail[-self._room :]), self._size, self._newlines, self._ended
        )


def is_binary(sample: bytes) -> bool:
    """Return whether the sample holds a NUL or is mostly no UTF-8."""
    if b"\0" in sample:
        return True
    replaced = sample.decode("utf-8", "replace").count("\ufffd") - sample.count("\ufffd".encode())
    return replaced > len(sample) * BINARY_SHARE


class Progress:
    """Shows output to the person as it comes: at most ten times a second, of a flood the last 8 KiB each time."""

    def __init__(self, show: Callable[[str], None]) -> None:
        self._show = show
        self._pending = bytearray()
        self._skipped = False
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._timer: asyncio.TimerHandle | None = None

    def add(self, data: bytes) -> None:
        """Take the next bytes of any stream."""
        self._pending += data[-PROGRESS_BYTES:]
        self._skipped = self._skipped or len(data) > PROGRESS_BYTES or len(self._pending) > PROGRESS_BYTES
        if len(self._pending) > PROGRESS_BYTES:
            del self._pending[:-PROGRESS_BYTES]
        if self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(PROGRESS_SECONDS, self.flush)

    def flush(self) -> None:
        """Show what came since."""
        self.close()
        if not self._pending:
            return
        if self._skipped:
            self._decoder.reset()
        text = self._decoder.decode(bytes(self._pending))
        start = "\n[…]\n" if self._skipped else ""
        self._pending.clear()
        self._skipped = False
        self._show(start + sound(text))

    def close(self) -> None:
        """Show nothing more by itself."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
