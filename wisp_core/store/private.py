"""Writes files that only their owner can read, whole or not at all."""

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from wisp_core.errors import StorageError


def write_new(path: Path, data: bytes) -> None:
    """Put `data` on disk as the new file `path`, 0600.

    Raises:
        FileExistsError: something is there already, and stays as it is.
        OSError: it could not be written.
    """
    staged = stage(path.parent, data)
    try:
        os.link(staged, path)
    finally:
        staged.unlink(missing_ok=True)
    sync_folder(path.parent)


def stage(folder: Path, data: bytes) -> Path:
    """Write `data` to a new hidden file in `folder`, 0600 and on disk, to be moved to its place by the caller."""
    fd, name = tempfile.mkstemp(prefix=".", suffix=".part", dir=folder)
    staged = Path(name)
    try:
        with os.fdopen(fd, "wb") as file:
            os.fchmod(fd, 0o600)
            file.write(data)
            file.flush()
            os.fsync(fd)
    except OSError:
        staged.unlink(missing_ok=True)
        raise
    return staged


def sync_folder(folder: Path) -> None:
    """Have the names in `folder` on disk."""
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


@contextmanager
def storing(what: str) -> Iterator[None]:
    """Turn a failure to write into one sentence on `what`.

    Raises:
        StorageError: the block could not write.
    """
    try:
        yield
    except OSError as error:
        raise StorageError(f"{what} could not be written ({error.strerror or 'the disk failed'})") from error
