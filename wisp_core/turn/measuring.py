"""What the next request of a turn is, and how large: counted by the model where it can, else measured."""

from collections.abc import Collection
from dataclasses import dataclass, replace

from wisp_core.composer.compose import compose
from wisp_core.composer.estimate import wire_bytes
from wisp_core.composer.instructions import renew
from wisp_core.composer.measure import measure
from wisp_core.records import InstructionsContent, Report
from wisp_core.requests import Blocks, Composition, Measurement, ToolSchema, Window
from wisp_core.settings import Context
from wisp_core.turn.participants import Participants
from wisp_core.turn.protocols import Backend


@dataclass(frozen=True, slots=True)
class Measured:
    """A request before it is sent: `size` in bytes of what it says, `renewed` instructions that the record lacks."""

    composition: Composition
    schemas: tuple[ToolSchema, ...]
    window: Window | None
    size: int
    measurement: Measurement
    renewed: InstructionsContent | None


async def measure_request(
    parts: Participants, blocks: Blocks, *, with_tools: bool = True, without: Collection[int] = frozenset()
) -> Measured:
    """Return the turn's next request as it stands now, or would stand `without` some entries, measured as C4 says."""
    record = parts.record
    if without:
        record = replace(record, active=[number for number in record.active if number not in without])
    renewed = renew(record, parts.settings.instructions)
    composition = compose(record, parts.settings.context, instructions=renewed, blocks=blocks)
    schemas = parts.toolbox.schemas() if with_tools and parts.backend.capabilities.tools else ()
    window = await parts.backend.window()
    parts.learn(window)
    size = wire_bytes(composition.messages, schemas)
    report = record.reports.get(parts.backend.name)
    measurement = await measure_sent(
        parts.backend, composition, schemas=schemas, report=report, settings=parts.settings.context
    )
    return Measured(composition, schemas, window, size, measurement, renewed)


async def measure_sent(
    backend: Backend,
    composition: Composition,
    *,
    schemas: tuple[ToolSchema, ...],
    report: Report | None,
    settings: Context,
) -> Measurement:
    """Return what a request takes: the model's own count where it can count, else as the latest `report` says."""
    counted = await backend.count(composition.messages, schemas)
    if counted is not None:
        return Measurement(counted, counted=True)
    return measure(wire_bytes(composition.messages, schemas), report, settings=settings)
