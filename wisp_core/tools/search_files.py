"""The tool `search_files`: the lines of files that a pattern finds, as `path:line: text`."""

import asyncio
import re
from collections.abc import Mapping
from pathlib import Path

from pydantic import Field

from wisp_core.errors import ToolFailure
from wisp_core.requests import ToolKind, ToolResult
from wisp_core.text import one_line, revealed_line
from wisp_core.tools.capture import BINARY_SAMPLE_BYTES, is_binary
from wisp_core.tools.files import Protection, open_file
from wisp_core.tools.globs import matches
from wisp_core.tools.list_files import find_root
from wisp_core.tools.result import Results
from wisp_core.tools.search_run import Hit, Search, run_search
from wisp_core.tools.tool import Arguments, Running, Tool
from wisp_core.tools.walking import MOST_NAMES, list_files_under

SEARCH_SECONDS = 20.0
# Each file with a find is opened once to be judged, so there is an end to them.
MOST_FILES = 2000
PATTERN_CHARACTERS = 2000


class SearchArguments(Arguments):
    """The pattern, and where it is looked for."""

    pattern: str = Field(min_length=1, max_length=PATTERN_CHARACTERS, description="regular expression")
    path: str = Field(".", min_length=1, description="directory, file or glob such as src/**/*.py")


class SearchFiles(Tool[SearchArguments]):
    """Searches files; a relative path starts at `cwd`; one search takes at most `seconds`."""

    name = "search_files"
    kind = ToolKind.READS
    description = "Find lines in files, without git-ignored and binary ones."
    arguments = SearchArguments

    def __init__(self, cwd: Path, results: Results, *, protection: Protection, seconds: float = SEARCH_SECONDS) -> None:
        self._cwd = cwd
        self._results = results
        self._protection = protection
        self._seconds = seconds

    async def run(self, arguments: SearchArguments, running: Running) -> ToolResult:
        """Return a line a find, sorted by path and line, and what was not searched.

        Raises:
            ToolFailure: there is nothing at the path, it is protected, or no search could be started.
        """
        pattern, notes = _readable(arguments.pattern)
        start, rest, root = find_root(arguments.path, self._cwd, protection=self._protection)
        if root.is_dir():
            listing = await list_files_under(root, protection=self._protection)
            prefix = "" if start == "." else f"{start.rstrip('/')}/"
            names = {name: f"{prefix}{name}" for name in listing.names if not rest or matches(rest, name)}
            cut = listing.cut
        else:
            real = root.resolve()
            root, names, cut = real.parent, {real.name: start}, False
        search = await run_search(pattern, list(names), root=root, seconds=self._seconds)
        lines = await asyncio.to_thread(self._lines, root, search, shown=names)
        if not lines:
            notes.append(f"[no line found in {len(names):,} file{'' if len(names) == 1 else 's'}]")
        if search.timed_out:
            notes.append(f"[stopped after {self._seconds:g} s: not everything was searched; make the pattern simpler]")
        if search.cut:
            notes.append("[more lines were found than can be kept; make the pattern narrower]")
        if cut:
            notes.append(f"[only {MOST_NAMES:,} files were looked at; name a folder further down]")
        return await self._results.give("\n".join([*lines, *notes]), running.call)

    def _lines(self, root: Path, search: Search, *, shown: Mapping[str, str]) -> list[str]:
        allowed: dict[str, bool] = {}
        found: list[str] = []
        for hit in search.hits:
            if hit.name not in allowed:
                allowed[hit.name] = len(allowed) < MOST_FILES and self._may_show(root / hit.name)
            if allowed[hit.name] and hit.name in shown:
                found.append(_shown(hit, shown[hit.name]))
        if len(allowed) > MOST_FILES:
            found.append(
                f"[only the first {MOST_FILES:,} of {len(allowed):,} files with finds; make the pattern narrower]"
            )
        return found

    def _may_show(self, path: Path) -> bool:
        """Whether a file with a find is a text file that may be read."""
        try:
            fd = open_file(path, protection=self._protection)
        except (OSError, ToolFailure):
            return False
        with open(fd, "rb", buffering=0) as file:
            return not is_binary(file.read(BINARY_SAMPLE_BYTES))


def _readable(pattern: str) -> tuple[str, list[str]]:
    """Return the pattern, taken literally where it is no regular expression, and what is to be said of that."""
    try:
        re.compile(pattern)
    except (re.error, RecursionError, OverflowError) as error:
        why = one_line(str(error), 80)
        return re.escape(pattern), [f"[the pattern is no regular expression ({why}), so it was taken literally]"]
    return pattern, []


def _shown(hit: Hit, name: str) -> str:
    name = revealed_line(name)
    return f"{name}:{hit.line}: {hit.text}"
