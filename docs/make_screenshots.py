"""Makes the README's screenshot from a real run: the real app and core, a scripted model, a folder made for it."""

import asyncio
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from textual import events

from wisp_tui.app import WispApp
from wisp_tui.screens.conversation import ConversationScreen
from wisp_tui.screens.start import Start
from wisp_tui.widgets.recall import Draft

OUT = Path(__file__).parent / "screenshots"
FOLDER = Path(tempfile.gettempdir()) / "parser"  # its name is in the picture
SIZE = (104, 34)
PATIENCE = 20.0  # seconds
FAILS = "printf '%s\\n' 'F..........' 'FAILED test_lexer.py::test_tabs - assert 8 == 4' '1 failed, 10 passed in 0.41s'; exit 1"  # noqa: E501  one command
ANSWER = """One test fails, and the test is right: the lexer counts a tab as one column.

```python
def width(char: str, column: int) -> int:
    return TAB - column % TAB if char == "\\t" else 1
```

| | before | after |
|---|---|---|
| tab at column 0 | 1 | 8 |
| tab at column 5 | 1 | 3 |

Shall I write the change to `lexer.py`?
"""
REPLIES = [
    {"text": "I run the tests first.", "calls": [{"name": "run_command", "arguments": {"command": FAILS}}]},
    {"reasoning": "The assertion compares 8 with 4.", "text": ANSWER},
    {"text": "So be it.", "calls": [{"name": "run_command", "arguments": {"command": "git apply tabs.patch"}}]},
]


async def wait(condition: Callable[[], object]) -> None:
    """Wait until `condition()` holds."""
    async with asyncio.timeout(PATIENCE):
        while not condition():  # noqa: ASYNC110  what is waited for is on the screen
            await asyncio.sleep(0.02)


def send(screen: ConversationScreen, text: str) -> None:
    """Send a prompt as the person would."""
    screen.box.prompt.put(Draft(text))
    screen.box.send()


async def run(folder: Path, theme: str) -> str:
    """Return the screenshot of a conversation that waits for an answer, as SVG."""
    model = folder / "small-model.json"
    model.write_text(json.dumps({"window": 8192, "replies": REPLIES}))
    app = WispApp(Start(model=f"scripted:{model.name}", cwd=folder))
    async with app.run_test(size=SIZE) as pilot:
        app.theme = theme
        await wait(lambda: isinstance(app.screen, ConversationScreen))
        screen = app.screen
        assert isinstance(screen, ConversationScreen)
        await wait(lambda: screen.link.opened)
        send(screen, "Why does the parser's test fail?")
        await wait(lambda: screen.panel.open and screen.panel.was_visible(time.monotonic()))
        key = events.Key("y", "y")
        key.time = time.monotonic() + 10
        app.post_message(key)
        record = screen.link.thread.record
        await wait(lambda: record.turns[1].outcome and not screen.link.busy)
        send(screen, "Yes, do it.")
        await wait(lambda: screen.panel.open and screen.panel.was_visible(time.monotonic()))
        await pilot.pause(0.3)
        shot = app.export_screenshot(title="wisp-tui")
        screen.link.interrupt()
        await wait(lambda: not screen.link.busy)
        await app.leave()
    return shot


def main() -> None:
    """Write one screenshot a theme, as SVG and, where rsvg-convert is there, as PNG."""
    OUT.mkdir(exist_ok=True)
    for theme in sys.argv[1:] or ("wisp-dark", "wisp-light"):
        FOLDER.mkdir()
        try:
            (FOLDER / ".git").mkdir()
            (FOLDER / ".git" / "HEAD").write_text("ref: refs/heads/tabs\n")
            os.environ["WISP_HOME"] = str(FOLDER / ".wisp")
            os.chdir(FOLDER)
            write(theme, asyncio.run(run(FOLDER, theme)))
        finally:
            os.chdir("/")
            shutil.rmtree(FOLDER)


def write(theme: str, shot: str) -> None:
    """Write a screenshot; runs of spaces and the cells' width are kept by programs that know no `textLength` too."""
    shot = shot.replace("<text ", '<text xml:space="preserve" ').replace("&#160;", " ")
    shot = shot.replace("font-size: 20px;", "font-size: 20px; letter-spacing: 0.16px;", 1)
    path = OUT / f"{theme}.svg"
    path.write_text(shot, "utf-8")
    convert = shutil.which("rsvg-convert")
    if convert:
        subprocess.run([convert, "--zoom", "1.0", "--output", path.with_suffix(".png"), path], check=True)


if __name__ == "__main__":
    main()
