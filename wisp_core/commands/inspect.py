"""The command that shows what the model carries: the next request, an earlier one, each turn's changes, the calls."""

from collections.abc import Iterable

from wisp_core.commands.here import Here
from wisp_core.commands.results import Result, Said
from wisp_core.errors import UsageError
from wisp_core.records import CallContent, Entry, OutputContent
from wisp_core.requests import CHARACTERS_A_TOKEN, Composition, Item, TurnChanges
from wisp_core.text import count_cells, one_line

LINE_CELLS = 100
"""What a line of the listed requests takes at most, so that it does not wrap in a terminal of 120 columns."""
CALLS = 20
"""How many of the latest calls are listed where no number is given."""
USAGE = "/inspect context [next|N|turns], /inspect facts [all], /inspect config or /inspect calls [N]"


class Inspect:
    """Shows what the model carries, and what wisp works with."""

    name, usage = "inspect", "context [next|N|turns] | facts [all] | config | calls [N]"
    help = "show what the model carries, and what wisp works with"
    while_running = True

    async def run(self, argument: str, here: Here) -> Result:
        """Return what is asked for; a bare `context` is saved as Markdown and JSON."""
        match argument.split():
            case ["context"]:
                page = await here.thread.save_context()
                return Said("context", f"the exact next request is saved as {page}\nand {page.with_suffix('.json')}")
            case ["context", "next"]:
                return Said("the next request", list_items((await here.thread.preview()).composition))
            case ["context", "turns"]:
                return Said("what each turn changed", list_turns(await here.thread.reader.turns()))
            case ["context", number] if number.isdecimal():
                return await _past(here, int(number[:9]))
            case ["facts"] | ["facts", "all"]:
                lines = await here.thread.knowledge.lines(every=argument.endswith(" all"))
                return Said("facts", "\n".join(lines) or "no fact is known yet")
            case ["config"]:
                rows = here.wisp.settings_shown()
                return Said("settings", "\n".join(f"{key} = {value} ({origin})" for key, value, origin in rows))
            case ["calls"]:
                return await _calls(here, CALLS)
            case ["calls", number] if number.isdecimal() and int(number[:9]):
                return await _calls(here, int(number[:9]))
        raise UsageError(f"/inspect cannot show `{one_line(argument, 80)}`", USAGE)


async def _past(here: Here, turn: int) -> Said:
    past = await here.thread.reader.request_of(turn)
    lines = [list_items(past.composition), *(_line(item, "  (answered)") for item in past.answer)]
    if not past.same:
        lines.append(f"composed again it is not the request that was recorded ({past.sha256[:12]})")
    return Said(f"the request of turn {turn}, step {past.step}", "\n".join(lines))


async def _calls(here: Here, most: int) -> Said:
    reader = here.thread.reader
    ids = list(reader.record.calls.values())[-most:]
    entries = await reader.entries(min(ids)) if ids else []
    outputs = {e.wire_id: e for e in entries if isinstance(e.content, OutputContent)}
    lines = [_call(entry, outputs.get(entry.wire_id)) for entry in entries if entry.id in ids]
    return Said("the latest calls", "\n".join(lines) or "no tool was called yet")


def _call(entry: Entry, output: Entry | None) -> str:
    call = entry.content
    assert isinstance(call, CallContent)
    done = output.content if output is not None else None
    status = "no result"
    if isinstance(done, OutputContent):
        status = "ok" if done.ok else "failed"
        status = f"exit status {done.exit_status}" if done.exit_status is not None else status
        status = f"{status}, {done.seconds:.1f} s, {done.bytes:,} B"
    return f"turn {entry.turn:<4} {call.call}  {call.tool:<13} {one_line(call.arguments, 60)}  {status}"


def list_items(composition: Composition) -> str:
    """Return a composition as lines of text, one an item: id, turn, kind, rendering, bytes, about how many tokens."""
    lines = [_line(item) for item in composition.items]
    total = sum(item.bytes for item in composition.items)
    messages = len(composition.messages)
    lines.append(f"{len(lines)} items, {total:,} bytes, {messages} messages, {composition.sha256[:12]}")
    return "\n".join(lines)


def _line(item: Item, mark: str = "") -> str:
    where = item.entry or "-"
    what = f"{where:>5}  turn {item.turn:<4} {item.kind:<12} {item.rendering.value:<9}"
    line = f"{what} {item.bytes:>7,} B {-(-len(item.text) // CHARACTERS_A_TOKEN):>6,} t  "
    room = LINE_CELLS - len(line) - len(mark)
    text = one_line(item.text, room)
    return line + one_line(text, room - (count_cells(text) - len(text))) + mark


def list_turns(turns: Iterable[TurnChanges]) -> str:
    """Return one line a turn: what was added, cut, referenced, dropped, summarised, learnt, and how full it was."""
    lines = [_turn(turn) for turn in turns]
    head = f"{'turn':>5} {'added':>6} {'cut':>4} {'refs':>5} {'dropped':>8} {'summed':>7} {'facts':>6}  how full"
    return "\n".join([head, *lines]) if lines else "no turn was taken yet"


def _turn(turn: TurnChanges) -> str:
    counts = (
        f"{turn.added:>6} {turn.cut:>4} {turn.referenced:>5} {turn.dropped:>8} {turn.summarised:>7} {turn.facts:>6}"
    )
    full = ""
    if turn.tokens is not None:
        about = "" if turn.reported else "~"
        share = f", {about}{100 * turn.tokens / turn.window:.0f}%" if turn.window else ""
        full = f"{about}{turn.tokens:,} tokens{share}"
    outcome = "" if turn.outcome == "done" else f"  {turn.outcome or 'running'}"
    return f"{turn.turn:>5} {counts}  {full}{outcome}"
