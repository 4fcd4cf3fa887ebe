"""The tool `inspect`: wisp's own settings, state, calls, approvals and log, each as lines."""

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol, assert_never

from pydantic import Field

from wisp_core.events import ApprovalDecided, ApprovalRequested, Event, TurnEnd
from wisp_core.records import CallContent, CommandContent, Entry, OutputContent, ThreadRecord
from wisp_core.requests import ToolKind, ToolResult
from wisp_core.text import one_line, revealed
from wisp_core.tools.result import Results
from wisp_core.tools.tool import Arguments, Running, Tool

Topic = Literal["config", "status", "calls", "approvals", "audit"]
VALUE_CHARACTERS = 200
ARGUMENTS_CHARACTERS = 160
DATA_CHARACTERS = 160
# What a setting under such a name holds may be a key.
HIDDEN = frozenset({"headers"})


@dataclass(frozen=True, slots=True)
class Setting:
    """A setting by its dotted `key`, its value, and its `origin` (`default`, a file, `environment`, …)."""

    key: str
    value: object
    origin: str


class Inspected(Protocol):
    """What can be looked at of one conversation and its home; nothing of it can be changed through here."""

    def settings(self) -> Sequence[Setting]:
        """Return the settings in force."""

    def status(self) -> Sequence[tuple[str, str]]:
        """Return what is the case now (model, window, mode, folder, sizes), by its name."""

    def record(self) -> ThreadRecord:
        """Return the conversation's record."""

    async def events(self, turn: int | None) -> Sequence[Event]:
        """Return the conversation's events in order, of one turn or of all, where the log is kept."""


class InspectArguments(Arguments):
    """What is looked at, of one turn or of all."""

    topic: Topic
    turn: int | None = Field(None, ge=0, description="of this turn alone")


class Inspect(Tool[InspectArguments]):
    """Looks at wisp itself."""

    name = "inspect"
    kind = ToolKind.READS
    description = "Look at wisp: its config, status, the calls so far, approvals, audit log."
    arguments = InspectArguments

    def __init__(self, inspected: Inspected, results: Results) -> None:
        self._inspected = inspected
        self._results = results

    async def run(self, arguments: InspectArguments, running: Running) -> ToolResult:
        """Return the topic's lines."""
        lines = [revealed(line) for line in await self._lines(arguments.topic, arguments.turn)]
        where = f" in turn {arguments.turn}" if arguments.turn is not None else ""
        return await self._results.give("\n".join(lines) or f"[none{where}]", running.call)

    async def _lines(self, topic: Topic, turn: int | None) -> list[str]:
        match topic:
            case "config":
                return setting_lines(self._inspected.settings())
            case "status":
                return [f"{name}: {one_line(value, VALUE_CHARACTERS)}" for name, value in self._inspected.status()]
            case "calls":
                return call_lines(self._inspected.record(), turn)
            case "approvals":
                return approval_lines(await self._inspected.events(turn))
            case "audit":
                return event_lines(await self._inspected.events(turn))
            case _:
                assert_never(topic)


def setting_lines(settings: Iterable[Setting]) -> list[str]:
    """Return a line a setting, those that were set first; what may be a key is not shown."""
    ordered = sorted(settings, key=lambda each: (each.origin == "default", each.key))
    return [f"{each.key} = {_value(each)}  ({each.origin})" for each in ordered]


def call_lines(record: ThreadRecord, turn: int | None) -> list[str]:
    """Return a line a call, the person's own commands among them: what, how it ended, and its size."""
    outputs = {
        entry.content.call: entry.content
        for entry in record.entries.values()
        if isinstance(entry.content, OutputContent)
    }
    wanted = (entry for entry in record.entries.values() if turn is None or entry.turn == turn)
    return [line for entry in wanted for line in _call(entry, outputs)]


def approval_lines(events: Iterable[Event]) -> list[str]:
    """Return a line a call that was asked about or refused: why, what was decided, by whom, after how long.

    One that was open when its turn ended is cancelled, by a crash too.
    """
    asked: dict[str, ApprovalRequested] = {}
    lines: list[str] = []
    for event in events:
        data = event.data
        if isinstance(data, TurnEnd):
            lines += [
                f"{_place(event)} {_asked(each, each.call)}: cancelled, the turn ended" for each in asked.values()
            ]
            asked.clear()
        elif isinstance(data, ApprovalRequested):
            asked[data.call] = data
        elif isinstance(data, ApprovalDecided):
            lines.append(f"{_place(event)} {_asked(asked.pop(data.call, None), data.call)}: {_decided(data)}")
    return lines + [f"{_asked(data, data.call)}: not answered" for data in asked.values()]


def event_lines(events: Iterable[Event]) -> list[str]:
    """Return a line an event: its number in the conversation, its time, its name, its data cut."""
    return [
        f"{event.seq} {_place(event)} {event.name} "
        + one_line(
            json.dumps(event.data.model_dump(mode="json", exclude_none=True), ensure_ascii=False), DATA_CHARACTERS
        )
        for event in events
    ]


def _value(setting: Setting) -> str:
    if HIDDEN & set(setting.key.split(".")) and setting.value:
        return "(hidden)"
    return one_line(json.dumps(_without_hidden(setting.value), ensure_ascii=False, default=str), VALUE_CHARACTERS)


def _without_hidden(value: object) -> object:
    if isinstance(value, dict):
        return {key: "(hidden)" if key in HIDDEN and inner else _without_hidden(inner) for key, inner in value.items()}
    return [_without_hidden(inner) for inner in value] if isinstance(value, list | tuple) else value


def _call(entry: Entry, outputs: dict[str, OutputContent]) -> Iterator[str]:
    content = entry.content
    start = f"turn {entry.turn} {entry.time}"
    if isinstance(content, CommandContent):
        yield f"{start} ! {one_line(content.command, ARGUMENTS_CHARACTERS)}: exit status {content.exit_status}"
    elif isinstance(content, CallContent):
        what = f"{content.tool} {one_line(content.arguments, ARGUMENTS_CHARACTERS)}"
        yield f"{start} {what}: {_ended(outputs.get(content.call))}"


def _ended(output: OutputContent | None) -> str:
    if output is None:
        return "no result"
    status = f"exit status {output.exit_status}" if output.exit_status is not None else "ok" if output.ok else "failed"
    kept = f", kept as output {output.call}" if output.kept else ""
    repeat = ", a repeat" if output.repeats else ""
    return f"{status}, {output.lines:,} lines, {output.bytes:,} bytes, {output.seconds:g} s{kept}{repeat}"


def _place(event: Event) -> str:
    return event.time if event.turn is None else f"turn {event.turn} {event.time}"


def _asked(data: ApprovalRequested | None, call: str) -> str:
    if data is None:
        return f"call {call}"
    arguments = one_line(json.dumps(data.arguments, ensure_ascii=False), ARGUMENTS_CHARACTERS)
    return f"{data.tool} {arguments} ({one_line(data.why, VALUE_CHARACTERS)})"


def _decided(data: ApprovalDecided) -> str:
    reason = f": {one_line(data.reason, VALUE_CHARACTERS)}" if data.reason else ""
    return f"{data.decision}, by {data.by}, after {data.seconds:g} s{reason}"
