"""Kept outputs: whole, private, bounded, paged."""

import hashlib
import json
import os
import stat

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wisp_core.settings import Outputs as Limits
from wisp_core.store.outputs import Outputs

SMALL = Limits(file_bytes=4096, head_bytes=3072, tail_bytes=1024)


def keep(folder, pieces, *, parts=("stdout",), limits=SMALL, call="3f9a2c1b"):
    outputs = Outputs(folder / "output", "session1", limits=limits)
    spool = outputs.open(call)
    for stream, data in pieces:
        spool.write(stream, data)
    return outputs, spool.keep(parts)


def test_an_output_is_kept_whole_with_its_record_beside_it(tmp_path):
    outputs, kept = keep(
        tmp_path,
        [("stdout", b"one\n"), ("stderr", b"bad"), ("stdout", b"two\n")],
        parts=[b"exit status: 1\nstdout:\n", "stdout", b"stderr:\n", "stderr", b"\n"],
    )
    stored = b"exit status: 1\nstdout:\none\ntwo\nstderr:\nbad\n"
    path = tmp_path / "output/session1/3f9a2c1b"
    assert outputs.path("3f9a2c1b") == path
    assert path.read_bytes() == stored
    assert (kept.bytes, kept.lines, kept.encoding, kept.cut) == (len(stored), 6, "utf-8", False)
    assert kept.sha256 == hashlib.sha256(stored).hexdigest()
    assert outputs.record("3f9a2c1b") == kept
    assert json.loads(path.with_name("3f9a2c1b.json").read_text())["lines"] == 6
    assert sorted(os.listdir(path.parent)) == ["3f9a2c1b", "3f9a2c1b.json"]


def test_files_and_folders_are_the_persons_alone_whatever_the_umask(tmp_path):
    before = os.umask(0)
    try:
        keep(tmp_path, [("stdout", b"x" * 500_000)], limits=Limits())
    finally:
        os.umask(before)
    folder = tmp_path / "output/session1"
    assert stat.S_IMODE(folder.stat().st_mode) == stat.S_IMODE(folder.parent.stat().st_mode) == 0o700
    assert {stat.S_IMODE((folder / name).stat().st_mode) for name in os.listdir(folder)} == {0o600}


def test_past_the_limit_the_first_and_the_last_are_kept_and_the_cut_is_stated(tmp_path):
    whole = b"".join(b"line %d\n" % number for number in range(1, 2001))
    outputs, kept = keep(tmp_path, [("stdout", whole[at : at + 7]) for at in range(0, len(whole), 7)])
    lines = outputs.path("3f9a2c1b").read_bytes().split(b"\n")
    assert kept.cut
    assert kept.bytes <= SMALL.file_bytes
    assert lines[kept.cut_after - 1] == b"line %d" % kept.cut_after
    assert lines[kept.cut_after].decode() == (
        f"[… lines {kept.cut_after + 1:,}–{kept.cut_until - 1:,} (15 KiB) not kept: an output is kept up to 4 KiB …]"
    )
    assert lines[kept.cut_after + 1] == b"line %d" % kept.cut_until
    assert lines[-2:] == [b"line 2000", b""]
    assert kept.lines == len(lines) - 1


def test_a_single_line_past_the_limit_is_cut_inside_at_a_character(tmp_path):
    outputs, kept = keep(tmp_path, [("stdout", "漢".encode() * 5000 + b"\n")])
    stored = outputs.path("3f9a2c1b").read_bytes().decode()
    first, marker, last, _ = stored.split("\n")
    assert set(first) == set(last) == {"漢"}
    assert "[… line 1 (" in marker
    assert (kept.cut_after, kept.cut_until, kept.lines) == (1, 1, 3)


@settings(max_examples=150)
@given(
    st.lists(st.tuples(st.sampled_from(["stdout", "stderr"]), st.binary(max_size=2000)), max_size=20),
    st.sampled_from([0, 300_000]),
)
def test_the_kept_bytes_are_those_that_came(tmp_path_factory, pieces, more):
    folder = tmp_path_factory.mktemp("kept")
    pieces = [*pieces, ("stdout", b"m" * more), *pieces]
    parts = [b"A\n", "stdout", b"B\n", "stderr", b"C\n"]
    whole = b"A\n" + b"".join(d for s, d in pieces if s == "stdout") + b"B\n"
    whole += b"".join(d for s, d in pieces if s == "stderr") + b"C\n"
    outputs, kept = keep(folder, pieces, parts=parts)
    stored = outputs.path("3f9a2c1b").read_bytes()
    assert len(stored) == kept.bytes
    assert kept.sha256 == hashlib.sha256(stored).hexdigest()
    if len(whole) <= 4096:
        assert stored == whole
        return
    at = stored.index(" not kept: an output is kept up to 4 KiB …]\n".encode())
    head, tail = stored[: stored.rindex("[… line".encode(), 0, at)], stored[stored.index(b"\n", at) + 1 :]
    assert kept.cut
    assert whole.startswith(head) or whole.startswith(head.removesuffix(b"\n"))
    assert whole.endswith(tail)
    assert len(head) <= 3073
    assert len(tail) <= 1024
    lines = whole.split(b"\n")
    assert stored.split(b"\n")[kept.cut_after - 1] in lines[kept.cut_after - 1]
    assert tail.split(b"\n")[0] in lines[kept.cut_until - 1]


def test_what_is_discarded_leaves_nothing(tmp_path):
    outputs = Outputs(tmp_path / "output", "session1", limits=Limits())
    spool = outputs.open("3f9a2c1b")
    spool.write("stdout", b"x" * 1_000_000)
    spool.discard()
    assert outputs.path("3f9a2c1b") is None
    assert not any(path.is_file() for path in tmp_path.rglob("*"))


def test_a_small_output_touches_no_disk(tmp_path):
    spool = Outputs(tmp_path / "output", "session1", limits=Limits()).open("3f9a2c1b")
    spool.write("stdout", b"x" * 1000)
    spool.discard()
    assert not (tmp_path / "output").exists()


def test_where_nothing_is_to_be_kept_nothing_is(tmp_path):
    spool = Outputs(tmp_path / "output", "session1", limits=Limits(), enabled=False).open("3f9a2c1b")
    spool.write("stdout", b"x" * 1_000_000)
    assert spool.keep(["stdout"]) is None
    assert spool.failure == "the audit is off"
    assert not (tmp_path / "output").exists()


def test_a_folder_that_cannot_be_written_is_a_failure_and_no_exception(tmp_path):
    (tmp_path / "output").write_text("in the way")
    spool = Outputs(tmp_path / "output", "session1", limits=Limits()).open("3f9a2c1b")
    spool.write("stdout", b"x" * 1_000_000)
    assert spool.keep(["stdout"]) is None
    assert spool.failure


def test_a_full_disk_is_a_failure_and_no_exception(tmp_path):
    resource = pytest.importorskip("resource")
    signal = pytest.importorskip("signal")
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    ignored = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, hard))
    try:
        _, kept = keep(tmp_path, [("stdout", b"x" * 150_000)], limits=Limits())
        _, spilled = keep(tmp_path, [("stdout", b"x" * 1_000_000)], limits=Limits())
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        signal.signal(signal.SIGXFSZ, ignored)
    assert kept is None
    assert spilled is None
    assert os.listdir(tmp_path / "output/session1") == []


@given(st.text(min_size=1, max_size=400), st.integers(1, 50))
def test_pages_joined_are_the_output_and_split_no_character(tmp_path_factory, text, size):
    text = text.replace("\0", "").encode("utf-8", "ignore").decode() or "x"
    outputs, _ = keep(tmp_path_factory.mktemp("paged"), [("stdout", text.encode())])
    found, offset = "", 0
    while offset is not None:
        page = outputs.read_page("3f9a2c1b", offset, size=size)
        found += page.text
        assert page.next is None or page.next > offset
        offset = page.next
    assert found == text
    assert page.total == len(text.encode())


def test_a_page_from_inside_a_character_starts_at_the_next(tmp_path):
    outputs, _ = keep(tmp_path, [("stdout", "漢字".encode())])
    assert outputs.read_page("3f9a2c1b", 1).text == "字"
    assert outputs.read_page("3f9a2c1b", 99).text == ""


@pytest.mark.parametrize("name", ["../../etc/passwd", "", ".", "a/b", "3f9a2c1b.json", "x" * 99, "link"])
def test_no_name_leads_out_of_the_store(tmp_path, name):
    outputs, _ = keep(tmp_path, [("stdout", b"x")])
    (tmp_path / "output/session1/link").symlink_to("/etc/passwd")
    assert outputs.path(name) is None
    assert outputs.read_page(name) is None
    assert outputs.path("3f9a2c1b", session=f"../{name}") is None


def test_an_earlier_sessions_output_is_read_by_its_session(tmp_path):
    keep(tmp_path, [("stdout", b"earlier")])
    later = Outputs(tmp_path / "output", "session2", limits=Limits())
    assert later.path("3f9a2c1b") is None
    assert later.read_page("3f9a2c1b", session="session1").text == "earlier"


def test_a_record_that_is_damaged_is_no_record(tmp_path):
    outputs, _ = keep(tmp_path, [("stdout", b"x")])
    for damaged in ("", "[]", '{"call": 1}', "{"):
        (tmp_path / "output/session1/3f9a2c1b.json").write_text(damaged)
        assert outputs.record("3f9a2c1b") is None


def test_binary_is_recorded_as_such(tmp_path):
    assert keep(tmp_path, [("stdout", b"a\xff\xfe")])[1].encoding == "binary"
    assert keep(tmp_path, [("stdout", b"a\0b")])[1].encoding == "binary"
