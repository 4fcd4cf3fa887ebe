"""Who writes a thread (A2), and what lies on the desk."""

import os
import subprocess
import sys

import psutil
import pytest

from wisp_core.errors import ThreadLockedError
from wisp_core.store import desk
from wisp_core.store.database import Database
from wisp_core.store.locks import lives, lock_thread, unlock_all, unlock_thread


@pytest.fixture
async def database(tmp_path):
    opened = await Database.open(tmp_path / "wisp.db")
    yield opened
    await opened.close()


async def test_a_thread_is_held_by_one_session_until_it_lets_go(database):
    await lock_thread(database, "t", "a")
    await lock_thread(database, "t", "a")
    with pytest.raises(ThreadLockedError) as told:
        await lock_thread(database, "t", "b")
    assert told.value.message == f"another wisp (process {os.getpid()}) is writing this conversation"
    assert "read-only or as a fork" in told.value.hint
    await unlock_thread(database, "t", "b")
    with pytest.raises(ThreadLockedError):
        await lock_thread(database, "t", "b")
    await unlock_all(database, "a")
    await lock_thread(database, "t", "b")


async def test_the_lock_of_a_process_that_is_gone_or_whose_id_another_has_now_is_taken_over(database):
    child = subprocess.Popen([sys.executable, "-c", ""])
    started = psutil.Process(child.pid).create_time()
    child.wait()
    assert not lives(child.pid, started)
    mine = psutil.Process().create_time()
    assert lives(os.getpid(), mine)
    for pid, began in ((child.pid, started), (os.getpid(), mine - 100)):
        async with database.transaction() as writer:
            await writer.execute("INSERT OR REPLACE INTO locks VALUES ('t', 'dead', ?, ?)", (pid, began))
        await lock_thread(database, "t", "b")
        await unlock_thread(database, "t", "b")


async def test_history_is_newest_first_and_repeats_nothing_at_once(database):
    for text in ("one", "two", "two", "one"):
        await desk.history_add(database, text)
    assert await desk.history(database, 10) == ["one", "two", "one"]
    assert await desk.history(database, 1) == ["one"]


async def test_a_draft_is_kept_under_its_key_until_it_is_empty(database):
    await desk.draft_set(database, "/work", "half a th")
    await desk.draft_set(database, "/work", "half a thought")
    assert await desk.draft_get(database, "/work") == "half a thought"
    await desk.draft_set(database, "/work", "")
    assert await desk.draft_get(database, "/work") == ""


async def test_waiting_prompts_keep_their_order_and_can_be_held_and_taken_away(database):
    first = await desk.queue_put(database, "t", "one")
    await desk.queue_put(database, "t", "two", held=True)
    await desk.queue_put(database, "other", "three")
    waiting = await desk.queue_list(database, "t")
    assert [(queued.text, queued.held) for queued in waiting] == [("one", False), ("two", True)]
    await desk.queue_hold(database, "t")
    await desk.queue_remove(database, first)
    assert [(queued.text, queued.held) for queued in await desk.queue_list(database, "t")] == [("two", True)]
    await desk.queue_hold(database, "t", False)
    assert [queued.held for queued in await desk.queue_list(database, "t")] == [False]
    assert [queued.held for queued in await desk.queue_list(database, "other")] == [False]
