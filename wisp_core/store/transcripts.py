"""Saved conversations: NAME.json, the messages for any reader, and beside it NAME.store, what resuming needs."""

import os
import re
import stat
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from wisp_core.errors import ResumeError, StorageError, UsageError
from wisp_core.records import EntryState, JsonObject
from wisp_core.settings import MIB
from wisp_core.store.carried_rows import read_rows
from wisp_core.store.documents import dump_json
from wisp_core.store.home import make_folder
from wisp_core.store.loading import load_json
from wisp_core.store.messages import links_in_order, links_of, messages_of
from wisp_core.store.private import stage, storing, sync_folder
from wisp_core.text import byte_size, revealed, revealed_line, shorten

__all__ = [
    "Saved",
    "TranscriptRow",
    "check_name",
    "find_saved",
    "list_transcripts",
    "messages_of",
    "read_transcript",
    "write_transcript",
]

VERSION = 1
MOST_BYTES = 256 * MIB
"""How large each of the two files may be."""
MOST_NAME_BYTES = 100
_NO_NAME = frozenset('/\\:*?"<>|')
_SESSION = re.compile(r"[A-Za-z0-9_-]{1,64}")
_MESSAGES, _LINKS = ".json", ".store"
# The last second that a calendar of four digits has; the time of a file can be later.
_LATEST = datetime(9999, 12, 31, tzinfo=UTC).timestamp()


@dataclass(frozen=True, slots=True)
class Saved:
    """A transcript that can be resumed: the rows of its record, and the sessions whose events they refer to."""

    name: str
    rows: list[JsonObject]
    sessions: list[str]


@dataclass(frozen=True, slots=True)
class TranscriptRow:
    """A transcript as a list shows it: `bytes` of its messages, `time` of saving in RFC 3339."""

    name: str
    bytes: int
    time: str


def check_name(name: str) -> str:
    """Return `name` where a transcript can have it.

    No name makes the files of two transcripts collide: messages always end in `.json`, links in `.store`.

    Raises:
        UsageError: it cannot; the hint says what a name is.
    """
    size = len(name.encode("utf-8", "replace"))
    plain = name.isprintable() and revealed(name) == name and not _NO_NAME & set(name)
    if not plain or not 0 < size <= MOST_NAME_BYTES or name[0] in ".-" or name != name.strip():
        raise UsageError(
            f"`{_shown(name)}` cannot be the name of a transcript",
            f"use letters, digits, spaces and signs but {' '.join(sorted(_NO_NAME))}, at most {MOST_NAME_BYTES} bytes, "
            "no dot or dash first",
        )
    return name


def write_transcript(
    folder: Path,
    name: str,
    *,
    messages: Sequence[JsonObject],
    rows: Sequence[JsonObject] | None,
    sessions: Sequence[str] = (),
) -> Path:
    """Save a transcript under `folder` in the place of an earlier one, and return the file of its messages.

    Without `rows` it cannot be resumed, and the links of an earlier one are removed. A crash leaves the earlier
    messages or these, and never links beside messages that they were not saved with.

    Raises:
        UsageError: the name cannot be one.
        StorageError: it cannot be written.
    """
    check_name(name)
    with storing(f"the transcript '{name}'"):
        make_folder(folder)
        staged = {_MESSAGES: stage(folder, _checked(name, dump_json(list(messages), indent=1) + "\n"))}
        try:
            if rows is not None:
                staged[_LINKS] = stage(folder, _checked(name, _dump_links(rows, sessions)))
            (folder / f"{name}{_LINKS}").unlink(missing_ok=True)
            for ending, path in staged.items():
                os.replace(path, folder / f"{name}{ending}")
        finally:
            for path in staged.values():
                path.unlink(missing_ok=True)
        sync_folder(folder)
    return folder / f"{name}{_MESSAGES}"


def read_transcript(folder: Path, name: str) -> Saved:
    """Return a transcript to be resumed.

    Raises:
        ResumeError: there is none of that name, it cannot be read, or it has no link data that belongs to it.
    """
    saved = find_saved(folder, name)
    if saved is None:
        raise ResumeError(f"there is no transcript '{_shown(name)}'", "/save NAME makes one")
    return saved


def find_saved(folder: Path, name: str) -> Saved | None:
    """Return a transcript to be resumed, None where there is none of that name.

    Raises:
        ResumeError: it cannot be read, or has no link data that belongs to it.
    """
    try:
        check_name(name)
        data = _read(folder / f"{name}{_MESSAGES}")
    except (UsageError, FileNotFoundError):
        return None
    except OSError as error:
        raise ResumeError(f"the transcript '{name}' cannot be read ({error.strerror})") from error
    try:
        rows, sessions = _load_links(_read(folder / f"{name}{_LINKS}"))
        active = [entry for entry in read_rows(rows).entries if entry.state is EntryState.ACTIVE]
        links = links_of(load_json(data))
        if not links or links != links_in_order([(entry.wire_id, entry.kind) for entry in active]):
            raise ValueError("not of these messages")
    except (OSError, ValueError, ResumeError) as error:
        raise ResumeError(
            f"transcript '{name}' was saved by an older wisp and cannot be resumed; start a new conversation"
        ) from error
    return Saved(name, rows, sessions)


def list_transcripts(folder: Path) -> list[TranscriptRow]:
    """Return the transcripts under `folder`, by name."""
    rows = []
    try:
        with os.scandir(folder) as found:
            for file in found:
                row = _row(file)
                if row is not None:
                    rows.append(row)
    except FileNotFoundError:
        return []
    return sorted(rows, key=lambda row: row.name)


def _row(file: "os.DirEntry[str]") -> TranscriptRow | None:
    if not file.name.endswith(_MESSAGES) or not file.is_file(follow_symlinks=False):
        return None
    try:
        name = check_name(file.name.removesuffix(_MESSAGES))
        state = file.stat(follow_symlinks=False)
    except (UsageError, FileNotFoundError):
        return None
    saved = datetime.fromtimestamp(min(max(0.0, state.st_mtime), _LATEST), UTC)
    return TranscriptRow(name, state.st_size, saved.isoformat(timespec="milliseconds").replace("+00:00", "Z"))


def _dump_links(rows: Sequence[JsonObject], sessions: Sequence[str]) -> str:
    header = {"version": VERSION, "rows": len(rows), "sessions": list(sessions)}
    return "".join(dump_json(line) + "\n" for line in [header, *rows])


def _load_links(data: bytes) -> tuple[list[JsonObject], list[str]]:
    """Return the rows and the sessions.

    Raises:
        ValueError: these are no link data of version 1, or not all of them.
    """
    header, *rows = [load_json(line) for line in data.split(b"\n") if line]
    if not all(isinstance(line, dict) for line in (header, *rows)):
        raise ValueError("no objects")
    sessions = header.get("sessions")
    if type(header.get("version")) is not int or header["version"] != VERSION or header.get("rows") != len(rows):
        raise ValueError("another version, or a part")
    if not isinstance(sessions, list) or not all(isinstance(s, str) and _SESSION.fullmatch(s) for s in sessions):
        raise ValueError("no sessions")
    return rows, sessions


def _read(path: Path) -> bytes:
    """Return the content of a file, which must be a plain one of bounded size.

    Raises:
        OSError: it is none, is too large, or cannot be read.
    """
    if not stat.S_ISREG(os.lstat(path).st_mode):
        raise OSError(0, "not a regular file")
    # Another may have taken its place since.
    fd = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    with open(fd, "rb") as file:
        data = file.read(MOST_BYTES + 1)
    if len(data) > MOST_BYTES:
        raise OSError(0, f"larger than {byte_size(MOST_BYTES)}")
    return data


def _checked(name: str, text: str) -> bytes:
    data = text.encode()
    if len(data) > MOST_BYTES:
        raise StorageError(f"the transcript '{name}' would be larger than {byte_size(MOST_BYTES)}")
    return data


def _shown(name: str) -> str:
    return shorten(revealed_line(shorten(name, 60)), 120)
