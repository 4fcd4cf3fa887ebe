"""Where the context panel has its figures from: the open conversation, asked anew each time."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from wisp_core.records import Summary
from wisp_core.requests import Composition, Measurement, PastRequest, Recalled, Share, TurnChanges

if TYPE_CHECKING:
    from wisp_tui.screens.link import Link


@dataclass(frozen=True, slots=True)
class Meter:
    """The status line's figure, a share of the window: the latest request with its answer, or alone and `estimated`."""

    share: float
    estimated: bool


class NextRequest(Protocol):
    """What the next request carries, and what it takes of the window once that is asked."""

    @property
    def composition(self) -> Composition:
        """What it carries."""

    @property
    def recalled(self) -> tuple[Recalled, ...]:
        """The earlier passages in its now block."""

    async def measure(self) -> Measurement:
        """Return its size."""

    def shares(self, size: Measurement) -> tuple[Share, ...]:
        """Return the window by part, as a request of this size fills it."""


class ContextSource(Protocol):
    """What the panel asks; nothing of it costs the model anything.

    `window` is in tokens, None where it is unknown; `target` and `budget` are shares of it; `last_turn` is the latest.
    """

    @property
    def meter(self) -> Meter | None:
        """What the status line says, None where it says nothing of the context."""

    @property
    def target(self) -> float:
        """To which the context is brought down, as a share of the window."""

    @property
    def budget(self) -> float:
        """Past which it is, as a share of the window."""

    @property
    def window(self) -> int | None:
        """The model's window."""

    @property
    def window_source(self) -> str:
        """Where the window comes from, empty where it is unknown."""

    @property
    def last_turn(self) -> int:
        """The number of the latest turn, 0 before the first."""

    @property
    def summaries(self) -> tuple[Summary, ...]:
        """The versions of the summary, the oldest first."""

    async def next_request(self) -> NextRequest:
        """Return the next request, with the draft in the input as its prompt."""

    async def request_of(self, turn: int) -> PastRequest:
        """Return the request of an earlier turn.

        Raises:
            UsageError: none is known.
        """

    async def turns(self) -> list[TurnChanges]:
        """Return what each turn changed."""


class OpenContext:
    """The source of the conversation that is open, whichever it is when it is asked; `prompt` gives the draft."""

    def __init__(self, link: "Link", prompt: Callable[[], str], *, meter: Callable[[], Meter | None]) -> None:
        self._link = link
        self._prompt = prompt
        self._meter = meter

    @property
    def meter(self) -> Meter | None:
        """What the status line says."""
        return self._meter()

    @property
    def target(self) -> float:
        """To which the context is brought down, as a share of the window."""
        return self._link.wisp.settings.context.target

    @property
    def budget(self) -> float:
        """Past which it is, as a share of the window."""
        return self._link.wisp.settings.context.budget

    @property
    def window(self) -> int | None:
        """The model's window."""
        window = self._link.thread.window
        return window.tokens if window else None

    @property
    def window_source(self) -> str:
        """Where the window comes from."""
        window = self._link.thread.window
        return window.source if window else ""

    @property
    def last_turn(self) -> int:
        """The number of the latest turn, 0 before the first."""
        return self._link.thread.record.last_turn

    @property
    def summaries(self) -> tuple[Summary, ...]:
        """The versions of the summary, the oldest first."""
        return self._link.thread.record.summaries

    async def next_request(self) -> NextRequest:
        """Return the next request, with the draft in the input as its prompt."""
        return await self._link.thread.preview(self._prompt())

    async def request_of(self, turn: int) -> PastRequest:
        """Return the request of an earlier turn."""
        return await self._link.thread.reader.request_of(turn)

    async def turns(self) -> list[TurnChanges]:
        """Return what each turn changed."""
        return await self._link.thread.reader.turns()
