"""Keeps what files held before a session's edits, so that each can be undone: beside its outputs, or in memory."""

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
    """The edits of one session under `folder`; when not `enabled` (no audit) they are kept in memory."""

    def __init__(self, folder: Path, session: str, *, enabled: bool = True) -> None:
        self._folder = folder / session
        self._enabled = enabled
        self._memory: list[EarlierFile] = []

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
            return next((each for each in reversed(self._memory) if path is None or each.path == str(path)), None)
        found: list[tuple[int, str, JsonObject]] = []
        for file in self._folder.glob(f"*{RECORD}"):
            with suppress(OSError, ValueError, KeyError, TypeError):
                record: JsonObject = json.loads(file.read_bytes())
                record["path"] = os.fsdecode(bytes.fromhex(record["path"]))
                if path is None or record["path"] == str(path):
                    found.append((int(record["time"]), file.stem, record))
        for _, call, record in sorted(found, key=lambda each: each[:2], reverse=True):
            with suppress(OSError, KeyError):
                before = (self._folder / f"{call}{CONTENT}").read_bytes() if record["existed"] else None
                return EarlierFile(call, record["path"], before, str(record["after"]))
        return None

    def drop(self, call: str) -> None:
        """Forget one edit; none is no error."""
        self._memory = [each for each in self._memory if each.call != call]
        if self._enabled and _NAME.fullmatch(call):
            for suffix in (RECORD, CONTENT):
                with suppress(OSError):
                    (self._folder / f"{call}{suffix}").unlink(missing_ok=True)

    def _keep_in_memory(self, earlier: EarlierFile) -> None:
        self._memory.append(earlier)
        while len(self._memory) > 1 and sum(len(each.before or b"") for each in self._memory) > MEMORY_BYTES:
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
