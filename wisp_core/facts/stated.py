"""The person's own statements: taken from a prompt clause by clause, ranked, and fitted into their room. Pure."""

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from wisp_core.fact import SAID, Fact
from wisp_core.facts.assertion import Assertion, Source
from wisp_core.facts.cues import KEEP, Weight, asks, named, of_others, quotes, supposes, weigh
from wisp_core.facts.flat import flatten
from wisp_core.facts.speech import sentences

CLAUSE_MOST = 160
"""Characters of a statement, as many as a value may show (F21)."""
STATEMENTS_MOST = 24
"""Statements of one prompt; of more the best are kept."""
JUDGED_WORTH = 2
"""What a judge's yes adds to a score (F16): less than a cue, since so small a judge is wrong often."""
METHOD = "stated"

_VERBED = r"(?:is|are|was|were|has|have|had|will|must|moved|changed|runs?|takes?|costs?|uses?|lives?)\b"
_SUBJECT = (
    r"(?:(?:i|we|you|it|he|she|they|please|then|never|always|don['’]t|call|remember|from)\b|(?:i|we|it|you|that)['’]|"
    rf"(?:the|my|our|its|his|her|their|this|that)\s(?:[\w'’-]+\s){{1,4}}?{_VERBED})"
)
_QUESTION = r"(?:can|could|would|will|do|does|is|are|should|what|how|which|where|why|who)\s"
_JOINT = re.compile(
    rf"""\s*[,;]\s*(?:and|but|so|because|since|although|though|while|whereas|however|then|which|or|plus|yet)\s+(?:then\s+)?
        |\s*;\s+|\s+[—–]\s+|\s+-\s+|\s*\.\.\.\s+
        |\s+(?:but|because|although|whereas|so)\s+
        |\s+(?:and|then|and\sthen)\s+(?={_SUBJECT}|{_QUESTION})
        |,\s+(?={_SUBJECT}|{_QUESTION}|please\b)""",
    re.IGNORECASE | re.VERBOSE,
)
_OPENING = re.compile(
    r"(?:(?:hi|hello|hey|ok|okay|well|oh|so|and|but|also|btw|by the way|thanks|thank you|yes|yeah|sure|right|great|"
    r"hm+|um+|anyway|sorry|listen|look|good (?:morning|evening|afternoon)|dear \w+)\b[\s,.:!–—-]+)+(?=\S)",
    re.IGNORECASE,
)
_CORRECTION = re.compile(
    r"(?:(?:no|nope|wrong|correction|i misspoke|i was wrong|that['’]?s (?:wrong|not right|incorrect))\b[\s,.:;!–—-]*)+",
    re.IGNORECASE,
)
_DENIED = re.compile(r"(?:not|no longer|fine|right|ok|okay|correct|good|wrong|there|here)\b", re.IGNORECASE)
_WORD = re.compile(r"\w{2,}")


@dataclass(frozen=True, slots=True)
class Kept:
    """A statement that the thread holds already: the `id` of its fact and its words."""

    id: str
    text: str


@dataclass(frozen=True, slots=True)
class Statement:
    """A clause of the person's, as they wrote it on one line; `ordinal` counts from 1 in its entry.

    The place is left out of the line of one that was said `elsewhere`, in another thread.
    `about` is the X of `X is Y`, folded. `corrects` are the ids of the kept statements that an explicit correction
    supersedes.
    """

    text: str
    entry: int
    turn: int
    ordinal: int
    score: int
    cues: tuple[str, ...] = ()
    about: str = ""
    corrects: tuple[str, ...] = ()
    elsewhere: bool = False

    @property
    def name(self) -> str:
        """The name of its fact: `entry.ordinal`."""
        return f"{self.entry}.{self.ordinal}"

    @property
    def line(self) -> str:
        """The line of the earlier block (F14)."""
        place = "" if self.elsewhere else f", turn {self.turn}, entry {self.entry}"
        return f"- {SAID}: {flatten(self.text, CLAUSE_MOST)} — from the person{place}"

    def assertion(self) -> Assertion:
        """Return it as the ledger takes it."""
        source, turns = (self.entry,), (self.turn, self.turn)
        return Assertion(
            SAID, self.name, self.text, Source.PERSON, METHOD, entries=source, turns=turns, corrects=self.corrects
        )


def state(text: str, *, entry: int, turn: int, known: Sequence[Kept] = ()) -> list[Statement]:
    """Return the statements of the prompt `text`, in order; `known` is what a correction in it may supersede."""
    found = [(at, clause, weight, corrects) for at, (clause, weight, corrects) in enumerate(_clauses(text))]
    best = sorted(found, key=lambda item: (-item[2].score, item[0]))[:STATEMENTS_MOST]
    statements = []
    for ordinal, (_, clause, weight, corrects) in enumerate(sorted(best, key=lambda item: item[0]), 1):
        corrected = _corrected(weight, known) if corrects else ()
        statements.append(
            Statement(clause, entry, turn, ordinal, weight.score, weight.cues, weight.name, corrects=corrected)
        )
    return statements


def restate(fact: Fact, *, thread: str = "") -> Statement:
    """Return a kept statement anew from its fact, for ranking in the thread with that id."""
    entry, _, ordinal = fact.name.partition(".")
    weight = weigh(fact.value)
    return Statement(
        fact.value,
        fact.entries[0] if fact.entries else int(entry) if entry.isdecimal() else 0,
        fact.turn,
        int(ordinal) if ordinal.isdecimal() else 0,
        weight.score,
        weight.cues,
        weight.name,
        elsewhere=bool(thread and fact.thread and fact.thread != thread),
    )


def rank(statements: Sequence[Statement], room: int, *, raised: Collection[str] = ()) -> list[Statement]:
    """Return the best statements that fit `room` bytes as lines, in order of time; a larger room never loses one.

    `raised` names those that a judge would keep. Of equals the one that says more new words stands higher, then the
    newer; what was said twice word for word stands where it was said last.
    """
    latest = {_fold(s.text): s for s in sorted(statements, key=_place)}
    kept: list[Statement] = []
    for statement in _best_first(list(latest.values()), set(raised)):
        room -= len(statement.line.encode()) + 1
        if room < 0:
            break
        kept.append(statement)
    return sorted(kept, key=_place)


def _best_first(statements: list[Statement], raised: set[str]) -> Iterator[Statement]:
    def score(statement: Statement) -> int:
        return statement.score + (JUDGED_WORTH if statement.name in raised else 0)

    seen: set[str] = set()
    for _, group in groupby(sorted(statements, key=score, reverse=True), key=score):
        newest_first = sorted(group, key=_place, reverse=True)
        new: dict[str, int] = {}
        for statement in newest_first:
            words = _words(statement.text)
            new[statement.name] = len(words - seen)
            seen |= words
        yield from sorted(newest_first, key=lambda statement: -new[statement.name])


def _clauses(text: str) -> Iterator[tuple[str, Weight, bool]]:
    """Yield the clauses that are kept, with their weight and whether they correct."""
    corrects = False
    for sentence in sentences(text):
        opening = _CORRECTION.match(sentence)
        # "No." alone, as a sentence of its own, belongs to the next one.
        corrects = corrects or bool(opening)
        rest = sentence[opening.end() :] if opening else sentence
        if not rest:
            continue
        for clause in _said(rest):
            weight = weigh(clause)
            if weight.score >= KEEP:
                yield clause, weight, corrects
        corrects = False


def _said(sentence: str) -> Iterator[str]:
    """Yield the clauses of a sentence up to where it asks, supposes, quotes or tells of others."""
    if quotes(sentence):
        return
    question = asks(sentence)
    parts = [_trim(part) for part in _JOINT.split(sentence)]
    if question and len(parts) == 1:
        return
    for at, part in enumerate(parts):
        if not part:
            continue
        last = at == len(parts) - 1
        if asks(part) or supposes(part) or of_others(part) or (question and last):
            return
        yield from _fit(part)


def _trim(clause: str) -> str:
    text = clause.strip(" ,;:")
    opening = _OPENING.match(text)
    text = text[opening.end() :] if opening else text
    return text.rstrip(" .!。…") if not text.endswith(("e.g.", "i.e.")) else text


def _fit(clause: str) -> Iterator[str]:
    """Yield a clause that is short enough, else its parts between commas, cut where they are still too long."""
    if len(clause) <= CLAUSE_MOST:
        yield clause
        return
    for part in clause.split(", "):
        yield part if len(part) <= CLAUSE_MOST else part[:CLAUSE_MOST].rpartition(" ")[0] or part[:CLAUSE_MOST]


def _corrected(weight: Weight, known: Sequence[Kept]) -> tuple[str, ...]:
    if not weight.name or _DENIED.match(weight.value):
        return ()
    return tuple(kept.id for kept in known if named(kept.text)[0] == weight.name)


def _place(statement: Statement) -> tuple[int, int]:
    return statement.entry, statement.ordinal


def _fold(text: str) -> str:
    return " ".join(text.casefold().split())


def _words(text: str) -> set[str]:
    return set(_WORD.findall(text.casefold()))
