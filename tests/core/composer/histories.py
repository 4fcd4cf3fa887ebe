"""Random conversations in which every request is composed and recorded, with all that may happen in between.

References, cuts, `!commands`, settings, models and modes that change, condensations and their undoing, retries,
interrupts, calls without a result, turns that a crash left, forks, and threads that go on from a transcript.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

from hypothesis import strategies as st

from tests.core.composer.conversations import TEXT, Script
from wisp_core.composer.compose import compose
from wisp_core.composer.instructions import renew
from wisp_core.composer.references import refer
from wisp_core.condensing.drop import keep_turns
from wisp_core.events import (
    CallData,
    CommandRun,
    ContextCompactionUndone,
    ContextCondensation,
    ContextCut,
    Event,
    EventData,
    ModeChanged,
    ModelChanged,
    Prompt,
    RequestComposed,
    RequestRetried,
    Response,
    SegmentData,
    ThreadStart,
    ToolCalled,
    ToolReturned,
    TurnEnd,
)
from wisp_core.records import Content, EntryKind, EntryState, JsonObject, Plan, ReplyContent, ThreadRecord
from wisp_core.requests import Composition, Message, ToolKind
from wisp_core.settings import Context
from wisp_core.store.carried import dump_record, fork_rows, resume_rows
from wisp_core.store.fold import apply

LONG = st.builds(lambda text, times: (text + "\n") * times, TEXT, st.integers(1, 80))
KINDS = {"read_file": ToolKind.READS, "run_command": ToolKind.COMMAND}


@dataclass(frozen=True)
class Sent:
    """A request as it went out; `epoch` counts what may change the bytes that requests begin with."""

    plan: Plan
    messages: tuple[Message, ...]
    epoch: int


@dataclass
class History(Script):
    """A script that keeps what was `sent`, every content, and the hash of each draft beside that of its request."""

    settings: Context = field(default_factory=Context)
    sent: list[Sent] = field(default_factory=list)
    contents: dict[int, Content] = field(default_factory=dict)
    drafts: list[tuple[str, str]] = field(default_factory=list)
    condensed: list[str] = field(default_factory=list)
    epoch: int = 0

    def write(self, data: EventData, turn: int | None = None) -> Event:
        seq = len(self.events) + 1
        event = Event(f"e{seq}", seq, f"2026-01-01T00:00:{seq % 60:02d}.000Z", "s", "t", turn, None, data)
        self.events.append(event)
        apply(self.record, event, contents=self.contents)
        for entry in list(self.record.entries.values())[-5:]:
            if entry.content is not None:
                self.contents[entry.id] = entry.content
        return event

    def draft(self, text: str) -> str:
        """Return the hash of the next request as the preview composes it ahead of its prompt."""
        coming = self._references(self.record.last_turn + 1)
        return self._compose({each.entry: each.text for each in coming}, text).sha256

    def refer(self, turn: int) -> None:
        for reference in self._references(turn):
            self.write(reference, turn)
            self.epoch += 1

    def request(self, turn: int, step: int) -> str:
        """Compose and record the turn's next request and return its event's id."""
        composition = self._compose({}, "")
        renewed = renew(self.record)
        segments = [SegmentData(name=s.name, text=s.text) for s in renewed.segments] if renewed else None
        self.epoch += segments is not None
        event = self.write(
            RequestComposed(
                step=step,
                entries=[(item.entry, item.rendering.value) for item in composition.items if item.entry is not None],
                instructions=composition.instructions,
                segments=segments,
                settings=self.settings.model_dump(),
                sha256=composition.sha256,
            ),
            turn,
        )
        self.sent.append(Sent(self.record.plans[turn][-1], composition.messages, self.epoch))
        return event.id

    def condense(self, turn: int, keep: int) -> None:
        dropped = keep_turns(self.record, keep, before=turn)
        if dropped:
            condensed = ContextCondensation(reason="budget", goal=0, before=0, after=0, dropped=list(dropped))
            self.condensed.append(self.write(condensed, turn).id)
            self.epoch += 1

    def undo(self, turn: int) -> None:
        if self.condensed:
            self.write(ContextCompactionUndone(undone=self.condensed.pop()), turn)
            self.epoch += 1

    def fork(self) -> None:
        """Go on in a thread that begins as a copy, without the commands that were waiting."""
        plans = [sent.plan for sent in self.sent]
        self._begin(fork_rows(dump_record(self.record, self.contents, plans=plans), self.record.last_turn))

    def resume(self) -> None:
        """Go on in a thread that begins with what was saved, in which nothing was sent yet."""
        before = self._compose({}, "").sha256
        self._begin(resume_rows(dump_record(self.record, self.contents, plans=())))
        self.drafts.append((before, self._compose({}, "").sha256))
        self.sent.clear()
        self.condensed.clear()

    def _begin(self, rows: list[JsonObject]) -> None:
        old = self.record
        self.record = ThreadRecord(id="t")
        self.write(ThreadStart(cwd="/w", model=old.model, mode=old.mode.value, instructions=[], carried=rows))

    def _references(self, turn: int) -> Sequence[EventData]:
        if not self.settings.references:
            return []
        return refer(self.record, turn=turn, kind_of=KINDS.get, memory=turn % 2 == 0, zone=None)

    def _compose(self, references: dict[int, str], prompt: str) -> Composition:
        return compose(
            self.record, self.settings, instructions=renew(self.record), references=references, prompt=prompt
        )


@st.composite
def histories(draw: st.DrawFn, *, most_turns: int = 5, undo: bool = True) -> History:
    """Return what up to `most_turns` turns left."""
    history = History()
    history.start()
    for turn in range(1, draw(st.integers(2, most_turns)) + 1):
        _before(draw, history, turn=turn)
        text = draw(TEXT)
        expected = history.draft(text)
        history.write(Prompt(text=text), turn)
        history.refer(turn)
        first = len(history.sent)
        condensing = draw(st.integers(0, 2)) == 0
        if condensing:
            history.condense(turn, draw(st.integers(1, 2)))
        elif undo and draw(st.integers(0, 3)) == 0:
            condensing = True
            history.undo(turn)
        ended = _answer(draw, history, turn=turn)
        if not condensing:
            history.drafts.append((expected, history.sent[first].plan.sha256))
        _end(draw, history, turn=turn, ended=ended)
    return history


def _before(draw: st.DrawFn, history: History, *, turn: int) -> None:
    """Do what the person may do between turns."""
    if draw(st.integers(0, 3)) == 0:
        history.write(CommandRun(command="ls", output=draw(TEXT), exitStatus=0), turn)
    if draw(st.integers(0, 3)) == 0:
        history.settings = Context(cuts=draw(st.booleans()), references=draw(st.booleans()))
        history.epoch += 1
    if draw(st.integers(0, 5)) == 0:
        history.write(ModelChanged(model=draw(st.sampled_from(["m", "n"])), window=None), None)
    if draw(st.integers(0, 5)) == 0:
        history.write(ModeChanged(mode=draw(st.sampled_from(["plan", "ask", "auto"]))), None)
    if turn > 1 and draw(st.integers(0, 7)) == 0:
        draw(st.sampled_from([history.fork, history.resume]))()


def _answer(draw: st.DrawFn, history: History, *, turn: int) -> bool:
    """Send up to three requests; tell whether the last was answered by a whole reply."""
    for _ in range(draw(st.integers(0, 2))):
        request = history.request(turn, len(history.sent))
        calls = [
            CallData(call=f"{len(history.events):05d}{n:03d}", tool=draw(st.sampled_from(list(KINDS))), arguments="{}")
            for n in range(draw(st.integers(1, 2)))
        ]
        text = draw(st.one_of(st.just(""), TEXT))
        history.write(
            Response(request=request, step=1, text=text, calls=calls, finish="tool_calls", model="m"),
            turn,
        )
        if not all(_run(draw, history, call=call, turn=turn) for call in calls):
            return False
        if draw(st.integers(0, 9)) == 0:
            history.condense(turn, 1)
    request = history.request(turn, len(history.sent))
    finish = draw(st.sampled_from(["stop", "stop", "stop", "length", "interrupted", "failed", "nothing"]))
    if finish != "nothing":
        text, reasoning = draw(st.one_of(st.just(""), TEXT, LONG)), draw(st.one_of(st.just(""), TEXT))
        history.write(Response(request=request, step=9, text=text, reasoning=reasoning, finish=finish, model="m"), turn)
    return finish in ("stop", "length")


def _run(draw: st.DrawFn, history: History, *, call: CallData, turn: int) -> bool:
    """Run one call; tell whether the turn goes on."""
    broken = draw(st.integers(0, 15))
    if broken == 0:
        return False
    if broken != 1:
        # One that is refused has no `tool.call`.
        history.write(ToolCalled(call=call.call, tool=call.tool, arguments={}), turn)
    if broken == 2:
        return False
    history.write(ToolReturned(call=call.call, tool=call.tool, text=draw(st.one_of(st.just(""), LONG)), ok=True), turn)
    return True


def _end(draw: st.DrawFn, history: History, *, turn: int, ended: bool) -> None:
    while not ended:
        outcome = draw(st.sampled_from(["interrupted", "failed", "abandoned"]))
        history.write(TurnEnd(outcome=outcome), turn)
        history.epoch += outcome == "failed"
        if not draw(st.booleans()):
            return
        if draw(st.booleans()):
            history.write(CommandRun(command="ls", output=draw(TEXT)), turn + 1)
        history.write(RequestRetried(reason="person"), turn)
        ended = _answer(draw, history, turn=turn)
    _cut(draw, history, turn=turn)
    history.write(TurnEnd(outcome="done"), turn)


def _cut(draw: st.DrawFn, history: History, *, turn: int) -> None:
    """Cut any stretches of the turn's last reply, as if they retyped an output."""
    entry = history.record.entries[len(history.record.entries)]
    if not history.settings.cuts or entry.kind is not EntryKind.REPLY or entry.state is not EntryState.ACTIVE:
        return
    assert isinstance(entry.content, ReplyContent)
    text = entry.content.text
    places = sorted(draw(st.sets(st.integers(0, len(text)), max_size=4)))
    for start, end in zip(places[::2], places[1::2], strict=False):
        first, last = (len(text[:at].encode()) for at in (start, end))
        marker = "(showed the person the read_file output, entry 7)"
        cut = ContextCut(
            reply=entry.id, output=7, tool="read_file", start=first, end=last, marker=marker, bytes=0, tokens=0
        )
        history.write(cut, turn)
        history.epoch += 1
