"""The one writer: an event is stamped, appended to the audit, folded, projected and published, in this order.

What is folded is what was read back from the line itself, so that a record is by construction what its audit says.
"""

import asyncio
from collections.abc import Callable, Coroutine, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import fields
from pathlib import Path
from typing import Any, TypeAlias, TypeVar

from wisp_core.audit.files import AuditFile, Batch, alone, find_event, list_files, living_sessions, read_batches, repair
from wisp_core.audit.log import AuditLog
from wisp_core.errors import HomeError, ResumeError, StorageError
from wisp_core.events import GROUP_ENDS, Event, EventData, Live, Prompt, Published, now, parse_event
from wisp_core.records import Content, ThreadRecord, new_id
from wisp_core.redaction import NO_SECRETS, Redaction
from wisp_core.settings import Settings
from wisp_core.store import desk, waiting
from wisp_core.store.connect import check_header
from wisp_core.store.database import Database, Indexed, remove_files, replace_file
from wisp_core.store.fold import apply, wanted
from wisp_core.store.home import prepare_home
from wisp_core.store.locks import lock_thread, unlock_all, unlock_thread
from wisp_core.store.migrations import STEPS
from wisp_core.store.replay import replay

# On the disk before anything is done that rests on them (A6); with a group goes the event that ends it.
DURABLE = frozenset({"prompt", "tool.call", "tool.result", "response"})
DATABASE = "wisp.db"
AUDIT = "audit"

Listener: TypeAlias = Callable[[Published], None]
T = TypeVar("T")


class Journal:
    """Writes the events of one session, without secrets; `notes` are sentences on what opening it had to mend.

    Whoever reads facts and records what follows from them holds `ledger` meanwhile.
    """

    def __init__(
        self, home: Path, session: str, *, database: Database, audit: AuditLog | None, redaction: Redaction = NO_SECRETS
    ) -> None:
        self.home = home
        self.redaction = redaction
        self.session = session
        self.database = database
        self.notes: list[str] = []
        self.ledger = asyncio.Lock()
        self._audit = audit
        self._listeners: list[Listener] = []
        self._order = asyncio.Lock()
        self._lags = False

    @classmethod
    async def open(cls, home: Path, settings: Settings, *, redaction: Redaction = NO_SECRETS) -> "Journal":
        """Open the home, made where it is missing, and catch its database up with the audit.

        Raises:
            HomeError: the home cannot be made, read or written, is damaged, or was written by a newer wisp.
        """
        prepare_home(home)
        database = await Database.open(home / DATABASE)
        session = new_id()
        audit: AuditLog | None = None
        try:
            if settings.audit.enabled:
                audit = AuditLog.open(home / AUDIT, session, max_bytes=settings.audit.max_bytes)
            journal = cls(home, session, database=database, audit=audit, redaction=redaction)
            journal.notes += await journal._catch_up()
        except BaseException:
            if audit is not None:
                audit.close()
            await database.close()
            raise
        return journal

    async def close(self) -> None:
        """Let go of the session's threads and files."""
        async with self._order:
            # What cannot be written now is caught up from the audit at the next start.
            with suppress(StorageError):
                if self._lags:
                    await self._catch_up()
                await unlock_all(self.database, self.session)
            if self._audit is not None:
                await asyncio.to_thread(self._audit.close)
            await self.database.close()

    def subscribe(self, listener: Listener) -> Callable[[], None]:
        """Have every published event given to `listener`, in order; the function returned ends that."""
        self._listeners.append(listener)
        return lambda: self._listeners.remove(listener)

    async def new_thread(self) -> ThreadRecord:
        """Return the empty record of a new thread, locked for this session; it is stored with its first event."""
        record = ThreadRecord(new_id())
        await lock_thread(self.database, record.id, session=self.session)
        return record

    async def open_thread(self, thread: str) -> ThreadRecord:
        """Return a thread's record, locked for this session.

        Raises:
            ThreadLockedError: another living wisp writes it.
            ResumeError: there is no such thread.
        """
        await lock_thread(self.database, thread, session=self.session)
        try:
            return await self.read_thread(thread)
        except BaseException:
            await unlock_thread(self.database, thread, session=self.session)
            raise

    async def read_thread(self, thread: str) -> ThreadRecord:
        """Return a thread's record for reading only, whoever writes it.

        Raises:
            ResumeError: there is no such thread.
        """
        async with self._order:
            # Another process may have died since this one opened the home.
            for note in await self._catch_up():
                self.publish(Live("note", thread, None, {"kind": "repair", "text": note}))
            record = await self.database.load(thread)
        if record is None or record.deleted:
            raise ResumeError(f"there is no conversation {thread}", "list those there are, or start a new one")
        return record

    async def leave_thread(self, thread: str) -> None:
        """Let go of a thread, so that another process can write it."""
        await unlock_thread(self.database, thread, session=self.session)

    async def record(self, record: ThreadRecord | None, data: EventData, *, turn: int | None = None) -> Event:
        """Record one event of a thread, or of the session where `record` is None.

        `turn` is the thread's latest where it is not given, the next for a prompt. Once begun it is finished, also when
        the caller is cancelled.

        Raises:
            StorageError: it could not be written, and nothing changed.
        """
        async with self._order:
            return (await _finish(self._write(record, (data,), turn=turn, group=None)))[0]

    async def record_each(
        self, record: ThreadRecord, datas: Sequence[EventData], *, turn: int | None = None
    ) -> list[Event]:
        """Record several events in one append and one transaction; each takes effect by itself.

        Raises:
            StorageError: none of them could be written, and nothing changed.
        """
        async with self._order:
            return await _finish(self._write(record, datas, turn=turn, group=None))

    async def record_group(
        self, record: ThreadRecord, datas: Sequence[EventData], *, turn: int | None = None
    ) -> list[Event]:
        """Record events that take effect together; the last, and only the last, names the change (`GROUP_ENDS`).

        Raises:
            StorageError: none of them could be written, and nothing changed.
        """
        ends = [data.name in GROUP_ENDS for data in datas]
        if ends != [False] * (len(datas) - 1) + [True]:
            raise ValueError(f"a group ends with one of {', '.join(sorted(GROUP_ENDS))}")
        async with self._order:
            return await _finish(self._write(record, datas, turn=turn, group=new_id()))

    async def event(self, id: str) -> Event | None:
        """Return an event of the audit by its id (A7), None where there is none."""
        place = await self.database.place(id)
        return await asyncio.to_thread(find_event, self.home / AUDIT, id, place=place)

    async def _write(
        self, record: ThreadRecord | None, datas: Sequence[EventData], *, turn: int | None, group: str | None
    ) -> list[Event]:
        if self._lags:
            await self._recover()
        lines = self._lines(record, datas, turn=turn, group=group)
        events = [_read_back(line) for line in lines]
        contents = await self._contents(record, events)
        indexed: list[Indexed] = []
        positions: dict[str, int] = {}
        if self._audit is not None:
            durable = any(data.name in DURABLE or data.name in GROUP_ENDS for data in datas)
            place = await asyncio.to_thread(self._audit.append, b"".join(lines), durable=durable)
            positions[place.file] = place.end
            offset = place.offset
            for event, line in zip(events, lines, strict=True):
                indexed.append(Indexed(event.id, place.file, offset))
                offset += len(line)
        changes = (
            [] if record is None else [change for event in events for change in apply(record, event, contents=contents)]
        )
        if not self._lags:
            try:
                await self.database.project(record, changes, events=indexed, positions=positions)
            except StorageError as error:
                await self._fall_behind(record, error)
        for event in events:
            self.publish(event)
        return events

    def _lines(
        self, record: ThreadRecord | None, datas: Sequence[EventData], *, turn: int | None, group: str | None
    ) -> list[bytes]:
        datas = [_without_secrets(data, self.redaction) for data in datas]
        if record is None:
            return [Event(new_id(), None, now(), self.session, None, turn, group, data).line() for data in datas]
        if turn is None:
            turn = record.last_turn + isinstance(datas[0], Prompt) or None
        return [
            Event(new_id(), seq, now(), self.session, record.id, turn, group, data).line()
            for seq, data in enumerate(datas, record.last_seq + 1)
        ]

    async def _contents(self, record: ThreadRecord | None, events: Sequence[Event]) -> dict[int, Content]:
        """Read what an event brings back before anything is written, so that a failure changes nothing."""
        if record is None:
            return {}
        ids = [id for event in events for id in wanted(record, event)]
        return await self.database.contents(record.id, ids) if ids else {}

    async def _fall_behind(self, record: ThreadRecord | None, error: StorageError) -> None:
        if self._audit is None:
            # The database is then the record: what it did not take did not happen.
            if record is not None:
                await _restore(record, self.database)
            raise error
        self._lags = True
        text = f"{error.sentence()}; the audit has everything, and the database follows as soon as it can be written"
        self.publish(Live("note", record.id if record else None, None, {"kind": "repair", "text": text}))

    async def _recover(self) -> None:
        with suppress(StorageError):
            await self._catch_up()
            self._lags = False

    async def _catch_up(self) -> list[str]:
        """Project what the audit has and the database has not, of this session and of dead ones."""
        with _reading(self.home / AUDIT):
            if not await self._behind():
                return []
            with ExitStack() as stack:
                await asyncio.to_thread(stack.enter_context, alone(self.home / AUDIT))
                # Another process may have done it while this one waited.
                positions = await self.database.positions()
                files = await self._behind()
                notes = await asyncio.to_thread(_repair, files)
                found = await asyncio.to_thread(_read_batches, files, positions)
                count = await replay(self.database, found)
        if count and positions:
            notes.append(f"the database was {count} events behind the audit and was caught up")
        elif count:
            notes.append(f"the database was made anew from the {count} events of the audit")
        return notes

    async def _behind(self) -> list[AuditFile]:
        """Return the files of which the database lacks the end, but for those that another living session writes."""
        positions = await self.database.positions()
        listed = list_files(self.home / AUDIT)
        behind = [file for file in listed if file.size > positions.get(file.name, 0)]
        living = living_sessions(listed) - {self.session} if behind else set()
        return [file for file in behind if file.session not in living]

    def publish(self, published: Published) -> None:
        """Publish what is not recorded, and what was just now."""
        # Called by the loop, in order and before `record` returns: a listener that raises cannot break the writer.
        loop = asyncio.get_running_loop()
        for listener in self._listeners:
            loop.call_soon(listener, published)


async def rebuild(home: Path, settings: Settings) -> list[str]:
    """Make the database anew from the audit, beside the old one and then in its place; return what was done.

    Drafts, prompt history, queue and what waits are carried over where the old database can still be read.

    Raises:
        HomeError: the audit is off or empty, another wisp uses the home, or the database is a newer wisp's.
    """
    path, fresh = home / DATABASE, home / f"{DATABASE}.new"
    files = list_files(home / AUDIT)
    if not settings.audit.enabled:
        raise HomeError("the audit is off, so the database is the record and cannot be made anew")
    if not any(file.size for file in files):
        raise HomeError(f"{home / AUDIT} holds no events, so the database cannot be made anew")
    if living_sessions(files):
        raise HomeError(f"another wisp is using {home}", "end it and try again")
    with suppress(StorageError):
        check_header(path, len(STEPS))
    with _reading(home / AUDIT):
        notes = _repair(files)
        remove_files(fresh)
        found = await asyncio.to_thread(_read_batches, files, {})
        notes += _tell_broken(found)
    database = await Database.open(fresh)
    try:
        count = await replay(database, found)
        for carry_over in (desk.carry_over, waiting.carry_over):
            with suppress(StorageError):
                if path.exists():
                    await carry_over(database, path)
    except BaseException:
        await database.close()
        remove_files(fresh)
        raise
    await database.close()
    replace_file(path, fresh)
    return [*notes, f"{path} was made anew from {count} events"]


async def _finish(writing: Coroutine[Any, Any, T]) -> T:
    """Run to the end whatever happens to the caller: memory, audit and database must not part."""
    task = asyncio.ensure_future(writing)
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        while not task.done():
            with suppress(asyncio.CancelledError):
                await asyncio.wait([task])
        # Asked for, so that the loop does not report a failure that nobody is left to hear.
        task.exception()
        raise


async def _restore(record: ThreadRecord, database: Database) -> None:
    """Make the record what the database says that it is."""
    stored = await database.load(record.id) or ThreadRecord(record.id)
    for field in fields(ThreadRecord):
        setattr(record, field.name, getattr(stored, field.name))


@contextmanager
def _reading(folder: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise StorageError(f"{error.filename or folder} cannot be read ({error.strerror})") from error


def _without_secrets(data: EventData, redaction: Redaction) -> EventData:
    """Take secrets out before anything is made of the event: the audit, the store and requests never have them."""
    if not redaction:
        return data
    raw = data.model_dump(mode="json")
    clean = redaction.value(raw)
    return data if clean == raw else type(data).model_validate(clean)


def _read_back(line: bytes) -> Event:
    event = parse_event(line)
    assert isinstance(event, Event)
    return event


def _repair(files: Sequence[AuditFile]) -> list[str]:
    return [note for note in (repair(file) for file in files) if note is not None]


def _tell_broken(found: dict[Path, list[Batch]]) -> list[str]:
    count = sum(line.broken for batches in found.values() for batch in batches for line in batch.lines)
    what = (
        "1 line of the audit is no event and was"
        if count == 1
        else f"{count} lines of the audit are no events and were"
    )
    return [f"{what} left out; `wisp audit verify` names what is wrong"] if count else []


def _read_batches(files: Sequence[AuditFile], positions: dict[str, int]) -> dict[Path, list[Batch]]:
    return {file.path: list(read_batches(file.path, positions.get(file.name, 0))) for file in files}
