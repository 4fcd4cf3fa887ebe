"""Composes the request: instructions, earlier block, literal turns, now block, request. Pure.

It reads the record alone and costs what is active, not what is past. Two compositions with nothing changed between
them begin alike, byte for byte, so that a server's cache of the prefix holds.
"""

import json
from collections.abc import Iterable
from dataclasses import replace
from hashlib import sha256

from wisp_core.composer.pieces import Piece, render_turns
from wisp_core.records import EntryKind, InstructionsContent, ThreadRecord
from wisp_core.requests import Composition, Message, Role
from wisp_core.settings import Context


def compose(record: ThreadRecord, settings: Context, *, instructions: InstructionsContent | None = None) -> Composition:
    """Return what the next request of `record` carries; `instructions` is a version that the record has not yet."""
    entries = record.active_entries()
    if instructions is not None:
        entries = [replace(e, content=instructions) if e.kind is EntryKind.INSTRUCTIONS else e for e in entries]
    pieces = list(render_turns(entries, record.turns, settings=settings))
    messages = tuple(_join(pieces))
    version = instructions or (record.instructions[-1] if record.instructions else None)
    return Composition(
        items=tuple(piece.item for piece in pieces),
        messages=messages,
        sha256=canonical_hash(messages),
        instructions=version.version if version else 0,
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
