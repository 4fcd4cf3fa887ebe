"""Random conversations as the thread would record them: prompts, answers, calls, failures, interrupts, retries."""

from dataclasses import dataclass, field

from hypothesis import strategies as st

from wisp_core.composer.compose import compose
from wisp_core.events import (
    CallData,
    Event,
    EventData,
    Prompt,
    RequestRetried,
    Response,
    SegmentData,
    ThreadStart,
    ToolCalled,
    ToolReturned,
    TurnEnd,
)
from wisp_core.records import ThreadRecord
from wisp_core.requests import Message
from wisp_core.settings import Context
from wisp_core.store.fold import apply

TEXT = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1, max_size=30).filter(
    str.strip
)


@dataclass
class Script:
    """Makes events in order and folds them into `record`; `reopened` are the requests right after a retry."""

    record: ThreadRecord = field(default_factory=lambda: ThreadRecord(id="t"))
    events: list[Event] = field(default_factory=list)
    reopened: list[tuple[Message, ...]] = field(default_factory=list)

    def write(self, data: EventData, turn: int | None = None) -> Event:
        seq = len(self.events) + 1
        event = Event(f"e{seq}", seq, f"2026-01-01T00:00:{seq % 60:02d}.000Z", "s", "t", turn, None, data)
        self.events.append(event)
        apply(self.record, event)
        return event

    def start(self) -> None:
        self.write(
            ThreadStart(cwd="/w", model="m", mode="ask", instructions=[SegmentData(name="core", text="Be exact.")])
        )


@st.composite
def conversations(draw: st.DrawFn, *, most_turns: int = 6) -> Script:
    """Return a script of up to `most_turns` turns; the last may be open, waiting for its next request."""
    script = Script()
    script.start()
    turns = draw(st.integers(1, most_turns))
    for turn in range(1, turns + 1):
        script.write(Prompt(text=draw(TEXT)), turn)
        ended = _steps(draw, script, turn=turn)
        if turn == turns and ended is None and draw(st.booleans()):
            return script
        _end(draw, script, turn=turn, ended=ended)
    script.write(Prompt(text=draw(TEXT)), turns + 1)
    return script


def _steps(draw: st.DrawFn, script: Script, *, turn: int) -> bool | None:
    """Run up to three rounds of calls and then, perhaps, a reply.

    Tell whether the turn came to its end; None where it waits for its next request.
    """
    for step in range(1, draw(st.integers(0, 3)) + 1):
        calls = [
            CallData(call=f"{turn:02d}{step:02d}{n:04d}", tool="run_command", arguments='{"command": "ls"}')
            for n in range(draw(st.integers(1, 3)))
        ]
        text = draw(st.one_of(st.just(""), TEXT))
        reasoning = draw(st.one_of(st.just(""), TEXT))
        script.write(
            Response(
                request="r", step=step, text=text, reasoning=reasoning, calls=calls, finish="tool_calls", model="m"
            ),
            turn,
        )
        for call in draw(st.permutations(calls)):
            if draw(st.integers(0, 9)) == 0:
                return False
            script.write(ToolCalled(call=call.call, tool=call.tool, arguments={"command": "ls"}), turn)
            if draw(st.integers(0, 9)) == 0:
                return False
            script.write(
                ToolReturned(call=call.call, tool=call.tool, text=draw(st.one_of(st.just(""), TEXT)), ok=True), turn
            )
    if draw(st.integers(0, 3)) == 0:
        return None
    finish = draw(st.sampled_from(["stop", "length", "interrupted", "failed"]))
    text, reasoning = draw(st.one_of(st.just(""), TEXT)), draw(st.one_of(st.just(""), TEXT))
    script.write(Response(request="r", step=9, text=text, reasoning=reasoning, finish=finish, model="m"), turn)
    return finish in ("stop", "length")


def _end(draw: st.DrawFn, script: Script, *, turn: int, ended: bool | None) -> None:
    outcome = "done" if ended else draw(st.sampled_from(["interrupted", "failed", "abandoned"]))
    script.write(TurnEnd(outcome=outcome), turn)
    if not ended and draw(st.booleans()):
        script.write(RequestRetried(reason="person"), turn)
        script.reopened.append(compose(script.record, Context()).messages)
        if draw(st.booleans()):
            script.write(Response(request="r", step=1, text=draw(TEXT), finish="stop", model="m"), turn)
            script.write(TurnEnd(outcome="done"), turn)
        else:
            script.write(TurnEnd(outcome=draw(st.sampled_from(["interrupted", "failed"]))), turn)
