"""The facts of a home from outside of their conversations: lists them, and keeps, drops and deletes one by its id."""

import asyncio
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict
from enum import StrEnum

from wisp_core.errors import ResumeError, ThreadLockedError, UsageError
from wisp_core.events import EventData, Live
from wisp_core.fact import Fact, FactState, Proposal
from wisp_core.facts.assertion import Source
from wisp_core.facts.changes import ask_to_keep, delete_fact, drop_fact, keep_fact
from wisp_core.facts.heads import held
from wisp_core.facts.lines import conflict_notes
from wisp_core.journal import Journal
from wisp_core.records import JsonObject, ThreadRecord
from wisp_core.settings import Waiting
from wisp_core.store.permanent import find_fact, shared_facts, waiting_facts
from wisp_core.store.waiting import FACT, WaitingTable
from wisp_core.text import one_line

VALUE_CHARACTERS = 160
DO = "do"


class Order(StrEnum):
    """What the person does to a fact."""

    KEEP = "keep"
    DROP = "drop"
    DELETE = "delete"


DONE = {Order.KEEP: "kept", Order.DROP: "dropped", Order.DELETE: "deleted"}


class HomeFacts:
    """The facts of every conversation; `taken` are the records of those that this process writes, by id.

    A change is recorded by the process that writes the fact's thread, which is this one where no other does.
    """

    def __init__(
        self, journal: Journal, taken: dict[str, ThreadRecord], *, table: WaitingTable, limits: Waiting
    ) -> None:
        self._journal = journal
        self._taken = taken
        self._table = table
        self._limits = limits
        self._settling = asyncio.Lock()

    async def permanent(self) -> list[Fact]:
        """Return the permanent facts that are current, oldest first."""
        shared = await shared_facts(self._journal.database, self._journal.session)
        return [fact for fact in shared if fact.scope == "permanent" and fact.state == FactState.CURRENT]

    async def proposed(self) -> list[Fact]:
        """Return the facts that wait for the person to keep or drop them, oldest first.

        What a caller asked to keep waits on when its thread is deleted (F9).
        """
        found = await waiting_facts(self._journal.database)
        rows = [row for row in await self._table.rows() if row.kind == FACT and row.answer is None]
        heads = await self._table.threads(row.thread for row in rows)
        orphans = [load_fact(row.request) for row in rows if row.thread in heads and heads[row.thread].deleted]
        return sorted([*found, *orphans], key=lambda fact: fact.time)

    async def keep(self, id: str) -> str:
        """Make a proposed fact permanent, and return what was done as a sentence.

        Raises:
            UsageError: there is no such fact, or it does not wait.
        """
        return await self._change(id, Order.KEEP)

    async def drop(self, id: str) -> str:
        """Leave a proposed fact in its thread, where it is not proposed again; return what was done as a sentence.

        Raises:
            UsageError: there is no such fact, or it does not wait.
        """
        return await self._change(id, Order.DROP)

    async def delete(self, id: str) -> str:
        """Delete a fact, permanent or not, and return what was done as a sentence.

        Raises:
            UsageError: there is no such fact, or it is over.
        """
        return await self._change(id, Order.DELETE)

    async def ask_to_keep(self, id: str, *, by: Source) -> Fact | None:
        """Propose a fact to the person as `by`, and return it as it waits; None where that was asked before.

        Raises:
            UsageError: there is no such current fact, or it cannot become permanent.
            ThreadLockedError: another living wisp writes its thread.
        """
        fact = await self._find(id)
        record = self._taken.get(fact.thread)
        if record is not None:
            return await self._propose(record, fact, by=by)
        record = await self._journal.open_thread(fact.thread)
        try:
            return await self._propose(record, fact, by=by)
        finally:
            await self._journal.leave_thread(record.id)

    async def settle(self, record: ThreadRecord) -> None:
        """Record what other processes ordered of the facts of a thread that this one writes.

        Raises:
            StorageError: the home cannot be written.
        """
        async with self._settling:
            for row in await self._table.answered():
                if row.kind != FACT or row.thread != record.id or row.answer is None:
                    continue
                try:
                    await self._record(record, row.target, order=Order(row.answer[DO]))
                except UsageError as refused:
                    # It was done before a crash, or something else became of the fact meanwhile.
                    data = {"kind": "info", "text": refused.sentence()}
                    self._journal.publish(Live("note", record.id, None, data))
                await self._table.take(row.id)

    async def _propose(self, record: ThreadRecord, fact: Fact, *, by: Source) -> Fact | None:
        done = await self._write(record, lambda facts: ask_to_keep(facts, fact.id, by=by))
        return record.facts[fact.id] if done else None

    async def _change(self, id: str, order: Order) -> str:
        fact = await self._find(id)
        if fact.thread in self._taken:
            await self._record(self._taken[fact.thread], id, order=order)
            return _sentence(fact, order)
        ordered = False
        deadline = time.monotonic() + self._limits.answer_seconds
        while True:
            try:
                await self._visit(fact, order, ordered=ordered)
                return _sentence(fact, order)
            except ThreadLockedError:
                if not ordered:
                    await self._lay(fact, order)
                    ordered = True
                elif await self._table.find(id) is None:
                    return await self._outcome(fact, order)
                elif time.monotonic() >= deadline:
                    return f"fact {id} is {DONE[order]} as soon as the wisp that has its conversation open looks"
            await asyncio.sleep(min(self._limits.poll_seconds, max(0.0, deadline - time.monotonic())))

    async def _visit(self, fact: Fact, order: Order, *, ordered: bool) -> None:
        """Record a change in a thread that nobody writes; one that was deleted leaves it to a thread of its own."""
        try:
            record = await self._journal.open_thread(fact.thread)
            own: Sequence[Fact] | None = None
        except ResumeError:
            record, own = await self._journal.new_thread(), [fact] if fact.scope != "permanent" else []
        self._taken[record.id] = record
        try:
            if own is None:
                await self.settle(record)
            if not ordered or own is not None:
                await self._record(record, fact.id, order=order, own=own)
            else:
                await self._outcome(fact, order)
        finally:
            del self._taken[record.id]
            await self._journal.leave_thread(record.id)

    async def _lay(self, fact: Fact, order: Order) -> None:
        # What could not be done is said now, and not by the process that looks later.
        _events([fact], fact.id, order=order)
        answer: JsonObject = {DO: order.value}
        if await self._table.order(fact.id, thread=fact.thread, request=asdict(fact), answer=answer):
            return
        row = await self._table.find(fact.id)
        if row is not None and row.answer != answer:
            raise UsageError(f"fact {fact.id} was answered already", "the wisp that has it open records that first")

    async def _outcome(self, fact: Fact, order: Order) -> str:
        """Return the sentence on what the process that writes the thread recorded."""
        record = self._taken.get(fact.thread) or await self._journal.read_thread(fact.thread)
        known = record.facts.get(fact.id)
        done = (
            known is not None
            and {
                Order.KEEP: known.proposal == Proposal.KEPT,
                Order.DROP: known.proposal == Proposal.DROPPED,
                Order.DELETE: known.state == FactState.DELETED,
            }[order]
        )
        if not done:
            raise UsageError(f"fact {fact.id} was not {DONE[order]}: something else became of it meanwhile")
        return _sentence(fact, order)

    async def _record(self, record: ThreadRecord, id: str, *, order: Order, own: Sequence[Fact] | None = None) -> None:
        await self._write(record, lambda facts: _events(facts, id, order=order), own=own)
        if await self._table.find(id) is not None:
            await self._table.take(id)

    async def _write(
        self,
        record: ThreadRecord,
        change: Callable[[Iterable[Fact]], list[EventData]],
        *,
        own: Sequence[Fact] | None = None,
    ) -> list[EventData]:
        async with self._journal.ledger:
            session = self._journal.session
            shared = await shared_facts(self._journal.database, session)
            known = held(record.facts.values() if own is None else own, shared, session=session)
            events = change(known)
            if events:
                await self._journal.record_each(record, events)
                for note in conflict_notes(events, record, known=known):
                    self._journal.publish(note)
        return events

    async def _find(self, id: str) -> Fact:
        waits = [fact for fact in await self.proposed() if fact.id == id]
        fact = waits[0] if waits else await find_fact(self._journal.database, id)
        if fact is None:
            raise UsageError(f"there is no fact {one_line(id, 60)}", "`wisp facts` lists them with their ids")
        return fact


def _events(facts: Iterable[Fact], id: str, *, order: Order) -> list[EventData]:
    match order:
        case Order.KEEP:
            return keep_fact(facts, id)
        case Order.DROP:
            return drop_fact(facts, id)
        case Order.DELETE:
            return delete_fact(facts, id, by=Source.PERSON)


def load_fact(raw: JsonObject) -> Fact:
    """Return the fact of a row's request."""
    turns = raw["turns"]
    return Fact(
        **{
            **raw,
            "entries": tuple(raw["entries"]),
            "events": tuple(raw["events"]),
            "turns": None if turns is None else (turns[0], turns[1]),
        }
    )


def says(fact: Fact) -> str:
    """Return what a fact says as one line, such as `preference editor = vim`."""
    return one_line(f"{fact.subject} {fact.name}".rstrip() + f" = {fact.value}", VALUE_CHARACTERS)


def _sentence(fact: Fact, order: Order) -> str:
    where = {
        Order.KEEP: "it is every conversation's now",
        Order.DROP: "it stays in its conversation and is not proposed again",
        Order.DELETE: "the audit keeps that it was",
    }[order]
    return f"fact {fact.id} is {DONE[order]}, {where}: {says(fact)}"
