"""A turn whose outputs a reply may retype, recorded and composed as the thread would."""

from dataclasses import dataclass

from tests.core.composer.conversations import Script
from wisp_core.composer.compose import compose
from wisp_core.composer.cuts import find_cuts
from wisp_core.events import CallData, ContextCut, Prompt, Response, ToolCalled, ToolReturned, TurnEnd
from wisp_core.records import EntryKind
from wisp_core.requests import Role
from wisp_core.settings import Context


@dataclass(frozen=True)
class Told:
    """What was cut of the turn's last reply, and what the next request carries of it."""

    cuts: list[ContextCut]
    carried: str


def tell(reply: str, *outputs: str | tuple[str, str]) -> Told:
    """Record a turn with `outputs`, each a text of run_command or a tool and its text, and `reply`; cut it; go on."""
    script = Script()
    script.start()
    script.write(Prompt(text="show me"), 1)
    for number, output in enumerate(outputs):
        call, tool, text = f"{number:08x}", *(("run_command", output) if isinstance(output, str) else output)
        data = CallData(call=call, tool=tool, arguments="{}")
        script.write(Response(request="r", step=1, text="", calls=[data], finish="tool_calls", model="m"), 1)
        script.write(ToolCalled(call=call, tool=tool, arguments={}), 1)
        script.write(ToolReturned(call=call, tool=tool, text=text, ok=True), 1)
    script.write(Response(request="r", step=2, text=reply, finish="stop", model="m"), 1)
    cuts = find_cuts([entry for entry in script.record.active_entries() if entry.turn == 1])
    for cut in cuts:
        script.write(cut, 1)
    script.write(TurnEnd(outcome="done"), 1)
    script.write(Prompt(text="and now?"), 2)
    last = [entry.id for entry in script.record.active_entries() if entry.kind is EntryKind.REPLY][-1]
    assert all(cut.reply == last for cut in cuts)
    composition = compose(script.record, Context())
    carried = next(item.text for item in composition.items if item.entry == last)
    assert carried in [message.text for message in composition.messages if message.role is Role.ASSISTANT]
    return Told(cuts, carried)


def mark(entry: int = 4, tool: str = "run_command") -> str:
    """Return the marker of an output; the first one of `tell` is entry 4, each further one two on."""
    return f"(showed the person the {tool} output, entry {entry})"


def numbered(text: str, first: int = 1) -> str:
    """Return a page of text as read_file shows it."""
    lines = [f"{number}\t{line}" for number, line in enumerate(text.split("\n"), first)]
    return "\n".join([*lines, "[end of file]"])
