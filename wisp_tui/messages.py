"""What the screens tell the app."""

from textual.message import Message


class InputReady(Message):
    """The input has the focus: from now on keys reach it."""


class Painted(Message):
    """The first paint is done: everything else may be loaded."""


class Opened(Message):
    """The home and the conversation are open; `theme` and `keys` are the person's settings.

    `elsewhere` are the names of the keys of screens that are not up yet.
    """

    def __init__(self, theme: str, keys: dict[str, str], *, elsewhere: frozenset[str]) -> None:
        super().__init__()
        self.theme = theme
        self.keys = keys
        self.elsewhere = elsewhere


class LeaveWanted(Message):
    """The person wants to leave."""


class ThemeWanted(Message):
    """The person wants other colours."""

    def __init__(self, theme: str) -> None:
        super().__init__()
        self.theme = theme


class Failed(Message):
    """wisp cannot go on: `sentence` says why, `status` is the exit status."""

    def __init__(self, sentence: str, status: int) -> None:
        super().__init__()
        self.sentence = sentence
        self.status = status
