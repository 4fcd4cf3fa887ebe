"""Where the facts screen has its facts from, and the views that it parts them into."""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Protocol

from wisp_core.fact import FactScope, FactState, KnownFact
from wisp_tui.widgets.fact_rows import title_of, waits

if TYPE_CHECKING:
    from wisp_tui.screens.link import Link

PROPOSED = "proposed"
VIEWS = (*(scope.value for scope in FactScope), PROPOSED)


class FactsSource(Protocol):
    """What the screen asks and does; `thread` is the id of the one that is open."""

    @property
    def thread(self) -> str:
        """The open thread."""

    async def known(self) -> Sequence[KnownFact]:
        """Return the thread's facts, those it shares, and what other threads propose."""

    async def keep(self, id: str) -> str:
        """Make a proposed fact permanent, and return what was done as a sentence."""

    async def drop(self, id: str) -> str:
        """Leave a proposed fact in its thread."""

    async def delete(self, id: str) -> str:
        """Delete a fact."""

    async def move(self, id: str, scope: str) -> str:
        """Move a fact to another scope."""

    async def correct(self, id: str, value: str) -> str:
        """State another value as the person."""


class OpenFacts:
    """The facts of the conversation that is open, whichever it is when it is asked."""

    def __init__(self, link: "Link") -> None:
        self._link = link

    @property
    def thread(self) -> str:
        """The open thread."""
        return self._link.thread.record.id

    async def known(self) -> Sequence[KnownFact]:
        """Return the thread's facts, those it shares, and what other threads propose."""
        return await self._link.thread.knowledge.known(await self._link.wisp.facts.proposed())

    async def keep(self, id: str) -> str:
        """Make a proposed fact permanent."""
        return await self._link.wisp.facts.keep(id)

    async def drop(self, id: str) -> str:
        """Leave a proposed fact in its thread."""
        return await self._link.wisp.facts.drop(id)

    async def delete(self, id: str) -> str:
        """Delete a fact."""
        return await self._link.wisp.facts.delete(id)

    async def move(self, id: str, scope: str) -> str:
        """Move a fact to another scope."""
        await self._link.thread.knowledge.move(id, FactScope(scope))
        return f"it is {scope} now"

    async def correct(self, id: str, value: str) -> str:
        """State another value as the person."""
        stated = await self._link.thread.knowledge.correct(id, value)
        return "stated; it is your word now" if stated else "that is what stands already"


def view_of(known: Iterable[KnownFact], view: str, *, text: str = "") -> list[KnownFact]:
    """Return what a view shows, of it what holds `text`: all sides of a conflict of which one is in its scope."""
    current = [one for one in known if one.fact.state == FactState.CURRENT]
    if view == PROPOSED:
        found = [one for one in current if waits(one.fact)]
    else:
        mine = [one for one in current if one.here]
        sides = {_identity(one) for one in mine if one.conflict and one.fact.scope == view}
        found = [one for one in mine if one.fact.scope == view or (one.conflict and _identity(one) in sides)]
    words = text.casefold()
    return [one for one in found if words in f"{title_of(one.fact)}: {one.fact.value} {one.source}".casefold()]


def history_of(known: Iterable[KnownFact], of: KnownFact) -> list[KnownFact]:
    """Return every version of what a fact is about, of every source: what stands first, then the newest."""
    return [one for one in known if _identity(one) == _identity(of)]


def _identity(known: KnownFact) -> tuple[str, str]:
    return known.fact.subject, known.fact.name
