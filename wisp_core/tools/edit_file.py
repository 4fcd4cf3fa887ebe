"""The tool `edit_file`: writes a file, appends to it or replaces an exact text in it, and shows the difference."""

import asyncio
import hashlib
import os
from dataclasses import dataclass
from pathlib import Path

from pydantic import Field, model_validator

from wisp_core.errors import ToolFailure
from wisp_core.redaction import PLACEHOLDER
from wisp_core.requests import EarlierFile, ToolKind, ToolResult
from wisp_core.settings import KIB
from wisp_core.text import byte_size, revealed_line, sound
from wisp_core.tools.diff import changed_lines, unified
from wisp_core.tools.edit_text import Found, append, read_text, replace, write_whole
from wisp_core.tools.files import Protection, locate, missing, open_file, place_of
from wisp_core.tools.ledger import EDITABLE_BYTES, Ledger
from wisp_core.tools.previous import Previous
from wisp_core.tools.result import Results
from wisp_core.tools.tool import Arguments, Running, Tool
from wisp_core.tools.undo import undo
from wisp_core.tools.writing import write_file

# The model wrote what differs, so it is shown no more than this of it; the whole is kept for the person.
DIFF_BYTES = 4 * KIB
WAYS = "give content (the whole file), append, or old and new"


class EditArguments(Arguments):
    """The file's path, and one of: its whole `content`, what to `append`, the `old` text and the `new` in its place."""

    path: str = Field(min_length=1)
    content: str | None = Field(None, description="whole file")
    append: str | None = None
    old: str | None = Field(None, description="exact text that occurs once")
    new: str | None = Field(None, description="in its place")

    @model_validator(mode="after")
    def _one_way(self) -> "EditArguments":
        ways = [self.content is not None, self.append is not None, self.old is not None or self.new is not None]
        if self.old is not None and self.new is None:
            raise ValueError("new is missing, the text in place of old (it may be empty)")
        if self.old is None and self.new is not None:
            raise ValueError("old is missing, the exact text that new replaces")
        if self.old == "":
            raise ValueError("old is empty; to write the whole file, give content")
        if sum(ways) != 1:
            raise ValueError(WAYS)
        return self


@dataclass(frozen=True, slots=True)
class Plan:
    """An edit that is not made yet: the real `place`, bytes `before` (None for no file) and `after`, and the `diff`.

    `since` is the file's state when it was read, None for a new one.
    """

    place: Path
    before: bytes | None
    after: bytes
    diff: str
    summary: str
    since: os.stat_result | None

    @property
    def digest(self) -> str:
        """The SHA-256 of what the file holds before, empty where there is none."""
        return "" if self.before is None else hashlib.sha256(self.before).hexdigest()


class EditFile(Tool[EditArguments]):
    """Edits files that the conversation has read, and keeps what they held before."""

    name = "edit_file"
    kind = ToolKind.WRITES
    description = "Write a file, append to it, or replace a text in it. Read it first, unless it is new."
    arguments = EditArguments

    def __init__(
        self, cwd: Path, results: Results, *, protection: Protection, ledger: Ledger, previous: Previous
    ) -> None:
        self._cwd = cwd
        self._results = results
        self._protection = protection
        self._ledger = ledger
        self._previous = previous
        self._shown: dict[EditArguments, tuple[Path, str]] = {}

    async def preview(self, arguments: EditArguments) -> str:
        """Return the whole diff; a run with the same arguments writes exactly this, or nothing.

        Raises:
            ToolFailure: the edit cannot be made.
        """
        plan = await asyncio.to_thread(self._plan, arguments)
        self._shown[arguments] = (plan.place, plan.digest)
        return plan.diff

    async def run(self, arguments: EditArguments, running: Running) -> ToolResult:
        """Write, and return one line and the diff.

        Raises:
            ToolFailure: the edit cannot be made; the file is as it was.
        """
        shown = self._shown.pop(arguments, None)
        # A write that has begun is let end: half of it would be neither what was nor what was asked for.
        writing = asyncio.ensure_future(asyncio.to_thread(self._write, arguments, running, shown=shown))
        try:
            plan = await asyncio.shield(writing)
        except asyncio.CancelledError:
            await asyncio.wait([writing])
            raise
        return await self._results.give(f"{plan.summary}\n{plan.diff}", running.call, most=DIFF_BYTES)

    async def undo(self, named: str = "") -> str:
        """Bring back what a file held before its latest edit, or the latest edited file's; return one line.

        Raises:
            ToolFailure: there is nothing to undo, or the file is no longer what was written.
        """

        def bring_back() -> str:
            place = Path(os.path.realpath(self._cwd / os.path.expanduser(named))) if named else None
            return undo(place, previous=self._previous, protection=self._protection, ledger=self._ledger)

        return await asyncio.to_thread(bring_back)

    def _write(self, arguments: EditArguments, running: Running, *, shown: tuple[Path, str] | None) -> Plan:
        plan = self._plan(arguments)
        if shown is not None and shown != (plan.place, plan.digest):
            raise ToolFailure(f"{plan.place} has changed since the difference was shown; nothing was written")
        if running.place and running.place != str(plan.place):
            raise ToolFailure(f"{arguments.path} leads to {plan.place}, not to {running.place} as was permitted")
        after = hashlib.sha256(plan.after).hexdigest()
        try:
            self._previous.keep(EarlierFile(running.call, str(plan.place), plan.before, after))
        except OSError as error:
            said = f"what {plan.place} holds cannot be kept for /undo: {error.strerror}; nothing was written"
            raise ToolFailure(said) from error
        try:
            write_file(plan.place, plan.after, since=plan.since, protection=self._protection)
        except BaseException:
            self._previous.drop(running.call)
            raise
        self._ledger.note(plan.place, after)
        return plan

    def _plan(self, arguments: EditArguments) -> Plan:
        _refuse_placeholders(arguments)
        path = locate(arguments.path, self._cwd, protection=self._protection, writing=True)
        try:
            fd = open_file(path, protection=self._protection, writing=True)
        except FileNotFoundError as error:
            return self._plan_new(path, arguments, error=error)
        with open(fd, "rb") as file:
            since, place = os.fstat(fd), place_of(fd, path)
            if since.st_size > EDITABLE_BYTES:
                raise ToolFailure(f"{path} has {byte_size(since.st_size)}; up to {byte_size(EDITABLE_BYTES)} is edited")
            before = file.read()
        if place is None:
            raise ToolFailure(f"{path} is in another place now; nothing was written")
        self._refuse_unseen(path, place, digest=hashlib.sha256(before).hexdigest())
        found = read_text(before)
        if found is None:
            raise ToolFailure(f"{path} is no text file, so it is not edited")
        after = _edited(found, arguments)
        return _planned(arguments.path, place, found=found, before=before, after=after, since=since)

    def _plan_new(self, path: Path, arguments: EditArguments, *, error: FileNotFoundError) -> Plan:
        if arguments.old is not None or path.is_symlink() or arguments.path.endswith("/"):
            raise ToolFailure(missing(path)) from error
        parents = [parent for parent in path.parents if os.path.lexists(parent)]
        if not parents[0].is_dir():
            raise ToolFailure(f"{parents[0]} is a file, so {path} cannot be made") from error
        place = Path(os.path.realpath(path))
        after = arguments.content if arguments.content is not None else arguments.append or ""
        return _planned(arguments.path, place, found=None, before=None, after=after, since=None)

    def _refuse_unseen(self, path: Path, place: Path, *, digest: str) -> None:
        known = self._ledger.known(place)
        if not known:
            raise ToolFailure(f"{path} exists and was not read in this conversation; read it first, then edit it")
        if known != digest:
            raise ToolFailure(f"{path} has changed since it was read; read it again, then edit it")


def _edited(found: Found, arguments: EditArguments) -> str:
    if arguments.content is not None:
        return write_whole(found, arguments.content)
    if arguments.append is not None:
        return append(found, arguments.append)
    return replace(found, arguments.old or "", new=arguments.new or "")


def _planned(
    name: str, place: Path, *, found: Found | None, before: bytes | None, after: str, since: os.stat_result | None
) -> Plan:
    text = found.text if found else None
    data = found.encode(after) if found else after.encode()
    if data == before:
        raise ToolFailure(f"{revealed_line(name)} holds exactly that already; nothing was written")
    if len(data) > EDITABLE_BYTES:
        raise ToolFailure(
            f"{revealed_line(name)} would have {byte_size(len(data))}; up to {byte_size(EDITABLE_BYTES)} is written"
        )
    added, removed = changed_lines(text, after)
    what = f"{_lines(added)} added, {_lines(removed)} removed" if found else f"new file, {_lines(added)}"
    summary = f"wrote {revealed_line(name)}: {what}"
    if since is not None and since.st_nlink > 1:
        summary += "; its other names (hard links) keep the earlier text"
    return Plan(place, before, data, sound(unified(text, after, name=revealed_line(name))), summary, since)


def _lines(count: int) -> str:
    return f"{count:,} line" if count == 1 else f"{count:,} lines"


def _refuse_placeholders(arguments: EditArguments) -> None:
    for text in (arguments.content, arguments.append, arguments.old, arguments.new):
        if text and (found := PLACEHOLDER.search(text)):
            raise ToolFailure(
                f"{found.group()} stands for a secret that is never sent and cannot be written; give a text without it"
            )
