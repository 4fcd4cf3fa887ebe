"""What a conversation looks like, wide and narrow, dark, light and without colour."""

from typing import Any

import pytest
from textual.app import App, ComposeResult

from tests.tui.transcript.samples import MARKDOWN, call, entry, output
from wisp_core.records import CommandContent, Outcome, PromptContent, ReplyContent, Turn
from wisp_tui.widgets.transcript import Transcript

LOG = "".join(f"tests/test_{n}.py \x1b[32mPASSED\x1b[0m\n" for n in range(30)) + "\x1b[31mE  assert 3 == 4\x1b[0m\n"
DIFF = "--- a/x.py\n+++ b/x.py\n@@ -1 +1 @@\n-old\n+new\n"


class Conversation(App[None]):
    """One of everything."""

    def __init__(self, theme: str) -> None:
        super().__init__()
        self.theme = theme

    def compose(self) -> ComposeResult:
        yield Transcript()

    def on_mount(self) -> None:
        transcript = self.query_one(Transcript)
        transcript.show(entry(1, PromptContent("Why does it fail?\nLook at the last run.")))
        transcript.show(entry(2, ReplyContent("", "Let me see.")))
        transcript.show(call(3, "c1", command="make test"))
        transcript.show(output(4, "c1", text=LOG, ok=False, exit_status=2, seconds=3.4))
        transcript.show(entry(5, ReplyContent(MARKDOWN)))
        transcript.show(entry(6, CommandContent("git diff", DIFF, 0)))
        transcript.show(call(7, "c2", command="sleep 9"))
        transcript.note("retrying in 3 s: the server answered 503", "warning")
        transcript.mark_turn(Turn(1, 1, "", Outcome.INTERRUPTED))


@pytest.mark.parametrize(
    ("theme", "size"), [("textual-dark", (120, 40)), ("textual-light", (60, 16)), ("ansi-dark", (60, 16))]
)
def test_a_conversation_looks_as_it_did(theme: str, size: tuple[int, int], snap_compare: Any) -> None:
    assert snap_compare(Conversation(theme), terminal_size=size, press=["alt+up"])


def test_a_conversation_without_colour_looks_as_it_did(snap_compare: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    assert snap_compare(Conversation("textual-dark"), terminal_size=(80, 30))
