"""The work that a generated conversation is about: requests, replies, code, logs and files, from a bank's wordings."""

from dataclasses import dataclass, field

from wisp_core.evals.scenario import Author, Call, Plant, ScenarioTurn
from wisp_core.evals.wording import Voice, sentence
from wisp_core.requests import CHARACTERS_A_TOKEN

FILE_LEAST, FILE_MOST = 1_000, 2_400
"""Bytes of a file before its last piece: with its lines numbered no output holds any of it back, in any window."""
CALL_SHARE, PASTE_SHARE, ASIDE_SHARE, QUOTE_SHARE = 0.5, 0.15, 0.45, 0.2
"""How many of the turns call a tool, paste something, say something by the way, retype what the tool gave."""
JOINED_SHARE = 0.5
"""How many of the pairs of statements stand in one sentence."""
REPLY_SENTENCES = (4, 12)
LOG_LINES = (4, 14)


@dataclass(frozen=True, slots=True)
class Mention:
    """One planted value of a topic as somebody says it in the turn where it stands."""

    id: str
    author: Author
    text: str
    keys: list[str]

    def plant(self, said: str) -> Plant:
        """Return it as it stands in what was `said`, whose capitals may differ."""
        at = said.casefold().find(self.text.casefold())
        return Plant(id=self.id, author=self.author, text=said[at : at + len(self.text)], keys=self.keys)


@dataclass(slots=True)
class Draft:
    """A turn in the making; `mentions` are said in it, `reads` is the file that the model looks at."""

    reads: str = ""
    mentions: list[Mention] = field(default_factory=list)


def write_file(voice: Voice, name: str, *, lines: tuple[str, ...] = ()) -> str:
    """Return a file that fits its name's ending, with `lines` somewhere inside."""
    kind = name.rpartition(".")[2]
    wordings = {"log": voice.bank.logs, "md": voice.bank.prose, "conf": voice.bank.prose}.get(kind, voice.bank.code)
    size = voice.chance.randint(FILE_LEAST, FILE_MOST)
    written: list[str] = []
    while sum(len(line) + 1 for line in written) < size:
        written += voice.pick(wordings).split("\n")
    for line in lines:
        written.insert(voice.chance.randrange(len(written)), line)
    return "\n".join(written) + "\n"


def take_turn(voice: Voice, draft: Draft, *, files: dict[str, str]) -> ScenarioTurn:
    """Return the turn that a draft becomes."""
    prompt = _prompt(voice, [mention for mention in draft.mentions if mention.author == "person"])
    reply = _reply(voice, draft, file=files.get(draft.reads, ""))
    said = {"person": prompt, "assistant": reply, "tool": files.get(draft.reads, "")}
    return ScenarioTurn(
        prompt=prompt,
        reply=reply,
        calls=[_call(voice, draft.reads)] if draft.reads else [],
        plants=[mention.plant(said[mention.author]) for mention in draft.mentions],
    )


def size_of(turn: ScenarioTurn, files: dict[str, str]) -> int:
    """Return what a turn adds to a conversation, in tokens of four characters; numbers of lines are left out."""
    read = sum(len(text) for name, text in files.items() if any(name in str(call.arguments) for call in turn.calls))
    return (len(turn.prompt) + len(turn.reply) + read) // CHARACTERS_A_TOKEN


def _call(voice: Voice, name: str) -> Call:
    if name.endswith(".log") and voice.chance.random() < JOINED_SHARE:
        return Call(tool="run_command", arguments={"command": f"cat {name}"})
    return Call(tool="read_file", arguments={"path": name})


def _prompt(voice: Voice, mentions: list[Mention]) -> str:
    chance = voice.chance
    request = voice.mistype(voice.pick(voice.bank.requests))
    said = [mention.text for mention in mentions]
    while chance.random() < ASIDE_SHARE:
        aside = voice.mistype(voice.pick(voice.bank.asides))
        said.insert(chance.randrange(len(said) + 1), aside)
    if len(said) > 1 and chance.random() < JOINED_SHARE:
        said[:2] = [f"{said[0]}, and {said[1]}"]
    prompt = _order(voice, said, request=request) if said else sentence(request)
    if chance.random() < PASTE_SHARE:
        log = "\n".join(voice.pick(voice.bank.logs) for _ in range(chance.randint(*LOG_LINES)))
        prompt += "\n\n" + voice.pick(voice.bank.pastes, log=log, code=voice.pick(voice.bank.code))
    return prompt


def _order(voice: Voice, said: list[str], *, request: str) -> str:
    """Return request and statements in one of the orders in which persons write them."""
    opener = voice.chance.choice(voice.bank.openers)
    match voice.chance.randrange(6):
        case 0:
            return " ".join(map(sentence, [*said, request]))
        case 1:
            return f"{sentence(request)} {opener} {'. '.join(said)}"
        case 2:
            return f"{'. '.join(said)}. {voice.pick(voice.bank.tails, request=request)}"
        case 3:
            return f"{opener} {'; '.join(said)}"
        case 4:
            return "\n\n".join([sentence(request), *map(sentence, said)])
        case _:
            return f"{sentence(opener + ' ' + said[0])} {' '.join(map(sentence, [request, *said[1:]]))}"


def _reply(voice: Voice, draft: Draft, *, file: str) -> str:
    chance = voice.chance
    count = min(chance.randint(*REPLY_SENTENCES), len(voice.bank.answers))
    said = [sentence(voice.fill(wording)) for wording in chance.sample(voice.bank.answers, count)]
    for mention in draft.mentions:
        if mention.author == "assistant":
            said.insert(chance.randrange(len(said) + 1), mention.text)
    half = len(said) // 2
    parts = [" ".join(said[:half]), " ".join(said[half:])]
    secret = [mention.text for mention in draft.mentions if mention.author == "tool"]
    if file and not secret and chance.random() < QUOTE_SHARE:
        parts.insert(1, f"```\n{file.rstrip()}\n```")
    elif chance.random() < QUOTE_SHARE:
        parts.insert(1, f"```\n{voice.pick(voice.bank.code).rstrip()}\n```")
    return "\n\n".join(part for part in [*parts, voice.pick(voice.bank.closings)] if part)
