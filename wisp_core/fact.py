"""What a fact is: a versioned assertion, where it lives and what became of it."""

import re
import secrets
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from wisp_core.text import count_cells, displayable, one_line


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


@dataclass(frozen=True, slots=True)
class KnownFact:
    """A fact as the person is shown it, with its `source` in words.

    Of its identity it `stands` where it is what the model is told, or what another source says instead of that; with
    more than one of these the identity is in `conflict`. One that is not `here` is another thread's.
    """

    fact: Fact
    source: str
    stands: bool = False
    conflict: bool = False
    here: bool = True


# What a line on what was learnt takes at most, in cells of a terminal, and characters of one fact in it, of several
# and alone.
LEARNT_CELLS = 110
LEARNT_CHARACTERS = 48
LEARNT_ALONE = 100
_AT_TURN = re.compile(r",? at turn \d+")


def learnt(facts: Iterable[tuple[str, str, str]]) -> str:
    """Return one line on facts by subject, name and value that a turn recorded (F4), empty where there are none.

    Of a path it names the file alone; past the room it says how many more there are.
    """
    found = list(facts)
    if not found:
        return ""
    # A fact that stands alone has the line to itself.
    said = [_learnt(fact, LEARNT_ALONE if len(found) == 1 else LEARNT_CHARACTERS) for fact in found]
    line = f"{len(said)} fact{'s' if len(said) > 1 else ''}: {said[0]}"
    for at, piece in enumerate(said[1:], 1):
        more = f" · +{len(said) - at} more"
        last = at == len(said) - 1
        if count_cells(f"{line} · {piece}") + (0 if last else len(more)) > LEARNT_CELLS:
            return line + more
        line += f" · {piece}"
    return line


def _learnt(fact: tuple[str, str, str], room: int) -> str:
    subject, name, value = fact
    if subject == SAID:
        name = ""
    elif name.startswith("/"):
        name = name.rstrip("/").rpartition("/")[2] or name
    head = one_line(displayable(f"{subject} {name}"), room // 2).rstrip()
    text = one_line(f"{head}: {displayable(_AT_TURN.sub('', value))}", room)
    over = count_cells(text) - LEARNT_ALONE
    return text if over <= 0 else one_line(text, len(text) - over)
