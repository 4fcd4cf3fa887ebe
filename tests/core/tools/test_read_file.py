"""The tool read_file, on real files, by real protected paths."""

import asyncio
import os
import re
import socket

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wisp_core.errors import ToolFailure
from wisp_core.permissions.paths import ProtectedPaths
from wisp_core.settings import Outputs as Limits
from wisp_core.text import decode
from wisp_core.tools.budget import Budget
from wisp_core.tools.page import cut_page
from wisp_core.tools.read_file import ReadFile
from wisp_core.tools.registry import Registry

CALL = "3f9a2c1b"


class Desk:
    """A working directory, a person's home, a wisp home, and read_file over them."""

    def __init__(self, folder, monkeypatch):
        self.user, self.wisp, self.cwd = folder / "user", folder / "user/.wisp", folder / "user/work"
        for each in (self.user, self.wisp, self.cwd):
            each.mkdir()
        monkeypatch.setenv("HOME", str(self.user))
        self.budget = Budget(Limits())
        self.tools = Registry(
            [ReadFile(self.cwd, budget=self.budget, protection=ProtectedPaths(self.wisp, user_home=self.user))]
        )

    def write(self, name, data):
        path = self.cwd / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data if isinstance(data, bytes) else data.encode())
        return path

    async def read(self, path, **given):
        result = await self.tools.run("read_file", {"path": str(path), **given}, call=CALL, progress=print)
        assert result.bytes == len(result.text.encode()) <= self.budget.bytes
        assert result.lines == len(result.text.split("\n"))
        return result.text

    async def refusal(self, path, **given):
        with pytest.raises(ToolFailure) as failure:
            await asyncio.wait_for(self.read(path, **given), 10)
        assert "\n" not in str(failure.value)
        return str(failure.value)


@pytest.fixture
def desk(tmp_path, monkeypatch):
    return Desk(tmp_path, monkeypatch)


async def test_lines_are_numbered_and_the_end_is_said(desk):
    desk.write("a.txt", "one\n\nthree")
    assert await desk.read("a.txt") == "1\tone\n2\t\n3\tthree\n[end of file]"


async def test_a_page_ends_with_where_the_next_one_starts(desk):
    desk.write("a.txt", "".join(f"line {n}\n" for n in range(1, 2001)))
    text, number = await desk.read("a.txt"), 0
    while True:
        *lines, trailer = text.split("\n")
        for line in lines:
            number += 1
            assert line == f"{number}\tline {number}"
        if trailer == "[end of file]":
            break
        assert trailer == f"more from offset {number + 1}"
        text = await desk.read("a.txt", offset=number + 1)
    assert number == 2000


async def test_offset_and_limit_choose_the_lines(desk):
    desk.write("a.txt", "".join(f"line {n}\n" for n in range(1, 11)))
    assert await desk.read("a.txt", offset=4, limit=2) == "4\tline 4\n5\tline 5\nmore from offset 6"
    assert await desk.read("a.txt", offset=9, limit=2) == "9\tline 9\n10\tline 10\n[end of file]"
    assert "has 10 lines; there is no line 11" in await desk.refusal("a.txt", offset=11)


async def test_an_empty_file_says_so(desk):
    desk.write("a.txt", "")
    assert await desk.read("a.txt") == "[the file is empty]\n[end of file]"


async def test_crlf_is_shown_as_such(desk):
    desk.write("a.txt", "one\r\ntwo\r\n")
    assert await desk.read("a.txt") == "1\tone\n2\ttwo\n[line ends: CRLF]\n[end of file]"
    desk.write("b.txt", "one\r\ntwo\nthree\r\n")
    assert await desk.read("b.txt") == (
        "1\tone␍\n2\ttwo\n3\tthree␍\n[line ends: CRLF where ␍ stands, else LF]\n[end of file]"
    )


async def test_a_huge_line_is_cut_inside_with_a_marker_and_the_next_line_follows(desk):
    desk.write("a.txt", "start" + "漢" * 1_000_000 + "end\nnext\n")
    text = await desk.read("a.txt")
    lines = text.split("\n")
    assert re.fullmatch(r"1\tstart漢+\[… 2\.\d MiB of this line held back …\]漢+end", lines[0])
    assert lines[1:] == ["2\tnext", "[end of file]"]


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"\x89PNG\r\n\x1a\n" + bytes(100), "is a PNG image of 108 bytes"),
        (b"\xff\xd8\xff\xe0" + bytes(2000), "is a JPEG image of 2 KiB"),
        (b"RIFF\0\0\0\0WEBPVP8 ", "is a WebP image"),
        (b"%PDF-1.7\n\0", "is a PDF document"),
        (b"\x7fELF\2\1", "is an ELF program"),
        (bytes(range(128, 256)) * 8, "is a binary file"),
        (b"text with\0a NUL", "is a binary file"),
    ],
)
async def test_a_binary_file_is_described_not_read(desk, data, said):
    desk.write("thing", data)
    if data.startswith(b"\x7fELF"):
        desk.write("thing", data + b"\0")
    text = await desk.read("thing")
    assert said in text
    assert "it is not shown" in text
    assert "\n" not in text


async def test_text_that_is_not_utf8_is_read_and_said(desk):
    desk.write("latin", "caf\xe9 au lait, a longer line of text\n".encode("latin-1"))
    assert await desk.read("latin") == (
        "1\tcaf\ufffd au lait, a longer line of text\n[bytes that are no UTF-8 are shown as \ufffd]\n[end of file]"
    )
    desk.write("wide", "one\r\nzwei 漢\r\n".encode("utf-16"))
    assert await desk.read("wide") == "1\tone\n2\tzwei 漢\n[line ends: CRLF]\n[UTF-16]\n[end of file]"
    desk.write("bom", b"\xef\xbb\xbfone\n")
    assert await desk.read("bom") == "1\tone\n[UTF-8 with a byte order mark]\n[end of file]"


async def test_a_missing_file_names_the_nearest_that_exists(desk):
    there = desk.write("docs/overview.md", "x")
    assert f"the nearest that exists is {there}" in await desk.refusal("docs/overveiw.md")
    assert f"the nearest that exists is {there.parent}" in await desk.refusal("doc/overview.md")
    assert f"the nearest that exists is {desk.cwd}" in await desk.refusal("zzzz/qqqq/xxxx")
    assert "the nearest that exists" in await desk.refusal("docs/overview.md/inside")
    (desk.cwd / "dangling").symlink_to("nowhere")
    assert "is a link to nowhere, which does not exist" in await desk.refusal("dangling")


async def test_what_is_no_file_is_refused_without_waiting(desk):
    os.mkfifo(desk.cwd / "fifo")
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(desk.cwd / "socket"))
    (desk.cwd / "zero").symlink_to("/dev/zero")
    assert "is a directory" in await desk.refusal(".")
    assert "is a FIFO" in await desk.refusal("fifo")
    assert "is a socket" in await desk.refusal("socket")
    for device in ("zero", "/dev/zero", "/dev/tty", "/dev/stdin"):
        await desk.refusal(device)
    for pseudo in ("/proc/self/environ", "/proc/kmsg", "/proc/self/mem", "/sys/kernel/notes"):
        if os.path.exists(pseudo):
            await desk.refusal(pseudo)


async def test_a_file_that_may_not_be_read_says_why(desk):
    path = desk.write("a.txt", "x")
    path.chmod(0)
    if os.access(path, os.R_OK):
        pytest.skip("root reads everything")
    assert "Permission denied" in await desk.refusal("a.txt")


async def test_a_sparse_file_of_a_terabyte_costs_nothing(desk):
    path = desk.write("big", "text first\n" * 1000)
    os.truncate(path, 1024**4)
    assert (await desk.read("big")).startswith("1\ttext first\n")


async def test_cancelling_stops_reading(desk):
    path = desk.write("big", "text first\n" * 1000)
    os.truncate(path, 1024**4)
    reading = asyncio.ensure_future(desk.read("big", offset=2_000))
    for _ in range(5):
        await asyncio.sleep(0)
    reading.cancel()
    with pytest.raises(asyncio.CancelledError):
        await reading


async def test_a_tilde_is_the_persons_home(desk):
    (desk.user / "note.txt").write_text("mine\n")
    assert "mine" in await desk.read("~/note.txt")


async def test_protected_paths_are_never_read(desk):
    for name in (".ssh/id_rsa", ".gnupg/key", ".aws/credentials", ".netrc", ".mozilla/firefox/logins.json"):
        path = desk.user / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("secret\n")
        for asked in (f"~/{name}", path, f"../{name}", f"../work/../{name}"):
            said = await desk.refusal(asked)
            assert "is protected" in said
            assert "secret\n" not in said
    (desk.wisp / "config.json").write_text("{}")
    assert "is protected" in await desk.refusal("~/.wisp/config.json")
    # Nor is it told what is in there.
    assert "is protected" in await desk.refusal("~/.ssh/id_rs")


async def test_no_link_leads_to_a_protected_path(desk):
    secret = desk.user / ".ssh/id_rsa"
    secret.parent.mkdir()
    secret.write_text("secret\n")
    (desk.cwd / "link").symlink_to(secret)
    (desk.cwd / "chain").symlink_to("link")
    (desk.cwd / "folder").symlink_to(secret.parent)
    os.link(secret, desk.cwd / "hard")
    (desk.wisp / "skills").mkdir()
    (desk.wisp / "skills/out").symlink_to(secret)
    for asked in ("link", "chain", "folder/id_rsa", "hard", "~/.wisp/skills/out"):
        assert "is protected" in await desk.refusal(asked)


async def test_a_protected_folder_that_is_a_link_is_protected_where_it_leads(desk):
    real = desk.user / "elsewhere"
    real.mkdir()
    (real / "id_rsa").write_text("secret\n")
    (desk.user / ".ssh").symlink_to(real)
    assert "is protected" in await desk.refusal("~/.ssh/id_rsa")
    assert "is protected" in await desk.refusal("~/elsewhere/id_rsa")


async def test_skills_may_be_read_unless_they_are_a_way_out(desk):
    skill = desk.wisp / "skills/one/SKILL.md"
    skill.parent.mkdir(parents=True)
    skill.write_text("how\n")
    (desk.wisp / "config.json").write_text("{}")
    assert "1\thow" in await desk.read("~/.wisp/skills/one/SKILL.md")
    (desk.wisp / "skills/one/out").symlink_to(desk.wisp / "config.json")
    assert "is protected" in await desk.refusal("~/.wisp/skills/one/out")
    assert "is protected" in await desk.refusal("~/.wisp/skills/../config.json")


async def test_skills_that_lead_to_a_secret_open_nothing(desk):
    (desk.user / ".ssh").mkdir()
    (desk.user / ".ssh/id_rsa").write_text("secret\n")
    (desk.wisp / "skills").symlink_to(desk.user / ".ssh")
    assert "is protected" in await desk.refusal("~/.ssh/id_rsa")
    assert "is protected" in await desk.refusal("~/.wisp/skills/id_rsa")


async def test_an_ordinary_hard_link_is_read(desk):
    os.link(desk.write("a.txt", "fine\n"), desk.cwd / "b.txt")
    assert "fine" in await desk.read("b.txt")


contents = st.lists(
    st.one_of(
        st.text(max_size=30).map(str.encode), st.binary(max_size=30), st.integers(0, 900).map(lambda n: b"x" * n)
    ),
    max_size=60,
).map(b"\n".join)


@given(
    contents, st.integers(1, 70), st.one_of(st.none(), st.integers(1, 9)), st.integers(300, 2000), st.integers(1, 64)
)
def test_a_page_is_the_files_own_lines_whatever_the_blocks(data, offset, limit, room, block):
    blocks = [data[at : at + block] for at in range(0, len(data), block)]
    page = cut_page(blocks, offset=offset, limit=limit, room=room)
    lines = data.split(b"\n")
    if lines[-1] == b"":
        lines.pop()
    for place, shown in enumerate(page.shown):
        assert shown.number == offset + place
        own = lines[shown.number - 1]
        own = own[:-1] if shown.end == "\r\n" else own
        assert shown.text == decode(own) or " of this line held back …]" in shown.text
    after = page.shown[-1].number + 1 if page.shown else offset
    assert page.next == (after if page.shown and after <= len(lines) else None)
    assert bool(page.shown) == (offset <= len(lines))
    assert sum(len(f"{shown.number}\t{shown.text}␍\n".encode()) for shown in page.shown) <= max(room, 64 + 24)
    if limit:
        assert len(page.shown) <= limit
