"""Runs the real app over the real core with a scripted model, and waits for what a person would wait for."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from textual import events
from textual.pilot import Pilot

from wisp_tui.app import WispApp
from wisp_tui.screens.conversation import ConversationScreen
from wisp_tui.screens.start import Start

PATIENCE = 20.0  # seconds that a condition may take on a busy machine


def script(folder: Path, *replies: dict[str, Any], **settings: Any) -> str:
    """Write a script and return the model's name."""
    path = folder / "script.json"
    path.write_text(json.dumps({"window": 8192, "replies": list(replies)} | settings), "utf-8")
    return f"scripted:{path}"


async def until(pilot: Pilot[Any], condition: Callable[[], object]) -> None:
    """Wait until something is so."""
    async with asyncio.timeout(PATIENCE):
        while not condition():
            await pilot.pause(0.01)


@asynccontextmanager
async def conversation(
    model: str | None, *, size: tuple[int, int] = (120, 40), toasts: bool = False, **start: Any
) -> AsyncIterator[tuple[Pilot[None], ConversationScreen]]:
    """Run the app until its conversation is open; leave in order at the end."""
    app = WispApp(Start(model=model, **start))
    async with app.run_test(size=size, notifications=toasts) as pilot:
        await until(pilot, lambda: isinstance(app.screen, ConversationScreen))
        screen = app.screen
        assert isinstance(screen, ConversationScreen)
        await until(pilot, lambda: screen.link.opened and app.focused is screen.box.prompt)
        try:
            yield pilot, screen
        finally:
            # A test that failed leaves too: an open question would keep the app for ever.
            await app.leave()


def press_at(app: WispApp, at: float, *, text: str, gap: float = 0.03) -> Iterator[float]:
    """Post the keys of `text` as pressed from the time `at` on, `gap` seconds apart, and yield each one's time."""
    for character in text:
        key = {"\r": "enter", " ": "space", ",": "comma"}.get(character, character)
        event = events.Key(key, character)
        event.time = at
        app.post_message(event)
        yield at
        at += gap


def shown(screen: ConversationScreen) -> str:
    """Return what is on the screen, row by row."""
    strips = screen._compositor.render_strips()
    return "\n".join("".join(segment.text for segment in strip) for strip in strips)
