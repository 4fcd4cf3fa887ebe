"""The events: whatever changes durably is one, written to the audit once, folded, projected and published."""

import json
from dataclasses import dataclass, field
from datetime import UTC, datetime
from types import NoneType
from typing import Any, TypeAlias

from pydantic import ValidationError

from wisp_core.errors import WispError
from wisp_core.event_context import (
    ContextAssessment,
    ContextCompactionUndone,
    ContextCondensation,
    ContextCut,
    ContextDistillation,
    ContextEstimated,
    ContextMemory,
    ContextRecollection,
    ContextReference,
    ContextShortened,
    ContextSummary,
    FactChanged,
    FactConflictRaised,
    FactConflictResolved,
    FactDeleted,
    FactDropped,
    FactKept,
    FactProposed,
    FactRecorded,
    FactScopeChanged,
    FactSuperseded,
    OutputKept,
)
from wisp_core.event_shape import (
    CallData,
    EventData,
    SegmentData,
    UsageData,
)
from wisp_core.event_thread import (
    ApprovalDecided,
    ApprovalRequested,
    CommandRun,
    ErrorHappened,
    ModeChanged,
    ModelChanged,
    PermissionGranted,
    Prompt,
    QuestionAnswered,
    QuestionAsked,
    RequestComposed,
    RequestRetried,
    Response,
    SessionEnd,
    SessionStart,
    ThreadDeleted,
    ThreadForked,
    ThreadRenamed,
    ThreadStart,
    ToolCalled,
    ToolReturned,
    TrustChanged,
    TurnEnd,
)
from wisp_core.records import JsonObject
from wisp_core.text import sound

__all__ = [
    "EVENTS",
    "GROUP_ENDS",
    "ApprovalDecided",
    "ApprovalRequested",
    "CallData",
    "CommandRun",
    "ContextAssessment",
    "ContextCompactionUndone",
    "ContextCondensation",
    "ContextCut",
    "ContextDistillation",
    "ContextEstimated",
    "ContextMemory",
    "ContextRecollection",
    "ContextReference",
    "ContextShortened",
    "ContextSummary",
    "ErrorHappened",
    "Event",
    "EventData",
    "EventFormatError",
    "FactChanged",
    "FactConflictRaised",
    "FactConflictResolved",
    "FactDeleted",
    "FactDropped",
    "FactKept",
    "FactProposed",
    "FactRecorded",
    "FactScopeChanged",
    "FactSuperseded",
    "Live",
    "ModeChanged",
    "ModelChanged",
    "OutputKept",
    "PermissionGranted",
    "Prompt",
    "Published",
    "QuestionAnswered",
    "QuestionAsked",
    "RequestComposed",
    "RequestRetried",
    "Response",
    "SegmentData",
    "SessionEnd",
    "SessionStart",
    "ThreadDeleted",
    "ThreadForked",
    "ThreadRenamed",
    "ThreadStart",
    "ToolCalled",
    "ToolReturned",
    "TrustChanged",
    "TurnEnd",
    "UnknownEvent",
    "UsageData",
    "now",
    "parse_event",
]


def _named(base: type[EventData]) -> dict[str, type[EventData]]:
    found: dict[str, type[EventData]] = {}
    for model in base.__subclasses__():
        if model.name:
            found[model.name] = model
        found |= _named(model)
    return found


EVENTS: dict[str, type[EventData]] = _named(EventData)


# The events that name a change and so end its group (A4b); a group without one never took effect.
GROUP_ENDS = frozenset({"context.condensation", "context.compaction.undone", "thread.forked", "turn.end"})


class EventFormatError(WispError):
    """A line of the audit is no event."""


@dataclass(frozen=True, slots=True)
class Event:
    """One event with its envelope (A3); `seq` counts up in the thread, None where there is no thread."""

    id: str
    seq: int | None
    time: str
    session: str
    thread: str | None
    turn: int | None
    group: str | None
    data: EventData

    @property
    def name(self) -> str:
        """The event's word in the log."""
        return self.data.name

    def as_object(self) -> JsonObject:
        """Return the event as a JSON object with the audit's own keys."""
        return {
            "id": self.id,
            "seq": self.seq,
            "time": self.time,
            "session": self.session,
            "thread": self.thread,
            "turn": self.turn,
            "group": self.group,
            "event": self.name,
            "data": self.data.model_dump(mode="json", exclude_none=True),
        }

    def line(self) -> bytes:
        """Return the event as one line of UTF-8, its LF included; no other LF or CR stands in it."""
        text = json.dumps(self.as_object(), ensure_ascii=False, separators=(",", ":")) + "\n"
        try:
            return text.encode()
        except UnicodeEncodeError:
            # A lone surrogate that slipped in must not cost the whole event.
            return sound(text).encode()


@dataclass(frozen=True, slots=True)
class UnknownEvent:
    """A sound line whose event this wisp does not know: kept, counted, not folded."""

    name: str


_ENVELOPE: dict[str, tuple[type, ...]] = {
    "id": (str,),
    "seq": (int, NoneType),
    "time": (str,),
    "session": (str,),
    "thread": (str, NoneType),
    "turn": (int, NoneType),
    "group": (str, NoneType),
}


def parse_event(line: bytes) -> Event | UnknownEvent:
    """Return the event that a line of the audit holds.

    Raises:
        EventFormatError: the line is no JSON object, lacks a key of the envelope, or its data is not of its event.
    """
    try:
        raw: Any = json.loads(line)
        if b"\\ud" in line or b"\\uD" in line:
            # Half a surrogate pair, written as an escape, could not be stored.
            raw = json.loads(sound(json.dumps(raw, ensure_ascii=False)))
        if raw["event"] not in EVENTS:
            return UnknownEvent(str(raw["event"]))
        data = EVENTS[raw["event"]].model_validate(raw["data"])
        for key, kinds in _ENVELOPE.items():
            if not isinstance(raw[key], kinds):
                raise TypeError(key)
        return Event(data=data, **{key: raw[key] for key in _ENVELOPE})
    except (ValueError, KeyError, TypeError, RecursionError, ValidationError) as error:
        raise EventFormatError(f"not an event: {type(error).__name__}") from error


def now() -> str:
    """Return the time as the log has it: RFC 3339, UTC, milliseconds."""
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


@dataclass(frozen=True, slots=True)
class Live:
    """What is published and not recorded: `name` is `delta`, `note`, `view` or `progress`."""

    name: str
    thread: str | None
    turn: int | None
    data: JsonObject = field(default_factory=dict)

    def as_object(self) -> JsonObject:
        """Return it in the shape that `wisp chat --json` prints."""
        return {"event": self.name, "thread": self.thread, "turn": self.turn, "data": self.data}


Published: TypeAlias = Event | Live
