"""The tool list_files, in real folders and real git repositories."""

import asyncio
import os
import stat
import subprocess

import pytest

from wisp_core.errors import ToolFailure
from wisp_core.permissions.paths import ProtectedPaths
from wisp_core.settings import Outputs as Limits
from wisp_core.store.outputs import Outputs
from wisp_core.tools.budget import Budget
from wisp_core.tools.globs import matches, split_glob
from wisp_core.tools.list_files import ListFiles
from wisp_core.tools.registry import Registry
from wisp_core.tools.result import Results

CALL = "3f9a2c1b"


class Folder:
    """A working directory in a person's home, and list_files over it."""

    def __init__(self, folder, monkeypatch):
        self.user, self.cwd = folder / "user", folder / "user/work"
        self.cwd.mkdir(parents=True)
        monkeypatch.setenv("HOME", str(self.user))
        self.output = folder / "output"
        results = Results(Budget(Limits()), Outputs(self.output, "session1", limits=Limits()))
        protection = ProtectedPaths(self.user / ".wisp", user_home=self.user)
        self.tools = Registry([ListFiles(self.cwd, results, protection=protection)])

    def write(self, *names):
        for name in names:
            path = self.cwd / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text("text\n")

    def git(self, *arguments):
        subprocess.run(["git", *arguments], cwd=self.cwd, check=True, capture_output=True)

    async def result(self, path=None):
        given = {} if path is None else {"path": path}
        return await asyncio.wait_for(self.tools.run("list_files", given, call=CALL, progress=print), 20)

    async def list(self, path=None):
        return (await self.result(path)).text.split("\n")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    return Folder(tmp_path, monkeypatch)


@pytest.fixture(params=["plain", "git"])
def either(request, folder):
    if request.param == "git":
        folder.git("init", "-q")
    return folder


async def test_a_directory_is_listed_sorted_with_its_folders_marked(either):
    either.write("b.txt", "a.txt", "src/main.py", ".hidden")
    (either.cwd / "empty").mkdir()
    assert await either.list() == [".hidden", "a.txt", "b.txt", "empty/", "src/"]
    assert await either.list("src") == await either.list("src/") == ["src/main.py"]
    assert await either.list(str(either.cwd / "src")) == [f"{either.cwd}/src/main.py"]
    assert await either.list("a.txt") == ["a.txt (5 bytes)"]
    assert await either.list("empty") == ["[the directory is empty]"]


async def test_a_glob_finds_files_at_its_depth_or_at_any(either):
    either.write("a.py", "src/b.py", "src/deep/c.py", "src/deep/d.ts", "src/e.txt")
    assert await either.list("*.py") == ["a.py"]
    assert await either.list("**/*.py") == ["a.py", "src/b.py", "src/deep/c.py"]
    assert await either.list("src/**/*.{py,ts}") == ["src/b.py", "src/deep/c.py", "src/deep/d.ts"]
    assert await either.list("src/*") == ["src/b.py", "src/deep/", "src/e.txt"]
    assert await either.list("*.ts") == ["[nothing matches *.ts; **/*.ts looks at any depth]"]
    assert await either.list("**/*.rs") == ["[nothing matches **/*.rs]"]


async def test_what_git_ignores_is_left_out_and_what_it_tracks_is_not(folder):
    folder.git("init", "-q")
    folder.write(".gitignore", "a.log", "build/out.o", "kept.log", "src/b.py", "src/gone.py")
    (folder.cwd / ".gitignore").write_text("*.log\nbuild/\n")
    folder.git("add", "-f", "kept.log", "src/gone.py")
    (folder.cwd / "src/gone.py").unlink()
    assert await folder.list() == [".gitignore", "kept.log", "src/"]
    assert await folder.list("**/*.*") == [".gitignore", "kept.log", "src/b.py"]
    assert await folder.list("build") == ["build/out.o"]


async def test_without_git_caches_are_left_out(folder):
    folder.write("a.py", "__pycache__/a.pyc", "node_modules/x/index.js", ".venv/bin/python", "src/__pycache__/b.pyc")
    assert await folder.list("**") == ["a.py"]
    assert await folder.list() == ["a.py", "src/"]
    assert await folder.list("node_modules/**") == ["node_modules/x/", "node_modules/x/index.js"]


async def test_a_repository_runs_nothing_when_it_is_listed(folder, tmp_path):
    folder.git("init", "-q")
    folder.write("a.txt")
    hook = tmp_path / "hook"
    hook.write_text(f"#!/bin/sh\ntouch {tmp_path}/ran\n")
    hook.chmod(hook.stat().st_mode | stat.S_IXUSR)
    folder.git("config", "core.fsmonitor", str(hook))
    assert await folder.list() == ["a.txt"]
    assert not (tmp_path / "ran").exists()


async def test_another_repository_in_the_environment_is_not_listed(folder, tmp_path, monkeypatch):
    folder.git("init", "-q")
    folder.write("a.txt")
    monkeypatch.setenv("GIT_DIR", str(tmp_path / "other"))
    assert await folder.list() == ["a.txt"]


async def test_links_are_shown_and_never_followed(either, tmp_path):
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside/secret.txt").write_text("x")
    either.write("a.txt")
    (either.cwd / "out").symlink_to(tmp_path / "outside")
    (either.cwd / "loop").symlink_to(".")
    assert await either.list() == ["a.txt", "loop -> .", f"out -> {tmp_path}/outside"]
    assert await either.list("**/*.txt") == ["a.txt"]


async def test_what_lies_in_a_protected_folder_is_never_listed(either):
    keys = either.user / ".ssh"
    keys.mkdir()
    (keys / "id_rsa").write_text("x")
    (either.cwd / "keys").symlink_to(keys)
    either.write("a.txt")
    for path in ("~/.ssh", "../.ssh", "keys", "~/.ssh/*", "keys/*", "../.ssh/**/id*"):
        with pytest.raises(ToolFailure, match="protected"):
            await either.list(path)
    assert not [line for line in await either.list("../**") if "id_rsa" in line]
    assert not [line for line in await either.list("~/**/id*") if "rsa" in line]


async def test_a_name_is_one_line_whatever_is_in_it(either):
    either.write("a\nb", "c\x1b[31m", "d\u202ee")
    (either.cwd / os.fsdecode(b"f\xff")).write_text("x")
    assert await either.list() == ["a<U+000A>b", "c<U+001B>[31m", "d<U+202E>e", "f\ufffd"]


async def test_a_name_with_the_characters_of_a_glob_is_taken_as_it_is(either):
    either.write("app/[id]/page.tsx", "app/i/page.tsx")
    assert await either.list("app/[id]") == ["app/[id]/page.tsx"]
    assert await either.list("app/[id]/page.tsx") == ["app/[id]/page.tsx (5 bytes)"]


async def test_a_long_listing_is_bounded_and_kept_whole(folder):
    folder.write(*(f"some/folder/file-{n:04}.txt" for n in range(600)))
    result = await folder.result("**/*.txt")
    assert result.lines == 600
    assert len(result.text.encode()) <= 4096
    assert "held back" in result.text
    assert (folder.output / "session1" / CALL).read_text().count("\n") == 600


async def test_what_is_not_there_names_the_nearest(folder):
    folder.write("source/a.py")
    for path in ("sorce", "sorce/*.py"):
        with pytest.raises(ToolFailure, match=r"the nearest that exists is .*/source"):
            await folder.list(path)
    with pytest.raises(ToolFailure, match="is a file"):
        await folder.list("source/a.py/*")


@pytest.mark.parametrize(
    ("glob", "path", "expected"),
    [
        ("*", "a", True),
        ("*", "a/b", False),
        ("**", "a/b", True),
        ("**/b", "b", True),
        ("**/b", "a/a/b", True),
        ("a/**/b", "a/b", True),
        ("a/**", "b/a", False),
        ("?.py", "a.py", True),
        ("[ab].py", "c.py", False),
        ("{a,b{c,d}}", "bd", True),
        ("{a", "{a", True),
        ("a}", "a}", True),
        ("*a*a*a*a*a*a*a*a*a*a*b", "a" * 4000, False),
        ("**/**/**/**/**/**/x", "a/" * 500 + "y", False),
        ("{a,b}" * 40, "a" * 40, False),
    ],
)
def test_a_glob_matches_names_in_bounded_time(glob, path, expected):
    assert matches(glob, path) is expected


@pytest.mark.parametrize(
    ("glob", "parts"),
    [
        ("src/**/*.py", ("src", "**/*.py")),
        ("*.py", (".", "*.py")),
        ("/*", ("/", "*")),
        ("/a/b", ("/a/b", "")),
        ("a/{b,c}", ("a", "{b,c}")),
    ],
)
def test_a_glob_starts_at_the_last_folder_that_is_plain(glob, parts):
    assert split_glob(glob) == parts
