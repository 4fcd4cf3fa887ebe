"""The loop of a turn: request, calls, request, until a reply makes no call; then how it ended."""

import asyncio
from itertools import count

from wisp_core.errors import ContextOverflowError, ModelError
from wisp_core.events import ErrorHappened, RequestRetried, Response, TurnEnd, UsageData
from wisp_core.records import Outcome
from wisp_core.requests import Blocks
from wisp_core.turn.blocks import find_blocks, record_recollection
from wisp_core.turn.condense import condense_after_overflow, condense_when_due
from wisp_core.turn.participants import Participants
from wisp_core.turn.presenting import cut_copies, refer_outputs
from wisp_core.turn.request import request_step
from wisp_core.turn.tool_calls import run_calls


async def run_turn(parts: Participants) -> Outcome:
    """Answer the open turn and return how it ended; being cancelled is the person's interrupt.

    Raises:
        StorageError: the home cannot be written; the turn stays open and is mended at the next prompt.
    """
    error = ""
    spent: list[UsageData] = []
    try:
        await refer_outputs(parts)
        blocks = await condense_when_due(parts, await find_blocks(parts))
        await record_recollection(parts, blocks)
        await _answer(parts, spent, blocks=blocks)
        await cut_copies(parts)
        outcome = Outcome.DONE
    except asyncio.CancelledError:
        task = asyncio.current_task()
        if task is not None:
            task.uncancel()
        outcome = Outcome.INTERRUPTED
    except ModelError as failure:
        outcome, error = Outcome.FAILED, failure.sentence()
        await parts.write(
            ErrorHappened(kind=type(failure).__name__, message=error, endpoint=failure.endpoint, detail=failure.detail)
        )
    await parts.knowledge.end_turn(parts.turn, TurnEnd(outcome=outcome.value, error=error, usage=_sum(spent)))
    return outcome


async def _answer(parts: Participants, spent: list[UsageData], *, blocks: Blocks) -> None:
    """Go round: each round is one request and the calls that its answer makes; the last one is sent without tools."""
    most = parts.settings.tools.max_rounds
    for step in count(1):
        answer, blocks = await _request(parts, step, blocks=blocks, with_tools=step <= most)
        if answer.usage is not None:
            spent.append(answer.usage)
        if not answer.calls or step > most:
            return
        await run_calls(parts, answer.calls, last=step == most, finish=answer.finish)


async def _request(parts: Participants, step: int, *, blocks: Blocks, with_tools: bool) -> tuple[Response, Blocks]:
    """Send one request; where it is refused as too long, with nothing shown, condense and send it once more.

    Returns the answer, and the blocks that the next request has.

    Raises:
        ModelError: it could not be answered.
    """
    entries = len(parts.record.entries)
    try:
        return await request_step(parts, step, blocks=blocks, with_tools=with_tools), blocks
    except ContextOverflowError as overflow:
        shown = len(parts.record.entries) > entries
        condensed = None if shown else await condense_after_overflow(parts, blocks)
        if condensed is None:
            raise
        await parts.write(RequestRetried(reason="overflow", error=overflow.message))
    await record_recollection(parts, condensed)
    return await request_step(parts, step, blocks=condensed, with_tools=with_tools), condensed


def _sum(spent: list[UsageData]) -> UsageData | None:
    """Return the sums of what the provider reported over a turn's requests, None where it reported nothing."""
    if not spent:
        return None
    sums: dict[str, int | None] = {}
    for name in UsageData.model_fields:
        known = [value for usage in spent if (value := getattr(usage, name)) is not None]
        sums[name] = sum(known) if known else None
    return UsageData(**sums)
