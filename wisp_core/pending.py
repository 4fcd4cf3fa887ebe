"""What waits for the person: every open approval, question and fact of a home, whichever process asks."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from typing import Any, Literal, TypeAlias, assert_never

from wisp_core.errors import StorageError, UsageError
from wisp_core.events import Live
from wisp_core.fact import Fact, new_fact_id
from wisp_core.facts.assertion import Source
from wisp_core.home_facts import DO, HomeFacts, load_fact, says
from wisp_core.journal import Journal
from wisp_core.records import JsonObject, ThreadRecord
from wisp_core.requests import Answer, Approval, Question, ToolKind, Verdict
from wisp_core.settings import Waiting
from wisp_core.store.waiting import FACT, ThreadHead, WaitingRow, WaitingTable
from wisp_core.text import one_line, revealed_line
from wisp_core.tools.notify import notify_desktop

Kind: TypeAlias = Literal["approval", "question", "fact"]
WORDS = {"yes": Verdict.ONCE, "thread": Verdict.THREAD, "always": Verdict.ALWAYS, "no": Verdict.NO}
_WHO = {
    Source.MODEL: "the model",
    Source.TOOL: "a tool",
    Source.CALLER: "a caller",
    Source.PERSON_COMMAND: "the person's command",
}


@dataclass(frozen=True, slots=True)
class Open:
    """One request: what is `asked` in full, of which thread, `who` asks and `why`, and since when (RFC 3339).

    `closed` says why it cannot be answered, empty where it can. `process` is the one that asks, 0 for a fact, which
    waits for no process; `here` tells that it is this one.
    """

    id: str
    kind: Kind
    thread: str
    title: str
    who: str
    why: str
    time: str
    asked: Approval | Question | Fact
    closed: str = ""
    process: int = 0
    here: bool = False


class Pending:
    """What waits in a home. It looks for what other processes did while something of it is used: see `watch`.

    `face` names this process to others. `taken` are the records of the threads that it writes, by id.
    """

    def __init__(
        self,
        journal: Journal,
        facts: HomeFacts,
        *,
        taken: dict[str, ThreadRecord],
        table: WaitingTable,
        limits: Waiting,
        face: str,
    ) -> None:
        self._journal = journal
        self._facts = facts
        self._taken = taken
        self._table = table
        self._limits = limits
        self._face = face
        self._asked: dict[str, asyncio.Event] = {}
        self._listeners: list[Callable[[], None]] = []
        self._wake = asyncio.Event()
        self._tasks: set[asyncio.Task[None]] = set()
        self._watching = False

    async def list(self) -> list[Open]:
        """Return everything that waits, newest first."""
        rows = {row.id: row for row in await self._table.rows()}
        facts = await self._facts.proposed()
        heads = await self._table.threads([*(row.thread for row in rows.values()), *(fact.thread for fact in facts)])
        found = [
            _of_row(row, heads.get(row.thread, ThreadHead()), here=row.session == self._journal.session)
            for row in rows.values()
            if row.kind != FACT
        ]
        found += [_of_fact(fact, heads.get(fact.thread, ThreadHead()), row=rows.get(fact.id)) for fact in facts]
        return sorted(found, key=lambda one: one.time, reverse=True)

    async def count(self) -> int:
        """Return how many requests wait for an answer."""
        return sum(not one.closed for one in await self.list())

    async def find(self, id: str) -> Open:
        """Return what waits under this id.

        Raises:
            UsageError: nothing does.
        """
        for one in await self.list():
            if one.id == id:
                return one
        raise UsageError(f"nothing waits under {one_line(id, 60)}", "`wisp pending` lists what does")

    async def answer(self, id: str, answer: Answer) -> str:
        """Answer what waits under this id, and return what came of it as a sentence; the first answer counts.

        A fact is dropped with `no`, and kept with anything else.

        Raises:
            UsageError: nothing waits there, it is answered or gone, or this is no answer to it.
        """
        found = await self.find(id)
        if found.closed:
            raise UsageError(f"{id} cannot be answered: {found.closed}")
        if isinstance(found.asked, Fact):
            return await (self._facts.drop(id) if answer.verdict is Verdict.NO else self._facts.keep(id))
        _check(found.asked, answer)
        given: JsonObject = {
            "verdict": answer.verdict.value,
            "reason": answer.reason,
            "text": answer.text,
            "by": f"person ({self._face})",
        }
        if not await self._table.answer(id, given):
            raise UsageError(f"{id} was answered already, or is gone", "`wisp pending` lists what waits")
        said = answer.text if isinstance(found.asked, Question) else answer.verdict.value
        if await self._is_taken(id):
            return f"answered: {one_line(said, 80)}"
        return f"the answer lies there; process {found.process} takes it as soon as it looks"

    async def ask_to_keep(self, fact: str, *, by: Source = Source.CALLER) -> bool:
        """Ask the person, as a caller, to keep a fact for every conversation; announced once. False if asked before.

        Raises:
            UsageError: there is no such current fact, or it cannot become permanent.
            ThreadLockedError: another living wisp writes its thread.
        """
        found = await self._facts.ask_to_keep(fact, by=by)
        if found is not None and by is Source.CALLER:
            await self._table.lay(fact, thread=found.thread, kind=FACT, target=fact, request=asdict(found))
            self._begin(self._announce(found))
        return found is not None

    async def lay_out(self, thread: str, asked: Approval | Question) -> "_Waits":
        """Let every wisp of the home see and answer what a thread asks; `settle` of what is returned ends that."""
        id = new_fact_id()
        answered = self._asked[id] = asyncio.Event()
        kind = "approval" if isinstance(asked, Approval) else "question"
        try:
            await self._table.lay(id, thread=thread, kind=kind, target=asked.call, request=asdict(asked))
        except StorageError:
            # Nobody else hears of it; the face still does.
            pass
        except BaseException:
            await asyncio.shield(self._settle(id))
            raise
        self._tell()
        return _Waits(answered, lambda: self._settle(id))

    async def sweep(self) -> None:
        """Take away what processes asked that are gone."""
        await self._table.sweep()

    def watch(self) -> None:
        """Look from now on, until `close`, for what other processes answered and ordered."""
        if not self._watching:
            self._watching = True
            self._begin(self._watch())

    def subscribe(self, listener: Callable[[], None]) -> Callable[[], None]:
        """Have `listener` called when something else waits than before; the function returned ends that."""
        self._listeners.append(listener)
        self.watch()
        return lambda: self._listeners.remove(listener)

    async def close(self) -> None:
        """Stop looking."""
        for task in list(self._tasks):
            task.cancel()
        for task in list(self._tasks):
            with suppress(asyncio.CancelledError):
                await task

    async def _settle(self, id: str) -> Answer | None:
        self._asked.pop(id, None)
        try:
            given = await self._table.take(id)
        except StorageError:
            given = None
        self._tell()
        return None if given is None else _answer(given)

    async def _is_taken(self, id: str) -> bool:
        """Wait for the process that asked to take the answer."""
        self._wake.set()
        deadline = time.monotonic() + self._limits.answer_seconds
        while await self._table.find(id) is not None:
            if time.monotonic() >= deadline:
                return False
            await asyncio.sleep(min(self._limits.poll_seconds, max(0.0, deadline - time.monotonic())))
        return True

    async def _watch(self) -> None:
        version, before = -1, ""
        while True:
            with suppress(TimeoutError):
                await asyncio.wait_for(self._wake.wait(), self._limits.poll_seconds)
            try:
                now = await self._table.version()
                if now == version and not self._wake.is_set():
                    continue
                self._wake.clear()
                version = now
                await self._look()
                if self._listeners and (waits := repr(await self.list())) != before:
                    before = waits
                    self._tell()
            except StorageError:
                # It is looked again, and whoever writes is told.
                continue

    async def _look(self) -> None:
        """Take what other processes answered, and announce what they could not."""
        for row in await self._table.answered():
            if row.id in self._asked:
                self._asked[row.id].set()
            elif row.kind == FACT and row.thread in self._taken:
                await self._facts.settle(self._taken[row.thread])
        for row in await self._table.unannounced() if self._listeners else ():
            if await self._table.set_announced(row.id, announced=True):
                self._journal.publish(Live("note", None, None, {"kind": "notify", "text": _announcement(row.request)}))

    async def _announce(self, fact: Fact) -> None:
        if not await notify_desktop(_announcement(asdict(fact))):
            await self._table.set_announced(fact.id, announced=False)

    def _begin(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def _tell(self) -> None:
        for listener in self._listeners:
            listener()


@dataclass(frozen=True, slots=True)
class _Waits:
    """A request that lies in the table: `answered` is set once another place has answered it."""

    answered: asyncio.Event
    take: Callable[[], Awaitable[Answer | None]]

    async def elsewhere(self) -> None:
        """Return once it was answered at another place."""
        await self.answered.wait()

    async def settle(self) -> Answer | None:
        """Take it away and return the answer of another place, None where there is none."""
        return await self.take()


def read_answer(asked: Approval | Question | Fact, words: Sequence[str]) -> Answer:
    """Return the answer that typed words give: to a question a text, or a choice's number; else yes or no.

    Raises:
        UsageError: they are no answer to it.
    """
    text = " ".join(words).strip()
    match asked:
        case Question(choices=choices):
            chosen = text.isdecimal() and 0 < int(text[:9]) <= len(choices)
            answer = Answer(Verdict.ONCE, text=choices[int(text[:9]) - 1] if chosen else text)
        case Approval():
            verdict = WORDS.get(words[0].lower()) if words else None
            if verdict is None:
                raise UsageError(f"`{one_line(text, 60)}` is no answer", "yes, thread, always, no, or no and a reason")
            answer = Answer(verdict, " ".join(words[1:]).strip())
        case Fact():
            verdict = {"yes": Verdict.ONCE, "no": Verdict.NO}.get(text.lower())
            if verdict is None:
                raise UsageError(f"`{one_line(text, 60)}` is no answer", "yes keeps the fact, no drops it")
            answer = Answer(verdict)
        case _:
            assert_never(asked)
    return answer


def _check(asked: Approval | Question, answer: Answer) -> None:
    if isinstance(asked, Question):
        if not answer.text.strip():
            raise UsageError("a question needs a text for an answer")
    elif answer.verdict in (Verdict.THREAD, Verdict.ALWAYS) and not asked.rule:
        raise UsageError("no rule could allow this again", "answer yes (once), no, or no and a reason")
    elif answer.reason and answer.verdict is not Verdict.NO:
        raise UsageError("a reason goes with no alone", "answer yes, thread or always without one")


def _of_row(row: WaitingRow, head: ThreadHead, *, here: bool) -> Open:
    closed = "" if row.lives else f"process {row.pid}, which asked, has ended"
    if row.answer is not None:
        closed = "it was answered already"
    asked = _asked(row)
    why = asked.why if isinstance(asked, Approval) else "it asks"
    who = f"the model {head.model}".rstrip()
    kind: Kind = "approval" if isinstance(asked, Approval) else "question"
    return Open(row.id, kind, row.thread, head.title, who, why, row.time, asked, closed, row.pid, here)


def _of_fact(fact: Fact, head: ThreadHead, *, row: WaitingRow | None) -> Open:
    answer = None if row is None else row.answer
    closed = "" if answer is None else f"it was answered already: {one_line(str(answer.get(DO)), 20)}"
    who = _WHO.get(Source(fact.proposed_by), "someone") if fact.proposed_by in set(Source) else "someone"
    since = fact.time if row is None else row.time
    why = "to be known in every conversation"
    return Open(fact.id, "fact", fact.thread, head.title, who, why, since, fact, closed)


def _asked(row: WaitingRow) -> Approval | Question:
    raw = row.request
    if row.kind == "approval":
        return Approval(**{**raw, "kind": ToolKind(raw["kind"])})
    return Question(raw["call"], raw["text"], tuple(raw["choices"]))


def _answer(given: JsonObject) -> Answer:
    return Answer(Verdict(given["verdict"]), given["reason"], given["by"], given["text"])


def _announcement(fact: JsonObject) -> str:
    return f"a caller asks to keep a fact: {revealed_line(says(load_fact(fact)))}"
