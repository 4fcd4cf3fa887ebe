"""The next request as it would go out now: what it carries, how large it is, and what fills the window."""

from dataclasses import dataclass, replace

from wisp_core.composer.compose import compose
from wisp_core.composer.estimate import wire_bytes
from wisp_core.composer.instructions import renew, stack
from wisp_core.composer.shares import shares
from wisp_core.condensing.drop import headroom
from wisp_core.records import (
    CallContent,
    Entry,
    EntryKind,
    InstructionsContent,
    OutputContent,
    Report,
    ThreadRecord,
)
from wisp_core.requests import NO_BLOCKS, Blocks, Composition, Measurement, Recalled, Share, ToolSchema, Window
from wisp_core.settings import Context, Settings
from wisp_core.turn.measuring import measure_sent
from wisp_core.turn.presenting import find_references
from wisp_core.turn.protocols import Backend, Toolbox

RUNNING = "[it runs now; its output will stand here]"
"""What stands for the output of a call that has not ended."""


@dataclass(frozen=True, slots=True)
class Preview:
    """What is known of the request; `headroom` is the size of an average turn, in bytes; no `window` is an unknown one.

    `recalled` are the earlier passages in its now block.
    """

    composition: Composition
    schemas: tuple[ToolSchema, ...]
    instructions: InstructionsContent
    headroom: int
    settings: Context
    backend: Backend
    report: Report | None
    recalled: tuple[Recalled, ...] = ()
    window: Window | None = None

    async def measure(self) -> Measurement:
        """Return its size with the tools' schemas: counted where the model can count, else estimated (C4)."""
        return await measure_sent(
            self.backend, self.composition, schemas=self.schemas, report=self.report, settings=self.settings
        )

    def shares(self, size: Measurement) -> tuple[Share, ...]:
        """Return the window by part, as the request of this size would fill it, with the headroom and what is free."""
        return shares(
            self.composition,
            tools=wire_bytes((), self.schemas),
            instructions=self.instructions,
            size=size.tokens,
            headroom=self.headroom,
            window=self.window.tokens if self.window else None,
        )


def preview(
    record: ThreadRecord,
    settings: Settings,
    *,
    toolbox: Toolbox,
    backend: Backend,
    prompt: str = "",
    blocks: Blocks = NO_BLOCKS,
) -> Preview:
    """Return the next request with `prompt` as if it were sent; outputs stand in it as they will then."""
    if not record.created:
        record = _unborn(record, settings)
    context, renewed = settings.context, renew(record, settings.instructions)
    running = record.open_turn()
    turn = record.last_turn + 1 if running is None or prompt else running.number
    coming = find_references(record, toolbox, turn=turn) if context.references else []
    return Preview(
        composition=compose(
            _awaiting(record),
            context,
            instructions=renewed,
            references={reference.entry: reference.text for reference in coming},
            prompt=prompt,
            blocks=blocks,
        ),
        recalled=blocks.recalled,
        schemas=toolbox.schemas() if backend.capabilities.tools else (),
        instructions=renewed or record.instructions[-1],
        headroom=headroom(record, context.headroom_turns),
        settings=context,
        backend=backend,
        report=record.reports.get(backend.name),
    )


def _unborn(record: ThreadRecord, settings: Settings) -> ThreadRecord:
    """Return the record that a thread will begin with."""
    content = InstructionsContent(stack(record.mode, settings.instructions))
    entry = Entry(1, "instructions", EntryKind.INSTRUCTIONS, 0, "", content)
    return ThreadRecord(record.id, mode=record.mode, instructions=(content,), entries={1: entry}, active=[1])


def _awaiting(record: ThreadRecord) -> ThreadRecord:
    """Return the record with a stand-in for what each running call will give; without one it counts as cut off."""
    running = record.open_turn()
    if running is None:
        return record
    entries = [entry for entry in record.active_entries() if entry.turn == running.number]
    done = {entry.content.call for entry in entries if isinstance(entry.content, OutputContent)}
    coming: dict[int, Entry] = {}
    for entry in entries:
        call = entry.content
        if isinstance(call, CallContent) and entry.wire_id not in done:
            number = max(record.entries) + len(coming) + 1
            output = OutputContent(entry.wire_id, call.tool, RUNNING)
            coming[number] = replace(entry, id=number, kind=EntryKind.TOOL_OUTPUT, content=output)
    return replace(record, entries=record.entries | coming, active=[*record.active, *coming])
