"""How many bytes the parts of the prompt-side blocks may take (C4, C17, F14, F21). Pure."""

from dataclasses import dataclass

from wisp_core.settings import Facts

BYTES_A_TOKEN = 4
# What stands for no bound, in bytes: nothing is left out for a window that nobody knows.
UNBOUNDED = 1 << 40
# A share such as 0.29 of 100 tokens is 29, whatever its binary form makes of it.
_ROUNDING = 1e-6


@dataclass(frozen=True, slots=True)
class Rooms:
    """Bytes: `facts` of both blocks together, `summary` or checkpoint, `block` the whole earlier block.

    `stated` is what statements have at least, when facts and summary are full.
    """

    facts: int
    stated: int
    summary: int
    block: int


def share_bytes(window: int, share: float) -> int:
    """Return a share of a window in bytes: tokens rounded down first, four bytes a token (C4)."""
    return int(window * share + _ROUNDING) * BYTES_A_TOKEN


def rooms_of(window: int | None, settings: Facts, *, summary_share: float | None = None) -> Rooms:
    """Return the room of each part for a window in tokens; `summary_share` is a checkpoint's, where it has its own.

    In a small window the floors give way to the block's bound: the summary's, then the statements', then the facts'.
    """
    if window is None:
        return Rooms(UNBOUNDED, UNBOUNDED, UNBOUNDED, UNBOUNDED)
    block = share_bytes(window, settings.block_share)
    facts = min(block, max(settings.least_bytes, share_bytes(window, settings.share)))
    stated = min(block - facts, settings.stated_least_bytes)
    share = settings.summary_share if summary_share is None else summary_share
    summary = min(block - facts - stated, max(settings.summary_least_bytes, share_bytes(window, share)))
    return Rooms(facts, stated, summary, block)
