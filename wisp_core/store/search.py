"""What is asked of the database by the faces: passages and threads that hold words, what each turn changed."""

import sqlite3
from collections import defaultdict
from dataclasses import dataclass
from typing import Any

from wisp_core.requests import FoundPassage, TurnChanges
from wisp_core.store.living import lives
from wisp_core.store.migrations import TEXT
from wisp_core.store.words import Query, excerpt, is_word, read_query

SCANNED_PASSAGES = 10_000
"""How many of the newest passages that hold the words are looked through for the threads that they are of."""

_NEWEST = (
    "(SELECT rowid FROM passages WHERE passages MATCH ? ORDER BY rowid DESC LIMIT ?) p "
    "JOIN entries e ON e.rowid = p.rowid"
)
_PASSAGES = (
    f"SELECT e.thread, t.title, e.id, e.turn, e.kind, e.time, {TEXT} "
    f"FROM {_NEWEST} JOIN threads t ON t.id = e.thread ORDER BY p.rowid DESC"
)
_THREADS = f"SELECT e.thread FROM {_NEWEST}"


@dataclass(frozen=True, slots=True)
class ThreadRow:
    """A thread as a list shows it: `updated` is RFC 3339, `turns` counts its prompts, `bytes` is what was said in it.

    `open_by` is the process that writes it, 0 for none.
    """

    id: str
    title: str
    cwd: str
    updated: str
    turns: int
    bytes: int = 0
    open_by: int = 0


def find_passages(
    connection: sqlite3.Connection, text: str, *, thread: str | None = None, limit: int
) -> list[FoundPassage]:
    """Return the entries that hold every word of `text`, newest first, of one thread or of all; blocks."""
    query = read_query(text)
    if query is None or limit < 1 or not (thread is None or is_word(thread)):
        return []
    found = _ask(connection, query, sql=_PASSAGES, thread=thread, limit=limit)
    pattern = query.pattern()
    return [FoundPassage(*(*row[:-1], excerpt(row[-1], pattern))) for row in found]


def _ask(connection: sqlite3.Connection, query: Query, *, sql: str, thread: str | None = None, limit: int) -> list[Any]:
    """Return what is found of the whole words, and where that is not enough of the last as the start of one too.

    What is looked for as a start costs what there is of it, and only the newest are asked for.
    """
    found = connection.execute(sql, (query.match(thread), limit)).fetchall()
    if len(found) >= limit or not query.may_start:
        return found
    return connection.execute(sql, (query.match(thread, start=True), limit)).fetchall()


def list_threads(connection: sqlite3.Connection, limit: int, *, cwd: str | None, text: str) -> list[ThreadRow]:
    """Return the threads that have a prompt and are not deleted, newest first; blocks.

    They are those of one directory, and that hold every word of `text` in their title or in one passage, where these
    are given.
    """
    query = read_query(text)
    if query is None and text.strip():
        return []
    where, values = "deleted = 0 AND last_turn > 0", [] if cwd is None else [cwd]
    where += "" if cwd is None else " AND cwd = ?"
    sql = (
        f"SELECT id, title, cwd, updated, last_turn, bytes FROM threads WHERE {where} ORDER BY updated DESC, rowid DESC"
    )
    if query is None:
        rows = connection.execute(f"{sql} LIMIT ?", (*values, limit)).fetchall()
    else:
        holding = _threads_with(connection, query)
        found = connection.execute(sql, values)
        rows = [row for row in found if row[0] in holding or query.inside(row[1])][:limit]
    return [ThreadRow(*(*row, _writer_of(connection, row[0]))) for row in rows]


def _threads_with(connection: sqlite3.Connection, query: Query) -> set[str]:
    return {thread for (thread,) in _ask(connection, query, sql=_THREADS, limit=SCANNED_PASSAGES)}


def _writer_of(connection: sqlite3.Connection, thread: str) -> int:
    holder = connection.execute("SELECT pid, started FROM locks WHERE thread = ?", (thread,)).fetchone()
    return int(holder[0]) if holder is not None and lives(*holder) else 0


_CHANGES = """
    SELECT turn, 'added', count(*) FROM entries WHERE thread = :thread GROUP BY turn
    UNION ALL SELECT turn, 'cut', sum(json_array_length(cuts)) FROM entries
        WHERE thread = :thread AND cuts <> '[]' GROUP BY turn
    UNION ALL SELECT referenced_at, 'referenced', count(*) FROM entries
        WHERE thread = :thread AND referenced_at IS NOT NULL GROUP BY referenced_at
    UNION ALL SELECT dropped_at, 'dropped', count(*) FROM entries
        WHERE thread = :thread AND dropped_at IS NOT NULL GROUP BY dropped_at
    UNION ALL SELECT turn, 'summarised', count(*) FROM summaries WHERE thread = :thread GROUP BY turn
    UNION ALL SELECT turn, 'facts', count(*) FROM facts WHERE thread = :thread GROUP BY turn
    UNION ALL SELECT turn, 'requests', count(*) FROM plans WHERE thread = :thread GROUP BY turn
"""
# The last request that was answered, else the last: SQLite takes the bare columns from the row of the greatest.
_SIZES = """
    SELECT turn, tokens, reported, window, max(rowid + CASE WHEN answered IS NULL THEN 0 ELSE 1 << 60 END)
    FROM plans WHERE thread = ? GROUP BY turn
"""


def list_changes(connection: sqlite3.Connection, thread: str) -> list[TurnChanges]:
    """Return what each turn of a thread changed, in order; blocks."""
    changes: dict[int, dict[str, Any]] = defaultdict(dict)
    for turn, name, count in connection.execute(_CHANGES, {"thread": thread}):
        changes[turn][name] = count
    for turn, tokens, reported, window, _ in connection.execute(_SIZES, (thread,)):
        # A plan of an older wisp does not say how much it was.
        size = tokens or None if reported is None else reported
        changes[turn] |= {"tokens": size, "window": window, "reported": reported is not None}
    turns = connection.execute("SELECT number, outcome FROM turns WHERE thread = ? ORDER BY number", (thread,))
    return [TurnChanges(turn, outcome or "", **changes[turn]) for turn, outcome in turns.fetchall()]
