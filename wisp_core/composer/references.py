"""The references that stand for tool outputs after their turn, built mechanically. Pure."""

import re
from collections.abc import Callable, Iterator
from datetime import datetime, tzinfo
from typing import TypeAlias

from wisp_core.composer.measure import BYTES_A_TOKEN
from wisp_core.events import ContextReference
from wisp_core.records import CallContent, Entry, OutputContent, ThreadRecord
from wisp_core.requests import ToolKind
from wisp_core.text import count_lines, head_bytes, shorten, split_lines

REFERENCE_BYTES = 640
LINE_CHARACTERS = 100
ARGUMENTS_CHARACTERS = 200
TOOL_CHARACTERS = 60

KindOf: TypeAlias = Callable[[str], ToolKind | None]

READ_FILE, RUN_COMMAND = "read_file", "run_command"

# What would end a line, or is no text, with the indent behind it; a tab stays.
_CONTROL = re.compile("[\x00-\x08\x0a-\x1f\x7f-\x9f\u2028\u2029]+[ \t]*")
_HELD_BACK = re.compile(r"\[… (?:1 line|[\d,]+ lines) \([^)]*\) held back …\]")
_NUMBERED = re.compile(r"\d+\t")
_PAGING = re.compile(r"more from offset \d+")
_EXIT_STATUS = re.compile(r"exit status: -?\d+")
_STREAMS = frozenset({"stdout:", "stderr:"})
# What the turn and the tools write above and below what was found.
_ABOVE = re.compile(r"\[this repeats an earlier call of this turn exactly; .*\]")
_BELOW = re.compile(
    r"held back: .*|\[(?:no more tool calls can be made in this turn: .*|end of file|no output|cancelled by the person"
    r"|timed out after .*|could not be ended: .*|ended by SIG.*|still running in the background, .*"
    r"|(?:stdout|stderr|stdout and stderr): binary, .*|stopped after .*|more lines were found than .*"
    r"|only (?:the first )?[\d,]+ .*|the pattern is no regular expression .*)\]"
)


def refer(
    record: ThreadRecord, *, turn: int, kind_of: KindOf, memory: bool, zone: tzinfo | None
) -> list[ContextReference]:
    """Return what makes each output before `turn` that is still whole, and longer than its reference, go as that.

    `memory` tells that the model has the memory tool; times are told in `zone`, None for the machine's own.
    """
    calls: dict[str, CallContent] = {}
    found: list[ContextReference] = []
    for entry in record.active_entries():
        content = entry.content
        if entry.turn >= turn:
            continue
        if isinstance(content, CallContent):
            calls[entry.wire_id] = content
        elif isinstance(content, OutputContent) and entry.reference is None:
            whole = len(content.text.encode())
            head = _head(entry, content, ending=_what_to_do(entry, kind_of(content.tool), memory=memory), zone=zone)
            if whole <= len(head.encode()):
                continue
            text = _render(head, content, call=calls.get(entry.wire_id))
            saved = whole - len(text.encode())
            if saved > 0:
                found.append(_event(entry, content, text=text, saved=saved))
    return found


def _event(entry: Entry, content: OutputContent, *, text: str, saved: int) -> ContextReference:
    return ContextReference(
        entry=entry.id,
        tool=content.tool,
        result=entry.sources[0] if entry.sources else "",
        text=text,
        bytes=saved,
        tokens=saved // BYTES_A_TOKEN,
    )


def _what_to_do(entry: Entry, kind: ToolKind | None, *, memory: bool) -> str:
    if memory:
        return f'to see it: memory "recall entry {entry.id}"'
    if kind is ToolKind.READS:
        return "call it again to see it"
    return "its output is not repeated; do not run it again to see it"


def _head(entry: Entry, content: OutputContent, *, ending: str, zone: tzinfo | None) -> str:
    tool = shorten(_flat(content.tool), TOOL_CHARACTERS)
    status = f"exit status {content.exit_status}" if content.exit_status is not None else _status(content)
    lines, size = content.lines or count_lines(content.text), content.bytes or len(content.text.encode())
    return (
        f"[output of entry {entry.id} not repeated: {tool}{_clock(entry.time, zone)}, {status}, "
        f"{_count(lines, 'line')}, {_count(size, 'byte')}; {ending}]"
    )


def _status(content: OutputContent) -> str:
    return "ok" if content.ok else "failed"


def _count(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"


def _clock(time: str, zone: tzinfo | None) -> str:
    """Return ` at 14:05:12` of an RFC 3339 time, nothing where it is none."""
    try:
        return f" at {datetime.fromisoformat(time).astimezone(zone):%H:%M:%S}"
    except (ValueError, OverflowError):
        return ""


def _render(head: str, content: OutputContent, *, call: CallContent | None) -> str:
    first, last, paging = _content_lines(content)
    lines = [f"arguments: {shorten(_flat(call.arguments), ARGUMENTS_CHARACTERS)}"] if call else []
    lines += [f"first line: {first}"] if first else []
    lines += [f"last line: {last}"] if last else []
    ends = [f"paging: {paging}"] if paging else []
    room = REFERENCE_BYTES - sum(len(line.encode()) + 1 for line in [head, *ends])
    return head_bytes("\n".join([head, *_fit(lines, room), *ends]), REFERENCE_BYTES)


def _fit(lines: list[str], room: int) -> list[str]:
    """Return the lines in `room` bytes, line ends included: the longest give way first."""
    fitted = list(lines)
    for done, index in enumerate(sorted(range(len(lines)), key=lambda i: len(lines[i].encode()))):
        share = room // (len(lines) - done) - 1
        line = lines[index]
        if len(line.encode()) > share:
            fitted[index] = head_bytes(line, share - len("…".encode())) + "…"
        room -= len(fitted[index].encode()) + 1
    return fitted


def _content_lines(content: OutputContent) -> tuple[str, str, str]:
    """Return the first and the last line of content and the paging hint, each empty where there is none."""
    paging = ""
    if content.tool == READ_FILE:
        lines = content.text.split("\n")
        paging = next((line for line in reversed(lines) if _PAGING.fullmatch(line)), "")
        # Whatever a file holds, its lines are numbered and nothing else is.
        shown = [index for index, line in enumerate(lines) if _NUMBERED.match(line)]
    else:
        lines = split_lines(content.text)
        shown = list(_found(lines, command=content.tool == RUN_COMMAND))
    if not shown:
        return "", "", paging
    return _shown(lines, shown[0]), _shown(lines, shown[-1]) if len(shown) > 1 else "", paging


def _found(lines: list[str], *, command: bool) -> Iterator[int]:
    """Yield the indexes of the lines that a tool found, without what wisp wrote around and between them."""
    start, end = 0, len(lines)
    if start < end and _ABOVE.fullmatch(lines[start]):
        start += 1
    if command and start < end and _EXIT_STATUS.fullmatch(lines[start]):
        start += 1
    while end > start and _BELOW.fullmatch(lines[end - 1]):
        end -= 1
    for index in range(start, end):
        line = lines[index]
        if line.strip() and not (command and line in _STREAMS) and not _HELD_BACK.fullmatch(line):
            yield index


def _shown(lines: list[str], index: int) -> str:
    """Return a line in its length, marked with an … on the side where it stands next to a cut."""
    line = _flat(lines[index])
    if index > 0 and _HELD_BACK.fullmatch(lines[index - 1]):
        line = f"…{line}"
    if index + 1 < len(lines) and _HELD_BACK.fullmatch(lines[index + 1]):
        line = f"{line}…"
    return shorten(line, LINE_CHARACTERS)


def _flat(text: str) -> str:
    """Return text that stays on its line."""
    return _CONTROL.sub(" ", text)
