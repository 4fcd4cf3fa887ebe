"""Projecting lines of the audit that the database does not have yet: after a crash, or all of them to make it anew."""

import asyncio
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import BinaryIO, Protocol

from wisp_core.events import Event, EventFormatError, UnknownEvent, parse_event
from wisp_core.records import ThreadRecord
from wisp_core.store.changes import Change
from wisp_core.store.database import Database, Indexed
from wisp_core.store.fold import NO_CONTENTS, apply, pass_over, wanted
from wisp_core.store.fold_context import Contents

EVENTS_A_TRANSACTION = 500
_BRINGS_BACK = "context.compaction.undone"


class Line(Protocol):
    """The envelope of a line: offset and end in bytes; the id is empty where it is no event."""

    @property
    def offset(self) -> int:
        """The line's first byte."""

    @property
    def end(self) -> int:
        """The byte after the line."""

    @property
    def id(self) -> str:
        """The event's id."""

    @property
    def thread(self) -> str | None:
        """The event's thread."""

    @property
    def seq(self) -> int | None:
        """The event's number in the thread."""

    @property
    def event(self) -> str:
        """The event's name."""


class Batch(Protocol):
    """Lines that take effect together, or, where the group is not `whole`, not at all."""

    @property
    def lines(self) -> Sequence[Line]:
        """The lines in order."""

    @property
    def whole(self) -> bool:
        """Whether the group has its end."""


async def replay(database: Database, files: Mapping[Path, Sequence[Batch]]) -> int:
    """Project the batches of each file, every thread's in the order of their numbers; return how many lines that were.

    Events that the database has already are passed over, so it does not matter where an earlier replay stopped.

    Raises:
        StorageError: the database cannot be written.
    """
    threads: dict[str | None, list[tuple[int, Path, Batch]]] = defaultdict(list)
    for path, batches in files.items():
        for batch in batches:
            first = batch.lines[0]
            threads[first.thread].append((first.seq or 0, path, batch))
    with ExitStack() as stack:
        handles = {path: stack.enter_context(path.open("rb")) for path in files}
        for thread, found in threads.items():
            found.sort(key=lambda item: item[0])
            await _replay_thread(database, thread, found=[(path, batch) for _, path, batch in found], handles=handles)
    ends = {path.name: batches[-1].lines[-1].end for path, batches in files.items() if batches}
    await database.project(None, (), positions=ends)
    return sum(len(batch.lines) for batches in files.values() for batch in batches)


async def _replay_thread(
    database: Database, thread: str | None, *, found: list[tuple[Path, Batch]], handles: Mapping[Path, BinaryIO]
) -> None:
    record = None if thread is None else await database.load(thread) or ThreadRecord(thread)
    for part in _parts(found):
        indexed = [Indexed(line.id, path.name, line.offset) for path, batch in part for line in batch.lines if line.id]
        changes: list[Change] = []
        if record is not None:
            contents = await _contents(database, record, part=part, handles=handles)
            changes = await asyncio.to_thread(_fold, record, part, handles=handles, contents=contents)
        await database.project(record, changes, events=indexed)


def _parts(found: Iterable[tuple[Path, Batch]]) -> Iterator[list[tuple[Path, Batch]]]:
    """Yield what one transaction takes; what brings entries back stands alone, for it reads what went before."""
    part: list[tuple[Path, Batch]] = []
    size = 0
    for path, batch in found:
        alone = any(line.event == _BRINGS_BACK for line in batch.lines)
        if part and (alone or size >= EVENTS_A_TRANSACTION):
            yield part
            part, size = [], 0
        part.append((path, batch))
        size += EVENTS_A_TRANSACTION if alone else len(batch.lines)
    if part:
        yield part


async def _contents(
    database: Database, record: ThreadRecord, *, part: list[tuple[Path, Batch]], handles: Mapping[Path, BinaryIO]
) -> Contents:
    path, batch = part[0]
    if not any(line.event == _BRINGS_BACK for line in batch.lines):
        return NO_CONTENTS
    events = [_read(handles[path], line) for line in batch.lines]
    ids = [id for event in events if isinstance(event, Event) for id in wanted(record, event)]
    return await database.contents(record.id, ids)


def _fold(
    record: ThreadRecord, part: list[tuple[Path, Batch]], *, handles: Mapping[Path, BinaryIO], contents: Contents
) -> list[Change]:
    changes: list[Change] = []
    for path, batch in part:
        for line in batch.lines:
            event = _read(handles[path], line) if batch.whole else None
            if isinstance(event, Event):
                changes += apply(record, event, contents=contents)
            elif line.seq is not None:
                pass_over(record, line.seq)
    return changes


def _read(file: BinaryIO, line: Line) -> Event | UnknownEvent | None:
    file.seek(line.offset)
    try:
        return parse_event(file.read(line.end - line.offset))
    except EventFormatError:
        return None
