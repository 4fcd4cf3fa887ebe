"""What the person saw of a conversation, turn by turn, in no document's form yet. Pure."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import TypeAlias, assert_never

from wisp_core.records import (
    CallContent,
    CommandContent,
    Entry,
    EntryKind,
    InstructionsContent,
    Outcome,
    OutputContent,
    PromptContent,
    ReplyContent,
    ThreadRecord,
    Turn,
)
from wisp_core.requests import CANCELLED

LEAST_SECONDS = 0.1
"""What takes less time says nothing of it."""


@dataclass(frozen=True, slots=True)
class Called:
    """A tool call with its result; `output` None where none came."""

    tool: str
    arguments: str
    output: OutputContent | None

    @property
    def status(self) -> str:
        """How it ended, in a few words."""
        output = self.output
        if output is None:
            return "no result"
        if output.ok:
            word = "ok"
        elif output.text.rstrip().endswith(CANCELLED):
            word = "cancelled"
        else:
            word = "failed" if output.exit_status is None else f"exit status {output.exit_status}"
        return f"{word}, {output.seconds:.1f} s" if output.seconds >= LEAST_SECONDS else word


@dataclass(frozen=True, slots=True)
class Lost:
    """An entry whose content is not kept."""

    kind: str


Part: TypeAlias = PromptContent | CommandContent | ReplyContent | Called | Lost


@dataclass(frozen=True, slots=True)
class TurnTold:
    """A turn as it was seen; `ending` says how it ended where that was not well, `number` 0 is before the first."""

    number: int
    time: str
    parts: tuple[Part, ...]
    ending: str = ""


def tell(entries: Sequence[Entry], record: ThreadRecord) -> list[TurnTold]:
    """Return the turns of `entries`, those dropped and failed among them; instructions are left out."""
    told = []
    for number, group in groupby(entries, key=lambda entry: entry.turn):
        turn_entries = list(group)
        parts = tuple(_parts(turn_entries))
        if parts:
            told.append(TurnTold(number, turn_entries[0].time, parts, _ending(record.turns.get(number))))
    return told


def _parts(entries: list[Entry]) -> Iterator[Part]:
    outputs = {e.wire_id: e.content for e in entries if isinstance(e.content, OutputContent)}
    for entry in entries:
        content = entry.content
        match content:
            case InstructionsContent():
                continue
            case CallContent():
                yield Called(content.tool, content.arguments, outputs.pop(entry.wire_id, None))
            case OutputContent():
                # One whose call was told has been shown with it.
                if outputs.pop(entry.wire_id, None) is not None:
                    yield Called(content.tool, "", content)
            case PromptContent() | CommandContent() | ReplyContent():
                yield content
            case None:
                if entry.kind is not EntryKind.INSTRUCTIONS:
                    yield Lost(entry.kind.value.replace("_", " "))
            case _:
                assert_never(content)


def _ending(turn: Turn | None) -> str:
    outcome = turn.outcome if turn is not None else None
    match outcome:
        case None | Outcome.DONE:
            return ""
        case Outcome.INTERRUPTED:
            return "interrupted by the person"
        case Outcome.ABANDONED:
            return "wisp ended here"
        case Outcome.FAILED:
            error = turn.error if turn is not None else ""
            return f"failed: {error}" if error else "failed"
    assert_never(outcome)


def command_status(content: CommandContent) -> str:
    """Return how the person's own command ended, in a few words."""
    return "cancelled" if content.exit_status is None else f"exit status {content.exit_status}"
