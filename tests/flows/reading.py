"""What the tests of references, cuts and condensing share: a model that reads a file, and what it was sent."""

import json
from pathlib import Path
from typing import Any

from wisp_core.requests import Message, Role
from wisp_core.thread import Thread

LINES = [f"{n}. the harbour master of pier {n} writes the tide book at dawn" for n in range(1, 21)]
FILE = "\n".join(LINES) + "\n"
READ: dict[str, Any] = {"calls": [{"name": "read_file", "arguments": {"path": "piers.txt"}}]}
SHOW: dict[str, Any] = {"calls": [{"name": "run_command", "arguments": {"command": "cat piers.txt"}}]}
RETYPED = "Here it is:\n\n```\n" + FILE + "```\n\nThat is all."


def write_script(folder: Path, *replies: dict[str, Any], name: str = "script", **settings: Any) -> str:
    """Write the file that is read and a scripted model's, and return the model's name."""
    (folder / "piers.txt").write_text(FILE)
    path = folder / f"{name}.json"
    path.write_text(json.dumps({"replies": list(replies), **settings}))
    return f"scripted:{path}"


def sent(thread: Thread) -> list[tuple[Message, ...]]:
    """Return the messages of every request that the thread's scripted model was sent."""
    return [request.messages for request in thread._backend.requests]  # type: ignore[attr-defined]


def outputs(messages: tuple[Message, ...]) -> list[str]:
    return [message.text for message in messages if message.role is Role.TOOL]


def starts_with(later: tuple[Message, ...], earlier: tuple[Message, ...]) -> bool:
    """Tell whether a request begins with an earlier one, byte for byte."""
    return later[: len(earlier)] == earlier
