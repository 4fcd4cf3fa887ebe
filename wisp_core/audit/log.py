"""The session's own audit file: appended to, made durable, and gone on with in the next when it is full."""

import errno
import fcntl
import os
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from wisp_core.audit.files import file_name, find_event
from wisp_core.errors import StorageError
from wisp_core.events import Event


@dataclass(frozen=True, slots=True)
class Place:
    """Where an append stands: file name in the audit's folder, first byte, and the byte after the last."""

    file: str
    offset: int
    end: int


class AuditLog:
    """Appends a session's lines; its files stay locked (`flock`) while it lives, which tells others that it does."""

    def __init__(self, folder: Path, session: str, *, max_bytes: int) -> None:
        self.folder = folder
        self.session = session
        self._max_bytes = max_bytes
        self._number = 0
        self._length = 0
        self._unclean = False
        self._first = self._file = self._make(0)

    @classmethod
    def open(cls, folder: Path, session: str, *, max_bytes: int) -> "AuditLog":
        """Make the session's first file, 0600 whatever the umask.

        Raises:
            StorageError: the file cannot be made.
        """
        return cls(folder, session, max_bytes=max_bytes)

    def append(self, lines: bytes, *, durable: bool) -> Place:
        """Append whole lines, all or none, and where `durable` return only when they are on the disk.

        Raises:
            StorageError: nothing of them was kept.
        """
        if self._gone() or (self._length and self._length + len(lines) > self._max_bytes):
            self._next_file()
        path = self.folder / file_name(self.session, self._number)
        try:
            self._write(lines)
            if durable:
                os.fsync(self._file)
        except OSError as error:
            self._unclean = True
            self._clean()
            raise _told(path, error) from error
        place = Place(path.name, self._length, self._length + len(lines))
        self._length = place.end
        return place

    def event(self, id: str, place: tuple[str, int] | None = None) -> Event | None:
        """Return one event by the file and offset that are known of it, else by looking through every file."""
        return find_event(self.folder, id, place=place)

    def close(self) -> None:
        """Make what was written durable and let the files go."""
        for handle in {self._file, self._first}:
            # What was promised to be durable is; of the rest a failing disk may keep what it likes.
            with suppress(OSError):
                os.fsync(handle)
            os.close(handle)

    def _write(self, lines: bytes) -> None:
        if self._unclean and not self._clean():
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        rest, at = memoryview(lines), self._length
        while rest:
            written = os.pwrite(self._file, rest, at)
            rest, at = rest[written:], at + written

    def _clean(self) -> bool:
        """Cut off what a failed write left, so that no half line stands before the next."""
        try:
            os.ftruncate(self._file, self._length)
        except OSError:
            return False
        self._unclean = False
        return True

    def _gone(self) -> bool:
        """Tell whether somebody removed the file: what is written into it would be lost."""
        return os.fstat(self._file).st_nlink == 0

    def _next_file(self) -> None:
        fresh = self._make(self._number + 1)
        os.fsync(self._file)
        if self._file != self._first:
            os.close(self._file)
        self._number, self._file, self._length, self._unclean = self._number + 1, fresh, 0, False

    def _make(self, number: int) -> int:
        path = self.folder / file_name(self.session, number)
        try:
            if not self.folder.is_dir():
                self.folder.mkdir(mode=0o700, parents=True)
                self.folder.chmod(0o700)
            handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
            os.fchmod(handle, 0o600)
            fcntl.flock(handle, fcntl.LOCK_EX)
            _sync_folder(self.folder)
        except OSError as error:
            raise _told(path, error) from error
        return handle


def _sync_folder(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _told(path: Path, error: OSError) -> StorageError:
    match error.errno:
        case errno.ENOSPC | errno.EDQUOT:
            return StorageError(f"the disk is full: {path} could not be written", "free some space and try again")
        case errno.EFBIG:
            return StorageError(f"the file may not grow: {path} could not be written", "raise the limit and try again")
        case errno.EROFS | errno.EACCES | errno.EPERM:
            return StorageError(f"{path} cannot be written (read-only)", "make it writable or set WISP_HOME elsewhere")
        case _:
            return StorageError(f"{path} could not be written ({error.strerror})", "see whether its disk is failing")
