"""Finds and opens the file that a call names: never waited for, never a protected one, never what is no file."""

import difflib
import os
import stat
from itertools import islice
from pathlib import Path
from typing import Protocol

from wisp_core.errors import ToolFailure

# Of a directory at most this many names are looked at for the nearest.
NAMES_LOOKED_AT = 2000
PSEUDO_FOLDERS = ("/proc", "/sys", "/dev")


class Protection(Protocol):
    """Tells why a path may not be read or written, empty where it may."""

    def refuse_path(self, path: Path, *, writing: bool = False) -> str:
        """Judge a path before it is opened, symlinks resolved."""

    def refuse_opened(self, fd: int, path: Path, *, writing: bool = False) -> str:
        """Judge an open file by where it really is, and by device and inode."""


def locate(given: str, cwd: Path, *, protection: Protection, writing: bool = False) -> Path:
    """Return the path that a call names, to read it or for `writing`; a relative one starts at `cwd`.

    Raises:
        ToolFailure: it is protected.
    """
    path = cwd / (os.path.expanduser(given) if given.startswith("~") else given)
    _refuse(protection.refuse_path(path, writing=writing))
    return path


def open_file(path: Path, *, protection: Protection, writing: bool = False) -> int:
    """Return a descriptor of a regular file, opened for reading and judged by where it really is.

    With `writing` it is judged as one that will be replaced.

    Raises:
        FileNotFoundError: there is none.
        ToolFailure: it is protected, no regular file, or cannot be read.
    """
    try:
        _refuse_irregular(path, os.stat(path))
        # A FIFO or a device that takes the file's place meanwhile is opened without waiting, then refused.
        fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOCTTY)
    except NotADirectoryError as error:
        raise FileNotFoundError(str(path)) from error
    except FileNotFoundError:
        raise
    except OSError as error:
        raise ToolFailure(f"{path} cannot be read: {error.strerror}") from error
    try:
        _refuse_irregular(path, os.fstat(fd))
        _refuse(protection.refuse_opened(fd, path, writing=writing))
    except BaseException:
        os.close(fd)
        raise
    return fd


def missing(path: Path) -> str:
    """Return what to say of a path that is not there, with the nearest that is."""
    parent = path.parent
    if path.is_symlink():
        return f"{path} is a link to {os.readlink(path)}, which does not exist"
    while not parent.is_dir() and parent != parent.parent:
        parent = parent.parent
    wanted = path.relative_to(parent).parts[0]
    near = difflib.get_close_matches(wanted, _names(parent), n=1, cutoff=0.5)
    return f"there is no {path}; the nearest that exists is {parent / near[0] if near else parent}"


def place_of(fd: int, path: Path) -> Path | None:
    """Return where an open file or folder really is, None where that cannot be told; it was opened as `path`."""
    link = f"/proc/self/fd/{fd}"
    if os.path.islink(link):
        return Path(os.readlink(link))
    real = os.path.realpath(path)
    try:
        return Path(real) if os.path.samestat(os.stat(real), os.fstat(fd)) else None
    except OSError:
        return None


def _refuse(why: str) -> None:
    if why:
        raise ToolFailure(why)


def _refuse_irregular(path: Path, found: os.stat_result) -> None:
    mode = found.st_mode
    if stat.S_ISDIR(mode):
        raise ToolFailure(f"{path} is a directory, no file")
    if not stat.S_ISREG(mode):
        kind = "FIFO" if stat.S_ISFIFO(mode) else "socket" if stat.S_ISSOCK(mode) else "device"
        raise ToolFailure(f"{path} is a {kind}, no file that can be read")
    real = os.path.realpath(path)
    if any(real == folder or real.startswith(f"{folder}/") for folder in PSEUDO_FOLDERS):
        raise ToolFailure(f"{path} is the system's own ({real}), no file on a disk")


def _names(folder: Path) -> list[str]:
    try:
        with os.scandir(folder) as found:
            return sorted(entry.name for entry in islice(found, NAMES_LOOKED_AT))
    except OSError:
        return []
