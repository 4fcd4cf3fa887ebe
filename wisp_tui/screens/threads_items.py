"""What the list of threads holds, gathered from the library, and what the person may want of it."""

import asyncio
from collections import defaultdict
from collections.abc import Awaitable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, TypeAlias

from wisp_core.requests import FoundPassage

MOST_THREADS = 5_000
MOST_PASSAGES = 200
PASSAGES_OF_ONE = 3  # that stand under their thread; opening it is the way to the rest


class ThreadOf(Protocol):
    """A thread as the library lists it: `updated` is RFC 3339, `open_by` the process that writes it, 0 for none."""

    @property
    def id(self) -> str: ...  # noqa: D102
    @property
    def title(self) -> str: ...  # noqa: D102
    @property
    def cwd(self) -> str: ...  # noqa: D102
    @property
    def updated(self) -> str: ...  # noqa: D102
    @property
    def turns(self) -> int: ...  # noqa: D102
    @property
    def bytes(self) -> int: ...  # noqa: D102
    @property
    def open_by(self) -> int: ...  # noqa: D102


class SavedOf(Protocol):
    """A saved transcript as the library lists it: `time` is RFC 3339."""

    @property
    def name(self) -> str: ...  # noqa: D102
    @property
    def bytes(self) -> int: ...  # noqa: D102
    @property
    def time(self) -> str: ...  # noqa: D102


class Shelf(Protocol):
    """What the list needs of the library."""

    def threads(self, limit: int, *, text: str = "") -> Awaitable[Sequence[ThreadOf]]:
        """Return the threads, newest first, or those that hold `text`."""

    def find(self, text: str, *, limit: int) -> Awaitable[Sequence[FoundPassage]]:
        """Return the passages that hold the words."""

    def transcripts(self) -> Sequence[SavedOf]:
        """Return the saved transcripts; blocks."""

    def rename(self, id: str, title: str) -> Awaitable[str]:
        """Give a thread a title."""

    def delete(self, id: str) -> Awaitable[None]:
        """Take a thread out of the store."""

    def export(self, id: str, form: str, *, folder: Path) -> Awaitable[Path]:
        """Write a thread for reading."""


@dataclass(frozen=True, slots=True)
class Resume:
    """Go on in a thread, at an entry where one is given."""

    thread: str
    entry: int | None = None


@dataclass(frozen=True, slots=True)
class ResumeSaved:
    """Go on with a saved transcript."""

    name: str


@dataclass(frozen=True, slots=True)
class Fork:
    """Go on in a copy of a thread."""

    thread: str


@dataclass(frozen=True, slots=True)
class Read:
    """Read a thread and change nothing."""

    thread: str


Wish: TypeAlias = Resume | ResumeSaved | Fork | Read


@dataclass(frozen=True, slots=True)
class Item:
    """A row: a thread, a passage found in it, a saved transcript, or a heading of `words`.

    `entry` is that of the passage, of a thread that of its first one.
    """

    key: str
    thread: ThreadOf | None = None
    passage: FoundPassage | None = None
    entry: int | None = None
    saved: SavedOf | None = None
    words: str = ""

    def resumed(self) -> Wish | None:
        """Return what Enter wants."""
        if self.saved is not None:
            return ResumeSaved(self.saved.name)
        return None if self.thread is None else Resume(self.thread.id, self.entry)


async def gather(shelf: Shelf, text: str) -> list[Item]:
    """Return the rows: every thread, or those that hold the words of `text` with the passages; then the transcripts.

    Raises:
        WispError: the home cannot be read.
    """
    found: dict[str, list[FoundPassage]] = defaultdict(list)
    for passage in await shelf.find(text, limit=MOST_PASSAGES) if text else ():
        found[passage.thread].append(passage)
    items = []
    for row in await shelf.threads(MOST_THREADS, text=text):
        passages = found[row.id][:PASSAGES_OF_ONE]
        items.append(Item(f"thread {row.id}", thread=row, entry=passages[0].entry if passages else None))
        items += [Item(f"passage {row.id} {one.entry}", thread=row, passage=one, entry=one.entry) for one in passages]
    wanted = text.casefold()
    saved = [row for row in await asyncio.to_thread(shelf.transcripts) if wanted in row.name.casefold()]
    if saved:
        items.append(Item("heading", words="saved transcripts"))
    return items + [Item(f"saved {row.name}", saved=row) for row in saved]
