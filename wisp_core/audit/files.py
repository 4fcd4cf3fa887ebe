"""The files of the audit: listed, read line by line and group by group, searched by id, mended after a crash."""

import fcntl
import json
import mmap
import os
import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import NoneType

from wisp_core.events import GROUP_ENDS, Event, EventFormatError, parse_event

_NAME = re.compile(r"([A-Za-z0-9_-]+)(?:\.([1-9][0-9]*))?\.jsonl")
# Made once: they are asked of every line of a rebuild.
_TEXT_OR_NULL = (str, NoneType)
_NUMBER_OR_NULL = (int, NoneType)


@dataclass(frozen=True, slots=True, order=True)
class AuditFile:
    """One file of a session: `number` 0 is the first, `size` in bytes when it was listed."""

    session: str
    number: int
    path: Path
    size: int

    @property
    def name(self) -> str:
        """The file's name in the audit's folder."""
        return self.path.name


@dataclass(frozen=True, slots=True)
class Line:
    """The envelope of one line at `offset`; `id` and `event` are empty where the line is no event (`broken`)."""

    offset: int
    end: int
    id: str = ""
    thread: str | None = None
    seq: int | None = None
    group: str | None = None
    event: str = ""

    @property
    def broken(self) -> bool:
        """Whether the line is no event at all."""
        return not self.event


@dataclass(frozen=True, slots=True)
class Batch:
    """Lines that take effect together: one event or one group; `whole` is False of a group that has no end."""

    lines: tuple[Line, ...]
    whole: bool = True

    @property
    def end(self) -> int:
        """The byte after the last line."""
        return self.lines[-1].end


def file_name(session: str, number: int) -> str:
    """Return the name of a session's file: the first has no number."""
    return f"{session}.{number}.jsonl" if number else f"{session}.jsonl"


def list_files(folder: Path) -> list[AuditFile]:
    """Return the audit's files in order, oldest session first; there may be none."""
    found: list[AuditFile] = []
    if not folder.is_dir():
        return found
    with os.scandir(folder) as entries:
        for entry in entries:
            match = _NAME.fullmatch(entry.name)
            if match is not None and entry.is_file(follow_symlinks=False):
                path, size = folder / entry.name, entry.stat(follow_symlinks=False).st_size
                found.append(AuditFile(match.group(1), int(match.group(2) or 0), path, size))
    return sorted(found)


def owner_lives(path: Path) -> bool:
    """Tell whether the process that writes the file still holds it."""
    # Shared, so that two who ask at the same time do not take each other for the owner.
    with _held(path, fcntl.LOCK_SH) as free:
        return not free


def session_lives(folder: Path, session: str) -> bool:
    """Tell whether a process still runs the session; it holds its first file all the while."""
    path = folder / file_name(session, 0)
    return path.is_file() and owner_lives(path)


@contextmanager
def alone(folder: Path) -> Iterator[None]:
    """Wait until no other process mends or replays the audit, and keep others waiting meanwhile."""
    handle = os.open(folder / "replay.lock", os.O_RDWR | os.O_CREAT, 0o600)
    try:
        os.fchmod(handle, 0o600)
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


def living_sessions(files: Iterable[AuditFile]) -> set[str]:
    """Return the sessions of which some file is held; a long one holds its first and its latest file."""
    return {file.session for file in files if owner_lives(file.path)}


def read_lines(path: Path, start: int = 0) -> Iterator[tuple[int, bytes]]:
    """Yield each line from byte `start` with its offset, its LF included where it has one; only LF ends a line."""
    with path.open("rb") as file:
        file.seek(start)
        for line in file:
            yield start, line
            start += len(line)


def read_batches(path: Path, start: int = 0) -> Iterator[Batch]:
    """Yield what takes effect together, in order; an unfinished last line is left out."""
    waiting: list[Line] = []
    for offset, raw in read_lines(path, start):
        if not raw.endswith(b"\n"):
            break
        line = _envelope(offset, raw)
        if waiting and waiting[0].group != line.group:
            yield Batch(tuple(waiting), whole=False)
            waiting = []
        if line.group is None:
            yield Batch((line,))
            continue
        waiting.append(line)
        if line.event in GROUP_ENDS:
            yield Batch(tuple(waiting))
            waiting = []
    if waiting:
        yield Batch(tuple(waiting), whole=False)


def find_event(folder: Path, id: str, *, place: tuple[str, int] | None = None) -> Event | None:
    """Return the event by file name and offset, else look through every file, newest first.

    Only lines that contain the id are decoded.
    """
    if place is not None:
        found = _event_at(folder / place[0], place[1], id=id)
        if found is not None:
            return found
    for file in reversed(list_files(folder)):
        if file.size:
            found = _search(file.path, id)
            if found is not None:
                return found
    return None


def repair(file: AuditFile) -> str | None:
    """Cut an unfinished or unreadable end off a dead session's file into `<session>.torn` and return what was done.

    Returns None where the file is sound or its owner lives.
    """
    with _held(file.path, fcntl.LOCK_EX) as free:
        if not free:
            return None
        end = _sound_end(file.path)
        size = file.path.stat().st_size
        if end == size:
            return None
        with file.path.open("r+b") as damaged:
            damaged.seek(end)
            torn = damaged.read()
            _keep_torn(file.path.with_name(f"{file.session}.torn"), torn)
            damaged.truncate(end)
            os.fsync(damaged.fileno())
    return (
        f"audit/{file.name} ended in an unfinished line ({len(torn)} bytes), left by a crash; "
        f"it was moved to audit/{file.session}.torn"
    )


@contextmanager
def _held(path: Path, kind: int) -> Iterator[bool]:
    """Give whether the file's lock (shared or not) is free, and hold it meanwhile; a file that is gone has no owner."""
    try:
        handle = os.open(path, os.O_RDONLY)
    except FileNotFoundError:
        yield True
        return
    try:
        fcntl.flock(handle, kind | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(handle)
        yield False
        return
    try:
        yield True
    finally:
        os.close(handle)


def _envelope(offset: int, raw: bytes) -> Line:
    end = offset + len(raw)
    try:
        found = json.loads(raw)
        id, thread, seq = found["id"], found["thread"], found["seq"]
        group, event = found["group"], found["event"]
    except (ValueError, KeyError, TypeError, RecursionError):
        return Line(offset, end)
    if not (isinstance(id, str) and isinstance(event, str) and isinstance(thread, _TEXT_OR_NULL)):
        return Line(offset, end)
    if not (isinstance(seq, _NUMBER_OR_NULL) and isinstance(group, _TEXT_OR_NULL)):
        return Line(offset, end)
    return Line(offset, end, id, thread, seq, group, event)


def _event_at(path: Path, offset: int, *, id: str) -> Event | None:
    try:
        with path.open("rb") as file:
            file.seek(offset)
            return _event_in(file.readline(), id)
    except OSError:
        return None


def _event_in(line: bytes, id: str) -> Event | None:
    try:
        event = parse_event(line)
    except EventFormatError:
        return None
    return event if isinstance(event, Event) and event.id == id else None


def _search(path: Path, id: str) -> Event | None:
    wanted = id.encode()
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as text:
        at = text.find(wanted)
        while at >= 0:
            end = text.find(b"\n", at)
            end = len(text) if end < 0 else end
            found = _event_in(text[text.rfind(b"\n", 0, at) + 1 : end], id)
            if found is not None:
                return found
            at = text.find(wanted, end)
    return None


def _sound_end(path: Path) -> int:
    """Return the byte after the last line that is whole and readable."""
    with path.open("rb") as file:
        end = file.seek(0, os.SEEK_END)
        if not end:
            return 0
        with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as text:
            end = text.rfind(b"\n") + 1
            while end:
                start = text.rfind(b"\n", 0, end - 1) + 1
                if _readable(text[start:end]):
                    break
                end = start
    return end


def _readable(line: bytes) -> bool:
    try:
        return isinstance(json.loads(line), dict)
    except (ValueError, RecursionError):
        return False


def _keep_torn(path: Path, torn: bytes) -> None:
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    try:
        os.fchmod(handle, 0o600)
        os.write(handle, torn + b"\n")
        os.fsync(handle)
    finally:
        os.close(handle)
