"""Keeps what files held before a conversation's edits, so that each can be undone: beside outputs, or in memory."""

import json
import os
import re
import time
from contextlib import suppress
from pathlib import Path

from wisp_core.records import JsonObject
from wisp_core.requests import EarlierFile
from wisp_core.settings import MIB
from wisp_core.store.spool import make_folder

# When nothing is stored, what is kept for the session takes at most this; the oldest goes first.
MEMORY_BYTES = 64 * MIB
RECORD, CONTENT = ".edit", ".before"
_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")


class Previous:
    """The edits of one conversation, each under `folder` in its session; when not `enabled` (no audit), in memory."""

    def __init__(self, folder: Path, session: str, *, enabled: bool = True, thread: str = "") -> None:
        self._every = folder
        self._folder = folder / session
        self._enabled = enabled
        self._thread = thread
        self._memory: list[tuple[str, EarlierFile]] = []

    def of(self, thread: str) -> "Previous":
        """Return the edits of another conversation."""
        other = Previous(self._every, self._folder.name, enabled=self._enabled, thread=thread)
        other._memory = self._memory
        return other

    def keep(self, earlier: EarlierFile) -> None:
        """Keep what a file held before it was edited.

        Raises:
            OSError: it cannot be written.
            ValueError: the call's id is no name.
        """
        if not _NAME.fullmatch(earlier.call):
            raise ValueError(f"{earlier.call!r} is no call")
        if not self._enabled:
            self._keep_in_memory(earlier)
            return
        make_folder(self._folder)
        record = {
            "thread": self._thread,
            "path": os.fsencode(earlier.path).hex(),
            "existed": earlier.before is not None,
            "after": earlier.after,
            "time": time.time_ns(),
        }
        try:
            if earlier.before is not None:
                _write(self._folder / f"{earlier.call}{CONTENT}", earlier.before)
            # The record last: without it nothing is an edit.
            _write(self._folder / f"{earlier.call}{RECORD}", json.dumps(record).encode())
        except OSError:
            self.drop(earlier.call)
            raise

    def newest(self, path: Path | None) -> EarlierFile | None:
        """Return the latest edit of a file, by its real place, or of any; None where none can be undone."""
        if not self._enabled:
            mine = (each for thread, each in reversed(self._memory) if thread == self._thread)
            return next((each for each in mine if path is None or each.path == str(path)), None)
        found: list[tuple[int, Path, JsonObject]] = []
        for file in self._every.glob(f"*/*{RECORD}"):
            with suppress(OSError, ValueError, KeyError, TypeError):
                record: JsonObject = json.loads(file.read_bytes())
                record["path"] = os.fsdecode(bytes.fromhex(record["path"]))
                if record["thread"] == self._thread and (path is None or record["path"] == str(path)):
                    found.append((int(record["time"]), file, record))
        for _, file, record in sorted(found, key=lambda each: each[:2], reverse=True):
            with suppress(OSError, KeyError):
                before = file.with_suffix(CONTENT).read_bytes() if record["existed"] else None
                return EarlierFile(file.stem, record["path"], before, str(record["after"]))
        return None

    def drop(self, call: str) -> None:
        """Forget one edit; none is no error."""
        self._memory[:] = [each for each in self._memory if each[1].call != call]
        if not self._enabled or not _NAME.fullmatch(call):
            return
        for suffix in (RECORD, CONTENT):
            for file in self._every.glob(f"*/{call}{suffix}"):
                with suppress(OSError):
                    file.unlink(missing_ok=True)

    def _keep_in_memory(self, earlier: EarlierFile) -> None:
        self._memory.append((self._thread, earlier))
        while len(self._memory) > 1 and sum(len(each.before or b"") for _, each in self._memory) > MEMORY_BYTES:
            del self._memory[0]


def _write(path: Path, data: bytes) -> None:
    """Write a file 0600, whole or not at all."""
    part = path.with_name(f"{path.name}.part")
    try:
        with open(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, 0o600), "wb") as file:
            file.write(data)
        os.replace(part, path)
    except OSError:
        with suppress(OSError):
            part.unlink(missing_ok=True)
        raise
