"""What running calls have printed so far, kept beside the conversation until they end; the store has it then."""

import os
import tempfile
from collections.abc import Callable
from typing import IO

from wisp_core.text import byte_size, whole_end, whole_start
from wisp_tui.widgets.pages import PAGE_BYTES, Part

MOST_BYTES = 16 * 1024 * 1024
RUNNING = "still running: the whole is kept when it ends"
FULL = f"still running: the first {byte_size(MOST_BYTES)} of what it shows"


class LiveOutput:
    """The text that one running call has shown, in a file without a name; `changed` is called as it grows and ends."""

    def __init__(self) -> None:
        self._file: IO[bytes] | None = None
        self._size = 0
        self.ended = False
        self.changed: Callable[[], None] | None = None

    def add(self, text: str) -> None:
        """Take what was printed next."""
        data = text.encode("utf-8", "replace")
        if self.ended or self._size + len(data) > MOST_BYTES:
            return
        try:
            if self._file is None:
                self._file = tempfile.TemporaryFile(buffering=0)  # noqa: SIM115  it lives as long as the call
            self._size += self._file.write(data)
        except OSError:
            return  # a full disk: the store will say so
        self._tell()

    async def read(self, offset: int) -> Part:
        """Return the page at an offset in bytes; its `next` is None where nothing more has come yet."""
        note = FULL if self._size + PAGE_BYTES > MOST_BYTES else RUNNING
        if self._file is None:
            return Part("", None, self._size, note)
        data = os.pread(self._file.fileno(), PAGE_BYTES, offset)
        start = whole_start(data) if offset else 0
        data = data[start:]
        if offset + start + len(data) < self._size:
            data = whole_end(data)
        end = offset + start + len(data)
        return Part(data.decode("utf-8", "replace"), end if end < self._size else None, self._size, note)

    def end(self) -> None:
        """Say that the call has ended."""
        self.ended = True
        self._tell()

    def close(self) -> None:
        """Let the text go."""
        if self._file is not None:
            self._file.close()
            self._file = None
            self._size = 0

    def _tell(self) -> None:
        if self.changed is not None:
            self.changed()


class LiveOutputs:
    """The live outputs of the calls that run, by call."""

    def __init__(self) -> None:
        self._running: dict[str, LiveOutput] = {}

    def start(self, call: str) -> None:
        """A call begins."""
        self._running.setdefault(call, LiveOutput())

    def add(self, call: str, text: str) -> None:
        """Take what a call printed next."""
        self.start(call)
        self._running[call].add(text)

    def get(self, call: str) -> LiveOutput | None:
        """Return the output of a call that runs."""
        return self._running.get(call)

    def newest(self) -> str:
        """Return the call that began last of those that run, empty for none."""
        return next(reversed(self._running), "")

    def end(self, call: str) -> None:
        """A call has ended: whoever shows it goes to the store for it."""
        ended = self._running.pop(call, None)
        if ended is not None:
            ended.end()
            ended.close()

    def end_all(self) -> None:
        """The turn is over."""
        for call in list(self._running):
            self.end(call)
