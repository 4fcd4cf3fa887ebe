"""Facts that threads share: permanent ones, those of the session, and what waits for the person (decision 0011)."""

from pathlib import Path

import pytest

from tests.core.store.event_streams import start
from wisp_core.events import (
    EventData,
    FactDeleted,
    FactDropped,
    FactKept,
    FactProposed,
    FactRecorded,
    FactScopeChanged,
    FactSuperseded,
    ThreadDeleted,
)
from wisp_core.fact import Fact
from wisp_core.facts.heads import held
from wisp_core.journal import Journal, rebuild
from wisp_core.records import ThreadRecord
from wisp_core.settings import Settings
from wisp_core.store.permanent import find_fact, shared_facts, waiting_facts


@pytest.fixture
async def journal(tmp_path):
    opened = await Journal.open(tmp_path, Settings())
    yield opened
    await opened.close()


def fact(id: str, scope: str = "permanent", **more: object) -> FactRecorded:
    given = {"subject": "preference", "key": "editor", "value": "vim", "source": "person", "version": 1, **more}
    return FactRecorded(fact=id, scope=scope, **given)


async def thread(journal: Journal, *datas: EventData) -> ThreadRecord:
    record = await journal.new_thread()
    await write(journal, record, start(), *datas)
    return record


async def write(journal: Journal, record: ThreadRecord, *datas: EventData) -> None:
    for data in datas:
        await journal.record(record, data)


async def shared(journal: Journal, *, session: str = "") -> dict[str, Fact]:
    return {fact.id: fact for fact in await shared_facts(journal.database, session or journal.session)}


async def rebuilt(home: Path, journal: Journal) -> tuple[dict[str, Fact], dict[str, Fact]]:
    """What a home shares, and what it shares after its database was made anew."""
    before = await shared(journal)
    session = journal.session
    await journal.close()
    await rebuild(home, Settings())
    again = await Journal.open(home, Settings())
    after = await shared(again, session=session)
    await again.close()
    return before, after


async def test_a_permanent_fact_is_every_threads_and_outlives_the_one_that_recorded_it(journal):
    record = await thread(journal, fact("a", entries=[3], events=["x"], turns=(1, 2)), fact("b", "thread"))
    await write(journal, record, ThreadDeleted())
    found = await shared(journal)
    assert list(found) == ["a"]
    assert (found["a"].thread, found["a"].entries, found["a"].events, found["a"].turns) == (
        record.id, (3,), ("x",), (1, 2),
    )  # fmt: skip
    assert (await find_fact(journal.database, "a")) == found["a"]


@pytest.mark.parametrize(
    ("event", "state", "into"),
    [
        (FactDeleted(fact="a"), "deleted", ""),
        (FactSuperseded(fact="a", into="b"), "superseded", "b"),
        (FactScopeChanged(fact="a", scope="thread", into="b"), "superseded", "b"),
    ],
)
async def test_another_thread_ends_a_permanent_fact_for_every_thread(journal, event, state, into):
    first = await thread(journal, fact("a"))
    await thread(journal, event)
    found = (await shared(journal))["a"]
    assert (found.state, found.superseded_by) == (state, into)
    assert first.facts["a"].state == "current"
    (known,) = held(first.facts.values(), [found], session=journal.session)
    assert known.state == state
    assert (await find_fact(journal.database, "a")).state == state


async def test_of_two_ends_the_first_by_time_and_then_by_event_tells_how(journal):
    await thread(journal, fact("a"))
    record = await thread(journal)
    ends = [await journal.record(record, data) for data in (FactSuperseded(fact="a", into="b"), FactDeleted(fact="a"))]
    first = min(ends, key=lambda event: (event.time, event.id))
    assert (await shared(journal))["a"].state == {"fact.superseded": "superseded", "fact.deleted": "deleted"}[
        first.name
    ]


async def test_what_threads_share_is_the_same_after_a_rebuild_whichever_thread_is_replayed_first(tmp_path):
    journal = await Journal.open(tmp_path, Settings())
    ending = await thread(journal)
    await thread(journal, fact("a"), fact("b"), fact("c", "session"))
    await write(journal, ending, FactDeleted(fact="a"), FactSuperseded(fact="c", into="d"), fact("d", "session"))
    before, after = await rebuilt(tmp_path, journal)
    assert before == after
    assert {id: fact.state for id, fact in after.items()} == {
        "a": "deleted", "b": "current", "c": "superseded", "d": "current",
    }  # fmt: skip


async def test_the_sessions_facts_are_shared_while_it_runs_but_for_the_task(journal):
    await thread(journal, fact("a", "session"), fact("b", "session", subject="task"), fact("c", "thread"))
    assert list(await shared(journal)) == ["a"]
    assert await shared(journal, session="another") == {}


async def test_what_waits_for_the_person_is_found_in_every_thread_until_it_is_answered(journal):
    given = fact("x").model_dump() | {"scope": "thread", "source": "model", "by": "caller"}
    proposals = [FactProposed(**(given | {"fact": id})) for id in ("a", "b", "c", "d")]
    first = await thread(journal, *proposals[:2])
    await thread(journal, *proposals[2:], FactSuperseded(fact="d", into="x"))
    assert {fact.id for fact in await waiting_facts(journal.database)} == {"a", "b", "c"}
    await write(journal, first, FactDropped(fact="a"), fact("k", source="model"), FactKept(fact="b", into="k"))
    assert [(fact.id, fact.proposed_by) for fact in await waiting_facts(journal.database)] == [("c", "caller")]
    kept = await find_fact(journal.database, "b")
    assert (kept.proposal, kept.superseded_by) == ("kept", "k")
    assert (await find_fact(journal.database, "a")).state == "current"
    assert list(await shared(journal)) == ["k"]


async def test_a_fact_that_nobody_recorded_is_not_found(journal):
    assert await find_fact(journal.database, "zz") is None
