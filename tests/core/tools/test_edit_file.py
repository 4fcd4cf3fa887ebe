"""The tool edit_file, on real files: byte-exact, never unseen, never elsewhere, and undone whole."""

import asyncio
import os
import shutil
import stat
import subprocess

import pytest

from tests.core.tools.editing import Bench, patched
from wisp_core.errors import ToolFailure
from wisp_core.tools.edit_text import read_text

BOM = b"\xef\xbb\xbf"


@pytest.fixture
def bench(tmp_path, monkeypatch):
    return Bench(tmp_path, monkeypatch)


def utf16(text, codec="utf-16-le"):
    return {"utf-16-le": b"\xff\xfe", "utf-16-be": b"\xfe\xff"}[codec] + text.encode(codec)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        pytest.param(b"one\ntwo\nthree\n", b"one\n2\n2b\nthree\n", id="LF"),
        pytest.param(b"one\r\ntwo\r\nthree\r\n", b"one\r\n2\r\n2b\r\nthree\r\n", id="CRLF"),
        pytest.param(b"one\r\ntwo\nthree\r\n", b"one\r\n2\n2b\nthree\r\n", id="mixed, LF around"),
        pytest.param(b"one\ntwo\r\nthree\n", b"one\n2\r\n2b\r\nthree\n", id="mixed, CRLF around"),
        pytest.param(b"one\rtwo\rthree\r", b"one\r2\n2b\rthree\r", id="lone CR"),
        pytest.param(BOM + b"one\ntwo\nthree\n", BOM + b"one\n2\n2b\nthree\n", id="BOM"),
        pytest.param(utf16("one\r\ntwo é\r\n"), utf16("one\r\n2\r\n2b é\r\n"), id="UTF-16 little-endian"),
        pytest.param(utf16("two\n", "utf-16-be"), utf16("2\n2b\n", "utf-16-be"), id="UTF-16 big-endian"),
        pytest.param(b"caf\xe9\ntwo\n", b"caf\xe9\n2\n2b\n", id="Latin-1"),
        pytest.param("café\n".encode() + b"\xff\ntwo\n", "café\n".encode() + b"\xff\n2\n2b\n", id="a stray byte"),
        pytest.param(b"one\ntwo", b"one\n2\n2b", id="no final newline"),
        pytest.param(b"two", b"2\n2b", id="no newline at all"),
        pytest.param("one\u2028two\x0c\n".encode(), "one\u20282\n2b\x0c\n".encode(), id="separators that are text"),
    ],
)
async def test_everything_but_the_replaced_text_stays_as_it_is(bench, before, after):
    path = bench.write("a.txt", before)
    await bench.read("a.txt")
    shown = await bench.preview("a.txt", old="two", new="2\n2b")
    text = await bench.edit("a.txt", old="two", new="2\n2b")
    assert path.read_bytes() == after
    assert text == f"{text.splitlines()[0]}\n{shown}".rstrip("\n")
    assert patched(before, shown) == read_text(after).text
    await bench.undo("a.txt")
    assert path.read_bytes() == before


async def test_what_is_written_in_latin_1_stays_latin_1_and_what_it_cannot_hold_is_refused(bench):
    path = bench.write("a.txt", b"caf\xe9\n")
    await bench.read("a.txt")
    await bench.edit("a.txt", append="na\u00efve\n")
    assert path.read_bytes() == b"caf\xe9\nna\xefve\n"
    assert "which cannot hold '€'" in await bench.refusal("a.txt", append="€\n")
    assert path.read_bytes() == b"caf\xe9\nna\xefve\n"


async def test_an_old_text_over_several_lines_matches_either_line_end(bench):
    path = bench.write("a.txt", b"a\r\nb\r\nc\nd\n")
    await bench.read("a.txt")
    await bench.edit("a.txt", old="b\nc\nd", new="b\nX\nc\nd")
    assert path.read_bytes() == b"a\r\nb\r\nX\r\nc\nd\n"


async def test_a_whole_file_written_anew_keeps_the_line_ends_of_the_lines_that_stay(bench):
    path = bench.write("a.txt", b"a\r\nb\nc\r\nd\n")
    await bench.read("a.txt")
    await bench.edit("a.txt", content="a\nb\nB\nc\nd\n")
    assert path.read_bytes() == b"a\r\nb\nB\nc\r\nd\n"
    await bench.edit("a.txt", content="a\nb")
    assert path.read_bytes() == b"a\r\nb"


async def test_appended_lines_end_as_the_last_line_does(bench):
    path = bench.write("a.txt", b"a\nb\r\n")
    await bench.read("a.txt")
    await bench.edit("a.txt", append="c\nd\n")
    assert path.read_bytes() == b"a\nb\r\nc\r\nd\r\n"


async def test_a_new_file_is_written_as_given_with_its_folders(bench):
    text = await bench.edit("new/deep/a.txt", content="one\r\ntwo\n")
    assert (bench.cwd / "new/deep/a.txt").read_bytes() == b"one\r\ntwo\n"
    assert text.splitlines()[:3] == ["wrote new/deep/a.txt: new file, 2 lines", "--- /dev/null", "+++ new/deep/a.txt"]
    await bench.edit("b.txt", append="x")
    assert (bench.cwd / "b.txt").read_bytes() == b"x"
    assert "+x\n\\ No newline at end of file" in await bench.preview("c.txt", content="x")


async def test_mode_and_link_stay_and_no_other_file_is_left(bench):
    target = bench.write("bin/tool", b"#!/bin/sh\necho one\n")
    target.chmod(0o755)
    link = bench.cwd / "link"
    link.symlink_to("bin/tool")
    await bench.read("link")
    await bench.edit("link", old="one", new="two")
    assert link.is_symlink()
    assert os.readlink(link) == "bin/tool"
    assert target.read_bytes() == b"#!/bin/sh\necho two\n"
    assert stat.S_IMODE(target.stat().st_mode) == 0o755
    assert [path.name for path in target.parent.iterdir()] == ["tool"]


async def test_a_hard_link_is_said_to_keep_the_earlier_text(bench):
    path = bench.write("a.txt", b"one\n")
    os.link(path, bench.cwd / "b.txt")
    await bench.read("a.txt")
    assert "keep the earlier text" in (await bench.edit("a.txt", old="one", new="two")).splitlines()[0]
    assert (bench.cwd / "b.txt").read_bytes() == b"one\n"


async def test_a_file_that_was_not_read_is_not_edited(bench):
    path = bench.write("a.txt", b"one\n")
    for ways in ({"content": "x"}, {"append": "x"}, {"old": "one", "new": "x"}):
        assert "was not read" in await bench.refusal("a.txt", **ways)
    assert path.read_bytes() == b"one\n"


async def test_a_file_that_changed_since_it_was_read_is_not_edited_until_it_is_read_again(bench):
    path = bench.write("a.txt", b"one\n")
    await bench.read("a.txt")
    before = path.stat()
    path.write_bytes(b"two\n")
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert "has changed since it was read" in await bench.refusal("a.txt", old="one", new="x")
    assert path.read_bytes() == b"two\n"
    await bench.read("a.txt")
    await bench.edit("a.txt", old="two", new="x")
    await bench.edit("a.txt", old="x", new="y")
    assert path.read_bytes() == b"y\n"


async def test_reading_one_page_is_reading_and_reading_by_another_name_too(bench):
    path = bench.write("a.txt", b"line\n" * 5000)
    (bench.cwd / "link").symlink_to("a.txt")
    await bench.read("link", offset=10, limit=1)
    await bench.edit("../work/a.txt", content="x")
    assert path.read_bytes() == b"x"


async def test_a_text_that_occurs_nowhere_says_why_it_may_not(bench):
    path = bench.write("a.txt", b"def f():\n    return 1\n\xff\n")
    await bench.read("a.txt")
    for old, why in [
        ("absent", "read it again"),
        ("2\t    return 1", "without read_file's line numbers"),
        ("def f():\n\treturn 1", "on line 1 it stands with other white space"),
        ("\ufffd\n", "other bytes"),
    ]:
        said = await bench.refusal("a.txt", old=old, new="x")
        assert "does not occur" in said
        assert why in said
    assert path.read_bytes() == b"def f():\n    return 1\n\xff\n"


async def test_a_text_that_occurs_several_times_says_on_which_lines(bench):
    path = bench.write("a.txt", b"aa\nb\naaa\n")
    await bench.read("a.txt")
    assert "occurs 3 times, on lines 1, 3, 3;" in await bench.refusal("a.txt", old="aa", new="x")
    bench.write("b.txt", b"x\n" * 3000)
    await bench.read("b.txt")
    said = await bench.refusal("b.txt", old="x", new="y")
    assert "at least 1,000 times, on lines 1, 2, 3, 4, 5, 6, 7, 8, …;" in said
    assert path.read_bytes() == b"aa\nb\naaa\n"


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({}, "give content (the whole file), append, or old and new"),
        ({"content": "a", "append": "b"}, "give content"),
        ({"old": "a"}, "new is missing"),
        ({"new": "a"}, "old is missing"),
        ({"old": "", "new": "a"}, "old is empty"),
    ],
)
def test_a_call_that_says_no_one_way_is_told_the_ways(bench, given, said):
    with pytest.raises(ToolFailure, match="edit_file: ") as failure:
        bench.check("a.txt", **given)
    assert said in str(failure.value)


async def test_a_placeholder_of_a_secret_is_never_written(bench):
    path = bench.write("a.env", b"KEY=hunter2hunter2\n")
    await bench.read("a.env")
    for ways in (
        {"content": "KEY=[secret MY_KEY]"},
        {"append": "[secret MY_KEY]"},
        {"old": "KEY=[secret MY_KEY]", "new": "x"},
        {"old": "KEY", "new": "[secret MY_KEY]"},
    ):
        assert "[secret MY_KEY] stands for a secret" in await bench.refusal("a.env", **ways)
    assert path.read_bytes() == b"KEY=hunter2hunter2\n"


async def test_what_is_no_text_or_no_file_is_not_edited(bench):
    bench.write("a.bin", b"\x00\x01" * 100)
    await bench.read("a.bin")
    assert "is no text file" in await bench.refusal("a.bin", append="x")
    os.mkfifo(bench.cwd / "fifo")
    assert "FIFO" in await bench.refusal("fifo", content="x")
    assert "directory" in await bench.refusal(".", content="x")
    assert "is a file" in await bench.refusal("a.bin/b.txt", content="x")
    assert "system's own" in await bench.refusal("/proc/self/comm", content="x")
    assert "there is no" in await bench.refusal("absent", old="a", new="b")


async def test_a_file_that_holds_it_already_is_not_written(bench):
    path = bench.write("a.txt", b"one\n")
    await bench.read("a.txt")
    before = path.stat().st_mtime_ns
    assert "exactly that already" in await bench.refusal("a.txt", content="one\n")
    assert path.stat().st_mtime_ns == before


async def test_protected_places_are_refused_by_every_road(bench):
    keys = bench.user / ".ssh"
    keys.mkdir()
    (keys / "config").write_bytes(b"secret\n")
    (bench.cwd / "folder").symlink_to(keys)
    (bench.cwd / "file").symlink_to(keys / "config")
    (bench.cwd / "dangling").symlink_to(keys / "authorized_keys")
    os.link(keys / "config", bench.cwd / "hard")
    for name in ("~/.ssh/config", "folder/config", "folder/new", "file", "dangling", "hard", "../.ssh/new"):
        assert "protected" in await bench.refusal(name, content="x"), name
        assert "protected" in await bench.refusal(name, old="secret", new="x"), name
    assert [path.name for path in keys.iterdir()] == ["config"]
    assert (keys / "config").read_bytes() == b"secret\n"


async def test_what_may_be_read_in_wisps_own_home_may_not_be_edited(bench):
    skill = bench.wisp / "skills/a/SKILL.md"
    skill.parent.mkdir(parents=True)
    skill.write_text("text\n")
    (bench.cwd / "link").symlink_to(skill)
    os.link(skill, bench.cwd / "hard")
    for name in (str(skill), "link", "hard"):
        await bench.read(name)
        assert "protected" in await bench.refusal(name, content="x"), name
    assert "protected" in await bench.refusal("~/.wisp/skills/b/SKILL.md", content="x")


async def test_a_dangling_link_is_no_new_file(bench, tmp_path):
    (bench.cwd / "link").symlink_to(tmp_path / "elsewhere")
    assert "is a link to" in await bench.refusal("link", content="x")
    assert not (tmp_path / "elsewhere").exists()


async def test_what_changed_after_the_difference_was_shown_is_not_written(bench):
    path = bench.write("a.txt", b"one\n")
    await bench.read("a.txt")
    await bench.preview("a.txt", old="one", new="two")
    path.write_bytes(b"one\nmore\n")
    await bench.read("a.txt")
    assert "since the difference was shown" in await bench.refusal("a.txt", old="one", new="two")
    assert path.read_bytes() == b"one\nmore\n"
    await bench.edit("a.txt", old="one", new="two")
    assert path.read_bytes() == b"two\nmore\n"


async def test_a_link_that_is_turned_after_the_difference_was_shown_diverts_nothing(bench):
    here, there = bench.write("here/a.txt", b"one\n"), bench.write("there/a.txt", b"one\n")
    folder = bench.cwd / "folder"
    folder.symlink_to("here")
    await bench.read("here/a.txt")
    await bench.read("there/a.txt")
    await bench.preview("folder/a.txt", old="one", new="two")
    folder.unlink()
    folder.symlink_to("there")
    assert "since the difference was shown" in await bench.refusal("folder/a.txt", old="one", new="two")
    assert "not to" in await bench.refusal("folder/a.txt", place=str(here), old="one", new="two")
    assert here.read_bytes() == there.read_bytes() == b"one\n"
    await bench.edit("folder/a.txt", place=str(there), old="one", new="two")
    assert there.read_bytes() == b"two\n"


async def test_a_new_file_that_comes_into_being_after_it_was_shown_is_not_overwritten(bench):
    await bench.preview("a.txt", content="mine")
    path = bench.write("a.txt", b"theirs")
    assert "was not read" in await bench.refusal("a.txt", content="mine")
    assert path.read_bytes() == b"theirs"


async def test_a_folder_that_cannot_be_written_leaves_file_and_undo_as_they_were(bench):
    if os.geteuid() == 0:
        path = bench.write("a.txt", b"one\n")
        await bench.read("a.txt")
        (bench.output / "session1").parent.mkdir(parents=True, exist_ok=True)
        (bench.output / "session1").write_bytes(b"in the way")
        assert "cannot be kept for /undo" in await bench.refusal("a.txt", old="one", new="two")
    else:
        path = bench.write("shut/a.txt", b"one\n")
        await bench.read("shut/a.txt")
        path.parent.chmod(0o500)
        assert "cannot be written" in await bench.refusal("shut/a.txt", old="one", new="two")
        path.parent.chmod(0o700)
        with pytest.raises(ToolFailure, match="there is no edit"):
            await bench.undo("shut/a.txt")
    assert path.read_bytes() == b"one\n"


@pytest.mark.parametrize("enabled", [True, False])
async def test_edits_are_undone_one_by_one_and_a_made_file_goes(tmp_path, monkeypatch, enabled):
    bench = Bench(tmp_path, monkeypatch, enabled=enabled)
    path = bench.cwd / "a.txt"
    await bench.edit("a.txt", call="00000001", content="one\n")
    await bench.edit("a.txt", call="00000002", old="one", new="two")
    await bench.edit("a.txt", call="00000003", append="three\n")
    assert bench.output.exists() is enabled
    await bench.undo("")
    assert path.read_bytes() == b"two\n"
    assert "was not read" in await bench.refusal("a.txt", append="x")
    await bench.undo("a.txt")
    assert path.read_bytes() == b"one\n"
    assert "is gone again" in await bench.undo("a.txt")
    assert not path.exists()
    with pytest.raises(ToolFailure, match="there is no edit"):
        await bench.undo("a.txt")
    assert not enabled or not list((bench.output / "session1").iterdir())


async def test_what_changed_since_the_edit_is_not_undone(bench):
    path = bench.write("a.txt", b"one\n")
    await bench.read("a.txt")
    await bench.edit("a.txt", old="one", new="two")
    path.write_bytes(b"mine\n")
    with pytest.raises(ToolFailure, match="has changed since the edit"):
        await bench.undo("a.txt")
    path.unlink()
    with pytest.raises(ToolFailure, match="is gone"):
        await bench.undo("a.txt")


async def test_what_a_file_held_is_kept_for_its_owner_alone(bench):
    bench.write("a.txt", b"one\n").chmod(0o644)
    await bench.read("a.txt")
    await bench.edit("a.txt", old="one", new="two")
    kept = list((bench.output / "session1").iterdir())
    assert len(kept) == 2
    assert {stat.S_IMODE(path.stat().st_mode) for path in kept} == {0o600}
    assert b"one\n" in {path.read_bytes() for path in kept}


async def test_a_long_difference_is_shown_bounded_and_kept_whole(bench):
    await bench.edit("a.txt", call="3f9a2c1b", content="".join(f"line {n}\n" for n in range(5000)))
    result = bench.last
    assert len(result.text.encode()) <= 4096
    assert "held back" in result.text
    assert result.kept.call == "3f9a2c1b"
    stored = (bench.output / "session1/3f9a2c1b").read_text()
    assert stored.count("\n+line ") == 5000
    assert result.lines == stored.count("\n")


async def test_a_cancelled_edit_is_written_whole_or_not_at_all(bench):
    path = bench.write("a.txt", b"one\n")
    await bench.read("a.txt")
    task = asyncio.ensure_future(bench.edit("a.txt", content="two\n" * 100_000))
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert path.read_bytes() in (b"one\n", b"two\n" * 100_000)
    assert [each.name for each in bench.cwd.iterdir()] == ["a.txt"]


@pytest.mark.skipif(not shutil.which("patch"), reason="no patch program")
async def test_the_program_patch_takes_the_difference(bench, tmp_path):
    before = b"".join(b"line %d\n" % n for n in range(100))
    path = bench.write("a.txt", before)
    await bench.read("a.txt")
    after = before.replace(b"line 10\n", b"ten\n").replace(b"line 80\n", b"").replace(b"line 50\n", b"50\nfifty\n")
    shown = await bench.preview("a.txt", content=after.decode())
    subprocess.run(["patch", "-s", str(path)], input=shown.encode(), check=True, cwd=tmp_path)
    assert path.read_bytes() == after
