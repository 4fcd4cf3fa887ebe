"""What a thread's record holds: entries, turns, plans, summaries and facts, as plain values.

Everything but `ThreadRecord` is frozen; the record is changed by the store's fold alone.
"""

import secrets
import time
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, TypeAlias

from wisp_core.fact import Fact

JsonObject: TypeAlias = dict[str, Any]


def new_id() -> str:
    """Return 24 lowercase hex digits: milliseconds since 1970 (12), then chance (12), so ids sort by time roughly."""
    return f"{time.time_ns() // 1_000_000:012x}{secrets.token_hex(6)}"


def new_call_id() -> str:
    """Return the 8 hex digits that join a tool's call, result and output."""
    return secrets.token_hex(4)


class EntryKind(StrEnum):
    """What an entry is."""

    INSTRUCTIONS = "instructions"
    PROMPT = "prompt"
    COMMAND = "command"
    TOOL_CALL = "tool_call"
    TOOL_OUTPUT = "tool_output"
    REPLY = "reply"


class Origin(StrEnum):
    """Where an entry came from: a turn of this thread, or brought in with it."""

    TURN = "turn"
    CARRIED = "carried"
    RESUMED = "resumed"


class EntryState(StrEnum):
    """Whether an entry may be composed."""

    ACTIVE = "active"
    DROPPED = "dropped"
    FAILED = "failed"


class Outcome(StrEnum):
    """How a turn ended; `ABANDONED` is a process that ended in the middle of it."""

    DONE = "done"
    INTERRUPTED = "interrupted"
    FAILED = "failed"
    ABANDONED = "abandoned"


class Mode(StrEnum):
    """What the runtime lets the model do without asking."""

    PLAN = "plan"
    ASK = "ask"
    AUTO = "auto"


class Rendering(StrEnum):
    """How an entry goes out."""

    WHOLE = "whole"
    CUT = "cut"
    REFERENCE = "reference"


@dataclass(frozen=True, slots=True)
class Segment:
    """One part of the instruction stack, by name (`core`, `operator`, `boundary`, `mode`, …)."""

    name: str
    text: str


@dataclass(frozen=True, slots=True)
class InstructionsContent:
    """The instruction stack in order; `version` counts up from 1 in the thread."""

    segments: tuple[Segment, ...]
    version: int = 1


@dataclass(frozen=True, slots=True)
class PromptContent:
    """What the person sent."""

    text: str


@dataclass(frozen=True, slots=True)
class CommandContent:
    """The person's own `!command` and its bounded output; `call` and `kept` as of a tool's."""

    command: str
    output: str
    exit_status: int | None = None
    call: str = ""
    kept: str = ""


@dataclass(frozen=True, slots=True)
class CallContent:
    """A tool call as the model made it; `arguments` is always a JSON object's text."""

    call: str
    tool: str
    arguments: str


@dataclass(frozen=True, slots=True)
class OutputContent:
    """A tool's result as the model was given it; `bytes` and `lines` are those of the whole output.

    `kept` is the session that holds the whole in the output store under `call`, empty for none.
    `repeats` is the earlier equal call of the turn.
    """

    call: str
    tool: str
    text: str
    ok: bool = True
    exit_status: int | None = None
    bytes: int = 0
    lines: int = 0
    seconds: float = 0.0
    kept: str = ""
    repeats: str | None = None


@dataclass(frozen=True, slots=True)
class ReplyContent:
    """A model's reply, its reasoning apart; `finish` is `stop`, `length`, `tool_calls`, `interrupted` or `failed`."""

    text: str
    reasoning: str = ""
    finish: str = "stop"
    model: str = ""


CUT_SHORT = {
    "length": "the reply stopped at its length limit; /continue goes on with it",
    "content_filter": "the provider withheld the rest of the reply",
}
"""What a person is told of a reply that finished so."""

Content: TypeAlias = InstructionsContent | PromptContent | CommandContent | CallContent | OutputContent | ReplyContent

CONTENT_TYPES: dict[EntryKind, type[Content]] = {
    EntryKind.INSTRUCTIONS: InstructionsContent,
    EntryKind.PROMPT: PromptContent,
    EntryKind.COMMAND: CommandContent,
    EntryKind.TOOL_CALL: CallContent,
    EntryKind.TOOL_OUTPUT: OutputContent,
    EntryKind.REPLY: ReplyContent,
}


@dataclass(frozen=True, slots=True)
class Cut:
    """A stretch of a reply, in bytes of its text, that retypes an output, and the marker sent in its place."""

    start: int
    end: int
    output: int
    tool: str
    marker: str


@dataclass(frozen=True, slots=True)
class Entry:
    """One stored item under an id that counts up in the thread.

    `content` is None where a record holds metadata alone (entries that are not active).
    `reference` is the text sent in an output's place from turn `referenced_at` on.
    """

    id: int
    wire_id: str
    kind: EntryKind
    turn: int
    time: str
    content: Content | None
    origin: Origin = Origin.TURN
    state: EntryState = EntryState.ACTIVE
    dropped_by: str | None = None
    dropped_at: int | None = None
    referenced_at: int | None = None
    reference: str | None = None
    sources: tuple[str, ...] = ()
    cuts: tuple[Cut, ...] = ()


@dataclass(frozen=True, slots=True)
class Turn:
    """A prompt and all up to the next; `outcome` is None while it is open."""

    number: int
    prompt: int
    time: str
    outcome: Outcome | None = None
    error: str = ""
    ended: str | None = None


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of one request as its provider reported them; None is not reported."""

    prompt: int | None = None
    completion: int | None = None
    total: int | None = None
    cached: int | None = None


@dataclass(frozen=True, slots=True)
class Plan:
    """What one request carried: `entries` are (entry id, rendering) in order, `sha256` is of the composition.

    `answered` is the id of the response that it got, once it has one. `bytes` is what messages and schemas said,
    `tokens` their measured size, `window` the model's then, and `reported` the provider's own count of the prompt.
    `recalled` are the entries of recollected passages in `now`, each with why it was chosen.
    """

    event: str
    turn: int
    step: int
    entries: tuple[tuple[int, Rendering], ...]
    earlier: str | None
    now: str | None
    instructions: int
    settings: JsonObject
    sha256: str
    answered: str | None = None
    model: str = ""
    window: int | None = None
    bytes: int = 0
    tokens: int = 0
    reported: int | None = None
    recalled: tuple[tuple[int, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Report:
    """A provider's latest count of a prompt, in tokens, and what the prompt said, in bytes; of a thread and model."""

    prompt: int
    bytes: int


@dataclass(frozen=True, slots=True)
class Summary:
    """One version of the running summary: `turns` covered, `highest` entry covered."""

    version: int
    text: str
    turns: int
    highest: int
    turn: int
    time: str
    event: str
    model: str = ""


@dataclass(slots=True)
class Totals:
    """Sums of what providers reported over a thread, never rebuilt from parts; `requests` counts the answered ones."""

    requests: int = 0
    prompt: int = 0
    completion: int = 0
    total: int = 0
    cached: int = 0


@dataclass(slots=True)
class ThreadRecord:
    """The record of one thread: a pure fold of its events.

    `active` lists the ids of active entries in order, so that composing costs what is active and not what is past.
    `last_usage` is the latest report, None where the latest response had none; `reports` has the latest of each model
    that went with a plan. `condensations` counts them. `renews_earlier` tells that the next request makes its earlier
    block anew; until then it goes out as it did.
    """

    id: str
    created: str = ""
    updated: str = ""
    title: str = ""
    cwd: str = ""
    model: str = ""
    mode: Mode = Mode.ASK
    deleted: bool = False
    last_seq: int = 0
    instructions: tuple[InstructionsContent, ...] = ()
    entries: dict[int, Entry] = field(default_factory=dict)
    active: list[int] = field(default_factory=list)
    calls: dict[str, int] = field(default_factory=dict)
    turns: dict[int, Turn] = field(default_factory=dict)
    plans: dict[int, tuple[Plan, ...]] = field(default_factory=dict)
    summaries: tuple[Summary, ...] = ()
    facts: dict[str, Fact] = field(default_factory=dict)
    grants: tuple[str, ...] = ()
    totals: Totals = field(default_factory=Totals)
    last_usage: Usage | None = None
    reports: dict[str, Report] = field(default_factory=dict)
    condensations: int = 0
    renews_earlier: bool = True

    @property
    def last_turn(self) -> int:
        """The number of the latest turn, 0 before the first."""
        return next(reversed(self.turns)) if self.turns else 0

    @property
    def latest_plan(self) -> "Plan | None":
        """The plan of the latest request, None before the first."""
        return next(reversed(self.plans.values()))[-1] if self.plans else None

    def open_turn(self) -> Turn | None:
        """Return the latest turn while it has no outcome."""
        turn = self.turns.get(self.last_turn)
        return turn if turn is not None and turn.outcome is None else None

    def active_entries(self) -> list[Entry]:
        """Return the active entries in order."""
        return [self.entries[i] for i in self.active]
