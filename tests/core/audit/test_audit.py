"""The audit's files: append-only, found again, mended after a crash, verified (A1, A3, A4b, A6, A7)."""

import json
import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from wisp_core.audit.files import find_event, list_files, owner_lives, read_batches, read_lines, repair
from wisp_core.audit.log import AuditLog
from wisp_core.audit.verify import verify
from wisp_core.errors import StorageError
from wisp_core.events import ContextCondensation, Event, FactDeleted, Prompt, now
from wisp_core.records import new_id

MIB = 1024 * 1024


def event(seq: int = 1, text: str = "p", *, group: str | None = None, data: object = None) -> Event:
    return Event(new_id(), seq, now(), "s", "t", 1, group, data or Prompt(text=text))


def write(folder: Path, *events: Event, session: str = "s") -> Path:
    log = AuditLog.open(folder, session, max_bytes=MIB)
    for one in events:
        log.append(one.line(), durable=True)
    log.close()
    return folder / f"{session}.jsonl"


def condensed(seq: int, group: str) -> Event:
    return event(seq, group=group, data=ContextCondensation(reason="b", goal=1, before=1, after=1, dropped=[]))


def test_a_line_is_one_json_object_with_the_envelope_in_order(tmp_path):
    path = write(tmp_path, event(text="line\nline\u2028\u0085 \r end"))
    (line,) = path.read_bytes().splitlines(keepends=True)[:1]
    assert list(json.loads(line)) == ["id", "seq", "time", "session", "thread", "turn", "group", "event", "data"]
    assert [raw for _, raw in read_lines(path)] == [path.read_bytes()]


def test_the_folder_and_its_files_are_the_owners_alone_whatever_the_umask(tmp_path):
    for umask in (0, 0o777):
        before = os.umask(umask)
        try:
            folder = tmp_path / f"audit{umask}"
            path = write(folder, event())
        finally:
            os.umask(before)
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
        assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_a_full_file_is_left_and_the_next_number_gone_on_with(tmp_path):
    log = AuditLog.open(tmp_path, "s", max_bytes=4096)
    places = [log.append(event(seq, "x" * 1000).line(), durable=False) for seq in range(1, 12)]
    log.close()
    assert [file.name for file in list_files(tmp_path)] == ["s.jsonl", "s.1.jsonl", "s.2.jsonl", "s.3.jsonl"]
    assert all(file.size <= 4096 for file in list_files(tmp_path))
    for place in places:
        offset, line = next(read_lines(tmp_path / place.file, place.offset))
        assert (offset, offset + len(line)) == (place.offset, place.end)
    assert verify(tmp_path) == []


def test_one_append_is_never_divided_between_files(tmp_path):
    log = AuditLog.open(tmp_path, "s", max_bytes=4096)
    log.append(event(1).line(), durable=False)
    log.append(b"".join(event(seq, "x" * 1000).line() for seq in range(2, 9)), durable=True)
    log.close()
    assert [sum(1 for _ in read_lines(file.path)) for file in list_files(tmp_path)] == [1, 7]


def test_a_file_that_is_removed_while_it_is_written_is_gone_on_with_in_the_next(tmp_path):
    log = AuditLog.open(tmp_path / "audit", "s", max_bytes=MIB)
    (tmp_path / "audit" / "s.jsonl").unlink()
    (tmp_path / "audit").rmdir()
    one = event()
    place = log.append(one.line(), durable=True)
    assert log.event(one.id, (place.file, place.offset)) == one
    log.close()


def test_files_are_listed_oldest_session_first_and_numbers_as_numbers(tmp_path):
    for name in ("b.jsonl", "a.10.jsonl", "a.2.jsonl", "a.jsonl", "a.torn", "notes.txt", "x y.jsonl"):
        (tmp_path / name).write_bytes(b"")
    (tmp_path / "link.jsonl").symlink_to(tmp_path / "notes.txt")
    assert [file.name for file in list_files(tmp_path)] == ["a.jsonl", "a.2.jsonl", "a.10.jsonl", "b.jsonl"]
    assert list_files(tmp_path / "none") == []


def test_the_owner_lives_as_long_as_its_process_does(tmp_path):
    code = (
        "import sys; from pathlib import Path; from wisp_core.audit.log import AuditLog\n"
        "log = AuditLog.open(Path(sys.argv[1]), 's', max_bytes=9); print(flush=True); input()"
    )
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[3])}
    command = [sys.executable, "-c", code, str(tmp_path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment) as child:
        child.stdout.readline()
        assert owner_lives(tmp_path / "s.jsonl")
        assert repair(list_files(tmp_path)[0]) is None
        child.kill()
    assert not owner_lives(tmp_path / "s.jsonl")


@pytest.mark.parametrize("tail", [b'{"id":', b"\x00\x00\x00", b"nonsense\n", b'\xff\n{"half', b"[1]\n\n"])
def test_a_torn_end_is_cut_off_kept_beside_and_told(tmp_path, tail):
    path = write(tmp_path, event(1), event(2))
    sound = path.read_bytes()
    path.write_bytes(sound + tail)
    told = repair(list_files(tmp_path)[0])
    assert told == (
        f"audit/s.jsonl ended in an unfinished line ({len(tail)} bytes), left by a crash; it was moved to audit/s.torn"
    )
    assert path.read_bytes() == sound
    assert (tmp_path / "s.torn").read_bytes() == tail + b"\n"
    assert stat.S_IMODE((tmp_path / "s.torn").stat().st_mode) == 0o600
    assert repair(list_files(tmp_path)[0]) is None
    assert verify(tmp_path) == []


def test_a_file_that_is_torn_from_its_first_byte_becomes_empty(tmp_path):
    (tmp_path / "s.jsonl").write_bytes(b"\x00" * 10)
    assert repair(list_files(tmp_path)[0]) is not None
    assert (tmp_path / "s.jsonl").read_bytes() == b""


def test_an_event_is_found_by_its_place_and_without_it_or_with_a_wrong_one_by_looking(tmp_path):
    events = [event(seq) for seq in range(1, 50)]
    mention = event(50, text=f"about {events[3].id}")
    write(tmp_path, *events, session="a")
    write(tmp_path, mention, session="b")
    assert find_event(tmp_path, events[3].id) == events[3]
    assert find_event(tmp_path, events[3].id, place=("a.jsonl", 0)) == events[3]
    assert find_event(tmp_path, events[3].id, place=("gone.jsonl", 7)) == events[3]
    assert find_event(tmp_path, "0" * 24) is None


def test_looking_for_an_event_decodes_only_lines_that_hold_its_id(tmp_path):
    path = write(tmp_path, event(1))
    wanted = event(2)
    path.write_bytes(path.read_bytes() + b'{"broken\n\xff\xfe\n' + wanted.line())
    assert find_event(tmp_path, wanted.id) == wanted


def test_lines_of_a_group_are_one_batch_that_its_last_event_makes_whole(tmp_path):
    deleted = [event(seq, group="g", data=FactDeleted(fact="f")) for seq in (2, 3)]
    lost = event(5, group="h", data=FactDeleted(fact="f"))
    path = write(tmp_path, event(1), *deleted, condensed(4, "g"), lost, event(6))
    batches = [(len(batch.lines), batch.whole) for batch in read_batches(path)]
    assert batches == [(1, True), (3, True), (1, False), (1, True)]
    assert verify(tmp_path) == [
        f"audit/s.jsonl, byte {sum(len(e.line()) for e in [event(1), *deleted, condensed(4, 'g')])}: "
        "the group h has no end and takes no effect"
    ]


def test_verify_tells_of_broken_lines_wrong_shapes_double_ids_and_numbers_that_are_double_or_missing(tmp_path):
    one = event(1)
    odd = b'{"id":"x","seq":2,"time":"","session":"s","thread":"t","turn":1,"group":null,"event":"prompt","data":{}}\n'
    path = write(tmp_path, one, event(6))
    path.write_bytes(path.read_bytes() + one.line() + b"nonsense\n" + odd + b"torn")
    found = "\n".join(verify(tmp_path))
    for said in (
        "ends in an unfinished line",
        f"the event {one.id} stands in the audit twice",
        "the line is no event",
        "the prompt x does not have its event's shape",
        "thread t: the numbers 1 are given twice",
        "thread t: the events numbered 3, 4, 5 are missing",
    ):
        assert said in found


def test_a_folder_that_cannot_be_written_is_told_in_one_sentence():
    with pytest.raises(StorageError, match="written"):
        AuditLog.open(Path("/proc/audit"), "s", max_bytes=MIB)
