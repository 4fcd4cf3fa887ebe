"""The fold: what each event does to a thread's record, said once for the record and its rows. Pure.

`apply` is deterministic, so that the record, the database and a replay of the audit are always the same. An entry
that was dropped has no content in a record; the one event that brings entries back is given it (`wanted`).
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from wisp_core.errors import ResumeError
from wisp_core.events import (
    CommandRun,
    ContextCompactionUndone,
    Event,
    EventData,
    ModeChanged,
    ModelChanged,
    PermissionGranted,
    Prompt,
    RequestComposed,
    RequestRetried,
    Response,
    SegmentData,
    ThreadDeleted,
    ThreadRenamed,
    ThreadStart,
    ToolCalled,
    ToolReturned,
    TurnEnd,
)
from wisp_core.records import (
    CallContent,
    CommandContent,
    Content,
    Entry,
    EntryKind,
    EntryState,
    InstructionsContent,
    JsonObject,
    Mode,
    Outcome,
    OutputContent,
    Plan,
    PromptContent,
    Rendering,
    ReplyContent,
    Segment,
    ThreadRecord,
    Turn,
)
from wisp_core.store.carried_rows import Carried, read_rows
from wisp_core.store.changes import Change, Cleared, EntryPut, InstructionsPut, PlanPut, TurnPut, absorb
from wisp_core.store.fold_context import CONTEXT_EFFECTS, Contents, bring_back, wanted
from wisp_core.store.fold_usage import count_usage, countable, keep_report
from wisp_core.text import one_line

__all__ = ["apply", "pass_over", "wanted"]

TITLE_CHARACTERS = 80
NO_CONTENTS: Mapping[int, Content] = {}
_OUTCOMES = frozenset(Outcome)
_RENDERINGS = frozenset(Rendering)


def apply(record: ThreadRecord, event: Event, *, contents: Contents = NO_CONTENTS) -> tuple[Change, ...]:
    """Take the event into the record and return what it changed; an event that is not newer changes nothing.

    `contents` holds the content of the entries that `wanted` names for the event.
    """
    if event.seq is None or event.seq <= record.last_seq:
        return ()
    done: list[Change] = []
    if not record.deleted:
        for change in _changes(record, event, contents=contents):
            absorb(record, change)
            done.append(change)
    record.last_seq = event.seq
    record.updated = event.time
    return tuple(done)


def _changes(record: ThreadRecord, event: Event, *, contents: Contents) -> Iterable[Change]:
    if isinstance(event.data, ContextCompactionUndone):
        return bring_back(record, event, contents=contents)
    effect = _EFFECTS.get(type(event.data))
    return () if effect is None else effect(record, event)


def pass_over(record: ThreadRecord, seq: int) -> None:
    """Count a line that took no effect (of an unfinished group, or unknown), so that its number is not given again."""
    record.last_seq = max(record.last_seq, seq)


def _start(record: ThreadRecord, event: Event) -> Iterator[Change]:
    data = _data(event, ThreadStart)
    if record.entries:
        return
    record.created, record.cwd, record.model = event.time, data.cwd, data.model
    record.mode = _mode(data.mode, record.mode)
    carried = _carried(data.carried)
    if carried is not None:
        record.title = carried.title
        for plan in carried.plans:
            keep_report(record, plan, prompt=plan.reported)
        yield from carried.changes(record.id)
        return
    content = InstructionsContent(_segments(data.instructions), 1)
    yield InstructionsPut(content)
    yield EntryPut(_entry(record, event, kind=EntryKind.INSTRUCTIONS, content=content, turn=0))


def _carried(rows: list[JsonObject]) -> Carried | None:
    """Return what the thread begins with; rows that were spoilt since they were checked are none, whatever they say."""
    if not rows:
        return None
    try:
        return read_rows(rows)
    except ResumeError:
        return None


def _prompt(record: ThreadRecord, event: Event) -> Iterator[Change]:
    data = _data(event, Prompt)
    number = max(event.turn or 0, record.last_turn + 1)
    entry = _entry(record, event, kind=EntryKind.PROMPT, content=PromptContent(data.text), turn=number)
    record.title = record.title or one_line(data.text, TITLE_CHARACTERS)
    yield TurnPut(Turn(number, entry.id, event.time))
    yield EntryPut(entry)


def _command(record: ThreadRecord, event: Event) -> Iterator[Change]:
    data = _data(event, CommandRun)
    kept = event.session if data.kept else ""
    content = CommandContent(data.command, data.output, data.exitStatus, data.call, kept)
    yield EntryPut(_entry(record, event, kind=EntryKind.COMMAND, content=content, turn=record.last_turn + 1))


def _composed(record: ThreadRecord, event: Event) -> Iterator[Change]:
    data = _data(event, RequestComposed)
    latest = record.instructions[-1].version if record.instructions else 0
    if data.segments is not None and data.instructions > latest:
        content = InstructionsContent(_segments(data.segments), data.instructions)
        yield InstructionsPut(content)
        first = record.entries.get(1)
        if first is not None and first.kind is EntryKind.INSTRUCTIONS:
            yield EntryPut(replace(first, content=content, sources=(*first.sources, event.id)))
    if _turn(record, event) != record.last_turn:
        return
    record.renews_earlier = False
    renderings = tuple((entry, _rendering(word)) for entry, word in data.entries)
    yield PlanPut(
        Plan(
            event=event.id,
            turn=record.last_turn,
            step=data.step,
            entries=renderings,
            earlier=data.earlier,
            now=data.now,
            instructions=data.instructions,
            settings=data.settings,
            sha256=data.sha256,
            model=data.model,
            window=countable(data.window),
            bytes=countable(data.bytes) or 0,
            tokens=countable(data.tokens) or 0,
            recalled=tuple(data.recalled),
        )
    )


def _response(record: ThreadRecord, event: Event) -> Iterator[Change]:
    data = _data(event, Response)
    turn = _turn(record, event)
    # An answer of nothing at all is kept too: the turn had one.
    if data.text or data.reasoning or not data.calls:
        content = ReplyContent(data.text, data.reasoning, data.finish, data.model)
        yield EntryPut(_entry(record, event, kind=EntryKind.REPLY, content=content, turn=turn))
    for call in data.calls:
        made = CallContent(call.call, call.tool, call.arguments)
        yield EntryPut(_entry(record, event, kind=EntryKind.TOOL_CALL, content=made, turn=turn, wire_id=call.call))
    for plan in record.plans.get(record.last_turn, ()):
        if plan.event == data.request:
            reported = keep_report(record, plan, prompt=data.usage.prompt if data.usage is not None else None)
            yield PlanPut(replace(plan, answered=event.id, reported=reported))
    count_usage(record, data.usage)


def _tool_called(record: ThreadRecord, event: Event) -> Iterator[Change]:
    call = record.entries.get(record.calls.get(_data(event, ToolCalled).call, 0))
    if call is not None:
        yield EntryPut(replace(call, sources=(*call.sources, event.id)))


def _tool_returned(record: ThreadRecord, event: Event) -> Iterator[Change]:
    data = _data(event, ToolReturned)
    call = record.calls.get(data.call)
    if call is None or _has_output(record, data.call, made=call):
        return
    content = OutputContent(
        call=data.call,
        tool=data.tool,
        text=data.text,
        ok=data.ok,
        exit_status=data.exitStatus,
        bytes=data.bytes,
        lines=data.lines,
        seconds=data.seconds,
        kept=event.session if data.kept else "",
        repeats=data.repeat,
    )
    turn = record.entries[call].turn
    yield EntryPut(_entry(record, event, kind=EntryKind.TOOL_OUTPUT, content=content, turn=turn, wire_id=data.call))


def _turn_ended(record: ThreadRecord, event: Event) -> Iterator[Change]:
    data = _data(event, TurnEnd)
    turn = record.turns.get(_turn(record, event))
    if turn is None:
        return
    outcome = Outcome(data.outcome) if data.outcome in _OUTCOMES else Outcome.ABANDONED
    yield TurnPut(replace(turn, outcome=outcome, error=data.error, ended=event.time))
    entries = list(_entries_of(record, turn))
    if outcome is Outcome.FAILED and not any(_has_run(entry) for entry in entries):
        for entry in entries:
            if entry.state is EntryState.ACTIVE:
                yield EntryPut(replace(entry, state=EntryState.FAILED))


def _retried(record: ThreadRecord, event: Event) -> Iterator[Change]:
    turn = record.turns.get(_turn(record, event))
    if _data(event, RequestRetried).reason != "person" or turn is None or turn.number != record.last_turn:
        return
    if turn.outcome in (None, Outcome.DONE):
        return
    yield TurnPut(replace(turn, outcome=None, error="", ended=None))
    entries = list(_entries_of(record, turn))
    for entry in entries:
        # The prompt goes out again; what the failed attempt answered stays what it is, shown and never composed.
        if entry.state is EntryState.FAILED and entry.kind in (EntryKind.PROMPT, EntryKind.COMMAND):
            yield EntryPut(replace(entry, state=EntryState.ACTIVE))
    # A reply that broke off after a tool ran is answered anew: a request never ends with the model's own words.
    if entries and entries[-1].kind is EntryKind.REPLY and entries[-1].state is EntryState.ACTIVE:
        yield EntryPut(replace(entries[-1], state=EntryState.FAILED))


def _granted(record: ThreadRecord, event: Event) -> Iterator[Change]:
    data = _data(event, PermissionGranted)
    if data.scope in ("thread", "always") and data.rule not in record.grants:
        record.grants = (*record.grants, data.rule)
    yield from ()


def _model_changed(record: ThreadRecord, event: Event) -> Iterator[Change]:
    record.model = _data(event, ModelChanged).model
    yield from ()


def _mode_changed(record: ThreadRecord, event: Event) -> Iterator[Change]:
    record.mode = _mode(_data(event, ModeChanged).mode, record.mode)
    yield from ()


def _renamed(record: ThreadRecord, event: Event) -> Iterator[Change]:
    record.title = one_line(_data(event, ThreadRenamed).title, TITLE_CHARACTERS)
    yield from ()


def _deleted(record: ThreadRecord, event: Event) -> Iterator[Change]:
    record.deleted = True
    yield Cleared()


_EFFECTS: dict[type[EventData], Callable[[ThreadRecord, Event], Iterator[Change]]] = {
    ThreadStart: _start,
    Prompt: _prompt,
    CommandRun: _command,
    RequestComposed: _composed,
    Response: _response,
    ToolCalled: _tool_called,
    ToolReturned: _tool_returned,
    TurnEnd: _turn_ended,
    RequestRetried: _retried,
    PermissionGranted: _granted,
    ModelChanged: _model_changed,
    ModeChanged: _mode_changed,
    ThreadRenamed: _renamed,
    ThreadDeleted: _deleted,
    **CONTEXT_EFFECTS,
}


def _data(event: Event, kind: type[Any]) -> Any:
    # The table above gives each function the events of its own kind.
    assert isinstance(event.data, kind)
    return event.data


def _entry(
    record: ThreadRecord, event: Event, *, kind: EntryKind, content: Content, turn: int, wire_id: str | None = None
) -> Entry:
    return Entry(
        id=len(record.entries) + 1,
        wire_id=event.id if wire_id is None else wire_id,
        kind=kind,
        turn=turn,
        time=event.time,
        content=content,
        sources=(event.id,),
    )


def _turn(record: ThreadRecord, event: Event) -> int:
    return record.last_turn if event.turn is None else event.turn


def _entries_of(record: ThreadRecord, turn: Turn) -> Iterator[Entry]:
    """Yield the turn's entries: the commands that wait before its prompt, then all up to the next turn."""
    first = turn.prompt
    while first > 1 and record.entries[first - 1].turn == turn.number:
        first -= 1
    for number in range(first, len(record.entries) + 1):
        entry = record.entries[number]
        if entry.kind is EntryKind.PROMPT and entry.turn > turn.number:
            return
        if entry.turn == turn.number:
            yield entry


def _has_run(entry: Entry) -> bool:
    return entry.kind is EntryKind.TOOL_CALL and len(entry.sources) > 1


def _has_output(record: ThreadRecord, call: str, *, made: int) -> bool:
    """Tell whether a call has its output, which always stands after it; looks from the end, where it is soon found."""
    for number in range(len(record.entries), made, -1):
        entry = record.entries[number]
        if entry.kind is EntryKind.TOOL_OUTPUT and entry.wire_id == call:
            return True
    return False


def _segments(segments: list[SegmentData]) -> tuple[Segment, ...]:
    return tuple(Segment(segment.name, segment.text) for segment in segments)


def _mode(word: str, otherwise: Mode) -> Mode:
    return Mode(word) if word in list(Mode) else otherwise


def _rendering(word: str) -> Rendering:
    return Rendering(word) if word in _RENDERINGS else Rendering.WHOLE
