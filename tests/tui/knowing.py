"""Facts and requests for the tests of their screens, told of without a core."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path

from textual.screen import Screen

from wisp_core.errors import UsageError
from wisp_core.fact import Fact, FactState, KnownFact, Proposal
from wisp_core.requests import Answer, Approval, Question, ToolKind
from wisp_tui.app import WispApp
from wisp_tui.screens.start import Start
from wisp_tui.widgets.asked import Asked

HERE, ELSEWHERE = "01a22e792caa653e", "01a22e792caa6541"
NOW = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)


def fact(id: str, named: str, *, says: str, **more: object) -> Fact:
    subject, _, name = named.partition(" ")
    plain = {"scope": "thread", "source": "tool", "version": 1, "turn": 3, "time": "2026-11-30T11:40:00Z"}
    return Fact(id=id, subject=subject, name=name, value=says, **(plain | {"event": "e", "thread": HERE} | more))  # type: ignore[arg-type]


RUN = {"tool": "run_command", "entries": (9,), "turns": (3, 3)}
FACTS = [
    KnownFact(
        fact(
            "p1",
            "preference maria's reviews",
            says="prefers early returns",
            scope="permanent",
            source="person",
            thread=ELSEWHERE,
            time="2026-11-02T08:00:00Z",
        ),
        "the person",
        stands=True,
    ),
    KnownFact(fact("t2", "tests pytest", says="passed (12)", version=2, **RUN), "tool run_command", stands=True),
    KnownFact(
        fact(
            "t1",
            "tests pytest",
            says="failed (exit status 1)",
            state=FactState.SUPERSEDED,
            superseded_by="t2",
            time="2026-11-30T11:10:00Z",
            **RUN,
        ),
        "tool run_command",
    ),
    KnownFact(
        fact("c1", "build make", says="flaky; ignore it", source="person"), "the person", stands=True, conflict=True
    ),
    KnownFact(
        fact("c2", "build make", says="failed (exit status 2)", **RUN), "tool run_command", stands=True, conflict=True
    ),
    KnownFact(
        fact(
            "s1",
            "said 12.1",
            says="the release is called BLUE HERON from now on",
            source="person",
            entries=(12,),
            turns=(4, 4),
        ),
        "the person",
        stands=True,
    ),
    KnownFact(
        fact("u1", "finding the cause", says="line 4711 of x.c", source="model", unsupported=True, turns=(1, 2)),
        "model, distilled: the model concluded",
    ),
    KnownFact(
        fact(
            "e1",
            "service 8080",
            says="node (pid 311), listening",
            scope="session",
            tool="system_info",
            entries=(15,),
            turns=(5, 5),
        ),
        "tool system_info",
        stands=True,
    ),
    KnownFact(
        fact(
            "w1",
            "project language",
            says="Python 3.11",
            source="model",
            proposal=Proposal.WAITING,
            proposed_by="model",
            turns=(1, 4),
        ),
        "model, distilled: the person said",
        stands=True,
    ),
    KnownFact(
        fact(
            "w2",
            "person ada",
            says="owns the release",
            source="caller",
            proposal=Proposal.WAITING,
            proposed_by="caller",
            thread=ELSEWHERE,
        ),
        "the caller",
        here=False,
    ),
]


@dataclass
class Ledger:
    """Facts without a core; `did` are the calls that change something, `refuses` an id that nothing is done to."""

    facts: list[KnownFact] = field(default_factory=lambda: list(FACTS))
    did: list[tuple[str, ...]] = field(default_factory=list)
    refuses: str = ""
    thread: str = HERE

    async def known(self) -> Sequence[KnownFact]:
        return self.facts

    async def keep(self, id: str) -> str:
        return self._do("keep", id)

    async def drop(self, id: str) -> str:
        return self._do("drop", id)

    async def delete(self, id: str) -> str:
        self.facts = [one for one in self.facts if one.fact.id != id]
        return self._do("delete", id)

    async def move(self, id: str, scope: str) -> str:
        self.facts = [replace(k, fact=replace(k.fact, scope=scope)) if k.fact.id == id else k for k in self.facts]
        return self._do("move", id, scope)

    async def correct(self, id: str, value: str) -> str:
        return self._do("correct", id, value)

    def _do(self, *what: str) -> str:
        if what[1] == self.refuses:
            raise UsageError(f"there is no fact {what[1]}", "/facts lists them")
        self.did.append(what)
        return f"done: {what[0]}"


@dataclass(frozen=True)
class Request:
    """A request as the core lists it."""

    id: str
    asked: Asked
    time: str = "2026-11-30T11:59:00Z"
    title: str = "Fix the build"
    who: str = "the model local/small"
    why: str = "it runs a command"
    closed: str = ""
    process: int = 4321
    here: bool = False
    thread: str = ELSEWHERE

    @property
    def kind(self) -> str:
        match self.asked:
            case Approval():
                return "approval"
            case Question():
                return "question"
            case Fact():
                return "fact"


def command(text: str, call: str = "c1", *, rule: str = "run_command(make *)") -> Approval:
    return Approval(call, "run_command", ToolKind.COMMAND, {"command": text}, "/work", "it runs a command", rule)


@dataclass
class Desk:
    """What waits without a core; `answers` are those that were given."""

    requests: list[Request]
    answers: list[tuple[str, Answer]] = field(default_factory=list)
    listeners: list[Callable[[], None]] = field(default_factory=list)

    async def list(self) -> Sequence[Request]:
        return list(self.requests)

    async def answer(self, id: str, answer: Answer) -> str:
        self.answers.append((id, answer))
        self.requests = [one for one in self.requests if one.id != id]
        return "answered"

    def subscribe(self, listener: Callable[[], None]) -> Callable[[], None]:
        self.listeners.append(listener)
        return lambda: self.listeners.remove(listener)

    def become(self, *requests: Request) -> None:
        self.requests = [*requests]
        for listener in self.listeners:
            listener()


class Over(WispApp):
    """The app over one screen; `result` is what that ended with."""

    def __init__(self, screen: Screen[object], *, theme: str = "wisp-dark") -> None:
        super().__init__(Start(cwd=Path()))
        self.shows = screen
        self.result: object = "nothing yet"
        self.take_keys()
        self.theme = theme

    def get_default_screen(self) -> Screen[None]:
        return Screen()

    def on_mount(self) -> None:
        self.push_screen(self.shows, lambda result: setattr(self, "result", result))
