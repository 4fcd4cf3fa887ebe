"""Looks up which earlier passages of a thread hold the words of a request, for recollection (O24)."""

import json
import sqlite3
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

from wisp_core.records import EntryKind, EntryState
from wisp_core.store.migrations import TEXT
from wisp_core.store.words import PREFIX_CHARACTERS, is_word, spaced

_TOOL = "json_extract(e.content, '$.tool')"
COMMON = 1000
"""Passages of a thread: a word in more of them tells little, and a look-up costs what is looked through."""
# The thread's own word weighs nothing. Of the best alone the text is read.
_BEST = f"""
    SELECT e.id, e.kind, e.turn, {TEXT}, {_TOOL}, best.score FROM (
        SELECT e.rowid AS place, e.id AS id, found.score AS score FROM (
            SELECT rowid AS place, -bm25(passages, 0.0, 1.0) AS score FROM passages WHERE passages MATCH ?
            ORDER BY rowid DESC LIMIT ?
        ) found JOIN entries e ON e.rowid = found.place
        WHERE e.thread = ? AND e.state <> '{EntryState.FAILED}' AND e.id NOT IN (SELECT value FROM json_each(?))
        ORDER BY found.score DESC, e.id DESC LIMIT ?
    ) best JOIN entries e ON e.rowid = best.place ORDER BY best.score DESC, best.id DESC
"""
_BESIDE = f"""
    SELECT e.id, e.kind, e.turn, {TEXT}, {_TOOL} FROM entries e
    WHERE thread = ? AND id {{}} ? AND kind = ? AND turn = ? AND state <> '{EntryState.FAILED}'
    ORDER BY id {{}} LIMIT 1
"""
_ANSWERS = (">", EntryKind.REPLY, "ASC")
_ASKS = ("<", EntryKind.PROMPT, "DESC")


@dataclass(frozen=True, slots=True)
class Looked:
    """An entry with its text; `tool` is a tool output's, `score` is BM25, larger is better, 0 of one not looked for."""

    entry: int
    kind: EntryKind
    turn: int
    text: str
    tool: str
    score: float = 0.0


def find_passages(
    connection: sqlite3.Connection, thread: str, *, starts: Sequence[str], literal: Collection[int], limit: int
) -> list[tuple[Looked, Looked | None]]:
    """Return the entries that are not `literal` and hold a word that begins with any of `starts`, best first.

    With a prompt comes the first reply to it, with a reply the prompt that it answers; blocks. The latest are looked
    through, `COMMON` of them for each start.
    """
    if not starts or not is_word(thread):
        return []
    words = " OR ".join(_quoted(start) for start in starts)
    match = f'thread : "{thread}" AND text : ({words})'
    given = (match, COMMON * len(starts), thread, json.dumps(sorted(literal)), limit)
    found = connection.execute(_BEST, given).fetchall()
    rows = [_looked(row) for row in found]
    return [(row, _beside(connection, thread, found=row)) for row in rows]


@dataclass(frozen=True, slots=True)
class LookedUp:
    """What a look-up gave: passages with the message beside each, and in what share of all each word stands."""

    found: list[tuple[Looked, Looked | None]]
    shares: list[float]


def look_up(
    connection: sqlite3.Connection,
    thread: str,
    *,
    starts: Sequence[str],
    own: int,
    literal: Collection[int],
    limit: int,
) -> LookedUp:
    """Return what of the thread holds words that begin so, at most `limit` passages, none `literal`; blocks.

    For the first `own` of the words as many again are looked for by themselves. Words that are common are looked for
    only where all are.
    """
    shares = shares_holding(connection, thread, starts=starts)
    found: dict[int, tuple[Looked, Looked | None]] = {}
    for many in sorted({own, len(starts)}):
        telling = [start for start, share in zip(starts[:many], shares, strict=False) if share < 1.0]
        rows = find_passages(connection, thread, starts=telling or starts[:many], literal=literal, limit=limit)
        found |= {row[0].entry: row for row in rows}
    return LookedUp(list(found.values()), shares)


def shares_holding(connection: sqlite3.Connection, thread: str, *, starts: Sequence[str]) -> list[float]:
    """Return in what share of the thread's entries each of `starts` stands, 1 for one that is common; blocks."""
    if not is_word(thread):
        return [1.0] * len(starts)
    # Ids count up from 1, so the highest says how many there are.
    (whole,) = connection.execute("SELECT max(id) FROM entries WHERE thread = ?", (thread,)).fetchone()
    sql = "SELECT count(*) FROM (SELECT 1 FROM passages WHERE passages MATCH ? LIMIT ?)"
    counts = [
        connection.execute(sql, (f'thread : "{thread}" AND text : {_quoted(start)}', COMMON + 1)).fetchone()[0]
        for start in starts
    ]
    return [count / whole if whole and count <= COMMON else 1.0 for count in counts]


def _quoted(start: str) -> str:
    """Return a word, or the start of one that is long enough, as FTS5 has it; whatever stands in it is no syntax."""
    return '"' + spaced(start).replace('"', " ") + '"' + ("*" if len(start) >= PREFIX_CHARACTERS else "")


def _beside(connection: sqlite3.Connection, thread: str, *, found: Looked) -> Looked | None:
    if found.kind not in (EntryKind.PROMPT, EntryKind.REPLY):
        return None
    sign, kind, order = _ANSWERS if found.kind is EntryKind.PROMPT else _ASKS
    row = connection.execute(_BESIDE.format(sign, order), (thread, found.entry, kind, found.turn)).fetchone()
    return None if row is None else _looked(row)


def _looked(row: Sequence[Any]) -> Looked:
    entry, kind, turn, text, tool, *score = row
    return Looked(entry, EntryKind(kind), turn, text or "", tool or "", *score)
