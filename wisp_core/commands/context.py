"""The commands that show what the model carries and what it costs."""

from wisp_core.commands.here import Here
from wisp_core.commands.results import Result, Said
from wisp_core.errors import UsageError
from wisp_core.requests import CHARACTERS_A_TOKEN, Composition, Item
from wisp_core.text import one_line
from wisp_core.thread import Thread


class Inspect:
    """Shows the next request."""

    name, usage, help = "inspect", "context", "list what the next request carries"
    while_running = True

    async def run(self, argument: str, here: Here) -> Result:
        """Return one line an item: store id, kind, turn, rendering, bytes, about how many tokens, the text's start."""
        if argument not in ("context", "context next"):
            raise UsageError(f"/inspect cannot show `{argument}`", "/inspect context lists the next request")
        return Said("the next request", list_items(here.thread.preview().composition))


def list_items(composition: Composition) -> str:
    """Return a composition as lines of text, one an item."""
    lines = [_line(item) for item in composition.items]
    total = sum(item.bytes for item in composition.items)
    messages = len(composition.messages)
    lines.append(f"{len(lines)} items, {total:,} bytes, {messages} messages, {composition.sha256[:12]}")
    return "\n".join(lines)


def _line(item: Item) -> str:
    where = "-" if item.entry is None else str(item.entry)
    what = f"{where:>5}  turn {item.turn:<4} {item.kind:<12} {item.rendering.value:<9}"
    return f"{what} {item.bytes:>7,} B {-(-len(item.text) // CHARACTERS_A_TOKEN):>6,} t  {one_line(item.text, 60)}"


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
    seen = thread.preview()
    size, window = await seen.measure(), seen.window
    about = "" if size.counted else "~"
    share = "" if window is None else f", {about}{100 * size.tokens / window.tokens:.1f}% of {window.tokens:,}"
    sums: dict[str, int] = {}
    for one in await seen.shares():
        if one.part not in ("headroom", "free"):
            sums[one.part] = sums.get(one.part, 0) + one.tokens
    parts = ", ".join(f"{part} {tokens:,}" for part, tokens in sums.items() if tokens)
    return f"next request: {about}{size.tokens:,} ({parts}){share}"
