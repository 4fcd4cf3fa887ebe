"""Replaces, makes and removes a file at one real place, whole or not at all, wherever links lead meanwhile."""

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from wisp_core.errors import ToolFailure
from wisp_core.tools.files import Protection, place_of

NEW_MODE = 0o666
FOLDER_FLAGS = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC


def write_file(place: Path, data: bytes, *, since: os.stat_result | None, protection: Protection) -> None:
    """Write a file whose real place is `place`, and which is still as `since` shows it; None is a new file.

    The file keeps its mode and its owner; a new one's folders are made. Every step is taken inside the open folder, so
    that a link put in its place diverts nothing.

    Raises:
        ToolFailure: the place is protected, the file has changed, or it cannot be written.
    """
    try:
        if since is not None and not os.access(place, os.W_OK):
            raise ToolFailure(f"{place} is read-only; nothing was written")
        with _folder(place, protection) as folder:
            _put(place, data, since=since, folder=folder)
    except OSError as error:
        raise ToolFailure(f"{place} cannot be written: {error.strerror}") from error


def remove_file(place: Path, *, since: os.stat_result, protection: Protection) -> None:
    """Remove a file that is still as `since` shows it.

    Raises:
        ToolFailure: the place is protected, the file has changed, or it cannot be removed.
    """
    try:
        with _folder(place, protection) as folder:
            _refuse_changed(place, since, folder=folder)
            os.unlink(place.name, dir_fd=folder)
    except OSError as error:
        raise ToolFailure(f"{place} cannot be removed: {error.strerror}") from error


@contextmanager
def _folder(place: Path, protection: Protection) -> Iterator[int]:
    """Open the folder of a real place, judged once it is open; folders that are not there are made."""
    there, to_make = place.parent, list[str]()
    while not os.path.lexists(there):
        to_make.append(there.name)
        there = there.parent
    folder = os.open(there, FOLDER_FLAGS)
    try:
        if place_of(folder, there) != there:
            raise ToolFailure(f"{there} is another folder now; nothing was written")
        if why := protection.refuse_path(place, writing=True):
            raise ToolFailure(why)
        for name in reversed(to_make):
            with suppress(FileExistsError):
                os.mkdir(name, dir_fd=folder)
            above, folder = folder, os.open(name, FOLDER_FLAGS | os.O_NOFOLLOW, dir_fd=folder)
            os.close(above)
        yield folder
    finally:
        os.close(folder)


def _put(place: Path, data: bytes, *, since: os.stat_result | None, folder: int) -> None:
    part = f".wisp-{secrets.token_hex(8)}.part"
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    fd = os.open(part, flags, NEW_MODE if since is None else 0o600, dir_fd=folder)
    try:
        with open(fd, "wb") as file:
            file.write(data)
            file.flush()
            if since is not None:
                # Owner before mode: a change of owner clears mode bits.
                with suppress(PermissionError):
                    os.fchown(fd, since.st_uid, since.st_gid)
                os.fchmod(fd, since.st_mode & 0o7777)
            os.fsync(fd)
        if since is None:
            _link_new(place, part, folder=folder)
        else:
            _refuse_changed(place, since, folder=folder)
            os.rename(part, place.name, src_dir_fd=folder, dst_dir_fd=folder)
        os.fsync(folder)
    finally:
        with suppress(FileNotFoundError):
            os.unlink(part, dir_fd=folder)


def _link_new(place: Path, part: str, *, folder: int) -> None:
    """Give a new file its name, which nothing else may have taken meanwhile."""
    try:
        os.link(part, place.name, src_dir_fd=folder, dst_dir_fd=folder, follow_symlinks=False)
    except FileExistsError as error:
        raise ToolFailure(f"{place} has come into being meanwhile; read it first") from error
    except OSError:
        # A file system without links: a name that is taken is seen a moment before instead.
        with suppress(FileNotFoundError):
            os.stat(place.name, dir_fd=folder, follow_symlinks=False)
            raise ToolFailure(f"{place} has come into being meanwhile; read it first") from None
        os.rename(part, place.name, src_dir_fd=folder, dst_dir_fd=folder)


def _refuse_changed(place: Path, since: os.stat_result, *, folder: int) -> None:
    try:
        now = os.stat(place.name, dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError as error:
        raise ToolFailure(f"{place} is gone; nothing was written") from error
    if _identity(now) != _identity(since):
        raise ToolFailure(f"{place} has changed meanwhile; read it again, nothing was written")


def _identity(found: os.stat_result) -> tuple[int, int, int, int]:
    return (found.st_dev, found.st_ino, found.st_mtime_ns, found.st_size)
