"""Checks every line of the blocks against the entry that it names: is it there, is it that author's, does it say so."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from wisp_core.evals.run import Run, Sent
from wisp_core.evals.shown import BLOCKS, Shown, read_line
from wisp_core.records import CallContent, CommandContent, Entry, EntryKind, OutputContent

_WORD = re.compile(r"\w+")
_EXACT = re.compile(r"[\w./:@+-]*\d[\w./:@+-]*|\w+_\w+|[\w.-]+/[\w./-]+")
_COUNTED = re.compile(r"\d+ lines|turn \d+|[+−-]\d+")
_SAID, _FIRST = "said: ", "first request: "
_WORDED = ("tool", "a tool", "model", "the person's command")  # of whom a line may be wisp's own words


@dataclass(frozen=True, slots=True)
class Checked:
    """Lines that name a source, by what was found of them.

    `resolved`: the entry is there and its author is the one named. `supported`: what the line says occurs there, word
    for word where it is the person's or a passage, else by its figures, paths and identifiers. `usurped`: the line says
    that it is the person's and its entry is not. `unknown` are lines that end with no source, or name no entry.
    """

    lines: int = 0
    resolved: int = 0
    supported: int = 0
    usurped: int = 0
    unknown: int = 0


def check(run: Run, sent: Iterable[Sent]) -> Checked:
    """Return what the distinct lines of all blocks of these requests are worth."""
    lines = {
        line
        for request in sent
        for item in request.items
        if item.entry is None and item.kind in BLOCKS
        for line in item.text.split("\n")
        if line.startswith("- ")
    }
    calls = {e.content.call: e.content.arguments for e in run.entries.values() if isinstance(e.content, CallContent)}
    resolved = supported = usurped = unknown = 0
    for line in lines:
        found = read_line(line)
        if found is None or not (found.entries or found.turns):
            unknown += 1
            continue
        named = [run.entries.get(number) for number in found.entries]
        if not named:
            # A line without entries names its turn: one entry there must be the author's and say it.
            held = [entry for entry in run.entries.values() if _is_of(entry, found)]
            named = [next((e for e in held if _occurs(found, _text(e, calls))), None)]
        theirs = [entry for entry in named if entry is not None and _is_of(entry, found)]
        body = replace(found, text=_inside(found.text, run.record.cwd))
        resolved += len(theirs) == len(named)
        supported += _occurs(body, " ".join(_text(entry, calls) for entry in named if entry is not None))
        usurped += found.who == "the person" and len(theirs) < len(named)
    return Checked(len(lines), resolved, supported, usurped, unknown)


def _inside(text: str, folder: str) -> str:
    """Return a line with its paths from `folder` on, as calls have them; a long one shows its end alone, after an …."""
    text = text.replace(f"{folder}/", "")
    for start in range(len(folder) if "…" in text else 0):
        text = text.replace(f"…{folder[start:]}/", "")
    return text


def _is_of(entry: Entry, found: Shown) -> bool:
    if found.turns is not None and not found.turns[0] <= entry.turn <= found.turns[1]:
        return False
    match found.who:
        case "the person" | "the caller":
            return entry.kind is EntryKind.PROMPT or (entry.kind is EntryKind.TOOL_OUTPUT and _tool(entry) == "ask")
        case "the person's command":
            return entry.kind is EntryKind.COMMAND
        case "the assistant's reply":
            return entry.kind is EntryKind.REPLY
        case "a tool":
            return entry.kind is EntryKind.TOOL_OUTPUT
    if found.who.startswith("the assistant's call of "):
        return entry.kind is EntryKind.TOOL_CALL and found.who.endswith(_tool(entry))
    if found.who.startswith("tool "):
        return entry.kind is EntryKind.TOOL_OUTPUT and found.who == f"tool {_tool(entry)}"
    return found.who.startswith("model") and entry.kind in (EntryKind.PROMPT, EntryKind.REPLY)


def _tool(entry: Entry) -> str:
    return entry.content.tool if isinstance(entry.content, CallContent | OutputContent) else ""


def _occurs(found: Shown, source: str) -> bool:
    """Tell whether a line's words stand in its source as they are, or, of a fact that wisp worded, its exact parts."""
    body = found.text.removeprefix(_SAID).removeprefix(_FIRST).strip("…")
    if _words(body) in _words(source):
        return True
    worded = found.who.startswith(_WORDED) and not found.text.startswith((_SAID, _FIRST))
    return worded and all(exact.strip(".:") in source for exact in _EXACT.findall(_COUNTED.sub("", body)))


def _text(entry: Entry, calls: Mapping[str, str]) -> str:
    """Return what an entry says; of an output with the call that it answers, whose arguments it is the result of."""
    match entry.content:
        case OutputContent(text=text, call=call, exit_status=status):
            return f"{calls.get(call, '')} {text} {status}"
        case CallContent(tool=tool, arguments=arguments):
            return f"{tool} {arguments}"
        case CommandContent(command=command, output=output, exit_status=status):
            return f"{command} {output} {status}"
    return getattr(entry.content, "text", "")


def _words(text: str) -> str:
    return " ".join(_WORD.findall(text.casefold()))
