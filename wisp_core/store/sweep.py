"""Removes the outputs of sessions that nobody used for long, and nothing that wisp did not write (O14)."""

import fcntl
import math
import os
import re
import stat
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from wisp_core.settings import Outputs

DAY_SECONDS = 86_400
_SESSION = re.compile(r"[0-9a-f]{24}")
# An output, its record, what an edit replaced and its record; each may have been left half written.
_FILE = re.compile(r"[0-9a-f]{8}(?:\.json|\.edit|\.before)?(?:\.part)?")


@dataclass(frozen=True, slots=True)
class Stale:
    """What may go of a session's folder: the files that wisp wrote, and what they take in bytes.

    `foreign` tells that something else lies there, with which the folder stays.
    """

    folder: Path
    names: tuple[str, ...]
    bytes: int
    foreign: bool


@dataclass(frozen=True, slots=True)
class Swept:
    """What a sweep removed: sessions by id, files, bytes; `more` tells that it stopped before the end."""

    sessions: tuple[str, ...] = ()
    files: int = 0
    bytes: int = 0
    more: bool = False


def sweep(folder: Path, limits: Outputs, *, days: float, lives: Callable[[str], bool]) -> Swept:
    """Remove the outputs of sessions unused for `days` (0: never), oldest first, within the limits.

    A session that `lives` keeps its own. What cannot be removed stays for a later sweep.
    """
    deadline = time.monotonic() + limits.sweep_seconds
    sessions: list[str] = []
    files = size = 0
    for stale in find_stale(folder, days=days, lives=lives, deadline=deadline):
        if len(sessions) >= limits.sweep_sessions:
            return Swept(tuple(sessions), files, size, more=True)
        with suppress(OSError):
            files += _remove(stale)
            size += stale.bytes
            sessions.append(stale.folder.name)
    return Swept(tuple(sessions), files, size, more=time.monotonic() > deadline)


def find_stale(
    folder: Path, *, days: float, lives: Callable[[str], bool], deadline: float = math.inf
) -> Iterator[Stale]:
    """Yield the sessions' folders that may go, oldest first, until `deadline` (of the monotonic clock)."""
    if days <= 0:
        return
    before = time.time() - days * DAY_SECONDS
    for name in _names(folder):
        if time.monotonic() > deadline:
            return
        with suppress(OSError):
            stale = _judge(folder / name, before) if _SESSION.fullmatch(name) else None
            if stale is not None and not lives(name):
                yield stale


def measure(folder: Path) -> tuple[int, int]:
    """Return how many sessions have a folder in the store, and what all their files take in bytes."""
    sessions = size = 0
    for name in _names(folder):
        with suppress(OSError), os.scandir(folder / name) as entries:
            sessions += 1
            size += sum(entry.stat(follow_symlinks=False).st_size for entry in entries)
    return sessions, size


def _names(folder: Path) -> list[str]:
    try:
        return sorted(os.listdir(folder))
    except OSError:
        return []


def _judge(folder: Path, before: float) -> Stale | None:
    """Return what may go of a session's folder, None where that is nothing: the newest change in it is its last use."""
    found = folder.lstat()
    if not stat.S_ISDIR(found.st_mode) or found.st_mtime >= before:
        return None
    names: list[str] = []
    size, foreign = 0, False
    with os.scandir(folder) as entries:
        for entry in entries:
            status = entry.stat(follow_symlinks=False)
            if status.st_mtime >= before:
                return None
            if _FILE.fullmatch(entry.name) and stat.S_ISREG(status.st_mode):
                names.append(entry.name)
                size += status.st_size
            else:
                foreign = True
    return None if foreign and not names else Stale(folder, tuple(names), size, foreign)


def _remove(stale: Stale) -> int:
    """Remove the files by the folder's handle, so that no link put in its place leads elsewhere; return how many."""
    handle = os.open(stale.folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        # Two wisps that start together share the work.
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        for name in stale.names:
            with suppress(FileNotFoundError):
                os.unlink(name, dir_fd=handle)
    finally:
        os.close(handle)
    if not stale.foreign:
        stale.folder.rmdir()
    return len(stale.names)
