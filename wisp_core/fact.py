"""What a fact is: a versioned assertion, where it lives and what became of it."""

import secrets
from dataclasses import dataclass
from enum import StrEnum


def new_fact_id() -> str:
    """Return the 8 hex digits that name a fact, in every thread of a home."""
    return secrets.token_hex(4)


class FactScope(StrEnum):
    """Where a fact lives: for every thread, in its thread, or in the running session."""

    PERMANENT = "permanent"
    THREAD = "thread"
    SESSION = "session"


class FactState(StrEnum):
    """What became of a fact."""

    CURRENT = "current"
    SUPERSEDED = "superseded"
    DELETED = "deleted"


class Proposal(StrEnum):
    """Where the question stands whether a fact becomes permanent."""

    NONE = ""
    WAITING = "waiting"
    KEPT = "kept"
    DROPPED = "dropped"


TEMPORAL_CLASSES: dict[str, str] = {
    FactScope.PERMANENT: "permanent",
    FactScope.THREAD: "dynamic",
    FactScope.SESSION: "ephemeral",
}
# Two kinds that the thread treats by themselves: there is one task, and a statement is named by its entry.
TASK, SAID = "task", "said"


@dataclass(frozen=True, slots=True)
class Fact:
    """A versioned assertion about {scope, subject, name}: who asserted it, where it came from, what became of it.

    `version` counts per identity and line of sources; `time`, `turn`, `event`, `session` and `thread` are those of the
    recording. `entries` (of that thread) and `events` are where it came from, `turns` the first and last turn of that.
    An `unsupported` one holds a value that its source was never shown: kept, and not sent to the model.
    """

    id: str
    scope: str
    subject: str
    name: str
    value: str
    source: str
    version: int
    turn: int
    time: str
    event: str
    state: str = FactState.CURRENT
    method: str = ""
    tool: str = ""
    entries: tuple[int, ...] = ()
    events: tuple[str, ...] = ()
    turns: tuple[int, int] | None = None
    superseded_by: str = ""
    unsupported: bool = False
    proposal: str = Proposal.NONE
    proposed_by: str = ""
    session: str = ""
    thread: str = ""

    @property
    def temporal_class(self) -> str:
        """`permanent`, `dynamic` or `ephemeral`: it always goes with the scope (F3)."""
        return TEMPORAL_CLASSES.get(self.scope, "dynamic")
