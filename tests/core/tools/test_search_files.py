"""The tool search_files, in real folders, by Python and by ripgrep where it is."""

import asyncio
import os
import re
import shutil
import subprocess
import time

import pytest

from wisp_core.errors import ToolFailure
from wisp_core.permissions.paths import ProtectedPaths
from wisp_core.settings import Outputs as Limits
from wisp_core.store.outputs import Outputs
from wisp_core.tools.budget import Budget
from wisp_core.tools.registry import Registry
from wisp_core.tools.result import Results
from wisp_core.tools.search_files import SearchFiles

CALL = "3f9a2c1b"


class Folder:
    """A working directory in a person's home, and search_files over it."""

    def __init__(self, folder, monkeypatch, *, seconds=20.0):
        self.user, self.cwd = folder / "user", folder / "user/work"
        self.cwd.mkdir(parents=True)
        monkeypatch.setenv("HOME", str(self.user))
        monkeypatch.setenv("TMPDIR", str(folder / "temporary"))
        (folder / "temporary").mkdir()
        monkeypatch.setattr("tempfile.tempdir", None)
        self.output, self.temporary = folder / "output", folder / "temporary"
        results = Results(Budget(Limits()), Outputs(self.output, "session1", limits=Limits()))
        protection = ProtectedPaths(self.user / ".wisp", user_home=self.user)
        self.tools = Registry([SearchFiles(self.cwd, results, protection=protection, seconds=seconds)])

    def write(self, name, data):
        path = self.cwd / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data if isinstance(data, bytes) else data.encode())
        return path

    async def result(self, pattern, path=None):
        given = {"pattern": pattern} | ({} if path is None else {"path": path})
        return await asyncio.wait_for(self.tools.run("search_files", given, call=CALL, progress=print), 30)

    async def search(self, pattern, path=None):
        found = (await self.result(pattern, path)).text.split("\n")
        assert not list(self.temporary.iterdir())
        return found


def hide_ripgrep(folder, monkeypatch):
    """Leave on the PATH what a search needs, and no ripgrep."""
    (folder / "bin").mkdir()
    for name in ("git", "sh"):
        (folder / "bin" / name).symlink_to(shutil.which(name))
    monkeypatch.setenv("PATH", str(folder / "bin"))


@pytest.fixture(params=["python", "rg"])
def folder(request, tmp_path, monkeypatch):
    if request.param == "rg" and not shutil.which("rg"):
        pytest.skip("no ripgrep")
    if request.param == "python":
        hide_ripgrep(tmp_path, monkeypatch)
    return Folder(tmp_path, monkeypatch)


async def test_a_find_is_a_path_a_line_number_and_the_line(folder):
    folder.write("b.py", "import os\r\ndef f():\r\n    return os\r\n")
    folder.write("src/a.py", "x = 1\nimport os")
    assert await folder.search(r"import \w+") == ["b.py:1: import os", "src/a.py:2: import os"]
    assert await folder.search("os", "src") == ["src/a.py:2: import os"]
    assert await folder.search("^    return", "b.py") == ["b.py:3:     return os"]
    assert await folder.search("os$", f"{folder.cwd}/src/a.py") == [f"{folder.cwd}/src/a.py:2: import os"]
    assert await folder.search("absent") == ["[no line found in 2 files]"]
    assert await folder.search("(?i)IMPORT", "**/*.py") == ["b.py:1: import os", "src/a.py:2: import os"]
    assert await folder.search("import", "*.py") == ["b.py:1: import os"]
    assert await folder.search("import", "src/*.{js,py}") == ["src/a.py:2: import os"]


async def test_what_python_takes_is_found_whoever_searches(folder):
    folder.write("a.txt", "foobar\nfoobaz\nabab\n")
    assert await folder.search(r"foo(?!bar)") == ["a.txt:2: foobaz"]
    assert await folder.search(r"^(ab)\1$") == ["a.txt:3: abab"]


async def test_a_pattern_that_is_no_regular_expression_is_taken_literally_and_that_is_said(folder):
    folder.write("a.c", "call(a, b[0]\n")
    *found, note = await folder.search("call(a, b[0")
    assert found == ["a.c:1: call(a, b[0]"]
    assert re.fullmatch(r"\[the pattern is no regular expression \(.+\), so it was taken literally\]", note)


async def test_a_pattern_is_never_an_option_nor_a_command(folder, tmp_path):
    folder.write("--files", "-v x\n")
    folder.write("a.txt", "$(touch ran) ; `id` 'q' \"d\"\n")
    assert await folder.search("-v") == ["--files:1: -v x"]
    assert await folder.search(r"\$\(touch ran\) ; `id` 'q' \"d\"") == ["a.txt:1: $(touch ran) ; `id` 'q' \"d\""]
    assert {path.name for path in folder.cwd.iterdir()} == {"--files", "a.txt"}


async def test_what_git_ignores_and_binary_files_are_left_out(folder):
    subprocess.run(["git", "init", "-q"], cwd=folder.cwd, check=True)
    folder.write(".gitignore", "*.log\n")
    folder.write("a.log", "needle\n")
    folder.write("b.bin", b"needle\n\0\1\2\n")
    folder.write(".hidden/c.txt", "needle\n")
    assert await folder.search("needle") == [".hidden/c.txt:1: needle"]
    assert await folder.search("needle", "a.log") == ["a.log:1: needle"]
    assert await folder.search("needle", "b.bin") == ["[no line found in 1 file]"]


async def test_links_out_of_the_folder_are_not_followed(folder, tmp_path):
    (tmp_path / "outside.txt").write_text("needle\n")
    (folder.cwd / "link.txt").symlink_to(tmp_path / "outside.txt")
    (folder.cwd / "folder").symlink_to(tmp_path)
    folder.write("a.txt", "needle\n")
    assert await folder.search("needle") == ["a.txt:1: needle"]
    assert await folder.search("needle", "link.txt") == ["link.txt:1: needle"]


async def test_what_is_protected_is_never_shown(folder):
    keys = folder.user / ".ssh"
    keys.mkdir()
    (keys / "config").write_text("needle\n")
    (folder.user / ".netrc").write_text("needle\n")
    os.link(keys / "config", folder.cwd / "hard")
    (folder.cwd / "keys").symlink_to(keys)
    folder.write("a.txt", "needle\n")
    assert await folder.search("needle", "..") == ["../work/a.txt:1: needle"]
    assert await folder.search("needle") == ["a.txt:1: needle"]
    for path in ("~/.ssh", "~/.netrc", "keys/*", "keys/config"):
        with pytest.raises(ToolFailure, match="protected"):
            await folder.search("needle", path)


async def test_a_long_line_is_cut(folder):
    folder.write("a.js", "x" * 200_000 + "needle" + "y" * 200_000)
    (line,) = await folder.search("x{10}needle|^x+")
    assert len(line) < 500
    assert line.startswith("a.js:1: ")


async def test_bytes_that_are_no_utf_8_and_names_of_any_kind_are_shown_on_one_line(folder):
    folder.write("a\x1b[2J.txt", b"needle \xff\x1b[31m\n")
    assert await folder.search("needle") == ["a<U+001B>[2J.txt:1: needle \ufffd\x1b[31m"]


async def test_many_finds_are_bounded_and_kept_whole(folder):
    folder.write("a.txt", "".join(f"needle {n}\n" for n in range(5000)))
    result = await folder.result("needle")
    assert result.lines == 5000
    assert len(result.text.encode()) <= 4096
    assert (folder.output / "session1" / CALL).read_text().count("\n") == 5000


async def test_more_files_with_finds_than_are_shown_are_said(folder):
    for number in range(2003):
        folder.write(f"{number:04}.txt", "needle\n")
    await folder.result("needle")
    stored = (folder.output / "session1" / CALL).read_text().splitlines()
    assert stored[-2:] == [
        "1999.txt:1: needle",
        "[only the first 2,000 of 2,003 files with finds; make the pattern narrower]",
    ]


async def test_more_finds_than_can_be_kept_are_said(folder):
    folder.write("a.txt", ("needle " + "x" * 300 + "\n") * 20_000)
    result = await folder.result("needle")
    assert "more lines were found than can be kept" in (folder.output / "session1" / CALL).read_text()
    assert result.ok


async def test_a_pattern_that_never_ends_is_ended_and_what_was_found_stays(tmp_path, monkeypatch):
    hide_ripgrep(tmp_path, monkeypatch)
    folder = Folder(tmp_path, monkeypatch, seconds=0.5)
    folder.write("a.txt", "aaa\n")
    folder.write("b.txt", "a" * 60 + "b\n")
    began = time.monotonic()
    assert await folder.search("^(a+)+$") == [
        "a.txt:1: aaa",
        "[stopped after 0.5 s: not everything was searched; make the pattern simpler]",
    ]
    assert time.monotonic() - began < 10


async def test_an_interrupted_search_leaves_no_process(tmp_path, monkeypatch):
    hide_ripgrep(tmp_path, monkeypatch)
    folder = Folder(tmp_path, monkeypatch)
    folder.write("b.txt", "a" * 60 + "b\n")
    task = asyncio.ensure_future(folder.search(r"^(?=x?)(a+)+$"))
    while not list(folder.temporary.iterdir()):
        await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert not list(folder.temporary.iterdir())
