"""What a slash command asks of the face that ran it."""

from dataclasses import dataclass
from typing import TypeAlias

from wisp_core.parts import Reading
from wisp_core.records import Outcome


@dataclass(frozen=True, slots=True)
class Said:
    """Something to read: shown as text, never sent to the model.

    Of a part of an output, `reading` is the part itself, apart from the words that `text` puts around it.
    """

    title: str
    text: str
    reading: Reading | None = None


@dataclass(frozen=True, slots=True)
class Show(Said):
    """What a face may have a `screen` for (`facts`, `models`, `pending`); the text is for one that has not."""

    screen: str = ""


@dataclass(frozen=True, slots=True)
class Begin:
    """Go on in a new thread."""


@dataclass(frozen=True, slots=True)
class Open:
    """Go on in the thread of this id; it is a new copy of the thread `copied`, where one is given."""

    thread: str
    copied: str = ""


@dataclass(frozen=True, slots=True)
class Restyle:
    """Use another theme; an empty name asks for the list."""

    theme: str


@dataclass(frozen=True, slots=True)
class Page:
    """Show an output whole, by its call; the text is what was returned, for where nothing more is kept."""

    call: str
    title: str
    text: str
    entry: int = 0


@dataclass(frozen=True, slots=True)
class Answered:
    """A turn was run, which showed itself; it ended so."""

    outcome: Outcome


@dataclass(frozen=True, slots=True)
class Leave:
    """End the program."""


Result: TypeAlias = Said | Begin | Open | Restyle | Page | Answered | Leave
