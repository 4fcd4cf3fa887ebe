"""Searching 1,000 threads beside SQLite's FTS5 alone over the same texts, and how a search grows with what is stored.

*in every thread*, *in one*: the 50 newest passages with their threads and excerpts, as a face shows them. The yardstick
is a table of FTS5 with the texts in it, asked for the 50 newest with its own excerpts. A *rare* word stands in one
passage of a hundred, a *common* one in all, and they are found as whole words.
"""

import asyncio
import json
import math
import random
import sqlite3
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from functools import partial
from itertools import count
from pathlib import Path

from tests.benchmarks.figures import Figure, in_turns
from wisp_core.store.connect import open_writer
from wisp_core.store.search import find_passages, list_threads
from wisp_core.store.words import spaced

THREADS, ENTRIES = 1_000, 100
"""A tenth of the million entries of the goal, so that it runs in a minute; the growth tells of the rest."""
ROUNDS, LIMIT = 21, 50
SIZES = (100, 1_000, 10_000, 100_000)
COMMON, RARE, EVERY = "the", "seldom", 100
_INSERT = (
    "INSERT INTO entries (thread, id, wire_id, kind, turn, time, origin, state, sources, cuts, content) "
    "VALUES (?, ?, '', 'reply', ?, '', 'turn', 'active', '[]', '[]', ?)"
)
_THREAD = (
    "INSERT INTO threads (id, created, updated, title, cwd, model, mode, deleted, last_seq, last_turn, grants, totals) "
    "VALUES (?, '', ?, ?, '/', '', 'ask', 0, 1, 1, '[]', '[0,0,0,0,0]')"
)
_ALONE = "SELECT rowid, snippet(alone, 0, '[', ']', '…', 24) FROM alone WHERE alone MATCH ? ORDER BY rowid DESC LIMIT ?"


def measure() -> tuple[list[Figure], str]:
    """Return the figures of a search and of a list of threads, and a table of how a search grows."""
    with tempfile.TemporaryDirectory() as folder:
        with closing(furnish(Path(folder) / "wisp.db", threads=THREADS, entries=ENTRIES)) as connection:
            figures = list(beside(connection))
        table = grown(Path(folder))
    return figures, table


def beside(connection: sqlite3.Connection) -> Iterator[Figure]:
    """Yield the figures of a home with every thread."""
    what = f"{THREADS:,} threads, {THREADS * ENTRIES:,} entries"
    one = thread_id(THREADS // 2)
    for name, words in (("rare", RARE), ("common", COMMON), ("common and rare", f"{COMMON} {RARE}")):
        its = timed(partial(alone, connection, words))
        for where, thread in (("every thread", None), ("one", one)):
            ours = timed(partial(find_passages, connection, words, thread=thread, limit=LIMIT))
            mine, yard = in_turns(ours, its, rounds=ROUNDS)
            yield Figure(f"{name} word in {where}, {what}", "FTS5 alone, in all", "s", mine, yard, goal=2)
    ours = timed(partial(list_threads, connection, LIMIT, cwd=None, text=RARE))
    mine, yard = in_turns(ours, its, rounds=ROUNDS)
    yield Figure(f"threads that hold a rare word, {what}", "FTS5 alone, its passages", "s", mine, yard)


def alone(connection: sqlite3.Connection, words: str) -> list[tuple[int, str]]:
    """Return what FTS5 alone finds, with its own excerpts."""
    return connection.execute(_ALONE, (words, LIMIT)).fetchall()


def grown(folder: Path) -> str:
    """Return a table of the seconds of a search by the turns of one thread, and the exponent between the ends.

    The rare word stands in ten of its passages, however long it is.
    """
    lines = [
        "| word | " + " | ".join(f"{size:,} turns" for size in SIZES) + " | exponent |",
        "|---" * (len(SIZES) + 2) + "|",
    ]
    taken: dict[str, list[float]] = {RARE: [], COMMON: []}
    for size in SIZES:
        with closing(furnish(folder / f"{size}.db", threads=1, entries=size, every=size // 10)) as connection:
            for word, seconds in taken.items():
                search = timed(partial(find_passages, connection, word, thread=thread_id(0), limit=LIMIT))
                seconds.append(statistics.median(search() for _ in range(ROUNDS)))
    for word, seconds in taken.items():
        exponent = math.log(seconds[-1] / seconds[0]) / math.log(SIZES[-1] / SIZES[0])
        cells = " | ".join(f"{1000 * each:.2f} ms" for each in seconds)
        lines.append(f"| {'rare' if word == RARE else 'common'} | {cells} | {exponent:.2f} |")
    return "\n".join(lines)


def furnish(path: Path, *, threads: int, entries: int, every: int = EVERY) -> sqlite3.Connection:
    """Return a connection to a database with threads of as many entries each, and with the same texts in FTS5 alone."""

    async def make() -> None:
        await (await open_writer(path)).close()

    asyncio.run(make())
    connection = sqlite3.connect(path, isolation_level=None)
    connection.create_function("spaced", 1, spaced, deterministic=True)
    connection.execute("CREATE VIRTUAL TABLE alone USING fts5 (text)")
    texts = written(every)
    for number in range(threads):
        connection.execute("BEGIN")
        connection.execute(_THREAD, (thread_id(number), f"{number:06}", f"thread {number}"))
        said = [next(texts) for _ in range(entries)]
        rows = ((thread_id(number), at, at, json.dumps({"text": text})) for at, text in enumerate(said, 1))
        connection.executemany(_INSERT, rows)
        connection.executemany("INSERT INTO alone (text) VALUES (?)", ((text,) for text in said))
        connection.execute("COMMIT")
    return connection


def written(every: int) -> Iterator[str]:
    """Yield texts of 40 words, a few of them common, most of them not; the rare one is in one of `every` texts."""
    chance = random.Random(1)
    for number in count():
        words = [COMMON, *(f"w{int(1000 * chance.random() ** 3)}" for _ in range(38))]
        words.append(RARE if number % every == every - 1 else "often")
        chance.shuffle(words)
        yield " ".join(words)


def thread_id(number: int) -> str:
    """Return the id of a thread."""
    return f"{number:024x}"


def timed(act: Callable[[], object]) -> Callable[[], float]:
    """Return `act` as a measure of its wall seconds."""

    def seconds() -> float:
        began = time.perf_counter()
        act()
        return time.perf_counter() - began

    return seconds
