"""What a policy costs: prompt tokens, how many of them a server has to read anew, and how steady the prefix is."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from wisp_core.evals.run import Run, Sent
from wisp_core.requests import CHARACTERS_A_TOKEN, Item

LARGE_TURN = 700
"""Tokens that a turn adds for its amplification to count by itself (Q5)."""


@dataclass(frozen=True, slots=True)
class Cost:
    """Sums over the requests of a conversation, in tokens of four characters.

    `prompt` is what all requests carried, `processed` what of it was not the beginning of the request before, which a
    server's cache of the prefix serves; `shared` is the sum of the shares of each request that the one before began
    with alike. `added` is what the turns added to the conversation: prompts, calls, outputs whole, replies. `large` is
    (processed, added) of the turns alone that added `LARGE_TURN` or more. `gaps` are the turns between condensations.
    """

    requests: int
    prompt: int
    processed: int
    shared: float
    added: int
    large: tuple[int, int]
    gaps: tuple[int, ...]
    failed: int


def cost(run: Run, sent: Sequence[Sent], *, condensed: Sequence[int]) -> Cost:
    """Return what these requests cost, made in place of those that the run sent."""
    added = _added(run)
    processed: dict[int, int] = {}
    shared = 0.0
    before: Sent | None = None
    for request in sent:
        kept = _shared_tokens(before, request) if before else 0
        processed[request.turn] = processed.get(request.turn, 0) + request.tokens - kept
        shared += kept / request.tokens
        before = request
    large = [turn for turn, tokens in added.items() if tokens >= LARGE_TURN]
    return Cost(
        requests=len(sent),
        prompt=sum(request.tokens for request in sent),
        processed=sum(processed.values()),
        shared=shared,
        added=sum(added.values()),
        large=(sum(processed.get(turn, 0) for turn in large), sum(added[turn] for turn in large)),
        gaps=tuple(after - first for first, after in pairwise(condensed)),
        failed=len(run.failed),
    )


def tokens_of(items: Sequence[Item]) -> int:
    """Return the tokens of items, rounded down."""
    return sum(len(item.text) for item in items) // CHARACTERS_A_TOKEN


def _shared_tokens(before: Sent, after: Sent) -> int:
    """Return how many tokens both requests begin with alike; the schemas of the tools go ahead of both."""
    characters = 0
    for old, new in zip(before.items, after.items, strict=False):
        if old.text != new.text or old.kind != new.kind:
            characters += _alike(old.text, new.text)
            break
        characters += len(new.text)
    schemas = after.tokens - tokens_of(after.items)
    return min(after.tokens, schemas + characters // CHARACTERS_A_TOKEN)


def _alike(first: str, second: str) -> int:
    """Return how many characters two texts begin with alike."""
    length = min(len(first), len(second))
    return next((at for at in range(length) if first[at] != second[at]), length)


def _added(run: Run) -> dict[int, int]:
    """Return what each turn added, in tokens."""
    added: dict[int, int] = {}
    for entry in run.entries.values():
        if entry.turn > 0:
            said: str = getattr(entry.content, "text", "") or getattr(entry.content, "arguments", "")
            added[entry.turn] = added.get(entry.turn, 0) + len(said)
    return {turn: characters // CHARACTERS_A_TOKEN for turn, characters in added.items()}
