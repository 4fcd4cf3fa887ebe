"""Reading a thread's record out of its rows, in one visit to the connection's thread."""

import sqlite3
from collections.abc import Iterator
from typing import Any

from wisp_core.records import EntryKind, EntryState, Plan, ThreadRecord
from wisp_core.store import rows

_ACTIVE, _CALL = EntryState.ACTIVE, EntryKind.TOOL_CALL
_SHOWN = "CASE WHEN state = 'dropped' THEN NULL ELSE content END"


def load_thread(connection: sqlite3.Connection, thread: str) -> ThreadRecord | None:
    """Return a thread's record as its events left it, None where there is no such thread; blocks.

    Contents are read of the entries that are not dropped, plans of the latest turn that has any.
    """
    # One snapshot: what another process writes meanwhile is in all of it or in none.
    connection.execute("BEGIN")
    try:
        return _load(connection, thread)
    finally:
        connection.execute("COMMIT")


def _load(connection: sqlite3.Connection, thread: str) -> ThreadRecord | None:
    found = connection.execute(f"SELECT {rows.THREAD_COLUMNS} FROM threads WHERE id = ?", (thread,)).fetchone()
    if found is None:
        return None
    record = rows.thread_of(thread, found)

    def of(columns: str, *, table: str, order: str) -> Iterator[Any]:
        # Read as they come: to hold thousands of rows meanwhile costs the garbage collector more than reading them.
        return connection.execute(f"SELECT {columns} FROM {table} WHERE thread = ? ORDER BY {order}", (thread,))

    versions = of("content", table="instructions", order="version")
    record.instructions = tuple(rows.load_instructions(content) for (content,) in versions)
    for row in of(f"{rows.ENTRY_COLUMNS}, {_SHOWN}", table="entries", order="id"):
        entry = rows.entry_of(row)
        record.entries[entry.id] = entry
        if entry.state is _ACTIVE:
            record.active.append(entry.id)
        if entry.kind is _CALL:
            record.calls[entry.wire_id] = entry.id
    record.turns = {row[0]: rows.turn_of(row) for row in of(rows.TURN_COLUMNS, table="turns", order="number")}
    record.facts = {row[0]: rows.fact_of(row, thread) for row in of(rows.FACT_COLUMNS, table="facts", order="rowid")}
    summaries = of(rows.SUMMARY_COLUMNS, table="summaries", order="rowid")
    record.summaries = tuple(rows.summary_of(row) for row in summaries)
    (latest,) = connection.execute("SELECT max(turn) FROM plans WHERE thread = ?", (thread,)).fetchone()
    if latest is not None:
        record.plans = {latest: load_plans(connection, thread, turn=latest)}
    return record


def load_plans(connection: sqlite3.Connection, thread: str, *, turn: int | None = None) -> tuple[Plan, ...]:
    """Return the plans of one turn's requests, of all where it is None, in order; blocks."""
    where, values = ("thread = ?", (thread,)) if turn is None else ("thread = ? AND turn = ?", (thread, turn))
    sql = f"SELECT {rows.PLAN_COLUMNS} FROM plans WHERE {where} ORDER BY rowid"
    return tuple(rows.plan_of(row) for row in connection.execute(sql, values))
