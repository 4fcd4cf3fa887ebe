"""A short conversation with values planted in it, and requests made by hand to score."""

from pathlib import Path
from typing import Any

from wisp_core.evals.run import Run, Sent
from wisp_core.evals.scenario import Scenario
from wisp_core.records import (
    CallContent,
    Content,
    Entry,
    EntryKind,
    OutputContent,
    PromptContent,
    Rendering,
    ReplyContent,
    ThreadRecord,
)
from wisp_core.requests import Item

PORT: dict[str, Any] = {
    "name": "a port that moves",
    "files": {"notes.md": "the cache listens on 6379\n"},
    "turns": [
        {
            "prompt": "our staging port is 5433",
            "plants": [{"id": "old", "author": "person", "text": "our staging port is 5433", "keys": ["port", "5433"]}],
        },
        {
            "prompt": "look at the notes",
            "reply": "I would call it CacheNote.",
            "calls": [{"tool": "read_file", "arguments": {"path": "notes.md"}}],
            "plants": [
                {"id": "cache", "author": "tool", "text": "the cache listens on 6379", "keys": ["6379"]},
                {"id": "name", "author": "assistant", "text": "call it CacheNote", "keys": ["CacheNote"]},
            ],
        },
        {
            "prompt": "the staging port moved to 6021",
            "plants": [
                {"id": "new", "author": "person", "text": "staging port moved to 6021", "keys": ["port", "6021"]}
            ],
        },
        {"prompt": "which port?", "question": {"kind": "changed once", "gold": ["new"], "older": ["old"]}},
    ],
}


def port_scenario() -> Scenario:
    return Scenario.model_validate(PORT)


def port_run(*sent: Sent, scenario: Scenario | None = None) -> Run:
    """A run of the scenario whose entries are as a thread has them, and whose requests are these."""
    texts: list[tuple[EntryKind, int, Content]] = [
        (EntryKind.PROMPT, 1, PromptContent("our staging port is 5433")),
        (EntryKind.REPLY, 1, ReplyContent("Noted.")),
        (EntryKind.PROMPT, 2, PromptContent("look at the notes")),
        (EntryKind.TOOL_CALL, 2, CallContent("c1", "read_file", '{"path": "notes.md"}')),
        (EntryKind.TOOL_OUTPUT, 2, OutputContent("c1", "read_file", "1\tthe cache listens on 6379")),
        (EntryKind.REPLY, 2, ReplyContent("I would call it CacheNote.")),
        (EntryKind.PROMPT, 3, PromptContent("the staging port moved to 6021")),
        (EntryKind.REPLY, 3, ReplyContent("Noted.")),
        (EntryKind.PROMPT, 4, PromptContent("which port?")),
    ]
    entries = {
        number: Entry(number, f"e{number}", kind, turn, "", content)
        for number, (kind, turn, content) in enumerate(texts, 2)
    }
    return Run(scenario or port_scenario(), sent, entries, ThreadRecord("t", cwd="/work"))


def block(text: str, kind: str = "earlier") -> Item:
    return Item(kind, None, kind, "turn", 4, Rendering.WHOLE, text)


def literal(entry: int, text: str, *, turn: int, kind: str = "prompt") -> Item:
    return Item(f"e{entry}", entry, kind, "turn", turn, Rendering.WHOLE, text)


def request(*items: Item, turn: int = 4, extra: int = 0) -> Sent:
    return Sent(turn, 1, items, sum(len(item.text) for item in items) // 4 + extra)


def written(folder: Path, text: str) -> Path:
    path = folder / "scenario.json"
    path.write_text(text)
    return path
