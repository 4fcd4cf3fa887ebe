"""What files held before they were edited: kept for their owner, the newest first, in memory without an audit."""

import os
import stat
from pathlib import Path

import pytest

from wisp_core.requests import EarlierFile
from wisp_core.store import previous
from wisp_core.store.previous import Previous

SESSION = "0198c0ffee00aabbccddeeff"


def edit(call, path, before=b"text"):
    return EarlierFile(call, str(path), before, "0" * 64)


@pytest.fixture(params=[True, False], ids=["stored", "in memory"])
def kept(request, tmp_path):
    return Previous(tmp_path / "output", SESSION, enabled=request.param)


def test_the_newest_edit_comes_first_of_one_file_or_of_all(kept):
    edits = [edit("00000001", "/a"), edit("00000002", "/b", None), edit("00000003", "/a", b"\0\xff")]
    for each in edits:
        kept.keep(each)
    assert kept.newest(None) == kept.newest(Path("/a")) == edits[2]
    assert kept.newest(Path("/b")) == edits[1]
    assert kept.newest(Path("/c")) is None
    kept.drop("00000003")
    kept.drop("00000003")
    assert kept.newest(Path("/a")) == edits[0]
    assert kept.newest(None) == edits[1]


def test_a_path_of_any_bytes_is_kept(kept):
    path = os.fsdecode(b"/a\xff\n")
    kept.keep(edit("00000001", path))
    assert kept.newest(Path(path)).path == path


def test_what_is_stored_is_the_owners_alone_whatever_the_umask(tmp_path):
    before = os.umask(0)
    try:
        Previous(tmp_path / "output", SESSION).keep(edit("00000001", "/a"))
    finally:
        os.umask(before)
    folder = tmp_path / "output" / SESSION
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert {path.name: stat.S_IMODE(path.stat().st_mode) for path in folder.iterdir()} == {
        "00000001.before": 0o600,
        "00000001.edit": 0o600,
    }


@pytest.mark.parametrize("damage", [b"", b"{", b"[]", b'{"path": "zz"}', b'{"path": "2f61", "time": 1}', b"\xff"])
def test_a_damaged_record_is_passed_over(tmp_path, damage):
    kept = Previous(tmp_path, SESSION)
    kept.keep(edit("00000001", "/a"))
    (tmp_path / SESSION / "00000002.edit").write_bytes(damage)
    assert kept.newest(None).call == "00000001"
    (tmp_path / SESSION / "00000001.before").unlink()
    assert kept.newest(None) is None


def test_what_cannot_be_stored_is_an_error_and_leaves_nothing(tmp_path):
    kept = Previous(tmp_path, SESSION)
    folder = tmp_path / SESSION
    folder.mkdir()
    (folder / "00000001.edit.part").mkdir()
    with pytest.raises(OSError, match="directory"):
        kept.keep(edit("00000001", "/a"))
    assert kept.newest(None) is None
    assert [path.name for path in folder.iterdir()] == ["00000001.edit.part"]


def test_a_call_is_never_a_path(kept, tmp_path):
    with pytest.raises(ValueError, match="no call"):
        kept.keep(edit("../../a", "/a"))
    kept.drop("../../a")
    assert not list(tmp_path.rglob("*a*"))


def test_memory_holds_the_newest_edits_up_to_its_size(tmp_path, monkeypatch):
    monkeypatch.setattr(previous, "MEMORY_BYTES", 100)
    kept = Previous(tmp_path, SESSION, enabled=False)
    for number in range(5):
        kept.keep(edit(f"0000000{number}", f"/{number}", b"x" * 40))
    assert [kept.newest(Path(f"/{number}")) is not None for number in range(5)] == [False, False, False, True, True]
    assert not list(tmp_path.iterdir())
