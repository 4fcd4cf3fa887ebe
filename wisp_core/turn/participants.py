"""Who takes part in one turn, handed in from outside."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from wisp_core.events import EventData, Live
from wisp_core.records import JsonObject, ThreadRecord
from wisp_core.requests import Window
from wisp_core.settings import Settings
from wisp_core.turn.person import Person
from wisp_core.turn.protocols import Backend, Journal, KeepContext, Knowledge, Protection, Toolbox


@dataclass(frozen=True, slots=True)
class Participants:
    """The record that turn number `turn` adds to, the one writer, the model, the tools, the person, the settings.

    `learn` is told the window before each request, for whatever follows it; `remember` writes a rule that is always to
    allow; `keep_context` writes down what is about to be condensed, and what came of it.
    """

    record: ThreadRecord
    journal: Journal
    backend: Backend
    toolbox: Toolbox
    person: Person
    settings: Settings
    turn: int
    protection: Protection
    learn: Callable[[Window | None], None]
    remember: Callable[[str], None]
    keep_context: KeepContext
    knowledge: Knowledge

    async def write(self, data: EventData) -> str:
        """Record one event of the turn and return its id."""
        return (await self.journal.record(self.record, data, turn=self.turn)).id

    async def write_each(self, datas: Sequence[EventData]) -> None:
        """Record several events of the turn in one go, each for itself."""
        if datas:
            await self.journal.record_each(self.record, datas, turn=self.turn)

    def tell(self, name: str, **data: object) -> None:
        """Publish what is not recorded: a `delta` or a `note`."""
        found: JsonObject = {key: value for key, value in data.items() if value is not None}
        self.journal.publish(Live(name, self.record.id, self.turn, found))
