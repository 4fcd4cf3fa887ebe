"""How it looks: one conversation with a question and what waits, wide and narrow, dark, light and without colour."""

from typing import Any

import pytest
from textual.screen import Screen

from wisp_core.records import CallContent, Entry, EntryKind, OutputContent, PromptContent, ReplyContent
from wisp_core.requests import Approval, ToolKind
from wisp_tui.app import WispApp
from wisp_tui.screens.conversation import ConversationScreen
from wisp_tui.screens.start import Start
from wisp_tui.widgets.queue import Queue
from wisp_tui.widgets.recall import Draft
from wisp_tui.widgets.status import Condition, Status

REPLY = "Two things:\n\n- **one**, with `code`\n- two\n\n```python\nx = 1  # a comment\n```\n\n| a | b |\n|---|---|\n| 1 | 2 |\n"  # noqa: E501  one text
CONTENTS = (
    (EntryKind.PROMPT, PromptContent("What is in this folder?")),
    (EntryKind.TOOL_CALL, CallContent("c1", "run_command", '{"command": "ls"}')),
    (EntryKind.TOOL_OUTPUT, OutputContent("c1", "run_command", "a.py\nb.py", bytes=10, lines=2, seconds=0.3)),
    (EntryKind.REPLY, ReplyContent(REPLY, reasoning="It lists two files.")),
)
QUESTION = Approval(
    "c2",
    "run_command",
    ToolKind.COMMAND,
    {"command": "rm -r build"},
    "/work",
    "it runs a command",
    "run_command(rm -r build)",
)
CONDITION = Condition(
    "needs your answer", None, "local/small", "ask", 0.53, False, 0.6, 0.85, 1, False, "~/work", "main"
)


class Posed(ConversationScreen):
    """The conversation without a core, as it is in the middle of one."""

    def _begin(self) -> None:
        self.box.prompt.cursor_blink = False
        entries = [Entry(n, f"e{n}", kind, 1, "", content) for n, (kind, content) in enumerate(CONTENTS, 1)]
        self.transcript.show_all(entries)
        self.transcript.note("local/small: it was named", "info")
        self.query_one(Queue).hold(["and then run the tests"], held=False)
        self.query_one(Status).condition = CONDITION
        self.panel.ask(QUESTION)
        self.box.prompt.put(Draft("a draft"))


class Posing(WispApp):
    """The app over that screen."""

    def get_default_screen(self) -> Screen[None]:
        return Posed(Start())


@pytest.mark.parametrize(
    ("theme", "size"),
    [("wisp-dark", (120, 40)), ("wisp-dark", (60, 16)), ("wisp-light", (120, 40)), ("ansi-dark", (60, 16))],
    ids=lambda value: value if isinstance(value, str) else f"{value[0]}x{value[1]}",
)
def test_the_conversation_looks_as_it_did(snap_compare: Any, theme: str, size: tuple[int, int]) -> None:
    app = Posing(Start())
    app.theme = theme
    assert snap_compare(app, terminal_size=size)


def test_without_colour_it_is_as_legible(snap_compare: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    assert snap_compare(Posing(Start()), terminal_size=(80, 24))
