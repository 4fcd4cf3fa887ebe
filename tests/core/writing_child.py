"""A process that records without end, or until its file may not grow, and says each id once it is acknowledged."""

import asyncio
import resource
import signal
import sys
from pathlib import Path

from wisp_core.errors import StorageError
from wisp_core.events import (
    ContextCondensation,
    Event,
    FactRecorded,
    Prompt,
    Response,
    SegmentData,
    ThreadStart,
    TurnEnd,
)
from wisp_core.journal import Journal
from wisp_core.records import ThreadRecord
from wisp_core.settings import Audit, Settings


def say(*words: object) -> None:
    """Print one line at once."""
    print(*words, flush=True)


async def turn(journal: Journal, record: ThreadRecord) -> None:
    """Record a prompt, its response, and a group that ends the turn or condenses."""
    await said(journal.record(record, Prompt(text="p" * 300)))
    await said(journal.record(record, Response(request="r", step=1, text="a" * 3000, finish="stop", model="m")))
    fact = FactRecorded(fact="f", scope="thread", subject="s", key="k", value="v", source="person", version=1)
    dropped = record.active[1:-2]
    condensed = ContextCondensation(reason="budget", goal=1, before=2, after=1, dropped=dropped)
    await said(journal.record_group(record, [fact] * 20 + [condensed if dropped else TurnEnd(outcome="done")]))
    await said(journal.record(record, TurnEnd(outcome="done")))


async def said(writing) -> None:
    """Say the ids of what was acknowledged."""
    events = await writing
    for event in [events] if isinstance(events, Event) else events:
        say(event.id)


async def main(home: Path, limit: int) -> None:
    """Write until killed; with a limit in bytes, until a write fails, then once more without the limit."""
    journal = await Journal.open(home, Settings(audit=Audit(max_bytes=200_000)))
    try:
        newest = await journal.database.newest("/work")
        if newest is None:
            record = await journal.new_thread()
            segments = [SegmentData(name="core", text="c")]
            await said(journal.record(record, ThreadStart(cwd="/work", model="m", mode="ask", instructions=segments)))
        else:
            record = await journal.open_thread(newest)
        if limit:
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (limit, resource.RLIM_INFINITY))
        try:
            while True:
                await turn(journal, record)
        except StorageError as error:
            say("refused:", error.sentence())
        resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
        await turn(journal, record)
    finally:
        await journal.close()


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]), int(sys.argv[2])))
