"""Makes a tool's result of its whole text: bounded by the budget, what is larger kept whole in the output store."""

import asyncio

from wisp_core.requests import KeptOutput, ToolResult
from wisp_core.text import sound
from wisp_core.tools.bound import Keeping, Stretch, bound_text
from wisp_core.tools.budget import Budget
from wisp_core.tools.spool import Spool, Spools

STREAM = "text"


class Results:
    """Gives the results of one conversation: its budget and where outputs are kept."""

    def __init__(self, budget: Budget, spools: Spools) -> None:
        self._budget = budget
        self._spools = spools

    async def give(self, text: str, call: str, *, ok: bool = True, most: int | None = None) -> ToolResult:
        """Return the result of `call`: the text in the budget, at most in `most` bytes."""
        text = self._spools.redaction.text(sound(text)).rstrip("\n")
        data = text.encode()
        limit = min(self._budget.bytes, most or self._budget.bytes)
        lines = text.count("\n") + 1
        if len(data) <= limit:
            return ToolResult(text, ok, bytes=len(data), lines=lines)
        data += b"\n"
        spool = self._spools.open(call)
        try:
            spool.write(STREAM, data)
            kept = await _keep(spool)
            keeping = Keeping(call, kept, spool.failure)
        finally:
            spool.discard()
        stretch = Stretch("", data[:limit], data[-limit:], len(data), lines, ended=True)
        shown = bound_text([stretch], limit, keeping=keeping)
        return ToolResult(shown.rstrip("\n"), ok, bytes=len(data), lines=lines, kept=kept)


async def _keep(spool: Spool) -> KeptOutput | None:
    keeping = asyncio.ensure_future(asyncio.to_thread(spool.keep, [STREAM]))
    try:
        return await asyncio.shield(keeping)
    except asyncio.CancelledError:
        # The thread reads the spool, which is discarded next.
        await keeping
        raise
