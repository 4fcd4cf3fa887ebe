"""Makes room in the window: before a prompt when the request would pass the budget, and when a server refused it."""

import time

from wisp_core.composer.measure import share_tokens
from wisp_core.condensing.drop import headroom, keep_turns
from wisp_core.events import ContextCondensation
from wisp_core.requests import CHARACTERS_A_TOKEN, Window
from wisp_core.settings import Context
from wisp_core.turn.measuring import Measured, measure_request
from wisp_core.turn.participants import Participants

FAIL_FAST = "fail-fast"


async def condense_when_due(parts: Participants) -> None:
    """Condense what stands before the turn where the request would pass the budget of a known window (C5)."""
    settings = parts.settings.context
    if settings.policy == FAIL_FAST or not _droppable(parts):
        return
    measured = await measure_request(parts)
    if measured.window is not None and measured.measurement.tokens >= _budget(settings, measured.window):
        await condense(parts, reason="budget", before=measured)


async def condense_after_overflow(parts: Participants) -> bool:
    """Condense after a server refused the request as too long; False where the policy or the turns allow nothing."""
    if parts.settings.context.policy == FAIL_FAST or not _droppable(parts):
        return False
    await condense(parts, reason="overflow", before=await measure_request(parts))
    return True


async def condense(parts: Participants, *, reason: str, before: Measured) -> None:
    """Drop all but the last turns before this one, and record what that gave."""
    began, settings = time.monotonic(), parts.settings.context
    dropped = _droppable(parts)
    turns = len({parts.record.entries[number].turn for number in dropped})
    step = f"dropped {turns} turn{'' if turns == 1 else 's'}"
    kept = await parts.keep_context(before.composition, before.measurement, title=f"before condensing ({reason})")
    after = await measure_request(parts, without=dropped)
    left = await parts.keep_context(after.composition, after.measurement, title=f"after condensing ({reason})")
    event = ContextCondensation(
        reason=reason,
        goal=_budget(settings, before.window),
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


def _budget(settings: Context, window: Window | None) -> int:
    return 0 if window is None else share_tokens(settings.budget, window.tokens)


def _droppable(parts: Participants) -> tuple[int, ...]:
    return keep_turns(parts.record, parts.settings.context.keep_turns, before=parts.turn)
