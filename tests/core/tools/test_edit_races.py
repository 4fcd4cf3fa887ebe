"""Files, folders and links that are exchanged while edit_file is at work: it writes where it was let, or nowhere."""

import os
import shutil

import pytest

from tests.core.tools.editing import Bench
from wisp_core.errors import ToolFailure
from wisp_core.permissions.paths import ProtectedPaths


class Exchanging(ProtectedPaths):
    """The protection itself, which after its `after`-th judgement of a path lets `exchange` happen."""

    def __init__(self, home, *, user_home, after, exchange):
        super().__init__(home, user_home=user_home)
        self._left, self._exchange = after, exchange

    def refuse_path(self, path, *, writing=False):
        said = super().refuse_path(path, writing=writing)
        self._left -= 1
        if self._left == 0:
            self._exchange()
        return said


@pytest.fixture
def bench(tmp_path, monkeypatch):
    bench = Bench(tmp_path, monkeypatch)
    (bench.user / ".ssh").mkdir()
    (bench.user / ".ssh/config").write_bytes(b"one\n")
    return bench


@pytest.fixture(params=[1, 2, 3])
def when(request):
    return request.param


def exchange(bench, after, change):
    bench.protect(Exchanging(bench.wisp, user_home=bench.user, after=after, exchange=change))


def holds(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}


async def attempt(bench, name, **given):
    """Edit, and return why it was refused, empty where it was done."""
    try:
        await bench.edit(name, **given)
    except ToolFailure as refused:
        return str(refused)
    return ""


async def test_a_link_that_is_turned_to_a_protected_folder_leads_no_write_there(bench, when):
    inside = bench.write("here/config", b"one\n")
    link = bench.cwd / "folder"
    link.symlink_to("here")
    await bench.read("folder/config")

    def turn():
        link.unlink()
        link.symlink_to(bench.user / ".ssh")

    exchange(bench, when, turn)
    said = await attempt(bench, "folder/config", old="one", new="two")
    assert holds(bench.user / ".ssh") == {"config": b"one\n"}
    assert inside.read_bytes() == (b"one\n" if said else b"two\n")


async def test_a_folder_that_becomes_a_link_leads_no_new_file_away(bench, when):
    (bench.cwd / "folder").mkdir()

    def become_link():
        shutil.rmtree(bench.cwd / "folder")
        (bench.cwd / "folder").symlink_to(bench.user / ".ssh")

    exchange(bench, when, become_link)
    await attempt(bench, "folder/deep/er/new", content="x")
    assert sorted(os.listdir(bench.user / ".ssh")) == ["config"]


async def test_a_file_that_becomes_a_link_is_not_followed_when_it_is_written(bench, when):
    path = bench.write("a.txt", b"one\n")
    await bench.read("a.txt")

    def become_link():
        path.unlink()
        path.symlink_to(bench.user / ".ssh/config")

    exchange(bench, when, become_link)
    await attempt(bench, "a.txt", old="one", new="two")
    assert holds(bench.user / ".ssh") == {"config": b"one\n"}


async def test_a_file_that_is_replaced_while_it_is_edited_is_left_alone(bench):
    path = bench.write("a.txt", b"one\n")
    await bench.read("a.txt")
    exchange(bench, 2, lambda: os.replace(bench.write("b.txt", b"one\n"), path))
    assert "has changed meanwhile" in await bench.refusal("a.txt", old="one", new="two")
    assert holds(bench.cwd) == {"a.txt": b"one\n"}


async def test_a_new_file_that_another_makes_meanwhile_is_left_alone(bench):
    exchange(bench, 2, lambda: bench.write("a.txt", b"theirs\n"))
    assert "has come into being meanwhile" in await bench.refusal("a.txt", content="mine\n")
    assert holds(bench.cwd) == {"a.txt": b"theirs\n"}


async def test_a_new_link_that_another_makes_meanwhile_is_not_followed(bench):
    exchange(bench, 2, lambda: (bench.cwd / "a.txt").symlink_to(bench.user / ".ssh/new"))
    assert "has come into being meanwhile" in await bench.refusal("a.txt", content="mine\n")
    assert sorted(os.listdir(bench.user / ".ssh")) == ["config"]
