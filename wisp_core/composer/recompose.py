"""Composes a past request again, from its plan alone: what is recorded since changes nothing of it. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from wisp_core.composer.compose import finish
from wisp_core.composer.pieces import render_turns
from wisp_core.records import Entry, EntryKind, InstructionsContent, Plan, Rendering, Turn
from wisp_core.requests import Composition
from wisp_core.settings import Context

# The plan says how each entry went out, whatever its settings were and are: every mark that is left on one stands.
MARKED = Context(cuts=True, references=True)


def recompose(
    plan: Plan, entries: Sequence[Entry], *, turns: Mapping[int, Turn], instructions: InstructionsContent | None
) -> Composition:
    """Return what the request of `plan` carried; its hash is the plan's where all of it is at hand.

    `entries` are those of the plan with their content, whatever became of them, and `instructions` is the version that
    it names. The plan's turn was open then; the turns before it had ended as they stand in `turns`.
    """
    renderings = dict(plan.entries)
    known = sorted((entry for entry in entries if entry.id in renderings), key=lambda entry: entry.id)
    carried = [_as_carried(entry, renderings[entry.id], instructions=instructions) for entry in known]
    ended = {entry.turn: turns[entry.turn] for entry in known if entry.turn < plan.turn and entry.turn in turns}
    return finish(
        render_turns(carried, ended, settings=MARKED),
        turn=plan.turn,
        instructions=plan.instructions,
        earlier=plan.earlier,
        now=plan.now,
    )


def _as_carried(entry: Entry, rendering: Rendering, *, instructions: InstructionsContent | None) -> Entry:
    """Return the entry with the marks that its rendering tells of and no other."""
    if entry.kind is EntryKind.INSTRUCTIONS:
        return entry if instructions is None else replace(entry, content=instructions)
    return replace(entry, cuts=(), reference=None) if rendering is Rendering.WHOLE else entry
