"""`kill -9` at any instant and a disk that is full: nothing that was acknowledged is lost (A3, A4b, A6, A10, A11)."""

import asyncio
import os
import random
import subprocess
import sys
from pathlib import Path

from tests.core.store.event_streams import fold_audit
from wisp_core.audit.files import list_files, read_batches
from wisp_core.audit.verify import verify
from wisp_core.journal import Journal
from wisp_core.settings import Settings

CHILD = Path(__file__).with_name("writing_child.py")
ROOT = CHILD.parents[2]
KILLS = int(os.environ.get("WISP_KILLS", "20"))


def _start(home: Path, limit: int = 0) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, str(CHILD), str(home), str(limit)],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )


def _ids(lines: list[str]) -> list[str]:
    return [line.strip() for line in lines if line.endswith("\n") and not line.startswith("refused")]


async def _check(home: Path, acknowledged: list[str]) -> None:
    journal = await Journal.open(home, Settings())
    try:
        thread = await journal.database.newest("/work")
        assert thread is not None
        record = await journal.open_thread(thread)
        assert record == fold_audit(home, thread)
        batches = [batch for file in list_files(home / "audit") for batch in read_batches(file.path)]
        stored = {line.id for batch in batches if batch.whole for line in batch.lines}
        assert not [id for id in acknowledged if id not in stored]
        assert (await journal.event(acknowledged[-1])) is not None
        # A group that was cut in the middle is told of; nothing else may be wrong.
        assert [found for found in verify(home / "audit") if "has no end" not in found] == []
    finally:
        await journal.close()


def test_kill_9_at_random_moments_loses_nothing_acknowledged_and_applies_no_half_group(tmp_path):
    acknowledged: list[str] = []
    for _ in range(KILLS):
        with _start(tmp_path) as child:
            lines = [child.stdout.readline() for _ in range(random.randint(1, 80))]
            # By now the child is anywhere in what follows the line that was read.
            child.kill()
            lines += child.stdout.readlines()
        acknowledged += _ids(lines)
        asyncio.run(_check(tmp_path, acknowledged))
    assert len(acknowledged) > KILLS


def test_a_file_that_may_not_grow_is_told_in_one_sentence_and_writing_goes_on_when_it_may(tmp_path):
    with _start(tmp_path, 150_000) as child:
        lines = child.stdout.readlines()
    assert child.returncode == 0
    (refused,) = [line for line in lines if line.startswith("refused")]
    assert "could not be written" in refused
    assert not lines[-1].startswith("refused")
    asyncio.run(_check(tmp_path, _ids(lines)))
