"""Makes long conversations with planted values by a seed: the same seed and bank make the same conversation."""

from collections.abc import Iterator
from dataclasses import dataclass
from random import Random
from typing import Literal

from wisp_core.evals.bank import Bank, Topic, TopicKind
from wisp_core.evals.filler import CALL_SHARE, Draft, Mention, size_of, take_turn, write_file
from wisp_core.evals.scenario import Author, Kind, Question, Scenario, ScenarioTurn
from wisp_core.evals.wording import Voice

HALVES: tuple[Literal["development", "test"], ...] = ("development", "test")
TOKENS = 100_000
"""Tokens of a conversation, at four characters, before its questions."""
DEALT: tuple[tuple[Kind, TopicKind, int], ...] = (
    ("instruction", "instruction", 1),
    ("preference", "preference", 2),
    ("stated", "stated", 3),
    ("changed once", "changed", 2),
    ("changed twice", "changed", 2),
    ("dates", "dates", 1),
    ("contradiction", "contradiction", 1),
    ("count", "count", 1),
    ("assistant", "assistant", 2),
    ("tool", "tool", 2),
    ("trap", "trap", 1),
    ("follow-up", "stated", 1),
)
"""How many questions of which kind a conversation has, and of which topics."""
MENTIONS_COUNTED = (3, 6)
PLANTED_SHARE = 0.8
"""The last of the conversation in which nothing is planted any more."""
TURNS_BETWEEN, TURNS_BEFORE = 4, 15
"""Turns at least between two mentions of a topic, and from the last one to its question."""
FILES = 14
SPARE_SHARE = 0.1
"""What is made beyond the tokens asked for, since the turns are said anew once it is known what stands in them."""
ENDINGS = ("py", "log", "md", "conf")


@dataclass(frozen=True, slots=True)
class _Asked:
    """A topic in a conversation: what is said of it in order, and the turns that ask."""

    mentions: list[Mention]
    turns: list[ScenarioTurn]
    poison: str = ""


def generate(bank: Bank, seed: int, *, tokens: int = TOKENS) -> Scenario:
    """Return a conversation of at least `tokens` tokens from a bank."""
    voice = Voice(bank, Random(f"{bank.half} {seed}"))
    files = {name: write_file(voice, name) for name in _names(voice)}
    drafts = _blank(voice, files, tokens=tokens)
    asked: dict[int, list[ScenarioTurn]] = {}
    for topic in _deal(voice):
        places = _place(voice, len(topic.mentions), turns=len(drafts))
        for mention, at in zip(topic.mentions, places, strict=True):
            drafts[at].mentions.append(mention)
            if mention.author == "tool":
                _read(voice, drafts[at], files=files, line=mention.text)
        if topic.poison:
            at = voice.chance.randrange(places[0], len(drafts))
            _read(voice, drafts[at], files=files, line=topic.poison)
        first = min(places[-1] + TURNS_BEFORE, len(drafts) - 1)
        at = max(voice.chance.randint(first, len(drafts) - 1) for _ in range(2))
        asked.setdefault(at, []).extend(topic.turns)
    turns: list[ScenarioTurn] = []
    for at, draft in enumerate(drafts):
        turns.append(take_turn(voice, draft, files=files))
        turns += asked.get(at, [])
    return Scenario(name=f"{bank.half}-{seed}", half=bank.half, files=files, turns=turns)


def conversations(banks: list[Bank], seed: int, *, count: int, tokens: int = TOKENS) -> Iterator[Scenario]:
    """Yield `count` conversations, from the banks in turn."""
    for number in range(count):
        yield generate(banks[number % len(banks)], seed + number // len(banks), tokens=tokens)


def _names(voice: Voice) -> list[str]:
    return [f"{voice.fill('{id}')}_{number}.{voice.chance.choice(ENDINGS)}" for number in range(FILES)]


def _blank(voice: Voice, files: dict[str, str], *, tokens: int) -> list[Draft]:
    """Return as many drafts as make up `tokens`, known from turns taken by another voice with the same words."""
    other = Voice(voice.bank, Random(voice.chance.random()))
    drafts: list[Draft] = []
    left = int(tokens * (1 + SPARE_SHARE))
    while left > 0:
        draft = Draft(voice.chance.choice(list(files)) if voice.chance.random() < CALL_SHARE else "")
        left -= size_of(take_turn(other, draft, files=files), files)
        drafts.append(draft)
    return drafts


def _read(voice: Voice, draft: Draft, *, files: dict[str, str], line: str) -> None:
    """Have the turn read a file of its own with a line in it, so that no other turn shows it."""
    if draft.reads in files and draft.reads.startswith("only_"):
        files[draft.reads] += f"{line}\n"
        return
    draft.reads = f"only_{len(files)}.{voice.chance.choice(ENDINGS)}"
    files[draft.reads] = write_file(voice, draft.reads, lines=(line,))


def _place(voice: Voice, count: int, *, turns: int) -> list[int]:
    """Return the turns of a topic's mentions, in order and apart."""
    last = max(int(turns * PLANTED_SHARE), count * TURNS_BETWEEN) - (count - 1) * TURNS_BETWEEN
    found = sorted(voice.chance.randrange(1, max(2, last)) for _ in range(count))
    return [min(at + number * TURNS_BETWEEN, turns - 1) for number, at in enumerate(found)]


def _deal(voice: Voice) -> Iterator[_Asked]:
    """Yield the topics of a conversation, none of them twice."""
    left: dict[str, list[Topic]] = {}
    for topic in voice.chance.sample(voice.bank.topics, len(voice.bank.topics)):
        left.setdefault(topic.kind, []).append(topic)
    for kind, source, count in DEALT:
        for number in range(count):
            yield _ask(voice, left[source].pop(), kind=kind, name=f"{kind} {number}")


def _ask(voice: Voice, topic: Topic, *, kind: Kind, name: str) -> _Asked:
    author: Author = "assistant" if kind == "assistant" else "tool" if kind == "tool" else "person"
    values = voice.chance.sample(topic.values, len(topic.values))
    mentions = []
    for number, wordings in enumerate(_wordings(voice, topic, kind=kind)):
        text, keys = voice.say(wordings, values[number] if values else "")
        if author == "person":
            text = voice.mistype(text, keys)
        mentions.append(Mention(f"{name}.{number + 1}", author, text, keys))
    ids = [mention.id for mention in mentions]
    changed = kind in ("changed once", "changed twice")
    question = Question(kind=kind, gold=ids[-1:] if changed else ids, older=ids[:-1] if changed else [])
    wording = voice.mistype(voice.chance.choice(topic.ask))
    turns = [ScenarioTurn(prompt=wording, question=question)]
    if kind == "follow-up":
        asking = voice.chance.choice(voice.bank.follow_ups)
        turns = [ScenarioTurn(prompt=topic.about), ScenarioTurn(prompt=asking, question=question)]
    poison = voice.chance.choice(topic.poison).replace("{w}", values[-1]) if topic.poison else ""
    return _Asked(mentions, turns, poison)


def _wordings(voice: Voice, topic: Topic, *, kind: Kind) -> list[list[str]]:
    """Return the wordings of each mention in order."""
    match kind:
        case "changed once" | "dates" | "contradiction":
            return [topic.say, topic.later]
        case "changed twice":
            return [topic.say, topic.later, topic.later]
        case "count":
            return [topic.say] * min(voice.chance.randint(*MENTIONS_COUNTED), len(topic.values))
        case _:
            return [topic.say]
