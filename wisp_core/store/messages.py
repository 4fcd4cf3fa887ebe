"""The active transcript as the plain messages of a chat, each with the entries that it stands for. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias, assert_never

from wisp_core.records import (
    CallContent,
    CommandContent,
    Entry,
    EntryKind,
    EntryState,
    InstructionsContent,
    JsonObject,
    OutputContent,
    PromptContent,
    ReplyContent,
)
from wisp_core.requests import CANCELLED, Role
from wisp_core.store.documents import chat_message

EMPTY_REPLY = "[empty reply]"
EMPTY_OUTPUT = "[no output]"
NO_REPLY = "[the turn ended here]"

Link: TypeAlias = tuple[str, EntryKind]
"""What an entry is known by in a transcript: its wire id and kind."""


def messages_of(entries: Sequence[Entry]) -> list[JsonObject]:
    """Return the active ones of `entries`, which have their contents, as messages that a strict reader takes.

    Neighbours of one side are one message, and each call is followed by its result. `entries` of a message are the
    wire ids and kinds that it stands for; a result or a reply that never came stands for none.
    """
    active = [entry for entry in entries if entry.state is EntryState.ACTIVE]
    messages: list[JsonObject] = []
    for run in _runs([(entry.wire_id, entry.kind) for entry in active]):
        message = _message([active[index] for index in run.entries])
        if messages and (messages[-1]["role"], message["role"]) == ("tool", "user"):
            messages.append({**chat_message(Role.ASSISTANT.value, NO_REPLY), "entries": []})
        messages.append(message)
        messages += [_result(active[call], active[output]) for output, call in run.results]
        messages += [_result(active[call], None) for call in run.lacking]
    return messages


def links_in_order(links: Sequence[Link]) -> list[Link]:
    """Return the links of active entries in the order in which their messages stand for them."""
    ordered: list[Link] = []
    for run in _runs(links):
        ordered += [links[index] for index in run.entries]
        ordered += [links[output] for output, _ in run.results]
    return ordered


def links_of(messages: Any) -> list[Link] | None:
    """Return the links that the messages of a file name, None where these are no messages with links."""
    try:
        named = [(link["id"], EntryKind(link["kind"])) for message in messages for link in message["entries"]]
    except (KeyError, TypeError, ValueError):
        return None
    return named if all(isinstance(id, str) for id, _ in named) else None


@dataclass(slots=True)
class _Run:
    """What makes one message, and the results after it, by their places in the transcript.

    `results` are (output, call) in the order in which they came, `lacking` the calls that have none.
    """

    entries: list[int]
    results: list[tuple[int, int]]
    lacking: list[int]


def _runs(links: Sequence[Link]) -> list[_Run]:
    outputs = _outputs(links)
    taken = set(outputs.values())
    runs: list[_Run] = []
    for index, (_, kind) in enumerate(links):
        if index in taken:
            continue
        if not runs or not _joins(links[runs[-1].entries[-1]][1], kind):
            runs.append(_Run([], [], []))
        runs[-1].entries.append(index)
        if index in outputs:
            runs[-1].results.append((outputs[index], index))
        elif kind is EntryKind.TOOL_CALL:
            runs[-1].lacking.append(index)
    for run in runs:
        run.results.sort()
    return runs


def _outputs(links: Sequence[Link]) -> dict[int, int]:
    """Return where the output of each call stands, both by their places."""
    waiting: dict[str, list[int]] = {}
    outputs: dict[int, int] = {}
    for index, (wire_id, kind) in enumerate(links):
        if kind is EntryKind.TOOL_CALL:
            waiting.setdefault(wire_id, []).append(index)
        elif kind is EntryKind.TOOL_OUTPUT and waiting.get(wire_id):
            outputs[waiting[wire_id].pop()] = index
    return outputs


def _joins(last: EntryKind, kind: EntryKind) -> bool:
    role = _role(kind)
    if role is not _role(last) or role is Role.SYSTEM:
        return False
    return not (kind is EntryKind.REPLY and last is EntryKind.TOOL_CALL)


def _role(kind: EntryKind) -> Role:
    match kind:
        case EntryKind.INSTRUCTIONS:
            return Role.SYSTEM
        # An output without its call, of a damaged record, would be refused as a result.
        case EntryKind.PROMPT | EntryKind.COMMAND | EntryKind.TOOL_OUTPUT:
            return Role.USER
        case EntryKind.REPLY | EntryKind.TOOL_CALL:
            return Role.ASSISTANT
    assert_never(kind)


def _message(entries: list[Entry]) -> JsonObject:
    calls = [(e.wire_id, e.content.tool, e.content.arguments) for e in entries if isinstance(e.content, CallContent)]
    texts = [text for entry in entries if (text := _text(entry)).strip()]
    content = "\n\n".join(texts) or ("" if calls else EMPTY_REPLY)
    message = chat_message(_role(entries[0].kind).value, content, calls=calls)
    return {**message, "entries": [_link(entry) for entry in entries]}


def _result(call: Entry, output: Entry | None) -> JsonObject:
    tool = call.content.tool if isinstance(call.content, CallContent) else ""
    text = CANCELLED if output is None else _text(output)
    message = chat_message(Role.TOOL.value, text if text.strip() else EMPTY_OUTPUT, answers=call.wire_id, name=tool)
    return {**message, "entries": [] if output is None else [_link(output)]}


def _link(entry: Entry) -> JsonObject:
    return {"id": entry.wire_id, "kind": entry.kind.value}


def _text(entry: Entry) -> str:
    content = entry.content
    match content:
        case InstructionsContent():
            return "\n\n".join(segment.text for segment in content.segments)
        case PromptContent() | OutputContent() | ReplyContent():
            return content.text
        case CommandContent():
            status = "" if content.exit_status is None else f" (exit status {content.exit_status})"
            return f"The person ran `{content.command}`{status}:\n{content.output}"
        case CallContent():
            return ""
        case None:
            raise ValueError(f"entry {entry.id} is active and has no content")
    assert_never(content)
