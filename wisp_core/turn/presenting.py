"""What the model carries of earlier outputs: references from the next turn on, and no exact copies in replies."""

from wisp_core.composer.cuts import find_cuts
from wisp_core.composer.references import refer
from wisp_core.events import ContextReference
from wisp_core.records import ThreadRecord
from wisp_core.turn.participants import Participants
from wisp_core.turn.protocols import Toolbox

MEMORY = "memory"


def find_references(record: ThreadRecord, toolbox: Toolbox, *, turn: int) -> list[ContextReference]:
    """Return the references that turn number `turn` begins with, of outputs that are still whole."""
    memory = toolbox.kind(MEMORY) is not None
    return refer(record, turn=turn, kind_of=toolbox.kind, memory=memory, zone=None)


async def refer_outputs(parts: Participants) -> None:
    """Have every earlier output that is still whole go as its reference from this turn on (O9)."""
    if parts.settings.context.references:
        await parts.write_each(find_references(parts.record, parts.toolbox, turn=parts.turn))


async def cut_copies(parts: Participants) -> None:
    """Mark the stretches of the turn's replies that retype its outputs (O1)."""
    if parts.settings.context.cuts:
        # A command that waits for the next turn may stand between a turn and what went on with it.
        found = find_cuts([entry for entry in parts.record.active_entries() if entry.turn == parts.turn])
        await parts.write_each(found)
        for cut in found:
            text = f"{cut.bytes:,} bytes of the reply repeat entry {cut.output}; the model carries a mark for them"
            parts.tell("note", kind="cut", text=text)
