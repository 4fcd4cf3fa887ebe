"""Composes the request: instructions, earlier block, literal turns, now block, request. Pure.

It reads the record alone and costs what is active, not what is past. Two compositions with nothing changed between
them begin alike, byte for byte, so that a server's cache of the prefix holds.
"""

import json
from collections.abc import Iterable, Mapping
from dataclasses import replace
from hashlib import sha256

from wisp_core.composer.pieces import Piece, block, block_id, render_turns
from wisp_core.records import Entry, EntryKind, InstructionsContent, PromptContent, ThreadRecord
from wisp_core.requests import NO_BLOCKS, Blocks, Composition, Message, Role
from wisp_core.settings import Context

NO_REFERENCES: Mapping[int, str] = {}


def compose(
    record: ThreadRecord,
    settings: Context,
    *,
    instructions: InstructionsContent | None = None,
    blocks: Blocks = NO_BLOCKS,
    references: Mapping[int, str] = NO_REFERENCES,
    prompt: str = "",
) -> Composition:
    """Return what the next request of `record` carries.

    `blocks` stand before the literal turns and before the request. What is not recorded yet is laid over the record: a
    version of the `instructions`, texts that stand for outputs by entry, and a `prompt` as if it were sent.
    """
    running = record.open_turn()
    turn = record.last_turn + 1 if running is None or prompt else running.number
    # A command that waits for the next prompt is no part of a turn that is gone on with.
    entries = [entry for entry in record.active_entries() if entry.turn <= turn]
    if instructions is not None:
        entries = [replace(e, content=instructions) if e.kind is EntryKind.INSTRUCTIONS else e for e in entries]
    if references:
        entries = [replace(e, reference=references[e.id]) if e.id in references else e for e in entries]
    if prompt:
        entries.append(Entry(0, block_id(prompt), EntryKind.PROMPT, turn, "", PromptContent(prompt)))
    version = instructions or (record.instructions[-1] if record.instructions else None)
    return finish(
        render_turns(entries, record.turns, settings=settings),
        turn=turn,
        instructions=version.version if version else 0,
        earlier=blocks.earlier,
        now=blocks.now,
    )


def finish(
    pieces: Iterable[Piece], *, turn: int, instructions: int, earlier: str | None = None, now: str | None = None
) -> Composition:
    """Return the composition of the pieces with their blocks: `earlier` before all turns, `now` before the prompt.

    That is the prompt of the turn numbered `turn`; `instructions` is the version that is among the pieces.
    """
    pieces = list(pieces)
    if earlier is not None:
        first = next((i for i, piece in enumerate(pieces) if piece.role is not Role.SYSTEM), len(pieces))
        pieces.insert(first, block("earlier", earlier, turn=turn))
    if now is not None:
        request = (i for i, piece in enumerate(pieces) if piece.item.turn == turn and piece.item.kind == "prompt")
        pieces.insert(next(request, len(pieces)), block("now", now, turn=turn))
    messages = tuple(_join(pieces))
    return Composition(
        items=tuple(piece.item for piece in pieces),
        messages=messages,
        sha256=canonical_hash(messages),
        instructions=instructions,
        earlier=earlier,
        now=now,
    )


def canonical_hash(messages: Iterable[Message]) -> str:
    """Return the SHA-256 of roles, parts and text, independent of any provider's body."""
    form = [[m.role.value, m.text, [[c.id, c.name, c.arguments] for c in m.calls], m.call_id, m.name] for m in messages]
    return sha256(json.dumps(form, ensure_ascii=False, separators=(",", ":")).encode()).hexdigest()


def _join(pieces: Iterable[Piece]) -> list[Message]:
    """Return the messages: neighbours of one side as one, a reply and the calls of its response as one."""
    messages: list[Message] = []
    response = ""
    for piece in pieces:
        last = messages[-1] if messages else None
        if last is None or last.role is not piece.role or piece.role is Role.TOOL:
            messages.append(_message(piece))
        elif piece.call:
            same = response == piece.response
            messages[-1:] = [replace(last, calls=(*last.calls, piece.call))] if same else [last, _message(piece)]
        else:
            messages[-1] = replace(last, text=f"{last.text}\n\n{piece.item.text}")
        response = piece.response
    return messages


def _message(piece: Piece) -> Message:
    if piece.call:
        return Message(piece.role, calls=(piece.call,))
    return Message(piece.role, piece.item.text, call_id=piece.answers, name=piece.tool)
