"""Policies to compare with, made from the requests of a run: which turns stay, and which statements are shown."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from random import Random

from wisp_core.evals.cost import tokens_of
from wisp_core.evals.run import Run, Sent
from wisp_core.evals.score import find_evidence
from wisp_core.evals.shown import BLOCKS
from wisp_core.records import Entry, EntryKind, PromptContent, Rendering
from wisp_core.requests import Item

LAST_TURNS = 4
HALF = 0.5
"""The share of the window that cut-to-half goes down to."""
STATEMENT_MOST = 160
"""Characters of a statement, as many as wisp's own have (F21)."""
_SENTENCE = re.compile(r"(?<=[.!?])\s+|\n+")


def drop_oldest(sent: Sequence[Sent], *, room: int) -> list[Sent]:
    """Return the requests with the oldest turns left out until each takes at most `room` tokens."""
    return [_within(request, room, first=0) for request in sent]


def cut_to_half(sent: Sequence[Sent], *, room: int, window: int) -> list[Sent]:
    """Return the requests where, past `room` tokens, the oldest turns are dropped for good until half is left."""
    kept: list[Sent] = []
    first = 0
    for request in sent:
        rest = _from(request, first)
        if rest.tokens > room:
            rest = _within(request, int(window * HALF), first=first)
        first = first_turn(rest)
        kept.append(rest)
    return kept


def keep_last(sent: Sequence[Sent], *, turns: int = LAST_TURNS) -> list[Sent]:
    """Return the requests with the last `turns` turns before their own alone."""
    return [_from(request, request.turn - turns) for request in sent]


def first_turn(request: Sent) -> int:
    """Return the oldest turn that a request carries."""
    return min((item.turn for item in request.items if item.entry is not None and item.turn), default=request.turn)


def select(run: Run, how: str) -> dict[int, Sent]:
    """Return the requests of the questions with other statements in as much room as both blocks have, by turn.

    `recent` takes the person's sentences newest first, `random` by chance, and `oracle`, which knows every question of
    the conversation, the gold evidence, shortest first, whoever said it.
    """
    chance = Random(f"{run.scenario.name} {how}")
    chosen: dict[int, Sent] = {}
    for turn, asked in enumerate(run.scenario.turns, 1):
        request = run.answering(turn) if asked.question else None
        if request is None:
            continue
        literal = {item.entry for item in request.items}
        lines = [line for line in _lines(run, how) if line[0] not in literal and run.entries[line[0]].turn < turn]
        match how:
            case "recent":
                lines.reverse()
            case "random":
                chance.shuffle(lines)
            case _:
                lines.sort(key=lambda line: len(line[1]))
        chosen[turn] = _with_lines(request, lines)
    return chosen


def _with_lines(request: Sent, lines: Sequence[tuple[int, str]]) -> Sent:
    """Return the request with these lines, by entry, in place of its blocks, as many as have room there."""
    blocks = [item for item in request.items if item.entry is None and item.kind in BLOCKS]
    room = sum(len(item.text) for item in blocks)
    taken: list[tuple[int, str]] = []
    for line in lines:
        room -= len(line[1]) + 1
        if room < 0:
            break
        taken.append(line)
    text = "\n".join(line for _, line in sorted(taken))
    block = Item("selected", None, BLOCKS[0], "turn", request.turn, Rendering.WHOLE, text)
    items = [item for item in request.items if item not in blocks]
    return replace(request, items=(items[0], block, *items[1:]))


def _lines(run: Run, how: str) -> list[tuple[int, str]]:
    if how == "oracle":
        found = find_evidence(run)
        asked = [turn.question for turn in run.scenario.turns if turn.question]
        gold = dict.fromkeys(name for question in asked for name in question.gold)
        return [
            _line(run.entries[entry], found[name].plant.text) for name in gold for entry in sorted(found[name].entries)
        ]
    return [_line(entry, said) for entry in run.entries.values() for said in _sentences(entry)]


def _sentences(entry: Entry) -> Iterator[str]:
    if isinstance(entry.content, PromptContent):
        yield from (said[:STATEMENT_MOST] for said in _SENTENCE.split(entry.content.text) if said.strip())


def _line(entry: Entry, text: str) -> tuple[int, str]:
    whose = {EntryKind.PROMPT: "the person", EntryKind.REPLY: "the assistant's reply"}.get(entry.kind, "a tool")
    return entry.id, f"- {' '.join(text.split())} — {whose}, turn {entry.turn}, entry {entry.id}"


def _from(request: Sent, first: int) -> Sent:
    """Return the request without the turns before `first`."""
    items = tuple(item for item in request.items if not item.turn or item.turn >= min(first, request.turn))
    return replace(request, items=items, tokens=request.tokens - tokens_of(request.items) + tokens_of(items))


def _within(request: Sent, room: int, *, first: int) -> Sent:
    """Return the request with as many of its last turns, from `first` on, as take at most `room` tokens."""
    sizes: dict[int, int] = {}
    for item in request.items:
        sizes[item.turn] = sizes.get(item.turn, 0) + tokens_of([item]) + 1
    overhead = request.tokens - tokens_of(request.items) + sizes.pop(0, 0)
    room -= overhead + sizes.pop(request.turn, 0)
    oldest = request.turn
    for turn in sorted((turn for turn in sizes if turn >= first), reverse=True):
        room -= sizes[turn]
        if room < 0:
            break
        oldest = turn
    return _from(request, oldest)
