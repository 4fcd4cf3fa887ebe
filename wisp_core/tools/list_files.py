"""The tool `list_files`: a directory, or what a glob matches; what git ignores is left out."""

import asyncio
import os
from pathlib import Path

from pydantic import Field

from wisp_core.errors import ToolFailure
from wisp_core.requests import ToolKind, ToolResult
from wisp_core.text import byte_size, revealed_line
from wisp_core.tools.files import Protection, locate, missing
from wisp_core.tools.globs import matches, split_glob
from wisp_core.tools.result import Results
from wisp_core.tools.tool import Arguments, Running, Tool
from wisp_core.tools.walking import MOST_NAMES, SKIPPED, Listing, list_files_under


class ListArguments(Arguments):
    """A directory or a glob."""

    path: str = Field(".", min_length=1, description="directory, or a glob such as src/**/*.py")


class ListFiles(Tool[ListArguments]):
    """Lists files; a relative path starts at `cwd`."""

    name = "list_files"
    kind = ToolKind.READS
    description = "List a directory or the files that match a glob, without git-ignored ones."
    arguments = ListArguments

    def __init__(self, cwd: Path, results: Results, *, protection: Protection) -> None:
        self._cwd = cwd
        self._results = results
        self._protection = protection

    async def run(self, arguments: ListArguments, running: Running) -> ToolResult:
        """Return a name a line, sorted; a folder ends with /, a link shows where it leads.

        Raises:
            ToolFailure: there is nothing at the path, or it is protected.
        """
        start, rest, root = find_root(arguments.path, self._cwd, protection=self._protection)
        if not root.is_dir():
            found = await asyncio.to_thread(os.lstat, root)
            return await self._results.give(f"{_shown(root, start)} ({byte_size(found.st_size)})", running.call)
        listing = await list_files_under(root, protection=self._protection, deep=bool(rest))
        prefix = "" if start == "." else f"{start.rstrip('/')}/"
        lines = await asyncio.to_thread(_lines, root, rest, listing=listing, prefix=prefix)
        return await self._results.give("\n".join(lines), running.call)


def find_root(given: str, cwd: Path, *, protection: Protection) -> tuple[str, str, Path]:
    """Return where a path or a glob starts, as it is written, the rest that is magic, and the path that it starts at.

    A path that exists is no glob, whatever characters are in it.

    Raises:
        ToolFailure: it is protected, or there is nothing there.
    """
    start, rest = split_glob(given)
    if rest and os.path.lexists(path := locate(given, cwd, protection=protection)):
        return given, "", path
    path = locate(start, cwd, protection=protection)
    if not path.exists() or (rest and not path.is_dir()):
        raise ToolFailure(missing(path) if not path.exists() else f"{path} is a file, so nothing lies in it")
    return start, rest, path


def _lines(root: Path, rest: str, *, listing: Listing, prefix: str) -> list[str]:
    names = _matching(listing, rest) if rest else _children(root, listing)
    lines = [_shown(root / name, f"{prefix}{name}") for name in names]
    if listing.cut:
        lines.append(f"[only {MOST_NAMES:,} files were looked at; name a folder further down]")
    if lines:
        return lines
    if not rest:
        return ["[nothing in it but what git ignores]" if any(root.iterdir()) else "[the directory is empty]"]
    deeper = f"; **/{rest} looks at any depth" if "**" not in rest else ""
    return [f"[nothing matches {revealed_line(rest)}{deeper}]"]


def _matching(listing: Listing, glob: str) -> list[str]:
    """Return the files, and the folders that hold some, that the glob matches."""
    folders = {name[: at + 1] for name in listing.names for at, each in enumerate(name) if each == "/"}
    return sorted(name for name in folders | set(listing.names) if matches(glob.rstrip("/"), name.rstrip("/")))


def _children(root: Path, listing: Listing) -> list[str]:
    """Return what lies in the folder itself; a folder that git does not list is one that it ignores, or empty."""
    listed = {name.split("/")[0] for name in listing.names}
    found: list[str] = []
    try:
        with os.scandir(root) as entries:
            for entry in entries:
                folder = entry.is_dir(follow_symlinks=False)
                if entry.name in listed or (folder and entry.name not in SKIPPED and _is_empty(entry.path)):
                    found.append(f"{entry.name}/" if folder else entry.name)
    except OSError as error:
        raise ToolFailure(f"{root} cannot be listed: {error.strerror}") from error
    return sorted(found)


def _is_empty(folder: str) -> bool:
    try:
        with os.scandir(folder) as entries:
            return next(entries, None) is None
    except OSError:
        return False


def _shown(path: Path, name: str) -> str:
    """Return a name as a line of its own, with where a link leads."""
    try:
        leads = f" -> {os.readlink(path)}" if path.is_symlink() else ""
        folder = not leads and not name.endswith("/") and path.is_dir()
    except OSError:
        leads, folder = "", False
    return revealed_line(f"{name}{'/' if folder else ''}{leads}")
