"""Looks up which earlier passages of a thread hold the words of a request, for recollection (O24)."""

import json
import sqlite3
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

from wisp_core.records import EntryKind, EntryState
from wisp_core.store.migrations import FOUND, TEXT
from wisp_core.store.words import is_word, spaced

_TOOL = "json_extract(e.content, '$.tool')"
# The thread's own word weighs nothing.
_BEST = f"""
    SELECT e.id, e.kind, e.turn, {TEXT}, {_TOOL}, -bm25(passages, 0.0, 1.0) AS score
    FROM passages JOIN entries e ON e.rowid = passages.rowid
    WHERE passages MATCH ? AND e.thread = ? AND e.state <> '{EntryState.FAILED}'
        AND e.id NOT IN (SELECT value FROM json_each(?))
    ORDER BY score DESC, e.id DESC LIMIT ?
"""
_BESIDE = f"""
    SELECT e.id, e.kind, e.turn, {TEXT}, {_TOOL} FROM entries e
    WHERE thread = ? AND id {{}} ? AND kind IN ('{EntryKind.PROMPT}', '{EntryKind.REPLY}')
        AND state <> '{EntryState.FAILED}'
    ORDER BY id {{}} LIMIT 1
"""


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

    With each comes the message beside it: the one before, or after where there is none; blocks.
    """
    if not starts or not is_word(thread):
        return []
    words = " OR ".join(_quoted(start) for start in starts)
    match = f'thread : "{thread}" AND text : ({words})'
    found = connection.execute(_BEST, (match, thread, json.dumps(sorted(literal)), limit)).fetchall()
    rows = [_looked(row) for row in found]
    return [(row, _beside(connection, thread, row.entry)) for row in rows]


@dataclass(frozen=True, slots=True)
class LookedUp:
    """What a look-up gave: passages with the message beside each, and in what share of all each word stands."""

    found: list[tuple[Looked, Looked | None]]
    shares: list[float]


def look_up(
    connection: sqlite3.Connection, thread: str, *, starts: Sequence[str], literal: Collection[int], limit: int
) -> LookedUp:
    """Return what of the thread holds words that begin so, at most `limit` passages, none `literal`; blocks."""
    found = find_passages(connection, thread, starts=starts, literal=literal, limit=limit)
    whole, counts = count_holding(connection, thread, starts)
    return LookedUp(found, [count / whole if whole else 1.0 for count in counts])


def count_holding(connection: sqlite3.Connection, thread: str, starts: Sequence[str]) -> tuple[int, list[int]]:
    """Return how many passages the thread has, and how many of them hold each of `starts`; blocks."""
    if not is_word(thread):
        return 0, [0] * len(starts)
    sql = f"SELECT count(*) FROM entries WHERE thread = ? AND kind IN {FOUND}"
    (whole,) = connection.execute(sql, (thread,)).fetchone()
    sql = "SELECT count(*) FROM passages WHERE passages MATCH ?"
    return whole, [
        connection.execute(sql, (f'thread : "{thread}" AND text : {_quoted(start)}',)).fetchone()[0] for start in starts
    ]


def _quoted(start: str) -> str:
    """Return a word as FTS5 has it; whatever stands in it is no syntax."""
    return '"' + spaced(start).replace('"', " ") + '"*'


def _beside(connection: sqlite3.Connection, thread: str, entry: int) -> Looked | None:
    for sign, order in (("<", "DESC"), (">", "ASC")):
        row = connection.execute(_BESIDE.format(sign, order), (thread, entry)).fetchone()
        if row is not None:
            return _looked(row)
    return None


def _looked(row: Sequence[Any]) -> Looked:
    entry, kind, turn, text, tool, *score = row
    return Looked(entry, EntryKind(kind), turn, text or "", tool or "", *score)
