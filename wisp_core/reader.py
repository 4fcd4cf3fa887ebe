"""Reads a thread as it was: its entries, dropped ones included, its outputs, and the request of any turn."""

import asyncio
from dataclasses import replace
from functools import partial

from wisp_core.composer.estimate import wire_bytes
from wisp_core.composer.pieces import render_turns
from wisp_core.composer.recompose import recompose
from wisp_core.composer.shares import shares
from wisp_core.errors import UsageError
from wisp_core.parts import Part, Reading
from wisp_core.records import (
    CommandContent,
    Entry,
    EntryKind,
    InstructionsContent,
    OutputContent,
    Plan,
    ThreadRecord,
)
from wisp_core.requests import Composition, Item, Measurement, PastRequest, Share, TurnChanges
from wisp_core.settings import Context
from wisp_core.store.database import Database
from wisp_core.store.outputs import Outputs, Page

WHOLE = Context(cuts=False, references=False)


class Reader:
    """What can be seen of a thread by whoever may not write it; `record` is read only."""

    def __init__(self, record: ThreadRecord, database: Database, *, outputs: Outputs) -> None:
        self.record = record
        self._database = database
        self._outputs = outputs

    async def entries(self, first: int = 1, last: int | None = None) -> list[Entry]:
        """Return the entries with these ids and all between them, as they stand, each with its content."""
        held = self.record.entries
        last = len(held) if last is None else min(last, len(held))
        wanted = [number for number in range(max(first, 1), last + 1) if number in held]
        return await self._with_content(wanted)

    async def plans(self, turn: int | None = None) -> list[Plan]:
        """Return the plans of a turn, or of all; another process may have gone on since the record was read."""
        known = self.record.entries
        latest = max((each.version for each in self.record.instructions), default=0)
        found = await self._database.plans(self.record.id, turn)
        return [plan for plan in found if plan.instructions <= latest and all(id in known for id, _ in plan.entries)]

    async def request_of(self, turn: int) -> PastRequest:
        """Return the request that a turn's answer was given to, composed again, and what the answer added (A21).

        Raises:
            UsageError: there is no such turn, or nothing was sent in it that is known.
        """
        if turn not in self.record.turns:
            last = self.record.last_turn
            raise UsageError(f"there is no turn {turn}", f"the last is {last}" if last else "none was taken yet")
        plans = await self.plans(turn)
        plan = next((plan for plan in reversed(plans) if plan.answered), plans[-1] if plans else None)
        if plan is None:
            raise UsageError(f"no request of turn {turn} is known", "a transcript keeps what was said alone")
        entries = await self._with_content([number for number, _ in plan.entries])
        instructions = next((v for v in self.record.instructions if v.version == plan.instructions), None)
        composition = recompose(plan, entries, turns=self.record.turns, instructions=instructions)
        return PastRequest(
            turn=turn,
            step=plan.step,
            composition=composition,
            answer=await self._answer(plan),
            sha256=plan.sha256,
            same=composition.sha256 == plan.sha256,
            settings=plan.settings,
            recalled=plan.recalled,
            size=_size(plan),
            window=plan.window,
            shares=_shares(plan, composition, instructions=instructions),
        )

    async def turns(self) -> list[TurnChanges]:
        """Return what each turn changed, in order."""
        return await self._database.turn_changes(self.record.id)

    async def output_page(self, call: str, offset: int = 0) -> Page | None:
        """Return a page of a stored output from byte `offset`, None where nothing more than the result is kept."""
        found = await self.find_output(call)
        if found is None or not found[1].kept:
            return None
        read = partial(self._outputs.read_page, call, offset, session=found[1].kept)
        return await asyncio.to_thread(read)

    async def read_output(self, call: str, part: Part) -> Reading | None:
        """Return a part of an output, of what the tool returned where no more is kept; None where there is none."""
        found = await self.find_output(call)
        if found is None:
            return None
        output = found[1]
        returned = output.text if isinstance(output, OutputContent) else output.output
        read = partial(self._outputs.read_part, call, part, session=output.kept or None, returned=returned)
        return await asyncio.to_thread(read)

    async def find_output(self, name: str = "") -> tuple[int, OutputContent | CommandContent] | None:
        """Return entry and content of the output with this call or entry id, of the latest where none is given."""
        for number in reversed(self.record.entries):
            if not _may_be(self.record.entries[number], name):
                continue
            (whole,) = await self._with_content([number])
            match whole.content:
                # An /undo is a command that has no call: it printed nothing.
                case OutputContent(call=call) | CommandContent(call=call) as found:
                    if call and name in ("", call, str(number)):
                        return number, found
                case _:
                    pass
        return None

    async def _answer(self, plan: Plan) -> tuple[Item, ...]:
        """Return the reply and the calls of the response that the plan got."""
        if plan.answered is None:
            return ()
        turn = self.record.turns[plan.turn]
        made = [
            number
            for number in range(turn.prompt, len(self.record.entries) + 1)
            if self.record.entries[number].turn == plan.turn
            and self.record.entries[number].sources[:1] == (plan.answered,)
        ]
        pieces = render_turns(await self._with_content(made), {}, settings=WHOLE)
        # What has no entry would stand for the results, which are the next request's.
        return tuple(piece.item for piece in pieces if piece.item.entry is not None)

    async def _with_content(self, numbers: list[int]) -> list[Entry]:
        held = self.record.entries
        missing = [number for number in numbers if held[number].content is None]
        read = await self._database.contents(self.record.id, missing) if missing else {}
        return [replace(held[number], content=read[number]) if number in read else held[number] for number in numbers]


def _size(plan: Plan) -> Measurement | None:
    if plan.reported is not None:
        return Measurement(plan.reported, counted=True)
    return Measurement(plan.tokens) if plan.tokens else None


def _shares(plan: Plan, composition: Composition, *, instructions: InstructionsContent | None) -> tuple[Share, ...]:
    """Return the window by part as the request filled it: what is over its messages were the tools' schemas."""
    size = _size(plan)
    if size is None or instructions is None:
        return ()
    tools = max(0, plan.bytes - wire_bytes(composition.messages, ()))
    return shares(composition, tools=tools, instructions=instructions, size=size.tokens, headroom=0, window=plan.window)


def _may_be(entry: Entry, name: str) -> bool:
    """Tell by its metadata whether an entry can be the output of this name; of a command only its content says."""
    if entry.kind is EntryKind.TOOL_OUTPUT:
        return name in ("", entry.wire_id, str(entry.id))
    return entry.kind is EntryKind.COMMAND
