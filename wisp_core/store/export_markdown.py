"""A conversation as Markdown: what was said stands in quotes and fences that nothing in it can end. Pure."""

from collections.abc import Iterator, Sequence
from typing import assert_never

from wisp_core.records import CommandContent, PromptContent, ReplyContent, ThreadRecord
from wisp_core.store.documents import code, fence
from wisp_core.store.markup import is_plain
from wisp_core.store.told import Called, Lost, Part, TurnTold, command_status
from wisp_core.text import displayable


def as_markdown(turns: Sequence[TurnTold], record: ThreadRecord) -> str:
    """Return the document."""
    about = [f"- conversation: {code(record.id)}", f"- folder: {code(record.cwd)}", f"- model: {code(record.model)}"]
    blocks = [f"# {code(record.title or 'Conversation')}", "\n".join([*about, f"- begun: {code(record.created)}"])]
    for turn in turns:
        blocks.append(f"## Turn {turn.number} · {code(turn.time)}")
        for part in turn.parts:
            blocks += _part(part)
        if turn.ending:
            blocks.append(f"**The turn ended here:** {code(turn.ending)}")
    return "\n\n".join([*blocks, ""])


def _part(part: Part) -> Iterator[str]:
    match part:
        case PromptContent():
            yield "### Prompt"
            yield _quote(part.text)
        case ReplyContent():
            yield f"### Reply{f' of {code(part.model)}' if part.model else ''}"
            if part.reasoning:
                yield from _folded("Reasoning", part.reasoning)
            yield _quote(part.text) if part.text else "(empty)"
            if part.finish == "length":
                yield "(cut at the limit of the output)"
        case CommandContent():
            yield f"### Command of the person ({command_status(part)})"
            yield fence(part.command, "sh")
            yield fence(part.output, "text")
        case Called():
            yield f"### Tool {code(part.tool)} ({part.status})"
            if part.arguments:
                yield fence(part.arguments, "json")
            if part.output is not None:
                yield fence(part.output.text, "text")
        case Lost():
            yield f"({part.kind}: its content is not kept)"
        case _:
            assert_never(part)


def _folded(title: str, text: str) -> Iterator[str]:
    yield f"<details><summary>{title}</summary>"
    yield fence(text, "text")
    yield "</details>"


def _quote(text: str) -> str:
    """Return text as a quotation, in which a fence or a heading ends with it; one with HTML in it as a fence."""
    shown = displayable(text)
    if not is_plain(shown):
        return fence(text, "markdown")
    return "\n".join(f"> {line}".rstrip() for line in shown.split("\n"))
