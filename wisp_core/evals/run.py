"""Runs a scenario through a real home, thread, store and composer, with its replies as the model's, and keeps what
was sent.
"""

import asyncio
import json
import re
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory

from wisp_core.evals.scenario import Scenario, ScenarioTurn
from wisp_core.events import ContextCondensation, Event, Published, RequestComposed
from wisp_core.records import Entry, JsonObject, Outcome, ThreadRecord
from wisp_core.requests import Answer, Approval, Item, Question, Verdict
from wisp_core.thread import Thread
from wisp_core.wisp import Wisp

_PROMPT_END = 200  # characters of a prompt's end by which the script knows it again
_PLAIN = re.compile(r"\w[\w./-]*")  # a path that a shell takes as it stands


@dataclass(frozen=True, slots=True)
class Sent:
    """One request as it was sent, or as a policy would have sent it: `tokens` with the tools' schemas."""

    turn: int
    step: int
    items: tuple[Item, ...]
    tokens: int


@dataclass(frozen=True, slots=True)
class Run:
    """What came of a scenario: requests in order, every entry by its id, the turns that condensed or failed."""

    scenario: Scenario
    sent: tuple[Sent, ...]
    entries: Mapping[int, Entry]
    record: ThreadRecord
    condensed: tuple[int, ...] = ()
    failed: frozenset[int] = frozenset()
    seconds: float = 0.0

    def answering(self, turn: int) -> Sent | None:
        """Return the last request of a turn, None where it was never sent."""
        if turn in self.failed:
            return None
        return next((sent for sent in reversed(self.sent) if sent.turn == turn), None)


@dataclass(slots=True)
class _Heard:
    """What the thread publishes, as far as it is measured."""

    composed: list[tuple[int, RequestComposed]] = field(default_factory=list)
    condensed: list[int] = field(default_factory=list)

    def listen(self, published: Published) -> None:
        if not isinstance(published, Event) or published.turn is None:
            return
        match published.data:
            case RequestComposed() as composed:
                self.composed.append((published.turn, composed))
            case ContextCondensation():
                self.condensed.append(published.turn)


async def run_scenario(scenario: Scenario, *, window: int | None, given: JsonObject) -> Run:
    """Run a scenario in a temporary home, with `given` settings and a model whose window is `window` tokens.

    None is a window that nobody knows, in which nothing is dropped.

    Raises:
        SettingsError: a setting is wrong.
    """
    began = time.monotonic()
    with TemporaryDirectory(prefix="wisp-eval-") as name:
        place = await asyncio.to_thread(_furnish, Path(name), scenario, window=window)
        settings = {"audit": {"enabled": False}, **given, "model": f"scripted:{place / 'script.json'}", "mode": "ask"}
        wisp = await Wisp.open(face="eval", home=place / "home", cwd=place / "work", given=settings)
        try:
            heard = _Heard()
            thread = await wisp.new_thread(listen=heard.listen, ask=_reads_its_own(scenario))
            try:
                sent, failed = await _take_turns(thread, scenario, heard=heard)
                entries = {entry.id: entry for entry in await thread.reader.entries()}
            finally:
                await thread.close()
        finally:
            await wisp.close()
    seconds = time.monotonic() - began
    return Run(scenario, tuple(sent), entries, thread.record, tuple(heard.condensed), frozenset(failed), seconds)


async def _take_turns(thread: Thread, scenario: Scenario, *, heard: _Heard) -> tuple[list[Sent], set[int]]:
    sent: list[Sent] = []
    failed: set[int] = set()
    for number, turn in enumerate(scenario.turns, 1):
        heard.composed.clear()
        outcome = await thread.send(turn.prompt)
        if outcome is not Outcome.DONE:
            failed.add(number)
        if heard.composed:
            items = (await thread.reader.request_of(number)).composition.items
            sent += [_step(composed, items, turn=at) for at, composed in heard.composed if at == number]
    return sent, failed


def _step(composed: RequestComposed, items: tuple[Item, ...], *, turn: int) -> Sent:
    """Return one step's request from the items of its turn's last one: within a turn they are only added to."""
    known = {entry for entry, _ in composed.entries}
    return Sent(
        turn=turn,
        step=composed.step,
        items=tuple(item for item in items if item.entry is None or item.entry in known),
        tokens=composed.tokens,
    )


def _reads_its_own(scenario: Scenario) -> Callable[[Approval | Question], Awaitable[Answer]]:
    """Return what answers for the person: a scenario is a file from anywhere, and may look at its own files alone."""
    allowed = {f"cat {name}" for name in scenario.files if _PLAIN.fullmatch(name)}

    async def answer(asked: Approval | Question) -> Answer:
        if isinstance(asked, Approval) and asked.tool == "run_command" and asked.arguments.get("command") in allowed:
            return Answer(Verdict.ONCE)
        return Answer(Verdict.NO, "a scenario may only read its own files")

    return answer


def _furnish(place: Path, scenario: Scenario, *, window: int | None) -> Path:
    """Write the scenario's files and its script; return the folder, resolved."""
    place = place.resolve()
    work = place / "work"
    work.mkdir()
    for name, text in scenario.files.items():
        path = work / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
    replies = [reply for turn in scenario.turns for reply in _replies(turn)]
    script: JsonObject = {"counts": True, "replies": replies}
    if window is not None:
        script["window"] = window
    (place / "script.json").write_text(json.dumps(script), "utf-8")
    return place


def _replies(turn: ScenarioTurn) -> list[JsonObject]:
    """Return what the model says in a turn: each call in a step of its own, then the reply."""
    known = rf"{re.escape(turn.prompt[-_PROMPT_END:])}\Z"
    calls = [{"calls": [{"name": call.tool, "arguments": call.arguments}], "when": known} for call in turn.calls]
    return [*calls, {"text": turn.reply, "when": known}]
