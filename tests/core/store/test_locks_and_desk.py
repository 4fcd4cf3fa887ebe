"""Who writes a thread (A2), and what lies on the desk."""

import os
import subprocess
import sys

import psutil
import pytest

from wisp_core.errors import ThreadLockedError
from wisp_core.store.database import Database
from wisp_core.store.desk import Desk
from wisp_core.store.locks import lives, lock_thread, unlock_all, unlock_thread


@pytest.fixture
async def database(tmp_path):
    opened = await Database.open(tmp_path / "wisp.db")
    yield opened
    await opened.close()


async def test_a_thread_is_held_by_one_session_until_it_lets_go(database):
    await lock_thread(database, "t", session="a")
    await lock_thread(database, "t", session="a")
    with pytest.raises(ThreadLockedError) as told:
        await lock_thread(database, "t", session="b")
    assert told.value.message == f"another wisp (process {os.getpid()}) is writing this conversation"
    assert "end it there" in told.value.hint
    await unlock_thread(database, "t", session="b")
    with pytest.raises(ThreadLockedError):
        await lock_thread(database, "t", session="b")
    await unlock_all(database, "a")
    await lock_thread(database, "t", session="b")


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
        await lock_thread(database, "t", session="b")
        await unlock_thread(database, "t", session="b")


async def test_history_is_newest_first_and_repeats_nothing_at_once(database):
    for text in ("one", "two", "two", "one"):
        await Desk(database).history_add(text)
    assert await Desk(database).history(10) == ["one", "two", "one"]
    assert await Desk(database).history(1) == ["one"]


async def test_a_draft_is_kept_under_its_key_until_it_is_empty(database):
    await Desk(database).draft_set("/work", "half a th")
    await Desk(database).draft_set("/work", "half a thought")
    assert await Desk(database).draft_get("/work") == "half a thought"
    await Desk(database).draft_set("/work", "")
    assert await Desk(database).draft_get("/work") == ""


async def test_waiting_prompts_keep_their_order_and_can_be_held_and_taken_away(database):
    first = await Desk(database).queue_put("t", "one")
    await Desk(database).queue_put("t", "two", held=True)
    await Desk(database).queue_put("other", "three")
    waiting = await Desk(database).queue_list("t")
    assert [(queued.text, queued.held) for queued in waiting] == [("one", False), ("two", True)]
    await Desk(database).queue_hold("t")
    await Desk(database).queue_remove(first)
    assert [(queued.text, queued.held) for queued in await Desk(database).queue_list("t")] == [("two", True)]
    await Desk(database).queue_hold("t", held=False)
    assert [queued.held for queued in await Desk(database).queue_list("t")] == [False]
    assert [queued.held for queued in await Desk(database).queue_list("other")] == [False]
