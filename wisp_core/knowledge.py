"""What a thread knows beyond its literal turns: facts, the person's statements, and passages that bear on a request."""

from collections.abc import Awaitable, Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from wisp_core.errors import UsageError
from wisp_core.events import EventData, FactRecorded, TurnEnd
from wisp_core.fact import SAID, TASK, Fact, FactScope, FactState, KnownFact
from wisp_core.facts.assertion import Assertion, Source
from wisp_core.facts.block import Tail, View, earlier_block, now_block, statements_left
from wisp_core.facts.changes import move_fact
from wisp_core.facts.extract import extract, start_facts
from wisp_core.facts.heads import Identity, held, identity, standings
from wisp_core.facts.kinds import Kind, kind_of
from wisp_core.facts.ledger import Rules, record_assertions
from wisp_core.facts.lines import conflict_notes, fact_line, source_of
from wisp_core.facts.looking_up import stem
from wisp_core.facts.recollect import Candidate, Passage, Recollection, limits, look_up, recollect
from wisp_core.facts.rooms import Rooms, rooms_of
from wisp_core.facts.sent import entries_shown, may_stand, used
from wisp_core.facts.stated import Kept, rank, restate, state
from wisp_core.journal import Journal
from wisp_core.records import Entry, EntryKind, EntryState, Outcome, PromptContent, ThreadRecord
from wisp_core.requests import Blocks, Recalled
from wisp_core.settings import Settings
from wisp_core.store.permanent import shared_facts
from wisp_core.store.recall import Looked

NOTHING = Recollection((), ())


@dataclass(frozen=True, slots=True)
class Knowledge:
    """What is known in one thread, and the only way in which it changes; made with the kinds of facts by subject.

    `start` has the thread begin where nothing of it was recorded yet.
    """

    record: ThreadRecord
    journal: Journal
    settings: Settings
    kinds: Mapping[str, Kind]
    start: Callable[[], Awaitable[None]]

    async def facts(self) -> tuple[Fact, ...]:
        """Return the thread's facts and those that it shares, oldest first, whatever became of each."""
        shared = await shared_facts(self.journal.database, self.journal.session)
        return held(self.record.facts.values(), shared, session=self.journal.session)

    async def blocks(self, draft: str = "", *, window: int | None, without: Collection[int] = frozenset()) -> Blocks:
        """Return the two blocks of the next request, in a window of so many tokens, unknown where it is None.

        That is the open turn's, or one for the prompt `draft`. The earlier block is as it was last sent until something
        renews it, such as that entries leave: `without` are those that are about to (F19).
        """
        settings = self.settings.facts
        facts = await self.facts() if settings.enabled else ()
        rooms = rooms_of(window, settings)
        literal = frozenset(self.record.active).difference(without)
        view = View(self.record.id, literal, self.kinds)
        earlier = await self._earlier(facts, view, rooms=rooms, leaving=bool(without))
        found = await self._recollect(draft, earlier, literal=literal, window=window)
        lines = found.text.split("\n") if found.text else []
        now = now_block(facts, view=view, room=rooms.facts - used(earlier), recollections=lines)
        recalled = tuple(Recalled(passage.entry, passage.score, passage.why) for passage in found.passages)
        return Blocks(earlier or None, now or None, recalled, found.query)

    async def end_turn(self, turn: int, end: TurnEnd) -> None:
        """Record how a turn ended, together with the facts that it gave (A4b).

        Raises:
            StorageError: it could not be written.
        """
        async with self.journal.ledger:
            learnt = await self._learn(turn, Outcome(end.outcome))
            facts = dict.fromkeys(event.fact for event in learnt if isinstance(event, FactRecorded))
            ending = end.model_copy(update={"facts": list(facts)})
            known = await self.facts() if learnt else ()
            await self.journal.record_group(self.record, [*learnt, ending], turn=turn)
            for note in conflict_notes(learnt, self.record, known=known):
                self.journal.publish(note)

    async def _learn(self, turn: int, outcome: Outcome) -> list[EventData]:
        """Return what a turn that ends so adds to the ledger: what its tools showed and what the person stated."""
        settings, active = self.settings.facts, self.record.active
        entries = [self.record.entries[number] for number in active if self.record.entries[number].turn == turn]
        # A turn that failed before any call ran leaves with all that it says.
        ran = any(entry.kind is EntryKind.TOOL_CALL and len(entry.sources) > 1 for entry in entries)
        if not settings.enabled or (outcome is Outcome.FAILED and not ran):
            return []
        facts = await self.facts()
        found = extract(entries, cwd=self.record.cwd)[: settings.turn_facts]
        if settings.stated:
            found += _stated(entries, facts)
        return record_assertions(facts, found, rules=self._rules())

    async def begin(self, branch: str) -> None:
        """Record where the conversation starts (F15)."""
        if self.settings.facts.enabled:
            events = self._assert(await self.facts(), start_facts(self.record.cwd, branch))
            await self.journal.record_each(self.record, events)

    async def state(self, subject: str, name: str, *, value: str) -> list[Fact]:
        """Record what the person says, under a subject of the kinds, and return what was recorded.

        Raises:
            UsageError: there is no such subject, no value, or facts are off.
        """
        kind_of(self.kinds, subject)
        self._require_facts()
        if not value.strip():
            raise UsageError("a fact needs a value", "/fact SUBJECT NAME = VALUE")
        if subject == SAID:
            raise UsageError("a statement is what you said in a prompt", "/fact takes any other subject")
        said = Assertion(subject, name, value, Source.PERSON)
        return await self._record(lambda facts: self._assert(facts, [said]))

    async def correct(self, id: str, value: str) -> list[Fact]:
        """Record that the person says `value` of what a fact is about, in its place, and return what was recorded.

        This is the way to correct a statement too (F14).

        Raises:
            UsageError: there is no such fact, no value, or facts are off.
        """
        self._require_facts()
        fact = next((fact for fact in await self.facts() if fact.id == id), None)
        if fact is None:
            raise UsageError(f"there is no fact {id[:60]} in this conversation", "/facts lists them")
        if not value.strip():
            raise UsageError("a fact needs a value", "a fact that is none is deleted")
        said = Assertion(fact.subject, fact.name, value, Source.PERSON, corrects=(id,))
        return await self._record(lambda facts: self._assert(facts, [said]))

    async def known(self, beside: Sequence[Fact] = ()) -> list[KnownFact]:
        """Return every fact, whatever became of it: those of one identity together, what stands first, then the newest.

        Facts `beside` are of other threads, and come last where they are not among this one's.
        """
        facts = await self.facts()
        names = {fact.id for fact in facts}
        others = [fact for fact in beside if fact.id not in names]
        return [*_known(facts), *(KnownFact(fact, source_of(fact), here=False) for fact in others)]

    async def lines(self, *, every: bool = False) -> list[str]:
        """Return a line for each fact that stands, oldest first, with its id; with `every` its history too."""
        facts = await self.facts()
        if every:
            return [_listed(fact, kinds=self.kinds) for fact in facts]
        found = standings(facts).values()
        return [_listed(stands.winner, stands.others, kinds=self.kinds) for stands in found]

    async def task(self) -> Fact | None:
        """Return the thread's task."""
        found = [f for f in await self.facts() if f.subject == TASK and f.state == FactState.CURRENT]
        return found[-1] if found else None

    async def move(self, id: str, scope: FactScope) -> list[Fact]:
        """Move a fact to another scope for the person.

        Raises:
            UsageError: there is no such fact, or it cannot be moved there.
        """
        return await self._record(lambda facts: move_fact(facts, id, scope=scope, by=Source.PERSON))

    def _require_facts(self) -> None:
        if not self.settings.facts.enabled:
            raise UsageError("facts are off, so the model would not be told", "set facts.enabled to have them")

    def _rules(self) -> Rules:
        return Rules(self.kinds, self.record.cwd)

    def _assert(self, facts: Sequence[Fact], assertions: Sequence[Assertion]) -> list[EventData]:
        return record_assertions(facts, assertions, rules=self._rules())

    async def _record(self, change: Callable[[Sequence[Fact]], list[EventData]]) -> list[Fact]:
        await self.start()
        async with self.journal.ledger:
            known = await self.facts()
            events = change(known)
            if events:
                await self.journal.record_each(self.record, events)
                for note in conflict_notes(events, self.record, known=known):
                    self.journal.publish(note)
        ids = [event.fact for event in events if isinstance(event, FactRecorded)]
        return [self.record.facts[id] for id in ids if id in self.record.facts]

    async def _earlier(self, facts: Sequence[Fact], view: View, *, rooms: Rooms, leaving: bool) -> str:
        if not self.settings.facts.enabled:
            return ""
        plan, stated = self.record.latest_plan, self.settings.facts.stated
        if plan is not None and plan.earlier and not leaving and not self.record.renews_earlier:
            turn = self.record.turns.get(plan.turn)
            since = turn.time if turn is not None else ""
            if may_stand(plan.earlier, facts, view=view, rooms=rooms, stated=stated, since=since):
                return plan.earlier
        return earlier_block(facts, view=view, rooms=rooms, tail=await self._tail(facts, view)).text

    async def _tail(self, facts: Sequence[Fact], view: View) -> Tail:
        def stated(room: int) -> list[str]:
            left = statements_left(facts, view.literal) if self.settings.facts.stated else []
            return [s.line for s in rank([restate(fact, thread=self.record.id) for fact in left], room)]

        first = self._first_prompt()
        tasked = any(fact.subject == TASK and fact.state == FactState.CURRENT for fact in facts)
        if first is None or first.id in view.literal or tasked:
            return Tail(stated)
        # It has left the literal turns (C17a).
        content = await self.journal.database.content(self.record.id, first.id)
        text = content.text if isinstance(content, PromptContent) else None
        return Tail(stated, first_request=text, first_turn=first.turn)

    async def _recollect(
        self, draft: str, earlier: str, *, literal: Collection[int], window: int | None
    ) -> Recollection:
        recall, first = self.settings.context.recall, self._first_prompt()
        # The oldest turn leaves first; nothing is looked up before that (O26).
        if not recall.enabled or first is None or first.id in literal:
            return NOTHING
        running = self.record.open_turn()
        last = self.record.last_turn if draft or running is None else running.number - 1
        request = draft or (self._prompt(running.number) if running is not None else "")
        asked = look_up(request, previous=self._prompt(last), literal=literal) if request else None
        if asked is None:
            return NOTHING
        starts = [stem(word) for word in asked.words]
        looked = await self.journal.database.look_up(
            self.record.id, starts, own=asked.own, literal=literal, limit=asked.most
        )
        return recollect(
            asked,
            [_candidate(*row) for row in looked.found],
            shares=dict(zip(asked.words, looked.shares, strict=True)),
            limits=limits(window, passages=recall.passages, share=recall.share),
            shown=entries_shown(earlier, first.id),
        )

    def _first_prompt(self) -> Entry | None:
        """Return the first turn's prompt; a turn that failed never was one."""
        prompts = (self.record.entries[turn.prompt] for turn in self.record.turns.values())
        return next((entry for entry in prompts if entry.state is not EntryState.FAILED), None)

    def _prompt(self, number: int) -> str:
        """Return the prompt of a turn while it is in memory, empty where it is not or there is no such turn."""
        turn = self.record.turns.get(number)
        content = self.record.entries[turn.prompt].content if turn is not None else None
        return content.text if isinstance(content, PromptContent) else ""


def _stated(entries: Sequence[Entry], facts: Sequence[Fact]) -> list[Assertion]:
    # A turn that is tried again knows its own statements already; it does not correct them.
    own = {entry.id for entry in entries}
    said = [fact for fact in facts if fact.subject == SAID and fact.state == FactState.CURRENT]
    known = [Kept(fact.id, fact.value) for fact in said if own.isdisjoint(fact.entries)]
    found: list[Assertion] = []
    for entry in entries:
        if isinstance(entry.content, PromptContent):
            stated = state(entry.content.text, entry=entry.id, turn=entry.turn, known=known)
            found += [statement.assertion() for statement in stated]
    return found


def _known(facts: Sequence[Fact]) -> Iterator[KnownFact]:
    groups: dict[Identity, list[Fact]] = {}
    for fact in facts:
        groups.setdefault(identity(fact), []).append(fact)
    stands = standings(facts)
    for key, group in groups.items():
        standing = stands.get(key)
        heads = [standing.winner, *standing.others] if standing else []
        for fact in heads:
            yield KnownFact(fact, source_of(fact), stands=True, conflict=len(heads) > 1)
        yield from (KnownFact(fact, source_of(fact)) for fact in reversed(group) if fact not in heads)


def _listed(fact: Fact, others: Sequence[Fact] = (), *, kinds: Mapping[str, Kind]) -> str:
    marks = [fact.scope, f"version {fact.version}"]
    marks += [fact.state] if fact.state != FactState.CURRENT else []
    marks += [f"{fact.proposal}: permanent?"] if fact.proposal else []
    marks += ["unsupported: not sent to the model"] if fact.unsupported else []
    return f"{fact.id}  {fact_line(fact, others, kinds=kinds).removeprefix('- ')}  ({', '.join(marks)})"


def _candidate(found: Looked, beside: Looked | None) -> Candidate:
    return Candidate(_passage(found), found.score, None if beside is None else _passage(beside))


def _passage(looked: Looked) -> Passage:
    return Passage(looked.entry, looked.kind, looked.turn, looked.text, looked.tool)
