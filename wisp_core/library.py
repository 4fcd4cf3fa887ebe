"""Every thread of a home: lists, finds, reads, renames, deletes, forks, saves, resumes and exports them."""

import asyncio
from collections.abc import Sequence
from pathlib import Path

from wisp_core.errors import ResumeError, UsageError
from wisp_core.events import EventData, ThreadDeleted, ThreadForked, ThreadRenamed, ThreadStart
from wisp_core.journal import Journal
from wisp_core.reader import Reader
from wisp_core.records import JsonObject, Mode, Plan, ThreadRecord
from wisp_core.requests import FoundPassage
from wisp_core.store.carried import dump_record, fork_rows, resume_rows
from wisp_core.store.export import write_export
from wisp_core.store.outputs import Outputs
from wisp_core.store.search import ThreadRow
from wisp_core.store.transcripts import (
    Saved,
    TranscriptRow,
    check_name,
    find_saved,
    list_transcripts,
    messages_of,
    write_transcript,
)
from wisp_core.text import one_line, sound

TITLE_CHARACTERS = 80
FIND_AMONG = 10_000
"""How many of the newest threads are searched for a title."""
TRANSCRIPTS = "transcripts"


class Library:
    """The threads of an open home; `taken` are the records of those that this process writes, by id.

    `cwd`, `model` and `mode` are those that a resumed transcript goes on with.
    """

    def __init__(self, journal: Journal, outputs: Outputs, *, cwd: Path, model: str, mode: Mode) -> None:
        self.taken: dict[str, ThreadRecord] = {}
        self._cwd = cwd
        self._model = model
        self._mode = mode
        self._journal = journal
        self._outputs = outputs
        self._names: dict[str, str] = {}
        self._folder = journal.home / TRANSCRIPTS

    async def threads(self, limit: int, *, cwd: str | None = None, text: str = "") -> list[ThreadRow]:
        """Return the threads, newest first; of one folder, or those that hold `text`, where these are given."""
        return await self._journal.database.threads(limit, cwd=cwd, text=text)

    async def newest(self, folder: Path) -> str | None:
        """Return the id of the newest thread of a folder (A24)."""
        return await self._journal.database.newest(str(folder))

    async def find(self, text: str, *, thread: str | None = None, limit: int = 50) -> list[FoundPassage]:
        """Return the passages that hold the words of `text`, best first, of one thread or of all (A15)."""
        return await self._journal.database.search(thread, text, limit=limit)

    async def reader(self, id: str) -> Reader:
        """Return what reads a thread, whoever writes it.

        Raises:
            ResumeError: there is no such thread.
        """
        record = self.taken.get(id) or await self._journal.read_thread(id)
        return Reader(record, self._journal.database, outputs=self._outputs)

    async def rename(self, id: str, title: str) -> str:
        """Give a thread a title and return it as it is kept.

        Raises:
            UsageError: the title is empty.
            ThreadLockedError: another living wisp writes it.
            ResumeError: there is no such thread.
        """
        wanted = one_line(sound(title), TITLE_CHARACTERS).strip()
        if not any(character.isprintable() and not character.isspace() for character in wanted):
            raise UsageError("a title needs a word at least")
        await self._write(id, ThreadRenamed(title=wanted))
        return wanted

    async def delete(self, id: str) -> None:
        """Take a thread out of the store; the audit keeps it.

        Raises:
            UsageError: it is open here.
            ThreadLockedError: another living wisp writes it.
            ResumeError: there is no such thread.
        """
        if id in self.taken:
            raise UsageError("this conversation is open", "go to another first, with /new or /resume")
        await self._write(id, ThreadDeleted())

    async def fork(self, id: str, turn: int | None = None) -> str:
        """Begin a thread as a copy of another up to the end of `turn`, of all where it is None; return its id.

        It can be done whoever writes the other.

        Raises:
            ResumeError: there is no such thread.
            UsageError: it has no such turn, or one that still runs.
        """
        reader = await self._still(id)
        source = reader.record
        last = source.last_turn - (1 if source.open_turn() is not None else 0)
        turn = last if turn is None else turn
        if not 0 <= turn <= last:
            raise UsageError(f"there is no ended turn {turn} to fork at", f"the last is {last}; 0 begins anew")
        start = ThreadStart(
            cwd=source.cwd,
            model=source.model,
            mode=source.mode.value,
            instructions=[],
            carried=fork_rows(await self._rows(reader, plans=await reader.plans()), turn),
            carriedFrom=await self._sessions(source),
        )
        return await self._begin(start, ThreadForked(source=id, turn=turn))

    def transcripts(self) -> list[TranscriptRow]:
        """Return the saved transcripts, by name; blocks."""
        return list_transcripts(self._folder)

    async def save(self, id: str, name: str, *, messages_only: bool = False) -> Path:
        """Write a portable copy of a thread; it is written again when the thread is left (A25).

        Raises:
            UsageError: the name cannot be one.
            ResumeError: there is no such thread.
            StorageError: it cannot be written.
        """
        check_name(name)
        reader = await self._still(id)
        messages = messages_of(reader.record.active_entries())
        rows = None if messages_only else await self._rows(reader, plans=())
        sessions = await self._sessions(reader.record)
        path = await asyncio.to_thread(
            write_transcript, self._folder, name, messages=messages, rows=rows, sessions=sessions
        )
        if not messages_only:
            self._names[id] = name
        return path

    async def save_again(self, id: str) -> None:
        """Write the copy of a thread that is being left, where it was saved or resumed under a name."""
        name = self._names.get(id)
        if name is not None and id in self.taken and self.taken[id].created:
            await self.save(id, name)

    async def resume(self, saved: Saved) -> str:
        """Begin a thread with what a transcript holds and return its id (A26).

        Raises:
            ResumeError: its rows do not make a thread.
        """
        # What a file says is no permission: folder, model and mode are those of this session.
        start = ThreadStart(
            cwd=str(self._cwd),
            model=self._model,
            mode=self._mode.value,
            instructions=[],
            carried=resume_rows(saved.rows),
            carriedFrom=saved.sessions,
            resumed=saved.name,
        )
        id = await self._begin(start)
        self._names[id] = saved.name
        return id

    async def named(self, name: str) -> str:
        """Return the id of the thread that `name` names: a transcript begins one, else an id, its start, or a title.

        Raises:
            ResumeError: none is named so, several are, or the transcript cannot be resumed.
        """
        for id in [id for id, held in self._names.items() if held == name and id in self.taken]:
            # What was said here since it was saved belongs to it.
            await self.save_again(id)
        saved = await asyncio.to_thread(find_saved, self._folder, name)
        return await self.known(name) if saved is None else await self.resume(saved)

    async def known(self, name: str) -> str:
        """Return the id of the thread with this id, with an id that begins so, or with this title.

        Raises:
            ResumeError: none is named so, or several are.
        """
        rows = await self.threads(FIND_AMONG)
        found = [r.id for r in rows if r.id == name] or [r.id for r in rows if r.title == name]
        found = found or [r.id for r in rows if name and r.id.startswith(name)]
        if len(found) == 1:
            return found[0]
        which = "several conversations are" if found else "no conversation is"
        raise ResumeError(f"{which} named `{name}`", "/threads or wisp-tui --list shows their ids")

    async def export(self, id: str, form: str, *, folder: Path) -> Path:
        """Write a conversation as the person saw it, as `md`, `json` or `html`, into `folder`; return the file (A27).

        Raises:
            UsageError: there is no such form.
            ResumeError: there is no such thread.
            StorageError: it cannot be written.
        """
        reader = await self.reader(id)
        entries = await reader.entries()
        return await asyncio.to_thread(write_export, folder, form, entries=entries, record=reader.record)

    async def _write(self, id: str, data: EventData) -> None:
        record = self.taken.get(id)
        if record is not None:
            await self._journal.record(record, data)
            return
        record = await self._journal.open_thread(id)
        try:
            await self._journal.record(record, data)
        finally:
            await self._journal.leave_thread(id)

    async def _rows(self, reader: Reader, *, plans: Sequence[Plan]) -> list[JsonObject]:
        contents = {entry.id: entry.content for entry in await reader.entries() if entry.content is not None}
        return dump_record(reader.record, contents, plans=plans)

    async def _still(self, id: str) -> Reader:
        """Return what reads a thread as it stands now, however it goes on."""
        record = await self._journal.read_thread(id)
        return Reader(record, self._journal.database, outputs=self._outputs)

    async def _sessions(self, record: ThreadRecord) -> list[str]:
        sources = [source for entry in record.entries.values() for source in entry.sources]
        return await self._journal.database.sessions_of(sources)

    async def _begin(self, start: ThreadStart, forked: ThreadForked | None = None) -> str:
        """Record a thread that begins with what another held, let go of it, and return its id."""
        record = await self._journal.new_thread()
        try:
            if forked is None:
                await self._journal.record(record, start)
            else:
                await self._journal.record_group(record, [start, forked])
        finally:
            await self._journal.leave_thread(record.id)
        return record.id


def carried_sessions(home: Path, name: str) -> list[str]:
    """Return the sessions that a transcript's entries refer to, none where it is no transcript; blocks.

    Raises:
        ResumeError: it cannot be resumed.
    """
    saved = find_saved(home / TRANSCRIPTS, name)
    return [] if saved is None else list(saved.sessions)
