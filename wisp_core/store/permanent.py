"""The facts that threads share: the permanent ones of a home, and those of the running session (decision 0011)."""

from dataclasses import replace

from wisp_core.fact import TASK, Fact, FactState
from wisp_core.store import rows
from wisp_core.store.database import Database

_COLUMNS = f"thread, {rows.FACT_COLUMNS}"
# Facts of one turn are often of one millisecond: within a thread their rows are in the order of their recording.
_ORDER = "ORDER BY time, thread, rowid"
_SHARED = (
    f"SELECT {_COLUMNS}, rowid FROM permanent UNION ALL SELECT {_COLUMNS}, rowid FROM facts "
    f"WHERE scope = 'session' AND session = ? AND subject <> '{TASK}' {_ORDER}"
)
_WAITING = f"SELECT {_COLUMNS}, rowid FROM facts WHERE proposal = 'waiting' AND state = 'current' {_ORDER}"
_ONE = f"SELECT {_COLUMNS}, rowid FROM facts WHERE id = ? {_ORDER}"


async def shared_facts(database: Database, session: str) -> list[Fact]:
    """Return the permanent facts with their history, and the session's facts of every thread, oldest first.

    Raises:
        StorageError: the database cannot be read.
    """
    return await _with_ends(database, [_fact(row) for row in await database.fetch(_SHARED, session)])


async def waiting_facts(database: Database) -> list[Fact]:
    """Return the facts of every thread that wait for the person to keep or drop them, oldest first.

    Raises:
        StorageError: the database cannot be read.
    """
    return [_fact(row) for row in await database.fetch(_WAITING)]


async def find_fact(database: Database, id: str) -> Fact | None:
    """Return a fact of any thread by its id, the permanent ones of a deleted thread included.

    Raises:
        StorageError: the database cannot be read.
    """
    found = await database.fetch(_ONE, id) or await database.fetch(_ONE.replace("FROM facts", "FROM permanent"), id)
    facts = await _with_ends(database, [_fact(row) for row in found[:1]])
    return facts[0] if facts else None


async def _with_ends(database: Database, facts: list[Fact]) -> list[Fact]:
    ends: dict[str, tuple[str, str]] = {}
    for fact, state, into in await database.fetch("SELECT fact, state, superseded_by FROM ends ORDER BY time, event"):
        ends.setdefault(fact, (state, into))
    return [_ended(fact, ends.get(fact.id)) for fact in facts]


def _ended(fact: Fact, end: tuple[str, str] | None) -> Fact:
    if end is None or fact.state != FactState.CURRENT:
        return fact
    return replace(fact, state=end[0], superseded_by=end[1])


def _fact(row: rows.Row) -> Fact:
    thread, *values, _ = row
    return rows.fact_of(values, thread)
