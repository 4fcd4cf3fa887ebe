"""Ends the program on a signal, and when its terminal is gone, whatever state its loop is in."""

import asyncio
import os
import select
import signal
import threading
from collections.abc import Callable, Iterable
from types import FrameType

SIGNAL_STATUS = 128  # plus the signal's number is the exit status


def end_on(numbers: Iterable[signal.Signals], begin: Callable[[int], None], *, within: float) -> None:
    """Have `begin` called in the running loop with the signal's number, and the process ended `within` seconds of it.

    When the terminal is gone, Textual waits for ever for a writer that has died, in the thread of the loop: an orderly
    end cannot even begin there. Whatever was acknowledged is on the disk, so the process may just end.
    """
    loop = asyncio.get_running_loop()

    def heard(number: int, _: FrameType | None) -> None:
        last = threading.Timer(within, os._exit, (SIGNAL_STATUS + number,))
        last.daemon = True
        last.start()
        loop.call_soon_threadsafe(begin, number)

    for number in numbers:
        signal.signal(number, heard)


def hang_up_with(terminal: int) -> None:
    """Send this process SIGHUP once the terminal of a file descriptor is gone.

    The system tells the first program of a session alone; that may be one that waits for this one, such as make, and
    Textual would read the dead terminal for ever.
    """

    def watch() -> None:
        poll = select.poll()
        poll.register(terminal, 0)  # a hang-up is told without being asked for
        if any(happened & select.POLLHUP for _, happened in poll.poll()):
            os.kill(os.getpid(), signal.SIGHUP)

    threading.Thread(target=watch, name="wisp-hang-up", daemon=True).start()
