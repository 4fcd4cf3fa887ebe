"""Furnishes a conversation with its tools, and the `inspect` tool with what it may look at."""

import asyncio
from collections.abc import Awaitable, Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from wisp_core.audit.files import list_files, read_lines
from wisp_core.errors import UsageError
from wisp_core.events import Event, EventFormatError, parse_event
from wisp_core.facts.kinds import Kind
from wisp_core.models.survey import survey
from wisp_core.permissions.paths import ProtectedPaths
from wisp_core.records import JsonObject, ThreadRecord
from wisp_core.settings import Permissions, Settings, trace_settings
from wisp_core.store.outputs import Outputs
from wisp_core.store.previous import Previous
from wisp_core.tools.ask import AskTool
from wisp_core.tools.budget import Budget
from wisp_core.tools.current_date import CurrentDate
from wisp_core.tools.edit_file import EditFile
from wisp_core.tools.inspect import Inspect, Setting
from wisp_core.tools.ledger import Ledger
from wisp_core.tools.list_files import ListFiles
from wisp_core.tools.models import Models
from wisp_core.tools.notify import Notify
from wisp_core.tools.read_file import ReadFile
from wisp_core.tools.registry import Registry
from wisp_core.tools.result import Results
from wisp_core.tools.run_command import RunCommand
from wisp_core.tools.search_files import SearchFiles
from wisp_core.tools.system_info import SystemInfo
from wisp_core.tools.tool import Tool
from wisp_core.turn.person import Person

LOOKED_AT = 2_000
"""How many of a conversation's latest events `inspect` reads."""

NAMES = (
    "current_date",
    "read_file",
    "run_command",
    "edit_file",
    "list_files",
    "search_files",
    "system_info",
    "inspect",
    "models",
    "notify",
    "ask",
)


@dataclass(frozen=True, slots=True)
class House:
    """What every conversation of a home shares; `given` are the command line's settings."""

    home: Path
    settings: Settings
    given: JsonObject
    outputs: Outputs
    previous: Previous
    protection: ProtectedPaths
    kinds: Mapping[str, Kind]
    environ: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Tools:
    """The tools of one conversation, the budget that bounds them, and the undoing of its edits."""

    registry: Registry
    budget: Budget
    undo: Callable[[str], Awaitable[str]]


def furnish_tools(house: House, record: ThreadRecord, *, person: Person, only: Collection[str] | None) -> Tools:
    """Return the tools of a conversation: all, or `only` those named, less what the settings disable."""
    cwd, settings, budget = Path(record.cwd), house.settings, Budget(house.settings.outputs)
    ledger, results = Ledger(), Results(budget, house.outputs)
    edit = EditFile(cwd, results, protection=house.protection, ledger=ledger, previous=house.previous.of(record.id))
    every: list[Tool[Any]] = [
        CurrentDate(),
        ReadFile(cwd, budget, protection=house.protection, ledger=ledger, redaction=house.outputs.redaction),
        RunCommand(cwd, settings.tools, budget=budget, spools=house.outputs),
        edit,
        ListFiles(cwd, results, protection=house.protection),
        SearchFiles(cwd, results, protection=house.protection),
        SystemInfo(results),
        Inspect(Looked(house, record), results),
        Models(lambda: list_models(settings, house.environ), results),
        Notify(lambda text: person.tell(house.outputs.redaction.text(text))),
        AskTool(person.answer, results),
    ]
    chosen = [tool for tool in every if only is None or tool.name in only]

    return Tools(Registry(chosen, disabled=settings.tools.disabled), budget, edit.undo)


def check_names(names: Collection[str]) -> None:
    """Do nothing where every name is a tool's.

    Raises:
        UsageError: one is not; the hint lists those that are.
    """
    for name in names:
        if name not in NAMES:
            raise UsageError(f"there is no tool `{name}`", f"the tools are {', '.join(NAMES)}")


def note_idle_rules(permissions: Permissions) -> Iterator[str]:
    """Yield a sentence for each rule whose tool is none."""
    for rule in [*permissions.allow, *permissions.ask, *permissions.deny]:
        name = rule.partition("(")[0].strip()
        # SERVER__TOOL is an MCP server's, which may not be there yet.
        if name not in NAMES and "__" not in name:
            yield f"the rule `{rule}` does nothing: there is no tool `{name}`"


async def list_models(settings: Settings, environ: Mapping[str, str]) -> Sequence[str]:
    """Return a line for each model that can be run, with what is known of it."""
    return [f"{seen.name}: {seen.text}" for seen in await survey(settings, environ)]


class Looked:
    """What `inspect` may look at, and nothing that can be changed."""

    def __init__(self, house: House, record: ThreadRecord) -> None:
        self._house = house
        self._record = record

    def settings(self) -> Sequence[Setting]:
        """Return the settings that are not left to their defaults."""
        traced = trace_settings(self._house.home, self._house.given)
        return [Setting(key, value, origin) for key, (value, origin) in traced.items()]

    def status(self) -> Sequence[tuple[str, str]]:
        """Return model, mode, folder and sizes."""
        record, sums = self._record, self._record.totals
        return (
            ("model", record.model),
            ("mode", record.mode.value),
            ("folder", record.cwd),
            ("turn", str(record.last_turn)),
            ("entries", f"{len(record.entries)}, {len(record.active)} of them active"),
            ("tokens", f"{sums.total} reported over {sums.requests} requests"),
        )

    def record(self) -> ThreadRecord:
        """Return the conversation's record."""
        return self._record

    async def events(self, turn: int | None) -> Sequence[Event]:
        """Return the conversation's latest events, of one turn or of all."""
        found = await asyncio.to_thread(thread_events, self._house.home / "audit", self._record.id)
        return [event for event in found if turn is None or event.turn == turn]


def thread_events(folder: Path, thread: str) -> list[Event]:
    """Return the latest events of a thread in order, from the audit's files; blocks."""
    mark, found = thread.encode(), []
    for file in list_files(folder):
        for _, line in read_lines(file.path):
            if mark not in line:
                continue
            try:
                event = parse_event(line)
            except EventFormatError:
                continue
            if isinstance(event, Event) and event.thread == thread:
                found.append(event)
    return sorted(found, key=lambda event: event.seq or 0)[-LOOKED_AT:]
