"""Whether the audit is as it should be: every line an event, ids once, numbers without gaps, groups with an end."""

import os
from collections import Counter, defaultdict
from pathlib import Path
from typing import BinaryIO

from wisp_core.audit.files import AuditFile, Batch, Line, list_files, owner_lives, read_batches
from wisp_core.events import EventFormatError, parse_event

_NAMED = 5  # how many numbers or ids of a kind one sentence names


def verify(folder: Path) -> list[str]:
    """Return one sentence for each thing that is wrong, none where all is well."""
    found: list[str] = []
    ids: set[str] = set()
    numbers: dict[str, list[int]] = defaultdict(list)
    for file in list_files(folder):
        lives = owner_lives(file.path)
        if not lives:
            found += _torn(file)
        with file.path.open("rb") as text:
            for batch in read_batches(file.path):
                # The end of a living session's file may be in the middle of being written.
                if not batch.whole and not (lives and batch.end >= file.size):
                    found.append(_endless(file, batch))
                for line in batch.lines:
                    found += _check(file, line, ids=ids, text=text)
                    if line.thread is not None and line.seq is not None:
                        numbers[line.thread].append(line.seq)
    for thread, seqs in numbers.items():
        found += _count(thread, seqs)
    return found


def _torn(file: AuditFile) -> list[str]:
    if not file.size:
        return []
    with file.path.open("rb") as text:
        text.seek(-1, os.SEEK_END)
        if text.read(1) == b"\n":
            return []
    return [f"audit/{file.name} ends in an unfinished line; the next start cuts it off"]


def _endless(file: AuditFile, batch: Batch) -> str:
    first = batch.lines[0]
    return f"audit/{file.name}, byte {first.offset}: the group {first.group} has no end and takes no effect"


def _check(file: AuditFile, line: Line, *, ids: set[str], text: BinaryIO) -> list[str]:
    where = f"audit/{file.name}, byte {line.offset}"
    if line.broken:
        return [f"{where}: the line is no event"]
    found = [f"{where}: the event {line.id} stands in the audit twice"] if line.id in ids else []
    ids.add(line.id)
    text.seek(line.offset)
    try:
        parse_event(text.read(line.end - line.offset))
    except EventFormatError:
        found.append(f"{where}: the {line.event} {line.id} does not have its event's shape")
    return found


def _count(thread: str, seqs: list[int]) -> list[str]:
    given = Counter(seqs)
    twice = sorted(seq for seq, times in given.items() if times > 1)
    missing = sorted(set(range(1, max(given) + 1)) - given.keys())
    found = [f"thread {thread}: the numbers {_name(twice)} are given twice"] if twice else []
    return found + ([f"thread {thread}: the events numbered {_name(missing)} are missing"] if missing else [])


def _name(numbers: list[int]) -> str:
    named = ", ".join(str(number) for number in numbers[:_NAMED])
    return named if len(numbers) <= _NAMED else f"{named} and {len(numbers) - _NAMED} more"
