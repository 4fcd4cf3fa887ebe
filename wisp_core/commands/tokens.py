"""The command that shows what requests cost."""

from wisp_core.commands.here import Here
from wisp_core.commands.results import Result, Said
from wisp_core.thread import Thread


class Tokens:
    """Shows what requests cost."""

    name, usage, help = "tokens", "", "what the provider reported, and what the next request is estimated at"
    while_running = True

    async def run(self, argument: str, here: Here) -> Result:
        """Return the reported sums, the last report, and the estimate; nothing reported is said, not guessed."""
        return Said("tokens", "\n".join([_reported(here.thread), _latest(here.thread), await _coming(here.thread)]))


def _reported(thread: Thread) -> str:
    sums = thread.record.totals
    parts = f"{sums.prompt:,} prompt, {sums.completion:,} completion, {sums.total:,} total, {sums.cached:,} cached"
    return f"reported over {sums.requests} requests: {parts}"


def _latest(thread: Thread) -> str:
    last = thread.record.last_usage
    if last is None:
        return "the last request reported nothing"
    cached = "not reported" if last.cached is None else f"{last.cached:,}"
    return f"last request: {last.prompt or 0:,} prompt, {last.completion or 0:,} completion, cached {cached}"


async def _coming(thread: Thread) -> str:
    """Return the size of the next request by part, as the window's bar has it."""
    seen = await thread.preview()
    size, window = await seen.measure(), seen.window
    about = "" if size.counted else "~"
    share = ""
    if window is not None:
        share = f", {about}{100 * size.tokens / window.tokens:.1f}% of {window.tokens:,} ({window.source})"
    sums: dict[str, int] = {}
    for one in seen.shares(size):
        if one.part not in ("headroom", "free"):
            sums[one.part] = sums.get(one.part, 0) + one.tokens
    parts = ", ".join(f"{part} {tokens:,}" for part, tokens in sums.items() if tokens)
    return f"next request: {about}{size.tokens:,} ({parts}){share}"
