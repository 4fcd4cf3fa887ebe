"""The schema of `wisp.db`, as numbered steps that each lead from one version to the next.

A step is never changed once it is released: a later one changes what it made.
"""

from typing import TypeAlias

Step: TypeAlias = tuple[str, ...]

_FIRST: Step = (
    # The projection: each row is what the fold says of one value of a thread's record.
    """CREATE TABLE threads (
        id TEXT PRIMARY KEY, created TEXT NOT NULL, updated TEXT NOT NULL, title TEXT NOT NULL, cwd TEXT NOT NULL,
        model TEXT NOT NULL, mode TEXT NOT NULL, deleted INTEGER NOT NULL, last_seq INTEGER NOT NULL,
        last_turn INTEGER NOT NULL, grants TEXT NOT NULL, totals TEXT NOT NULL, last_usage TEXT
    ) STRICT""",
    "CREATE INDEX threads_by_cwd ON threads (cwd, updated)",
    # The content stands last, so that reading the other columns of a large row never reads its pages.
    """CREATE TABLE entries (
        thread TEXT NOT NULL REFERENCES threads (id), id INTEGER NOT NULL, wire_id TEXT NOT NULL, kind TEXT NOT NULL,
        turn INTEGER NOT NULL, time TEXT NOT NULL, origin TEXT NOT NULL, state TEXT NOT NULL, dropped_by TEXT,
        dropped_at INTEGER, referenced_at INTEGER, reference TEXT, sources TEXT NOT NULL, cuts TEXT NOT NULL,
        content TEXT, PRIMARY KEY (thread, id)
    ) STRICT""",
    """CREATE TABLE turns (
        thread TEXT NOT NULL REFERENCES threads (id), number INTEGER NOT NULL, prompt INTEGER NOT NULL,
        time TEXT NOT NULL, outcome TEXT, error TEXT NOT NULL, ended TEXT, PRIMARY KEY (thread, number)
    ) STRICT""",
    """CREATE TABLE plans (
        thread TEXT NOT NULL REFERENCES threads (id), event TEXT NOT NULL, turn INTEGER NOT NULL, step INTEGER NOT NULL,
        entries TEXT NOT NULL, earlier TEXT, now TEXT, instructions INTEGER NOT NULL, settings TEXT NOT NULL,
        sha256 TEXT NOT NULL, answered TEXT, PRIMARY KEY (thread, event)
    ) STRICT""",
    "CREATE INDEX plans_by_turn ON plans (thread, turn)",
    """CREATE TABLE instructions (
        thread TEXT NOT NULL REFERENCES threads (id), version INTEGER NOT NULL, content TEXT NOT NULL,
        PRIMARY KEY (thread, version)
    ) STRICT""",
    """CREATE TABLE summaries (
        thread TEXT NOT NULL REFERENCES threads (id), event TEXT NOT NULL, version INTEGER NOT NULL, text TEXT NOT NULL,
        turns INTEGER NOT NULL, highest INTEGER NOT NULL, turn INTEGER NOT NULL, time TEXT NOT NULL,
        model TEXT NOT NULL, PRIMARY KEY (thread, event)
    ) STRICT""",
    """CREATE TABLE facts (
        thread TEXT NOT NULL REFERENCES threads (id), id TEXT NOT NULL, scope TEXT NOT NULL, subject TEXT NOT NULL,
        name TEXT NOT NULL, value TEXT NOT NULL, source TEXT NOT NULL, version INTEGER NOT NULL, turn INTEGER NOT NULL,
        time TEXT NOT NULL, event TEXT NOT NULL, state TEXT NOT NULL, PRIMARY KEY (thread, id)
    ) STRICT""",
    # Where the audit stands: up to which byte a file is projected, and where an event is found in it.
    "CREATE TABLE files (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, position INTEGER NOT NULL) STRICT",
    """CREATE TABLE events (
        id TEXT PRIMARY KEY, file INTEGER NOT NULL REFERENCES files (id), offset INTEGER NOT NULL
    ) STRICT, WITHOUT ROWID""",
    # What is no part of a thread's record.
    """CREATE TABLE locks (
        thread TEXT PRIMARY KEY, session TEXT NOT NULL, pid INTEGER NOT NULL, started REAL NOT NULL
    ) STRICT""",
    "CREATE TABLE drafts (key TEXT PRIMARY KEY, text TEXT NOT NULL) STRICT",
    "CREATE TABLE history (id INTEGER PRIMARY KEY, text TEXT NOT NULL) STRICT",
    """CREATE TABLE queue (
        id INTEGER PRIMARY KEY, thread TEXT NOT NULL, text TEXT NOT NULL, held INTEGER NOT NULL
    ) STRICT""",
    "CREATE INDEX queue_by_thread ON queue (thread, id)",
)

TEXT = (
    "CASE kind WHEN 'command' THEN json_extract(content, '$.command') || char(10) || json_extract(content, '$.output') "
    "ELSE json_extract(content, '$.text') END"
)
"""What a search finds an entry by, of a row of `entries` that holds one of `FOUND`."""
FOUND = "('prompt', 'command', 'tool_output', 'reply')"

_SECOND: Step = (
    "ALTER TABLE plans ADD COLUMN model TEXT NOT NULL DEFAULT ''",
    "ALTER TABLE plans ADD COLUMN window INTEGER",
    "ALTER TABLE plans ADD COLUMN bytes INTEGER NOT NULL DEFAULT 0",
    "ALTER TABLE plans ADD COLUMN tokens INTEGER NOT NULL DEFAULT 0",
    "ALTER TABLE plans ADD COLUMN reported INTEGER",
    "ALTER TABLE threads ADD COLUMN reports TEXT NOT NULL DEFAULT '[]'",
    "ALTER TABLE threads ADD COLUMN condensations INTEGER NOT NULL DEFAULT 0",
    # How much was said, counted up with every entry, for what it takes to add it up is to read it.
    "ALTER TABLE threads ADD COLUMN bytes INTEGER NOT NULL DEFAULT 0",
    """UPDATE threads SET bytes =
        (SELECT coalesce(sum(length(CAST(content AS BLOB))), 0) FROM entries WHERE thread = threads.id)""",
    """CREATE TRIGGER entries_counted AFTER INSERT ON entries WHEN new.content IS NOT NULL BEGIN
        UPDATE threads SET bytes = bytes + length(CAST(new.content AS BLOB)) WHERE id = new.thread;
    END""",
    # The index alone: a passage is read where it stands, by its rowid. `spaced` is the program's own. The thread is a
    # word of its passages, so that a search in one costs what stands in it. An entry's text never changes.
    """CREATE VIRTUAL TABLE passages USING fts5 (
        thread, text, content = '', tokenize = 'unicode61 remove_diacritics 2'
    )""",
    f"""CREATE TRIGGER entries_indexed AFTER INSERT ON entries
    WHEN new.kind IN {FOUND} AND new.content IS NOT NULL BEGIN
        INSERT INTO passages (rowid, thread, text)
            SELECT rowid, thread, spaced({TEXT}) FROM entries WHERE rowid = new.rowid;
    END""",
    f"""CREATE TRIGGER entries_unindexed BEFORE DELETE ON entries
    WHEN old.kind IN {FOUND} AND old.content IS NOT NULL BEGIN
        INSERT INTO passages (passages, rowid, thread, text)
            SELECT 'delete', rowid, thread, spaced({TEXT}) FROM entries WHERE rowid = old.rowid;
    END""",
    f"""INSERT INTO passages (rowid, thread, text)
        SELECT rowid, thread, spaced({TEXT}) FROM entries WHERE kind IN {FOUND} AND content IS NOT NULL""",
)

_FACTS: Step = (
    "ALTER TABLE threads ADD COLUMN renews_earlier INTEGER NOT NULL DEFAULT 1",
    "ALTER TABLE plans ADD COLUMN recalled TEXT NOT NULL DEFAULT '[]'",
    "ALTER TABLE facts ADD COLUMN method TEXT NOT NULL DEFAULT ''",
    "ALTER TABLE facts ADD COLUMN tool TEXT NOT NULL DEFAULT ''",
    "ALTER TABLE facts ADD COLUMN entries TEXT NOT NULL DEFAULT '[]'",
    "ALTER TABLE facts ADD COLUMN events TEXT NOT NULL DEFAULT '[]'",
    "ALTER TABLE facts ADD COLUMN turns TEXT",
    "ALTER TABLE facts ADD COLUMN superseded_by TEXT NOT NULL DEFAULT ''",
    "ALTER TABLE facts ADD COLUMN unsupported INTEGER NOT NULL DEFAULT 0",
    "ALTER TABLE facts ADD COLUMN proposal TEXT NOT NULL DEFAULT ''",
    "ALTER TABLE facts ADD COLUMN proposed_by TEXT NOT NULL DEFAULT ''",
    "ALTER TABLE facts ADD COLUMN session TEXT NOT NULL DEFAULT ''",
    "CREATE INDEX facts_of_sessions ON facts (session) WHERE scope = 'session'",
    "CREATE INDEX facts_waiting ON facts (thread) WHERE proposal = 'waiting'",
    # What a thread made permanent; it stays when the thread is deleted.
    """CREATE TABLE permanent (
        thread TEXT NOT NULL, id TEXT NOT NULL, scope TEXT NOT NULL, subject TEXT NOT NULL, name TEXT NOT NULL,
        value TEXT NOT NULL, source TEXT NOT NULL, version INTEGER NOT NULL, turn INTEGER NOT NULL, time TEXT NOT NULL,
        event TEXT NOT NULL, state TEXT NOT NULL, method TEXT NOT NULL, tool TEXT NOT NULL, entries TEXT NOT NULL,
        events TEXT NOT NULL, turns TEXT, superseded_by TEXT NOT NULL, unsupported INTEGER NOT NULL,
        proposal TEXT NOT NULL, proposed_by TEXT NOT NULL, session TEXT NOT NULL, PRIMARY KEY (thread, id)
    ) STRICT""",
    # Which shared facts another thread than their own ended, by the event that did.
    """CREATE TABLE ends (
        event TEXT PRIMARY KEY, fact TEXT NOT NULL, state TEXT NOT NULL, superseded_by TEXT NOT NULL, time TEXT NOT NULL
    ) STRICT""",
)

_WAITING: Step = (
    # What waits for the person in any process, and the answer that the one that asked has not taken yet (A2).
    """CREATE TABLE waiting (
        id TEXT PRIMARY KEY, thread TEXT NOT NULL, session TEXT NOT NULL, pid INTEGER NOT NULL, started REAL NOT NULL,
        kind TEXT NOT NULL, target TEXT NOT NULL, request TEXT NOT NULL, time TEXT NOT NULL, answer TEXT,
        announced INTEGER NOT NULL DEFAULT 0
    ) STRICT""",
)

STEPS: tuple[Step, ...] = (_FIRST, _SECOND, _FACTS, _WAITING)
