"""Looks at a home's database and modes without changing anything."""

import os
import sqlite3
import stat
from pathlib import Path
from urllib.parse import quote

from wisp_core.errors import HomeError
from wisp_core.store.connect import check_header
from wisp_core.store.migrations import STEPS
from wisp_core.text import byte_size

_OTHERS = 0o077
_REBUILD = "run `wisp doctor --rebuild` to make it anew from the audit"


def check_database(path: Path) -> str:
    """Return one sentence on a database that is sound.

    Raises:
        HomeError: it is damaged, newer than this wisp, or cannot be read.
    """
    check_header(path, len(STEPS))
    size = path.stat().st_size + sum(
        beside.stat().st_size for suffix in ("-wal", "-shm") if (beside := Path(f"{path}{suffix}")).is_file()
    )
    # Nothing is written beside a database that nobody has open.
    unused = "" if Path(f"{path}-wal").exists() else "&immutable=1"
    try:
        connection = sqlite3.connect(f"file:{quote(str(path))}?mode=ro{unused}", uri=True)
        try:
            found = str(connection.execute("PRAGMA quick_check(1)").fetchone()[0])
            count = int(connection.execute("SELECT count(*) FROM threads").fetchone()[0])
        finally:
            connection.close()
    except sqlite3.Error as error:
        raise HomeError(f"{path} is damaged ({error})", _REBUILD) from error
    if found != "ok":
        raise HomeError(f"{path} is damaged ({found})", _REBUILD)
    return f"{path.name} is sound: {count:,} conversation{'' if count == 1 else 's'} in {byte_size(size)}"


def open_to_others(home: Path) -> list[Path]:
    """Return the folders and files of the home that others than its owner may use; no link is followed."""
    found = [home] if stat.S_IMODE(home.stat().st_mode) & _OTHERS else []
    for folder, folders, files in os.walk(home):
        for name in (*folders, *files):
            path = Path(folder, name)
            mode = path.lstat().st_mode
            if not stat.S_ISLNK(mode) and stat.S_IMODE(mode) & _OTHERS:
                found.append(path)
    return found
