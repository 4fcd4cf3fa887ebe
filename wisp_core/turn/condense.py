"""Makes room in the window: before a prompt when the request would pass the budget, and when a server refused it."""

import time

from wisp_core.composer.measure import share_tokens
from wisp_core.condensing.drop import headroom, keep_turns
from wisp_core.events import ContextCondensation
from wisp_core.requests import CHARACTERS_A_TOKEN, Blocks, Window
from wisp_core.settings import Settings
from wisp_core.turn.blocks import find_blocks
from wisp_core.turn.measuring import Measured, measure_request
from wisp_core.turn.participants import Participants

FAIL_FAST = "fail-fast"


async def condense_when_due(parts: Participants, blocks: Blocks) -> Blocks:
    """Condense what stands before the turn where the request would pass the budget (C5).

    Returns the blocks that the request then has.
    """
    settings = parts.settings.context
    if settings.policy == FAIL_FAST or not _droppable(parts):
        return blocks
    measured = await measure_request(parts, blocks)
    budget = _budget(parts.settings, measured.window)
    if not budget or measured.measurement.tokens < budget:
        return blocks
    return await condense(parts, reason="budget", before=measured)


async def condense_after_overflow(parts: Participants, blocks: Blocks) -> Blocks | None:
    """Condense after a server refused the request as too long; None where the policy or the turns allow nothing."""
    if parts.settings.context.policy == FAIL_FAST or not _droppable(parts):
        return None
    return await condense(parts, reason="overflow", before=await measure_request(parts, blocks))


async def condense(parts: Participants, *, reason: str, before: Measured) -> Blocks:
    """Drop all but the last turns before this one, record what that gave, and return the blocks from then on."""
    began, settings = time.monotonic(), parts.settings.context
    dropped = _droppable(parts)
    turns = len({parts.record.entries[number].turn for number in dropped})
    step = f"dropped {turns} turn{'' if turns == 1 else 's'}"
    kept = await parts.keep_context(before.composition, before.measurement, title=f"before condensing ({reason})")
    blocks = await find_blocks(parts, without=dropped)
    after = await measure_request(parts, blocks, without=dropped)
    left = await parts.keep_context(after.composition, after.measurement, title=f"after condensing ({reason})")
    event = ContextCondensation(
        reason=reason,
        goal=_budget(parts.settings, before.window),
        before=before.measurement.tokens,
        after=after.measurement.tokens,
        dropped=list(dropped),
        steps=[step],
        headroom=headroom(parts.record, settings.headroom_turns) // CHARACTERS_A_TOKEN,
        seconds=round(time.monotonic() - began, 3),
        savedBefore=kept.name if kept else None,
        savedAfter=left.name if left else None,
    )
    await parts.journal.record_group(parts.record, [event], turn=parts.turn)
    parts.tell("note", kind="condensed", text=f"condensed: {step}, {event.before:,} → {event.after:,} tokens")
    return blocks


def _budget(settings: Settings, window: Window | None) -> int:
    """Return the tokens over which a request is condensed; none where neither window nor limit is known."""
    limits = [] if settings.compaction_limit is None else [settings.compaction_limit]
    if window is not None:
        limits.append(share_tokens(settings.context.budget, window.tokens))
    return min(limits, default=0)


def _droppable(parts: Participants) -> tuple[int, ...]:
    return keep_turns(parts.record, parts.settings.context.keep_turns, before=parts.turn)
