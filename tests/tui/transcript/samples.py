"""Threads and texts that the transcript's tests and benchmark share."""

import json

from wisp_core.records import (
    CallContent,
    CommandContent,
    Content,
    Entry,
    EntryKind,
    OutputContent,
    PromptContent,
    ReplyContent,
)

KINDS = {
    PromptContent: EntryKind.PROMPT,
    CommandContent: EntryKind.COMMAND,
    CallContent: EntryKind.TOOL_CALL,
    OutputContent: EntryKind.TOOL_OUTPUT,
    ReplyContent: EntryKind.REPLY,
}

MARKDOWN = """# Heading *one*

A paragraph with **bold**, `code`, a [link](https://example.org/x) and enough words to be wrapped at any width at all.

1. first
   - nested
2. second

| left | right |
|:-----|------:|
| 1 | 漢字 |

```python
def f(x):
    return x + 1  # one more
```

> quoted

"""


def entry(number: int, content: Content, *, turn: int = 1) -> Entry:
    """Return an entry of the content's kind."""
    return Entry(number, f"w{number}", KINDS[type(content)], turn, "2026-01-01T00:00:00Z", content)


def call(number: int, name: str, *, command: str = "ls -la", turn: int = 1) -> Entry:
    """Return a call of `run_command`."""
    return entry(number, CallContent(name, "run_command", json.dumps({"command": command})), turn=turn)


def output(number: int, name: str, *, text: str, turn: int = 1, **rest: object) -> Entry:
    """Return the output of a call of `run_command`."""
    size = {"bytes": len(text.encode("utf-8", "replace")), "lines": text.count("\n")}
    return entry(number, OutputContent(name, "run_command", text, **{**size, **rest}), turn=turn)


def thread(turns: int) -> list[Entry]:
    """Return a thread of so many turns, four entries each."""
    entries: list[Entry] = []
    for turn in range(1, turns + 1):
        at = 4 * turn
        entries += [
            entry(at, PromptContent(f"prompt {turn}\nwith a second line"), turn=turn),
            call(at + 1, f"c{turn}", turn=turn),
            output(
                at + 2, f"c{turn}", text="".join(f"line {i} of {turn}\n" for i in range(20)), turn=turn, seconds=0.3
            ),
            entry(at + 3, ReplyContent(f"reply {turn}\n\n{MARKDOWN}"), turn=turn),
        ]
    return entries
