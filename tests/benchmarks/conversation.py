"""Makes a thread's record of any length out of events, as a conversation would leave it."""

from collections.abc import Iterator

from wisp_core.events import (
    ContextCondensation,
    Event,
    EventData,
    Prompt,
    Response,
    SegmentData,
    ThreadStart,
    TurnEnd,
    now,
)
from wisp_core.records import ThreadRecord, new_id
from wisp_core.store.fold import apply

PROMPT = "What does the parser do with a line that ends in the middle of a character, and where is that tested? "
REPLY = (
    "It keeps the bytes until the rest of the character is there, and the test splits every line at every byte. " * 3
)


def converse(turns: int, *, active: int) -> ThreadRecord:
    """Return the record of `turns` turns of which the last `active` are still composed, the rest condensed away."""
    thread = new_id()
    record = ThreadRecord(thread)
    seq = 0
    for turn, data in said(turns):
        seq += 1
        apply(record, Event(new_id(), seq, now(), "s", thread, turn, None, data))
    first = turns - active
    dropped = [entry.id for entry in record.active_entries() if 0 < entry.turn <= first]
    condensed = ContextCondensation(reason="target", goal=0, before=0, after=0, dropped=dropped)
    apply(record, Event(new_id(), seq + 1, now(), "s", thread, turns, None, condensed))
    return record


def said(turns: int) -> Iterator[tuple[int | None, EventData]]:
    """Yield the events of `turns` turns of one prompt and one reply, each with its turn."""
    segments = [SegmentData(name="core", text="You are wisp. " * 30)]
    yield None, ThreadStart(cwd="/", model="scripted", mode="ask", instructions=segments)
    for turn in range(1, turns + 1):
        yield turn, Prompt(text=f"{turn}: {PROMPT}")
        yield turn, Response(request=new_id(), step=1, text=REPLY, finish="stop", model="scripted")
        yield turn, TurnEnd(outcome="done")
