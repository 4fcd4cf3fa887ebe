"""Shows a thread that goes on: its newest part at once, what was said before that piece by piece behind it."""

from typing import TYPE_CHECKING

from wisp_core.records import EntryKind, EntryState, PromptContent, ThreadRecord
from wisp_tui.screens.learnt import lines_of
from wisp_tui.widgets.transcript import Transcript

if TYPE_CHECKING:
    from wisp_core.reader import Reader

PIECE = 500  # entries that are read from the store at a time
DROPPED = "above: no longer in the model's view"
MOST_PROMPTS = 200


class Retelling:
    """One thread's way onto a transcript; entries with ids from `first` on are shown, up to `last`."""

    def __init__(self, transcript: Transcript, reader: "Reader") -> None:
        self._transcript = transcript
        self._reader = reader
        self._edge = _notes(reader.record)
        self.first = self.last = 0

    async def begin(self) -> None:
        """Show the newest part, in place of what is shown: all that the record holds, and what is behind it.

        Raises:
            WispError: the home cannot be read.
        """
        record = self._reader.record
        self.last = len(record.entries)
        self.first = piece_before(record, self.last)
        entries = await self._reader.entries(self.first, self.last)
        self._transcript.show_all(entries, record.turns, notes=self._edge)
        if self.last + 1 in self._edge:
            self._transcript.note(self._edge[self.last + 1])

    async def go_on(self) -> None:
        """Show what came before, newest first; the view stays where it is.

        Raises:
            WispError: the home cannot be read.
        """
        record = self._reader.record
        while self.first > 1:
            last, self.first = self.first - 1, piece_before(record, self.first - 1)
            entries = await self._reader.entries(self.first, last)
            self._transcript.show_all(entries, record.turns, notes=self._edge, above=True)


def _notes(record: ThreadRecord) -> dict[int, str]:
    """Return what stands before entries by id: what the turn before taught, and where the model's view begins."""
    notes = lines_of(record)
    for entry, edge in edge_of(record).items():
        notes[entry] = f"{notes[entry]}\n{edge}" if entry in notes else edge
    return notes


def piece_before(record: ThreadRecord, last: int) -> int:
    """Return where a piece that ends with the entry `last` begins: at a turn, about `PIECE` entries to be read."""
    missing, first = 0, last
    while first > 1:
        entry = record.entries[first]
        missing += entry.content is None
        if missing >= PIECE and record.entries[first - 1].turn != entry.turn:
            break
        first -= 1
    return max(1, first)


def edge_of(record: ThreadRecord) -> dict[int, str]:
    """Return what stands before the entry that the model still sees first, where it does not see all."""
    said = (number for number in record.active if record.entries[number].kind is not EntryKind.INSTRUCTIONS)
    first = next(said, len(record.entries) + 1)
    dropped = any(record.entries[number].state is EntryState.DROPPED for number in range(1, first))
    return {first: DROPPED} if dropped else {}


async def earlier_prompts(reader: "Reader") -> list[tuple[str, int]]:
    """Return the newest prompts of a thread with the turns that they began, newest first.

    Raises:
        WispError: the home cannot be read.
    """
    found = []
    for turn in list(reversed(reader.record.turns.values()))[:MOST_PROMPTS]:
        for entry in await reader.entries(turn.prompt, turn.prompt):
            if isinstance(entry.content, PromptContent):
                found.append((entry.content.text, turn.number))
    return found
