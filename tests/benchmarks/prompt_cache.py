"""The prompt tokens that llama.cpp's server processes over 30 turns of reading files, and what its cache saves.

A real conversation in a window of 8,192 tokens, its answers from a script: each request that wisp sends goes to the
server as well, which reads it and says how much of it came from its cache. The yardstick is the same conversation in a
window without end, where nothing is ever taken back. *Dropping the oldest* is what many do instead: outputs go whole,
and the oldest turn goes each time that a request would pass the budget. *At best* is the share of a request that begins
like the one before it, token for token: no cache of one prompt can serve more.

The model is the embedded one with its first layer alone: the tokens and the cache are the same and only the work is
less (the whole model served and processed the same tokens in each of the 60 requests of the first conversation). Its
template says nothing of tools, so what is sent is what is said.
"""

import asyncio
import random
import secrets
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx

from tests.benchmarks.fewer_layers import write_first_layers
from tests.benchmarks.figures import Figure
from tests.fakes.provider import FakeProvider
from tests.opened import opened
from wisp_core.models.embedded import find_weights
from wisp_core.models.embedded_process import Child
from wisp_core.records import JsonObject, Outcome
from wisp_core.settings import Context, Embedded

TURNS, EVERY = 30, 3
CONVERSATIONS = 3
GOAL = 1.5
WINDOW, ENDLESS = 8_192, 65_536  # tokens
LAYERS, ALL_LAYERS = 1, 30
LINES = (12, 60)  # of a file, about 70 bytes each
TEXT = (
    "harbour sync reads each segment of the ledger before it writes a new one and keeps what was there until the "
    "reader has seen it so that two writers never meet while a third waits for the lock of the older table in the "
    "parser whose state names every line which a test splits at any byte"
)
WORDS = TEXT.split()
ON, OFF, OLDEST, APPENDED = "wisp", "wisp, references off", "dropping the oldest", "without end"


@dataclass(frozen=True, slots=True)
class Sent:
    """One request: its prompt, what of it the cache served and what begins like the request before, in tokens."""

    turn: int
    prompt: int
    cached: int
    alike: int

    @property
    def processed(self) -> int:
        """The tokens that the server had to read."""
        return self.prompt - self.cached


@dataclass
class Server:
    """llama.cpp's server, the tokens of the last prompt that it was sent, and those of each that was counted."""

    client: httpx.Client
    last: list[int] = field(default_factory=list)
    counted: dict[str, list[int]] = field(default_factory=dict)

    def ask(self, path: str, body: JsonObject) -> Any:
        return self.client.post(path, json=body).raise_for_status().json()

    def tokens(self, body: JsonObject) -> list[int]:
        prompt = self.ask("/apply-template", {"messages": body["messages"]})["prompt"]
        if prompt not in self.counted:
            asked = {"content": prompt, "add_special": True, "parse_special": True}
            self.counted[prompt] = self.ask("/tokenize", asked)["tokens"]
        return self.counted[prompt]

    def read(self, body: JsonObject, *, turn: int) -> Sent:
        """Have it read a prompt and tell of it."""
        tokens = self.tokens(body)
        alike = next((at for at, (a, b) in enumerate(zip(tokens, self.last, strict=False)) if a != b), len(self.last))
        self.last = tokens
        usage = self.ask("/v1/chat/completions", {"messages": body["messages"], "max_tokens": 1})["usage"]
        return Sent(turn, usage["prompt_tokens"], usage["prompt_tokens_details"]["cached_tokens"], alike)


class Between(FakeProvider):
    """Stands between wisp and the server: the server reads what is sent, the script answers."""

    def __init__(self, server: Server, *, window: int, most: int | None) -> None:
        super().__init__()
        self.server = server
        self.most = most
        self.sent: list[Sent] = []
        self.props = {"default_generation_settings": {"n_ctx": window}}
        self.input_tokens = lambda body: {"input_tokens": len(server.tokens(body))}
        self.script: Iterator[tuple[int, JsonObject]] = iter(())

    async def _chat(self, reader: Any, writer: Any, *, seen: Any) -> bool:
        turn, answer = next(self.script)
        body = seen.body if self.most is None else self.shortened(seen.body)
        self.sent.append(self.server.read(body, turn=turn))
        self.answer(**answer, usage={"prompt_tokens": self.sent[-1].prompt, "total_tokens": self.sent[-1].prompt})
        return bool(await super()._chat(reader, writer, seen=seen))

    def shortened(self, body: JsonObject) -> JsonObject:
        """Return the request without as many of the oldest turns as it takes."""
        system, *said = body["messages"]
        while len(self.server.tokens({"messages": [system, *said]})) > (self.most or 0):
            said = said[next(at for at, message in enumerate(said) if at and message["role"] == "user") :]
        return body | {"messages": [system, *said]}


def measure() -> tuple[list[Figure], str]:
    """Return the tokens processed beside those of a window without end, and a table by turn."""
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        weights = folder / "weights.gguf"
        write_first_layers(find_weights(), weights, layers=LAYERS, window=ENDLESS)
        runs = [converse_each(weights, folder / str(seed), seed=seed) for seed in range(CONVERSATIONS)]
    yardstick = [processed(run[APPENDED]) for run in runs]
    figures = [
        Figure(
            name,
            APPENDED,
            "tokens",
            [processed(run[name]) for run in runs],
            yardstick,
            goal=GOAL if name == ON else None,
        )
        for name in (ON, OFF, OLDEST)
    ]
    return figures, f"{totals(runs)}\n\n{by_turn(runs[0])}"


def converse_each(weights: Path, folder: Path, *, seed: int) -> dict[str, list[Sent]]:
    """Return the requests of one conversation under each policy."""
    limit = int(Context().budget * WINDOW)
    kept: JsonObject = {"references": False, "cuts": False, "policy": "fail-fast"}
    policies: dict[str, tuple[JsonObject, int, int | None]] = {
        ON: ({}, WINDOW, None),
        OFF: ({"references": False, "cuts": False}, WINDOW, None),
        OLDEST: (kept, ENDLESS, limit),
        APPENDED: (kept, ENDLESS, None),
    }
    found = {}
    for number, (name, (context, window, most)) in enumerate(policies.items()):
        place = folder / str(number)
        place.mkdir(parents=True)
        found[name] = asyncio.run(converse(weights, place, context=context, window=window, most=most, seed=seed))
    return found


async def converse(
    weights: Path, folder: Path, *, context: JsonObject, window: int, most: int | None, seed: int
) -> list[Sent]:
    """Hold the conversation of `seed` and return its requests."""
    script, prompts = list(answers(seed)), []
    for turn in range(1, TURNS + 1):
        (folder / f"note-{turn}.md").write_text(note(seed, turn))
        prompts.append(
            f"Read note-{turn}.md. What does it say of the {WORDS[turn]}, and what follows from that for us?"
        )
    key = secrets.token_hex(8)
    # As much of the cache as the whole model would find room for.
    config = {"window": window if most is None else WINDOW, "threads": 1, "batch": 512, "key": key}
    config |= {"cache_mib": max(1, Embedded().cache_mib * LAYERS // ALL_LAYERS), "path": str(weights)}
    child = Child(config)
    address = child.start()
    try:
        with httpx.Client(base_url=address, headers={"Authorization": f"Bearer {key}"}, timeout=600) as client:
            async with Between(Server(client), window=window, most=most) as between:
                between.script = iter(script)
                endpoints = {"llama": {"url": between.url}}
                async with opened(folder, model="local/llama", endpoints=endpoints, context=context) as home:
                    for prompt in prompts:
                        if await home.thread.send(prompt) is not Outcome.DONE:
                            raise RuntimeError(f"{home.events('error')}")
                return between.sent
    finally:
        child.stop()


def answers(seed: int) -> Iterator[tuple[int, JsonObject]]:
    """Yield the model's answers with their turns: a file is read, then something said of it."""
    for turn in range(1, TURNS + 1):
        yield turn, {"calls": [{"name": "read_file", "arguments": f'{{"path": "note-{turn}.md"}}'}]}
        yield turn, {"text": sentence(random.Random(seed * 10_000 + turn), 60)}


def note(seed: int, turn: int) -> str:
    """Return the text of a file, of one to four KB."""
    chance = random.Random(seed * 1_000 + turn)
    return "".join(f"{sentence(chance, 12)}\n" for _ in range(chance.randint(*LINES)))


def sentence(chance: random.Random, words: int) -> str:
    """Return a sentence of as many words."""
    return " ".join(chance.choice(WORDS) for _ in range(words)).capitalize() + "."


def processed(sent: Sequence[Sent]) -> int:
    """Return the tokens that the server read over a conversation."""
    return sum(one.processed for one in sent)


def share(sent: Sequence[Sent], *, best: bool = False) -> str:
    """Return the share of the prompts' tokens that the cache served, or could have."""
    tokens = sum(one.prompt for one in sent)
    return f"{100 * sum(one.alike if best else one.cached for one in sent) / tokens:.1f}%"


def totals(runs: Sequence[dict[str, list[Sent]]]) -> str:
    """Return what each policy came to over all the conversations."""
    lines = [
        f"Over {len(runs)} conversations of {TURNS} turns, two requests each:",
        "",
        "| policy | tokens sent | processed | from the cache | at best | times the yardstick |",
        "|---" * 6 + "|",
    ]
    least = sum(processed(run[APPENDED]) for run in runs)
    for name in runs[0]:
        sent = [one for run in runs for one in run[name]]
        lines.append(
            f"| {name} | {sum(one.prompt for one in sent):,} | {processed(sent):,} | {share(sent)} "
            f"| {share(sent, best=True)} | {processed(sent) / least:.2f} |"
        )
    return "\n".join(lines)


def by_turn(run: dict[str, list[Sent]]) -> str:
    """Return what of the tokens of every third turn of one conversation came from the cache, and what could have."""
    lines = [
        "The first of them by turn: tokens sent in the turn's two requests, served from the cache, and at best:",
        "",
        "| turn | " + " | ".join(run) + " |",
        "|---" * (len(run) + 1) + "|",
    ]
    for turn in [1, *range(EVERY, TURNS + 1, EVERY)]:
        sent = [[one for one in each if one.turn == turn] for each in run.values()]
        cells = (f"{sum(one.prompt for one in each):,}, {share(each)}, {share(each, best=True)}" for each in sent)
        lines.append(f"| {turn} | " + " | ".join(cells) + " |")
    return "\n".join(lines)
