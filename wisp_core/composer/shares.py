"""What fills the window: the tokens of each part of a request, the headroom and what stays free. Pure."""

from collections.abc import Sequence

from wisp_core.records import EntryKind, InstructionsContent
from wisp_core.requests import Composition, Item, Role, Share

NO_TURN = -1


def shares(
    composition: Composition,
    *,
    tools: int,
    instructions: InstructionsContent,
    size: int,
    headroom: int,
    window: int | None,
) -> tuple[Share, ...]:
    """Return the parts of the window in tokens, in the order of the request.

    `size` is the request's measured size in tokens, which its parts sum to, in proportion to their bytes; `tools`, what
    their schemas say, and `headroom` are in bytes and taken at the same rate. The part `request` is the turn that waits
    for an answer: its prompt, the commands that go with it, and its steps so far. With a known `window` headroom and
    free stand at the end and all sums to it; of a request that is larger they are 0.
    """
    parts = _weigh(composition, tools=tools, instructions=instructions)
    weights = [weight for _, _, weight in parts]
    found = [Share(part, label, n) for (part, label, _), n in zip(parts, _apportion(size, weights), strict=True)]
    if window is None:
        return tuple(found)
    left = max(0, window - size)
    total = sum(weights)
    room = min(left, -(-headroom * size // total) if total else 0)
    return (*found, Share("headroom", "", room), Share("free", "", left - room))


def _weigh(composition: Composition, *, tools: int, instructions: InstructionsContent) -> list[tuple[str, str, int]]:
    """Return part, label and bytes of each part that says something."""
    request = _request_turn(composition)
    sizes = {"tools": tools}
    for part in ("earlier", "turns", "now", "request"):
        sizes[part] = 0
    for item in composition.items:
        if item.kind != EntryKind.INSTRUCTIONS:
            sizes[_part(item, request)] += item.bytes
    segments = [("instructions", segment.name, len(segment.text.encode())) for segment in instructions.segments]
    return [part for part in [*segments, *((name, "", weight) for name, weight in sizes.items())] if part[2]]


def _request_turn(composition: Composition) -> int:
    """Return the turn that waits for an answer, `NO_TURN` where the composition ends with one."""
    if not composition.messages or composition.messages[-1].role in (Role.ASSISTANT, Role.SYSTEM):
        return NO_TURN
    return composition.items[-1].turn


def _part(item: Item, request: int) -> str:
    if item.kind in ("earlier", "now"):
        return item.kind
    return "request" if item.turn == request else "turns"


def _apportion(total: int, weights: Sequence[int]) -> list[int]:
    """Return `total` in whole parts by weight, which sum to it: the largest remainders are rounded up."""
    whole = sum(weights)
    if not whole:
        return [0] * len(weights)
    parts = [total * weight // whole for weight in weights]
    by_remainder = sorted(range(len(weights)), key=lambda i: total * weights[i] % whole, reverse=True)
    for index in by_remainder[: total - sum(parts)]:
        parts[index] += 1
    return parts
