"""Scores the request that would answer a question: is the answer in it, is the newest value, and is it the last."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache

from wisp_core.evals.run import Run, Sent
from wisp_core.evals.scenario import Author, Plant, plants_of
from wisp_core.evals.shown import Shown, shown_in
from wisp_core.records import Entry, EntryKind

KEYS_SHARE = 0.8
"""The share of the key words of a plant that must be shown for it to be."""

_SAID_BY: dict[Author, EntryKind] = {
    "person": EntryKind.PROMPT,
    "assistant": EntryKind.REPLY,
    "tool": EntryKind.TOOL_OUTPUT,
}


@dataclass(frozen=True, slots=True)
class Score:
    """How a request does on one question.

    `answerable` is the share of the question's gold evidence that it shows. A piece is shown when at least `KEYS_SHARE`
    of its key words stand inside texts that carry provenance to the entry which holds it: the entry itself, whole, cut
    or as a reference, or a line of a block that names it as its source.

    `current`, of changed values alone, tells that the newest value is shown and every older one that is shown stands
    before it. `stale`, of the same, tells that an older one is shown and the newest is not.
    """

    kind: str
    turn: int
    answerable: float
    current: bool | None = None
    stale: bool | None = None


@dataclass(frozen=True, slots=True)
class Evidence:
    """A plant in a run: the entries that hold it."""

    plant: Plant
    turn: int
    entries: frozenset[int]


def find_evidence(run: Run) -> dict[str, Evidence]:
    """Return where each plant of the scenario stands in the thread, by the plant's id."""
    by_turn: dict[int, list[Entry]] = {}
    for entry in run.entries.values():
        by_turn.setdefault(entry.turn, []).append(entry)
    return {
        name: Evidence(plant, turn, _holders(plant, by_turn.get(turn, [])))
        for name, (turn, plant) in plants_of(run.scenario.turns).items()
    }


def score(run: Run, requests: Mapping[int, Sent] | None = None) -> list[Score]:
    """Return the score of every question in order, of these `requests` by turn, else of those that were sent."""
    evidence = find_evidence(run)
    scores = []
    for turn, asked in enumerate(run.scenario.turns, 1):
        if asked.question is None:
            continue
        sent = run.answering(turn) if requests is None else requests.get(turn)
        shown = list(shown_in(sent.items)) if sent else []
        gold = [_last_shown(evidence[name], shown) for name in asked.question.gold]
        older = [_last_shown(evidence[name], shown) for name in asked.question.older]
        answerable = sum(place is not None for place in gold) / len(gold)
        newest = gold[-1]
        if not older:
            scores.append(Score(asked.question.kind, turn, answerable))
            continue
        before = [place for place in older if place is not None]
        current = newest is not None and all(place <= newest for place in before)
        stale = newest is None and bool(before)
        scores.append(Score(asked.question.kind, turn, answerable, current, stale))
    return scores


def _holders(plant: Plant, entries: Iterable[Entry]) -> frozenset[int]:
    held = [e for e in entries if e.kind is _SAID_BY[plant.author] and plant.text in getattr(e.content, "text", "")]
    return frozenset(entry.id for entry in held)


def _last_shown(evidence: Evidence, shown: list[Shown]) -> tuple[int, int] | None:
    """Return the last place where the plant is shown, None where too few of its key words are."""
    texts = [text for text in shown if text.entries & evidence.entries]
    found: set[str] = set()
    last = None
    for text in texts:
        held = {key for key in evidence.plant.keys if _pattern(key).search(text.text)}
        found |= held
        if held:
            last = text.place
    return last if len(found) >= KEYS_SHARE * len(evidence.plant.keys) else None


@cache
def _pattern(key: str) -> re.Pattern[str]:
    """Return what finds a key word as a word, whatever its case and the white space in it."""
    words = r"\s+".join(re.escape(word) for word in key.split())
    return re.compile(rf"(?<!\w){words}(?!\w)", re.IGNORECASE)
