"""Opens a home and furnishes threads: one `Wisp` a process."""

import asyncio
import os
import platform
from collections.abc import Callable, Collection, Mapping
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from typing import Any, TypeAlias

from wisp_core import __version__
from wisp_core.audit.files import session_lives
from wisp_core.audit.verify import verify
from wisp_core.errors import UsageError, WispError
from wisp_core.events import Live, Published, SessionEnd, SessionStart
from wisp_core.facts.kinds import KINDS, kinds_of
from wisp_core.furnish import House, check_names, furnish_tools, note_idle_rules
from wisp_core.home_facts import HomeFacts
from wisp_core.journal import Journal, rebuild
from wisp_core.known_secrets import make_redaction, show_setting
from wisp_core.library import Library, carried_sessions
from wisp_core.models.catalogue import DEMONSTRATION, DEMONSTRATION_WITH_TOOLS, EMBEDDED, Choice, choose, look_around
from wisp_core.models.keys import with_keys
from wisp_core.pending import Pending
from wisp_core.permissions.decide import read_rules
from wisp_core.permissions.paths import ProtectedPaths
from wisp_core.project.branch import branch_of
from wisp_core.records import JsonObject, Mode, ThreadRecord
from wisp_core.resources import read
from wisp_core.settings import Settings, home_path, leaves, load_settings, trace_settings
from wisp_core.settings_file import remember_rule
from wisp_core.shelf import Shelf
from wisp_core.store.desk import Desk
from wisp_core.store.outputs import Outputs
from wisp_core.store.previous import Previous
from wisp_core.store.sweep import sweep
from wisp_core.store.waiting import WaitingTable
from wisp_core.thread import Furniture, Thread
from wisp_core.turn.person import Person
from wisp_core.turn.protocols import Ask

Listen: TypeAlias = Callable[[Published], None]
VALUE_CHARACTERS = 200


class Wisp:
    """An open home: its settings, its journal, the threads that are furnished from it.

    `library` has every thread of the home, `facts` the facts of them all, `pending` what waits for the person in any
    process, `shelf` the models that can be run. `introduction` is said at the start of a new conversation: which model
    was chosen and why. `notes` are sentences on what opening the home had to mend or ignore.
    """

    def __init__(
        self, house: House, journal: Journal, *, cwd: Path, choice: Choice, only: Collection[str] | None, face: str
    ) -> None:
        self.home = house.home
        self.cwd = cwd
        self.desk = Desk(journal.database, journal.redaction)
        self.library = Library(journal, house.outputs, cwd=cwd, model=choice.model, mode=Mode(house.settings.mode))
        table = WaitingTable(journal.database, journal.session, redaction=journal.redaction)
        limits, taken = house.settings.waiting, self.library.taken
        self.facts = HomeFacts(journal, taken, table=table, limits=limits)
        self.pending = Pending(journal, self.facts, taken=taken, table=table, limits=limits, face=face)
        self.shelf = Shelf(house.home, house.settings)
        self.introduction: list[str] = []
        self.notes: list[str] = [*journal.notes, *note_idle_rules(house.settings.permissions)]
        self.model = choice.model
        self.why = f"{choice.model}: {choice.why}"
        self._house = house
        self._journal = journal
        self._only = only

    @property
    def settings(self) -> Settings:
        """The settings in force."""
        return self._house.settings

    def branch_of(self, cwd: str) -> str:
        """Return the git branch of a conversation's folder, empty without git."""
        return branch_of(cwd)

    def settings_shown(self) -> list[tuple[str, str, str]]:
        """Return every setting as key, value and origin, those that are set first; no key or header is among them."""
        traced = trace_settings(self.home, self._house.given)
        plain = {key: (value, "default") for key, value in leaves(self.settings.model_dump())}
        every = dict(sorted(traced.items())) | {key: found for key, found in plain.items() if key not in traced}
        return [(key, self._shown(key, value), origin) for key, (value, origin) in every.items()]

    def _shown(self, key: str, value: Any) -> str:
        return show_setting(key, str(value), hidden=self._journal.redaction, most=VALUE_CHARACTERS) or "-"

    @classmethod
    async def open(
        cls,
        *,
        face: str,
        home: Path | None = None,
        cwd: Path | None = None,
        given: JsonObject | None = None,
        only_tools: Collection[str] | None = None,
        resume: str | None = None,
    ) -> "Wisp":
        """Open the home for a face; `given` are the command line's settings, `only_tools` its tools by name.

        A transcript named `resume` is looked at first, so that one that cannot be resumed starts nothing (A26).

        Raises:
            SettingsError: a setting is wrong.
            HomeError: the home cannot be used.
            NoModelError: the model that is named is none.
            UsageError: the folder is none, or a tool is none.
            ResumeError: the transcript cannot be resumed.
        """
        home = home or home_path()
        carried = await asyncio.to_thread(carried_sessions, home, resume) if resume else []
        folder = _folder(cwd)
        settings = load_settings(home, given)
        read_rules(Mode(settings.mode), settings.permissions)
        ProtectedPaths(home, patterns=settings.protected_paths)
        check_names([*(only_tools or ()), *settings.tools.disabled])
        environ, lost = await with_keys(home, os.environ)
        choice = choose(settings, await look_around(settings, environ))
        redaction = make_redaction(settings, environ)
        settings = settings.model_copy(update={"instructions": redaction.text(settings.instructions)})
        journal = await Journal.open(home, settings, redaction=redaction)
        try:
            house = _house(journal, settings, given=given or {}, cwd=folder, environ=environ)
            wisp = cls(house, journal, cwd=folder, choice=choice, only=only_tools, face=face)
            await wisp.pending.sweep()
            swept = await asyncio.to_thread(_sweep, home, settings)
            start = _session_start(face, cwd=folder, model=choice.model, carried=carried, swept=swept)
            await journal.record(None, start)
        except BaseException:
            await journal.close()
            raise
        wisp.notes += lost
        wisp.introduction.append(wisp.why)
        if choice.model == EMBEDDED:
            wisp.introduction.append(DEMONSTRATION_WITH_TOOLS if settings.embedded.tools else DEMONSTRATION)
        return wisp

    async def new_thread(
        self, *, listen: Listen, ask: Ask, model: str | None = None, mode: Mode | None = None
    ) -> Thread:
        """Return a new thread; it is stored with its first prompt.

        Raises:
            NoModelError: there is no such model.
        """
        record = await self._journal.new_thread()
        record.cwd = str(self.cwd)
        record.model = model or self.model
        record.mode = mode or Mode(self.settings.mode)
        return await self._furnish(record, listen=listen, ask=ask)

    async def open_thread(
        self, id: str, *, listen: Listen, ask: Ask, model: str | None = None, mode: Mode | None = None
    ) -> Thread:
        """Return an earlier thread for writing, with another model or mode where one is named.

        Raises:
            UsageError: it is open here.
            ThreadLockedError: another living wisp writes it.
            ResumeError: there is no such thread.
            NoModelError: there is no such model.
        """
        if id in self.library.taken:
            # Two of one session would share its lock, and the first to be closed would give it away.
            raise UsageError("this conversation is open already")
        record = await self._journal.open_thread(id)
        thread = await self._furnish(record, listen=listen, ask=ask, model=model)
        await self.facts.settle(record)
        await thread.change(model=model, mode=mode)
        return thread

    async def close(self) -> None:
        """Leave the home in order."""
        await self.pending.close()
        await self._journal.record(None, SessionEnd())
        await self._journal.close()

    async def _furnish(self, record: ThreadRecord, *, listen: Listen, ask: Ask, model: str | None = None) -> Thread:
        def hear(published: Published) -> None:
            if published.thread in (None, record.id):
                listen(published)

        unsubscribe = self._journal.subscribe(hear)
        self.library.taken[record.id] = record

        async def release() -> None:
            unsubscribe()
            try:
                await self.library.save_again(record.id)
            except WispError as error:
                listen(Live("note", record.id, None, {"kind": "error", "text": error.sentence()}))
            finally:
                self.library.taken.pop(record.id, None)
                await self._journal.leave_thread(record.id)

        self.pending.watch()
        person = Person(record, self._journal, ask=ask, waiting=self.pending)
        furniture = Furniture(
            journal=self._journal,
            settings=self.settings,
            tools=furnish_tools(self._house, record, person=person, only=self._only),
            outputs=self._house.outputs,
            protection=self._house.protection,
            environ=self._house.environ,
            kinds=self._house.kinds,
            release=release,
            remember=self._remember,
        )
        try:
            return Thread(record, furniture, person=person, model=model)
        except BaseException:
            await release()
            raise

    def _remember(self, rule: str) -> None:
        """Write a rule that is always to allow and let the conversations opened from now on have it; blocks."""
        remember_rule(self.home, rule)
        permissions = self.settings.permissions
        allowed = permissions.model_copy(update={"allow": [*permissions.allow, rule]})
        self._house = replace(self._house, settings=self.settings.model_copy(update={"permissions": allowed}))


def _house(journal: Journal, settings: Settings, *, given: JsonObject, cwd: Path, environ: Mapping[str, str]) -> House:
    home, enabled = journal.home, settings.audit.enabled
    outputs = Outputs(
        home / "output", journal.session, limits=settings.outputs, enabled=enabled, redaction=journal.redaction
    )
    return House(
        home,
        settings,
        given,
        outputs,
        Previous(home / "output", journal.session, enabled=enabled),
        ProtectedPaths(home, patterns=settings.protected_paths, cwd=cwd),
        kinds_of(read(KINDS), settings.facts.kinds),
        environ,
    )


def _session_start(face: str, *, cwd: Path, model: str, carried: list[str], swept: JsonObject | None) -> SessionStart:
    versions = {"wisp": __version__, "python": platform.python_version()}
    return SessionStart(versions=versions, cwd=str(cwd), model=model, face=face, carriedFrom=carried, outputSweep=swept)


async def rebuild_home() -> list[str]:
    """Make the home's database anew from the audit and return what was done.

    Raises:
        WispError: it cannot be.
    """
    home = home_path()
    return await rebuild(home, load_settings(home))


async def verify_home() -> list[str]:
    """Return what is wrong with the home's audit, one sentence each."""
    return await asyncio.to_thread(verify, home_path() / "audit")


def _sweep(home: Path, settings: Settings) -> JsonObject | None:
    """Remove old outputs and return what went, None where nothing did; without an audit nothing is removed."""
    if not settings.audit.enabled:
        return None
    swept = sweep(
        home / "output",
        settings.outputs,
        days=settings.context.output_days,
        lives=partial(session_lives, home / "audit"),
    )
    return asdict(swept) if swept.sessions else None


def _folder(cwd: Path | None) -> Path:
    try:
        folder = (cwd or Path.cwd()).expanduser().resolve(strict=True)
    except OSError as error:
        raise UsageError(f"the working folder {cwd or ''} is not there", "name one with --cwd") from error
    if not folder.is_dir():
        raise UsageError(f"{folder} is no folder", "name one with --cwd")
    return folder
