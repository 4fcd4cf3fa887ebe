"""The commands that show what the model carries and what it costs."""

from wisp_core.commands.results import Result, Said
from wisp_core.errors import UsageError
from wisp_core.requests import Composition
from wisp_core.text import one_line
from wisp_core.thread import Thread
from wisp_core.wisp import Wisp


class Inspect:
    """Shows the next request."""

    name, usage, help = "inspect", "context", "list what the next request carries"
    while_running = True

    async def run(self, argument: str, thread: Thread, wisp: Wisp) -> Result:
        """Return one line an item: store id, kind, turn, rendering, bytes, about how many tokens, the text's start."""
        if argument not in ("context", "context next"):
            raise UsageError(f"/inspect cannot show `{argument}`", "/inspect context lists the next request")
        return Said("the next request", list_items(thread.next_request()))


def list_items(composition: Composition) -> str:
    """Return a composition as lines of text."""
    lines = []
    for item in composition.items:
        where = "-" if item.entry is None else str(item.entry)
        size = f"{item.bytes:>7,} B {-(-len(item.text) // 4):>6,} t"
        lines.append(f"{where:>5}  turn {item.turn:<4} {item.kind:<12} {item.rendering.value:<9} {size}  {one_line(item.text, 60)}")
    total = sum(item.bytes for item in composition.items)
    lines.append(f"{len(composition.items)} items, {total:,} bytes, {len(composition.messages)} messages, {composition.sha256[:12]}")
    return "\n".join(lines)


class Tokens:
    """Shows what requests cost."""

    name, usage, help = "tokens", "", "what the provider reported, and what the next request is estimated at"
    while_running = True

    async def run(self, argument: str, thread: Thread, wisp: Wisp) -> Result:
        """Return the reported sums, the last report, and the estimate; nothing reported is said, not guessed."""
        totals, last = thread.record.totals, thread.record.last_usage
        lines = [f"reported over {totals.requests} requests: {totals.prompt:,} prompt, {totals.completion:,} completion, {totals.total:,} total, {totals.cached:,} cached"]
        if last is not None:
            cached = "not reported" if last.cached is None else f"{last.cached:,}"
            lines.append(f"last request: {last.prompt or 0:,} prompt, {last.completion or 0:,} completion, cached {cached}")
        else:
            lines.append("the last request reported nothing")
        guess = thread.estimate_next()
        share = "" if guess.percent is None else f", ~{guess.percent:g}% of {guess.window:,}"
        lines.append(f"next request, estimated: ~{guess.total:,} (instructions {guess.system:,}, messages {guess.messages:,}, results {guess.results:,}, tools {guess.schemas:,}){share}")
        return Said("tokens", "\n".join(lines))
