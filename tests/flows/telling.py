"""What the tests of facts and blocks share: a git repository, a scripted model that fills its window at will."""

import json
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tests.opened import Opened
from wisp_core.requests import Answer, Verdict
from wisp_core.thread import Thread

ROOMY = {"prompt": 500}
FULL = {"prompt": 1_000_000}
"""What a provider reports so that the next turn begins with a condensation."""
KEEP_ONE: dict[str, Any] = {"policy": "keep-turns", "keep_turns": 1}


def script(folder: Path, *replies: Mapping[str, Any], window: int | None = 8192, name: str = "told") -> str:
    """Write a scripted model's file, whose last reply is `fine` for ever, and return the model's name."""
    rest = {"text": "fine", "usage": ROOMY, "repeat": True}
    shaped = [{"usage": ROOMY, "text": "fine", **reply} for reply in replies]
    path = folder / f"{name}.json"
    path.write_text(json.dumps({"window": window, "counts": False, "replies": [*shaped, rest]}))
    return f"scripted:{path}"


def runs(command: str) -> dict[str, Any]:
    return {"text": "", "calls": [{"name": "run_command", "arguments": {"command": command}}]}


def repository(folder: Path, branch: str = "main") -> None:
    """Make the folder a git repository with one commit and a test that fails."""
    (folder / "test_piers.py").write_text(
        "import unittest\n\n\nclass Piers(unittest.TestCase):\n    def test_tide(self):\n        self.fail('low')\n"
    )
    for arguments in (
        ["init", "-q", "-b", branch],
        ["config", "user.email", "m@example.org"],
        ["config", "user.name", "M"],
        ["add", "."],
        ["commit", "-q", "-m", "Piers"],
    ):
        subprocess.run(["git", *arguments], cwd=folder, check=True, capture_output=True)


async def tell(home: Opened, *prompts: str) -> None:
    home.verdict = lambda _: Answer(Verdict.ONCE)
    for prompt in prompts:
        await home.thread.send(prompt)


def earlier(thread: Thread) -> list[str]:
    """Return the lines of the earlier block as it was last sent."""
    plan = thread.record.latest_plan
    return (plan.earlier or "").split("\n") if plan is not None else []


def now(thread: Thread) -> list[str]:
    """Return the lines of the now block as it was last sent."""
    plan = thread.record.latest_plan
    return (plan.now or "").split("\n") if plan is not None else []


def said(thread: Thread) -> list[str]:
    """Return the facts that stand, as `subject name: value`."""
    facts = thread.record.facts.values()
    return [f"{fact.subject} {fact.name}: {fact.value}" for fact in facts if fact.state == "current"]
