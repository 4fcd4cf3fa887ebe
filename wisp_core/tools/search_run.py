"""Runs a search over named files in processes that are ended when their time is up: ripgrep, else Python."""

import asyncio
import os
import re
import shlex
import shutil
import stat
import sys
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from wisp_core.errors import ToolFailure
from wisp_core.records import new_id
from wisp_core.settings import MIB
from wisp_core.text import decode, shorten
from wisp_core.tools import search_child
from wisp_core.tools.process import Command, run_process
from wisp_core.tools.walking import quiet_environment

FOUND_BYTES = 2 * MIB
ERROR_BYTES = 64 * 1024
LINE_CHARACTERS = 400
_LINE = re.compile(rb"([^\0]+)\0(\d+):(.*)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Hit:
    """A line that was found: its file's name as it was given, its number from 1, its text, cut when long."""

    name: str
    line: int
    text: str


@dataclass(frozen=True, slots=True)
class Search:
    """What was found, sorted; `timed_out` and `cut` tell that it is not all."""

    hits: tuple[Hit, ...]
    timed_out: bool
    cut: bool


async def run_search(pattern: str, names: Sequence[str], *, root: Path, seconds: float) -> Search:
    """Return the lines of the named files under `root` that a regular expression finds; no link is followed.

    Raises:
        ToolFailure: the search could not be started.
    """
    with tempfile.NamedTemporaryFile(prefix="wisp-search-") as file:
        await asyncio.to_thread(_write_names, file, root, names=names)
        ripgrep = shutil.which("rg")
        if ripgrep:
            found = await _run(_with_ripgrep(ripgrep, pattern), file.name, root=root, seconds=seconds)
            if found is not None:
                return found
        found = await _run(_with_python(pattern), file.name, root=root, seconds=seconds)
        return found or Search((), timed_out=False, cut=False)


def _write_names(file: IO[bytes], root: Path, *, names: Sequence[str]) -> None:
    """Write the names of the regular files, as `xargs -0` takes them."""
    for name in names:
        with suppress(OSError):
            if stat.S_ISREG(os.lstat(root / name).st_mode):
                # With ./ in front no name is an option.
                file.write(b"./" + os.fsencode(name) + b"\0")
    file.flush()


def _with_python(pattern: str) -> str:
    child = (sys.executable, "-I", "-S", search_child.__file__ or "", pattern, str(FOUND_BYTES))
    return f"exec {shlex.join(child)}"


def _with_ripgrep(ripgrep: str, pattern: str) -> str:
    # fmt: off
    search = (
        "xargs", "-0", ripgrep, "--no-config", "--no-messages", "--no-heading", "--null", "--line-number",
        "--with-filename", "--color=never", "--max-columns", str(LINE_CHARACTERS), "--max-columns-preview",
        "--regexp", pattern, "--",
    )
    # fmt: on
    return f"{shlex.join(search)} | head -c {FOUND_BYTES + 1}"


async def _run(search: str, names: str, *, root: Path, seconds: float) -> Search | None:
    """Return what a search finds in the files that a file names; None where it does not take the pattern."""
    output = {"stdout": bytearray(), "stderr": bytearray()}
    limits = {"stdout": FOUND_BYTES + LINE_CHARACTERS, "stderr": ERROR_BYTES}

    def receive(stream: str, data: bytes) -> None:
        output[stream] += data[: limits[stream] - len(output[stream])]

    text = f"exec <{shlex.quote(names)}\n{search}"
    try:
        ended = await run_process(Command("/bin/sh", text, root, quiet_environment(), seconds, new_id()), receive)
    except OSError as error:
        raise ToolFailure(f"the search could not be started: {error.strerror}") from error
    if b"regex parse error" in output["stderr"] or b"error: unsupported" in output["stderr"]:
        return None
    data = bytes(output["stdout"])
    hits = [hit for line in data.split(b"\n")[:-1] if (hit := _hit(line))]
    hits.sort(key=lambda hit: (hit.name, hit.line))
    return Search(tuple(hits), ended.timed_out, len(data) > FOUND_BYTES)


def _hit(line: bytes) -> Hit | None:
    found = _LINE.fullmatch(line)
    if found is None:
        return None
    text = decode(found.group(3)).rstrip("\r")
    return Hit(os.fsdecode(found.group(1)).removeprefix("./"), int(found.group(2)), shorten(text, LINE_CHARACTERS))
