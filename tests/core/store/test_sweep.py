"""O14: old outputs go when a later session starts; nothing else does."""

import os
import time
from pathlib import Path

import pytest

from tests.opened import opened
from wisp_core.audit.log import AuditLog
from wisp_core.errors import HomeError
from wisp_core.events import parse_event
from wisp_core.settings import Outputs as Limits
from wisp_core.store.outputs import Outputs
from wisp_core.store.sweep import find_stale, measure, sweep
from wisp_core.wisp import Wisp

DAY = 86_400


def session(folder: Path, number: int, *, days: float, calls: int = 1) -> Path:
    """Keep outputs of a session last used `days` ago and return its folder."""
    outputs = Outputs(folder, f"{number:024x}", limits=Limits())
    for call in range(calls):
        spool = outputs.open(f"{call:08x}")
        spool.write("stdout", b"x" * 1000)
        spool.keep(["stdout"])
    return aged(folder / f"{number:024x}", days)


def aged(folder: Path, days: float) -> Path:
    then = time.time() - days * DAY
    for path in [*folder.rglob("*"), folder]:
        os.utime(path, (then, then), follow_symlinks=False)
    return folder


def swept(folder: Path, days: float = 30, lives=lambda _: False, limits: Limits | None = None):
    return sweep(folder, limits or Limits(), days=days, lives=lives)


def test_a_sessions_outputs_go_after_their_days_and_newer_ones_stay(tmp_path):
    old, new = session(tmp_path, 1, days=31, calls=2), session(tmp_path, 2, days=29)
    found = swept(tmp_path)
    assert (found.sessions, found.files, found.more) == ((old.name,), 4, False)
    assert found.bytes > 2000
    assert not old.exists()
    assert len(list(new.iterdir())) == 2


def test_one_file_used_since_keeps_the_session(tmp_path):
    old = session(tmp_path, 1, days=31)
    os.utime(old / "00000000")
    assert swept(tmp_path).sessions == ()
    assert len(list(old.iterdir())) == 2


def test_no_days_are_never(tmp_path):
    old = session(tmp_path, 1, days=9999)
    assert swept(tmp_path, days=0).sessions == ()
    assert old.exists()


def test_a_living_session_keeps_its_outputs(tmp_path):
    old = session(tmp_path, 1, days=31)
    assert swept(tmp_path, lives=lambda name: name == old.name).sessions == ()


def test_at_most_so_many_sessions_go_at_a_start_the_oldest_first(tmp_path):
    for number in range(1, 21):
        session(tmp_path, number, days=40)
    found = swept(tmp_path)
    assert found.sessions == tuple(f"{number:024x}" for number in range(1, 17))
    assert found.more
    assert len(swept(tmp_path).sessions) == 4


def test_it_stops_when_its_time_is_over(tmp_path):
    for number in range(1, 4):
        session(tmp_path, number, days=40)
    found = swept(tmp_path, limits=Limits(sweep_seconds=1e-9))
    assert (found.sessions, found.more) == ((), True)


def test_what_wisp_did_not_write_stays_where_it_is(tmp_path):
    (tmp_path / "kept/notes").mkdir(parents=True)
    (tmp_path / "README").write_text("mine")
    foreign = tmp_path / f"{7:024x}"
    foreign.mkdir()
    (foreign / "thesis.txt").write_text("mine")
    outside = tmp_path.parent / "outside"
    outside.mkdir()
    (outside / "00000000").write_text("mine")
    (tmp_path / f"{8:024x}").symlink_to(outside)
    mixed = session(tmp_path, 9, days=0)
    (mixed / "photo.png").write_text("mine")
    (mixed / "0000000a").symlink_to(outside / "00000000")
    (mixed / "0000000b").mkdir()
    aged(tmp_path, 99)
    found = swept(tmp_path)
    assert (found.sessions, found.files) == ((mixed.name,), 2)
    assert sorted(os.listdir(mixed)) == ["0000000a", "0000000b", "photo.png"]
    assert (foreign / "thesis.txt").exists()
    assert (outside / "00000000").exists()
    assert (tmp_path / "kept/notes").is_dir()
    aged(tmp_path, 99)
    assert swept(tmp_path).sessions == ()


def test_there_may_be_no_store_at_all(tmp_path):
    assert swept(tmp_path / "none").sessions == ()
    assert measure(tmp_path / "none") == (0, 0)
    session(tmp_path, 1, days=40)
    assert measure(tmp_path)[0] == 1
    assert [stale.folder.name for stale in find_stale(tmp_path, days=30, lives=lambda _: False)] == [f"{1:024x}"]


@pytest.mark.skipif(os.geteuid() == 0, reason="root may remove anything")
def test_what_cannot_be_removed_stays(tmp_path):
    old = session(tmp_path, 1, days=31)
    old.chmod(0o500)
    try:
        assert swept(tmp_path).sessions == ()
    finally:
        old.chmod(0o700)


async def test_a_start_sweeps_and_the_audit_says_what_went(tmp_path):
    old = session(tmp_path / "home/output", 1, days=31)
    async with opened(tmp_path):
        (audit,) = (tmp_path / "home/audit").glob("*.jsonl")
        event = parse_event(audit.read_bytes().split(b"\n")[0] + b"\n")
        assert event.data.outputSweep["sessions"] == [old.name]
        assert event.data.outputSweep["files"] == 2
        assert not old.exists()


async def test_nothing_to_sweep_is_not_mentioned(tmp_path):
    session(tmp_path / "home/output", 1, days=3)
    async with opened(tmp_path, context={"output_days": 0}):
        (audit,) = (tmp_path / "home/audit").glob("*.jsonl")
        assert b"outputSweep" not in audit.read_bytes()


async def test_a_session_that_another_process_still_runs_keeps_its_outputs(tmp_path):
    old = session(tmp_path / "home/output", 1, days=31)
    (tmp_path / "home/audit").mkdir()
    running = AuditLog.open(tmp_path / "home/audit", old.name, max_bytes=10_000)
    try:
        async with opened(tmp_path):
            assert old.exists()
    finally:
        running.close()


async def test_without_an_audit_nothing_is_swept(tmp_path):
    old = session(tmp_path / "home/output", 1, days=31)
    async with opened(tmp_path, audit={"enabled": False}):
        assert old.exists()


async def test_a_newer_home_is_not_swept(tmp_path):
    async with opened(tmp_path):
        pass
    old = session(tmp_path / "home/output", 1, days=31)
    database = tmp_path / "home/wisp.db"
    raw = bytearray(database.read_bytes())
    raw[60:64] = (999).to_bytes(4, "big")
    database.write_bytes(raw)
    with pytest.raises(HomeError):
        await Wisp.open(face="test", home=tmp_path / "home", cwd=tmp_path)
    assert old.exists()
