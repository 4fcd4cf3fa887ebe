"""Where a slash command runs."""

from dataclasses import dataclass

from wisp_core.thread import Thread
from wisp_core.wisp import Wisp


@dataclass(frozen=True, slots=True)
class Here:
    """The conversation that the command is about, and the home that it is in."""

    thread: Thread
    wisp: Wisp
