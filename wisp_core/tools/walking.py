"""Names the files under a folder: those that git knows or would take, else all but caches; links are never followed."""

import asyncio
import os
import shlex
import shutil
import threading
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from wisp_core.records import new_id
from wisp_core.settings import MIB
from wisp_core.tools.files import Protection
from wisp_core.tools.process import Command, run_process

# What a repository may not do when it is only looked at: run a program of its own, wait, lock.
GIT = ("git", "-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null")
GIT_LIST = (*GIT, "ls-files", "-z", "--cached", "--others", "--exclude-standard", "--", ".")
GIT_SECONDS = 10.0
GIT_BYTES = 16 * MIB
WALK_SECONDS = 10.0
MOST_NAMES = 50_000
# fmt: off
SKIPPED = frozenset((
    ".git", ".hg", ".svn", ".jj", "node_modules", "__pycache__", ".venv", "venv", ".tox", ".nox", ".mypy_cache",
    ".pytest_cache", ".ruff_cache", ".cache", ".gradle", ".terraform", ".DS_Store",
))
# fmt: on


@dataclass(frozen=True, slots=True)
class Listing:
    """Sorted names relative to a folder, with /; `git` tells that what git ignores is left out, `cut` that more are."""

    names: tuple[str, ...]
    git: bool
    cut: bool


async def list_files_under(root: Path, *, protection: Protection, deep: bool = True) -> Listing:
    """Return the files under a folder, links among them and unfollowed; none in a protected folder.

    Where not `deep`, a walk without git stays in the folder itself and names its folders too.
    """
    names = await _git_files(root)
    stopped = threading.Event()
    try:
        if names:
            return await asyncio.to_thread(_known, root, names, protection=protection)
        return await asyncio.to_thread(_walked, root, protection=protection, deep=deep, stopped=stopped)
    finally:
        # A thread cannot be cancelled: it looks at this before each folder.
        stopped.set()


def quiet_environment() -> Mapping[str, str]:
    """Return the environment for a program that only looks: nothing of another repository, nothing that waits."""
    found = {key: value for key, value in os.environ.items() if not key.startswith("GIT_") and key != "LD_PRELOAD"}
    return {**found, "GIT_OPTIONAL_LOCKS": "0", "GIT_TERMINAL_PROMPT": "0", "LC_ALL": "C"}


async def _git_files(root: Path) -> list[str] | None:
    """Return the files under a folder that git has or would take, None where it is no git's or git is not there."""
    if shutil.which("git") is None:
        return None
    output = bytearray()

    def receive(stream: str, data: bytes) -> None:
        if stream == "stdout" and len(output) < GIT_BYTES:
            output.extend(data)

    command = Command("/bin/sh", f"exec {shlex.join(GIT_LIST)}", root, quiet_environment(), GIT_SECONDS, new_id())
    try:
        ended = await run_process(command, receive)
    except OSError:
        return None
    if ended.status or ended.timed_out:
        return None
    return [os.fsdecode(name) for name in bytes(output).split(b"\0")[:-1]]


def _known(root: Path, names: list[str], *, protection: Protection) -> Listing:
    """Return the named files that are there and in no protected folder."""
    allowed: dict[str, bool] = {}
    found: list[str] = []
    for name in sorted(set(names)):
        folder = name.rpartition("/")[0]
        if folder not in allowed:
            allowed[folder] = not protection.refuse_path(root / folder)
        if not allowed[folder] or not os.path.lexists(root / name):
            continue
        if len(found) == MOST_NAMES:
            return Listing(tuple(found), git=True, cut=True)
        found.append(name)
    return Listing(tuple(found), git=True, cut=False)


def _walked(root: Path, *, protection: Protection, deep: bool, stopped: threading.Event) -> Listing:
    found: list[str] = []
    end = time.monotonic() + WALK_SECONDS
    cut = False
    for name in _walk(root, protection=protection, deep=deep):
        if len(found) == MOST_NAMES or stopped.is_set() or time.monotonic() > end:
            cut = True
            break
        found.append(name)
    return Listing(tuple(sorted(found)), git=False, cut=cut)


def _walk(root: Path, *, protection: Protection, deep: bool) -> Iterator[str]:
    waiting = [""]
    while waiting:
        folder = waiting.pop()
        try:
            with os.scandir(root / folder) as entries:
                for entry in sorted(entries, key=lambda each: each.name):
                    name = f"{folder}{entry.name}"
                    if entry.name in SKIPPED:
                        continue
                    if not entry.is_dir(follow_symlinks=False):
                        yield name
                    elif not deep:
                        yield f"{name}/"
                    elif not protection.refuse_path(root / name):
                        waiting.append(f"{name}/")
        except OSError:
            continue
