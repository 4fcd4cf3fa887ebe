"""One stream of events: whatever happens, record, database and audit say the same (A10, A11, A12, A13)."""

import asyncio
import shutil
import tempfile
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.core.store.event_streams import OPS, Op, dumped, fold_audit, play, rows_of, start
from wisp_core.audit.files import list_files, read_batches
from wisp_core.audit.verify import verify
from wisp_core.events import ThreadForked
from wisp_core.journal import Journal, rebuild
from wisp_core.records import ThreadRecord
from wisp_core.settings import Audit, Settings
from wisp_core.store.carried import fork_rows, resume_rows
from wisp_core.store.database import Database
from wisp_core.store.replay import replay

SMALL = Settings(audit=Audit(max_bytes=4096))  # files rotate within a stream
TWO = st.lists(st.tuples(st.booleans(), OPS), min_size=1, max_size=4)


async def _session(home: Path, parts: list[tuple[bool, list[Op]]]) -> list[str]:
    """Play a stream in two threads, going on in a new session for each part; check the record of each part's end.

    The second thread begins with what the first held.
    """
    threads: dict[bool, str] = {}
    for which, ops in parts:
        journal = await Journal.open(home, SMALL)
        try:
            opened = which in threads
            record = await journal.open_thread(threads[which]) if opened else await journal.new_thread()
            if not opened and (not which) in threads:
                await _carry(journal, record, threads[not which], ops=ops)
            threads[which] = record.id
            await play(journal, record, ops=ops)
            assert await journal.database.load(record.id) == record
            assert fold_audit(home, record.id) == record
            if record.deleted:
                del threads[which]
            assert record.active == sorted(i for i, e in record.entries.items() if e.state == "active")
        finally:
            await journal.close()
    return list(threads.values())


async def _carry(journal: Journal, record: ThreadRecord, other: str, *, ops: list[Op]) -> None:
    """Begin a thread with what another held, as a fork or as it would be resumed."""
    source = await journal.read_thread(other)
    rows = await dumped(journal, source)
    turn = max(source.last_turn - len(ops) % 3, 0)
    if len(ops) % 2:
        first = start().model_copy(update={"carried": fork_rows(rows, turn)})
        await journal.record_group(record, [first, ThreadForked(source=other, turn=turn)])
    else:
        await journal.record(record, start().model_copy(update={"carried": resume_rows(rows), "resumed": "saved"}))


async def _rows(home: Path) -> dict[str, list[tuple[object, ...]]]:
    database = await Database.open(home / "wisp.db")
    try:
        return await rows_of(database)
    finally:
        await database.close()


@settings(max_examples=30)
@given(TWO)
def test_the_record_is_the_fold_of_its_audit_and_the_database_gives_it_back_field_by_field(parts):
    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(_session(Path(folder), parts))
        assert verify(Path(folder) / "audit") == []


@settings(max_examples=15)
@given(TWO)
def test_a_rebuilt_database_is_the_old_one_row_by_row(parts):
    async def check(home: Path) -> None:
        await _session(home, parts)
        before = await _rows(home)
        await rebuild(home, SMALL)
        assert await _rows(home) == before

    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(check(Path(folder)))


@settings(max_examples=15)
@given(TWO, st.integers(0, 10_000))
def test_a_crash_at_any_point_between_audit_and_database_is_caught_up_from_there(parts, cut):
    async def check(home: Path, other: Path) -> None:
        await _session(home, parts)
        before = await _rows(home)
        shutil.copytree(home / "audit", other / "audit")
        files = {file.path: list(read_batches(file.path)) for file in list_files(other / "audit")}
        left = cut % (sum(len(batches) for batches in files.values()) + 1)
        database = await Database.open(other / "wisp.db")
        kept = {}
        for path, batches in files.items():
            kept[path] = batches[:left]
            left -= len(kept[path])
        await replay(database, {path: batches for path, batches in kept.items() if batches})
        await database.close()
        await (await Journal.open(other, SMALL)).close()
        assert await _rows(other) == before

    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory() as other:
        asyncio.run(check(Path(folder), Path(other)))
