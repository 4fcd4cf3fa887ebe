"""Standard output and error as a program may lose them: closed, full, or with nobody left to read."""

import errno
import os
import sys
from collections.abc import Callable
from contextlib import suppress
from typing import TextIO

from wisp_core.text import displayable


class Streams:
    """Writes the reply; the first time that this fails `lost` is called and `failure` says why, "" of a broken pipe."""

    def __init__(self, lost: Callable[[], None]) -> None:
        self.failure: str | None = None
        self._lost = lost

    def reply(self, text: str) -> None:
        """Write to standard output at once."""
        if self.failure is not None:
            return
        try:
            _write(sys.stdout, text)
        except BrokenPipeError:
            # The reader has left (`| head`): there is nobody to tell.
            self._lose("")
        except OSError as error:
            self._lose(f"standard output cannot be written ({error.strerror})")

    def _lose(self, why: str) -> None:
        self.failure = why
        if sys.stdout is not None:
            # What is buffered would fail again when the interpreter ends.
            with suppress(OSError):
                os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        self._lost()


def tell(text: str, end: str = "\n") -> None:
    """Write a line to standard error, as far as there is one."""
    with suppress(OSError):
        _write(sys.stderr, text + end)


def tell_error(sentence: str) -> None:
    """Write what was wrong as one line; nothing in it reaches a terminal raw."""
    tell("wisp: " + displayable(sentence).replace("\n", "\u240a"))


def _write(stream: TextIO | None, text: str) -> None:
    if stream is None:
        raise OSError(errno.EBADF, "it is closed")
    # A terminal or pipe in a narrow encoding (LANG unset) must not end the conversation.
    encoding = stream.encoding or "utf-8"
    stream.write(text.encode(encoding, "replace").decode(encoding))
    stream.flush()
