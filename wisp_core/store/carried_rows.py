"""What a thread begins with when it goes on from another, as values and as the rows of a saved record. Pure.

A row is a JSON object: `row` says of what (`thread`, `instructions`, `turn`, `entry`, `plan`, `summary`, `fact`), the
rest are that value's fields by their names. What is not there is unknown.
"""

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from functools import cache
from itertools import pairwise
from typing import Any

from pydantic import TypeAdapter, ValidationError

from wisp_core.errors import ResumeError
from wisp_core.fact import Fact
from wisp_core.records import (
    CONTENT_TYPES,
    CallContent,
    CommandContent,
    Content,
    Entry,
    EntryKind,
    EntryState,
    InstructionsContent,
    JsonObject,
    OutputContent,
    Plan,
    Summary,
    Turn,
)
from wisp_core.store.changes import Change, EntryPut, FactPut, InstructionsPut, PlanPut, SummaryPut, TurnPut
from wisp_core.text import one_line

TITLE_CHARACTERS = 80
LARGEST = 2**53
"""The largest number that is taken for a count: any row and any reader of JSON holds it exactly."""
_NAME = re.compile(r"[A-Za-z0-9_-]{0,64}")


@dataclass(frozen=True, slots=True)
class Carried:
    """What is carried: every entry with its content, and all that is known of them."""

    title: str
    instructions: tuple[InstructionsContent, ...]
    turns: tuple[Turn, ...]
    entries: tuple[Entry, ...]
    plans: tuple[Plan, ...]
    summaries: tuple[Summary, ...]
    facts: tuple[Fact, ...]

    def changes(self, thread: str) -> Iterator[Change]:
        """Yield what makes the record of a thread of it."""
        yield from map(InstructionsPut, self.instructions)
        yield from map(TurnPut, self.turns)
        yield from map(EntryPut, self.entries)
        yield from map(PlanPut, self.plans)
        yield from map(SummaryPut, self.summaries)
        yield from (FactPut(replace(fact, thread=thread)) for fact in self.facts)


_TYPES: dict[str, type[Any]] = {
    "instructions": InstructionsContent,
    "turn": Turn,
    "entry": Entry,
    "plan": Plan,
    "summary": Summary,
    "fact": Fact,
}


def write_rows(carried: Carried) -> list[JsonObject]:
    """Return the rows of what is carried."""
    # Whose a fact is says the thread that the rows begin.
    facts = tuple(replace(fact, thread="") for fact in carried.facts)
    held = (carried.instructions, carried.turns, carried.entries, carried.plans, carried.summaries, facts)
    rows: list[JsonObject] = [{"row": "thread", "title": carried.title}]
    for kind, values in zip(_TYPES, held, strict=True):
        rows += [{"row": kind, **_plain(value)} for value in values]
    return rows


def read_rows(rows: Sequence[JsonObject]) -> Carried:
    """Return what the rows say.

    Raises:
        ResumeError: a row is none, or does not go with the others; it is named.
    """
    title = ""
    found: dict[str, list[Any]] = {kind: [] for kind in _TYPES}
    for number, row in enumerate(rows, 1):
        kind = row.get("row")
        try:
            if kind == "thread":
                title = one_line(str(row.get("title", "")), TITLE_CHARACTERS)
            elif kind in found:
                found[kind].append(_read(kind, row))
            else:
                raise ValueError("there is no such kind of row")
        except (ValueError, KeyError, TypeError, RecursionError) as error:
            named = one_line(str(kind), TITLE_CHARACTERS)
            raise _broken(f"row {number} ({named}) cannot be read: {_why(error)}") from error
    carried = Carried(title, *(tuple(values) for values in found.values()))
    for what, right in _checks(carried):
        if not right:
            raise _broken(what)
    return carried


def _broken(what: str) -> ResumeError:
    return ResumeError(f"these rows do not make a conversation: {what}", "start a new conversation")


def _why(error: Exception) -> str:
    if isinstance(error, ValidationError):
        first = error.errors(include_url=False, include_input=False)[0]
        return one_line(f"{'.'.join(map(str, first['loc']))}: {first['msg']}", TITLE_CHARACTERS * 2)
    return one_line(str(error), TITLE_CHARACTERS * 2) or type(error).__name__


@cache
def _contents() -> dict[EntryKind, TypeAdapter[Any]]:
    return {kind: TypeAdapter(shape) for kind, shape in CONTENT_TYPES.items()}


@cache
def _values() -> dict[str, TypeAdapter[Any]]:
    return {kind: TypeAdapter(shape) for kind, shape in _TYPES.items()}


def _read(kind: str, row: JsonObject) -> Any:
    if kind == "entry":
        row = {**row, "content": _contents()[EntryKind(row["kind"])].validate_python(row["content"])}
    value = _values()[kind].validate_python(row)
    for field in fields(value):
        number = getattr(value, field.name)
        if isinstance(number, int) and not 0 <= number <= LARGEST:
            raise ValueError(f"{field.name} is no count")
    return value


def _plain(value: Any) -> Any:
    if is_dataclass(value):
        return {field.name: _plain(getattr(value, field.name)) for field in fields(value)}
    return [_plain(each) for each in value] if isinstance(value, tuple) else value


def _checks(carried: Carried) -> Iterator[tuple[str, bool]]:
    """Yield what would be wrong, and whether it is not."""
    versions = [content.version for content in carried.instructions]
    yield "the versions of the instructions do not count up", _count_up(versions)
    turns = [turn.number for turn in carried.turns]
    yield "the turns do not count up", _count_up([0, *turns])
    ids = [entry.id for entry in carried.entries]
    yield "the entries are not numbered from 1 without a gap", ids == list(range(1, len(ids) + 1))
    prompts = {entry.id: entry.turn for entry in carried.entries if entry.kind is EntryKind.PROMPT}
    yield "each turn has a prompt and each prompt a turn", {t.prompt: t.number for t in carried.turns} == prompts
    last = turns[-1] if turns else 0
    for entry in carried.entries:
        for what, right in _check_entry(entry):
            yield f"entry {entry.id} {what}", right
        yield f"entry {entry.id} is of turn {entry.turn}, which is not there", entry.turn <= last + 1
    first = carried.entries[0].content if carried.entries else None
    stands = not isinstance(first, InstructionsContent) or carried.instructions[-1:] == (first,)
    yield "entry 1 is not the latest version of the instructions", stands
    yield (
        "the plans are not in the order of their turns",
        [p.turn for p in carried.plans] == sorted(plan.turn for plan in carried.plans),
    )
    for plan in carried.plans:
        known = plan.turn <= last and all(1 <= id <= len(ids) for id, _ in plan.entries)
        yield f"the plan {one_line(plan.event, TITLE_CHARACTERS)} names what is not there", known
    for name, keys in (("plan", [p.event for p in carried.plans]), ("fact", [f.id for f in carried.facts])):
        yield f"a {name} stands there twice", len(set(keys)) == len(keys)
    yield "a summary stands there twice", len({s.event for s in carried.summaries}) == len(carried.summaries)


def _count_up(numbers: list[int]) -> bool:
    return all(before < after for before, after in pairwise(numbers))


def _check_entry(entry: Entry) -> Iterator[tuple[str, bool]]:
    instructions = entry.kind is EntryKind.INSTRUCTIONS
    yield "holds instructions, which only entry 1 does", not instructions or (entry.id == 1 and entry.turn == 0)
    dropped = entry.state is EntryState.DROPPED
    yield "is dropped by nothing, or by something and not dropped", dropped is (entry.dropped_by is not None)
    yield "is dropped in no turn, or in one and not dropped", dropped is (entry.dropped_at is not None)
    referenced = entry.referenced_at is not None
    yield "has a reference that does not stand for it", referenced is (entry.reference is not None)
    yield "has a reference and is no output", not referenced or entry.kind is EntryKind.TOOL_OUTPUT
    yield "has cuts and is no reply", not entry.cuts or entry.kind is EntryKind.REPLY
    yield "has a cut that ends before it starts", all(0 <= cut.start <= cut.end for cut in entry.cuts)
    yield from _check_content(entry, entry.content)


def _check_content(entry: Entry, content: Content | None) -> Iterator[tuple[str, bool]]:
    if isinstance(content, CallContent | OutputContent | CommandContent):
        yield "has a call that is no name", _NAME.fullmatch(content.call) is not None
    if isinstance(content, CallContent | OutputContent):
        yield "is not of the call that it names", content.call == entry.wire_id
    if isinstance(content, OutputContent | CommandContent):
        yield "is kept in a session that is no name", _NAME.fullmatch(content.kept) is not None
    if isinstance(content, OutputContent):
        yield "took no number of seconds", math.isfinite(content.seconds)
