"""Renders a record's active entries as pieces that any strict provider takes: paired, ended, never empty. Pure."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from hashlib import sha256
from itertools import groupby
from typing import assert_never

from wisp_core.records import (
    CallContent,
    CommandContent,
    Entry,
    InstructionsContent,
    Outcome,
    OutputContent,
    PromptContent,
    Rendering,
    ReplyContent,
    Turn,
)
from wisp_core.requests import CANCELLED, Item, Role, WireCall
from wisp_core.settings import Context

EMPTY_REPLY = "[empty reply]"
EMPTY_OUTPUT = "[no output]"
LOST_PROMPT = "[the prompt of this turn is lost]"
ENDINGS = {
    Outcome.INTERRUPTED: "[interrupted by the person]",
    Outcome.FAILED: "[the model's server failed here]",
    Outcome.ABANDONED: "[wisp ended here]",
}


@dataclass(frozen=True, slots=True)
class Piece:
    """One item with its place on the wire: `call` of an assistant's call, `answers` the call that a result is of.

    `response` joins a reply and the calls that one response made.
    """

    role: Role
    item: Item
    call: WireCall | None = None
    answers: str = ""
    tool: str = ""
    response: str = ""


def render_turns(entries: Sequence[Entry], turns: dict[int, Turn], *, settings: Context) -> Iterator[Piece]:
    """Yield the pieces of the literal turns, each call with its result and each turn with its end."""
    # A turn that is gone on with has entries behind a command that waits for the next.
    for number, group in groupby(sorted(entries, key=lambda entry: entry.turn), key=lambda entry: entry.turn):
        yield from _render_turn(list(group), turns.get(number), settings=settings)


def _render_turn(entries: list[Entry], turn: Turn | None, *, settings: Context) -> Iterator[Piece]:
    pieces = list(_pair(entries, settings))
    if pieces and pieces[0].role is Role.ASSISTANT:
        # Of a damaged audit: an answer to nothing is no request.
        lost = _mark(LOST_PROMPT, turn=entries[0].turn, after=entries[0].wire_id)
        pieces.insert(0, Piece(Role.USER, lost))
    ending = ENDINGS.get(turn.outcome) if turn is not None and turn.outcome is not None else None
    if ending is not None and pieces:
        pieces = _end(pieces, ending)
    yield from pieces


def _pair(entries: list[Entry], settings: Context) -> Iterator[Piece]:
    """Yield the pieces with the results right after the calls of their response, in the order of the calls."""
    outputs = {_output(entry).call: entry for entry in entries if isinstance(entry.content, OutputContent)}
    waiting: list[Piece] = []
    for entry in entries:
        if isinstance(entry.content, OutputContent) or _says_nothing(entry, entries):
            continue
        piece = _render(entry, settings)
        if waiting and not (piece.call and piece.response == waiting[0].response):
            yield from _results(waiting, outputs, settings=settings)
            waiting = []
        if piece.call:
            waiting.append(piece)
        yield piece
    yield from _results(waiting, outputs, settings=settings)


def _results(calls: list[Piece], outputs: dict[str, Entry], *, settings: Context) -> Iterator[Piece]:
    for piece in calls:
        assert piece.call is not None
        entry = outputs.get(piece.call.id)
        if entry is not None:
            yield _render(entry, settings)
        else:
            item = _mark(CANCELLED, turn=piece.item.turn, after=piece.call.id)
            yield Piece(Role.TOOL, item, answers=piece.call.id, tool=piece.call.name)


def _end(pieces: list[Piece], ending: str) -> list[Piece]:
    """Return the turn's pieces ending in `ending`: at its last reply, or as a reply of its own."""
    last = pieces[-1]
    if last.role is Role.ASSISTANT:
        text = ending if last.item.text == EMPTY_REPLY else f"{last.item.text}\n\n{ending}"
        return [*pieces[:-1], _with_text(last, text)]
    return [*pieces, Piece(Role.ASSISTANT, _mark(ending, turn=last.item.turn, after=last.item.id))]


def _render(entry: Entry, settings: Context) -> Piece:
    content = entry.content
    match content:
        case InstructionsContent():
            text = "\n\n".join(segment.text for segment in content.segments)
            return Piece(Role.SYSTEM, _item(entry, text))
        case PromptContent():
            return Piece(Role.USER, _item(entry, content.text))
        case CommandContent():
            status = "" if content.exit_status is None else f" (exit status {content.exit_status})"
            text = f"The person ran `{content.command}`{status}:\n{content.output}"
            return Piece(Role.USER, _item(entry, text))
        case CallContent():
            call = WireCall(entry.wire_id, content.tool, content.arguments)
            item = _item(entry, f"{content.tool} {content.arguments}")
            return Piece(Role.ASSISTANT, item, call=call, response=_response(entry))
        case OutputContent():
            return Piece(Role.TOOL, _output_item(entry, settings), answers=entry.wire_id, tool=content.tool)
        case ReplyContent():
            return Piece(Role.ASSISTANT, _reply_item(entry, content, settings=settings), response=_response(entry))
        case None:
            raise ValueError(f"entry {entry.id} is active and has no content")
    assert_never(content)


def _output_item(entry: Entry, settings: Context) -> Item:
    if settings.references and entry.reference is not None:
        return _item(entry, entry.reference, rendering=Rendering.REFERENCE)
    return _item(entry, _output(entry).text or EMPTY_OUTPUT)


def _reply_item(entry: Entry, content: ReplyContent, *, settings: Context) -> Item:
    if not settings.cuts or not entry.cuts:
        return _item(entry, content.text or EMPTY_REPLY)
    data, parts, at = content.text.encode(), [], 0
    for cut in sorted(entry.cuts, key=lambda cut: cut.start):
        # Of a damaged audit: what is cut already is not cut again.
        if cut.start >= at:
            parts += [data[at : cut.start].decode("utf-8", "replace"), cut.marker]
            at = cut.end
    parts.append(data[at:].decode("utf-8", "replace"))
    return _item(entry, "".join(parts), rendering=Rendering.CUT)


def _item(entry: Entry, text: str, *, rendering: Rendering = Rendering.WHOLE) -> Item:
    # Entries count from 1: what is not recorded is none yet.
    return Item(entry.wire_id, entry.id or None, entry.kind.value, entry.origin.value, entry.turn, rendering, text)


def _mark(text: str, *, turn: int, after: str) -> Item:
    return Item(block_id(f"{after} {text}"), None, "mark", "turn", turn, Rendering.WHOLE, text)


def block(kind: str, text: str, *, turn: int) -> Piece:
    """Return a block on the prompt's side, such as `earlier` or `now`, in the request of turn number `turn`."""
    return Piece(Role.USER, Item(block_id(text), None, kind, "turn", turn, Rendering.WHOLE, text))


def block_id(text: str) -> str:
    """Return a block's id, made from its content."""
    return sha256(text.encode()).hexdigest()[:16]


def _with_text(piece: Piece, text: str) -> Piece:
    old = piece.item
    item = Item(old.id, old.entry, old.kind, old.origin, old.turn, old.rendering, text)
    return Piece(piece.role, item, response=piece.response)


def _output(entry: Entry) -> OutputContent:
    assert isinstance(entry.content, OutputContent)
    return entry.content


def _response(entry: Entry) -> str:
    return entry.sources[0] if entry.sources else entry.wire_id


def _says_nothing(entry: Entry, entries: list[Entry]) -> bool:
    """Tell whether this is a reply without text that stands before its own calls."""
    if not isinstance(entry.content, ReplyContent) or entry.content.text:
        return False
    return any(isinstance(e.content, CallContent) and _response(e) == _response(entry) for e in entries)
