"""An app that holds a transcript and nothing else, and what a person sees of it."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from textual.app import App, ComposeResult
from textual.message import Message
from textual.pilot import Pilot

from wisp_tui.widgets.transcript import Transcript


class Stage(App[None]):
    """Keeps the messages that the transcript posts."""

    def __init__(self) -> None:
        super().__init__()
        self.heard: list[Message] = []

    def compose(self) -> ComposeResult:
        yield Transcript()

    def on_transcript_copy_requested(self, message: Transcript.CopyRequested) -> None:
        self.heard.append(message)

    def on_transcript_open_requested(self, message: Transcript.OpenRequested) -> None:
        self.heard.append(message)

    def on_transcript_follow_changed(self, message: Transcript.FollowChanged) -> None:
        self.heard.append(message)


@asynccontextmanager
async def staged(size: tuple[int, int] = (80, 24)) -> AsyncIterator[tuple[Transcript, Pilot[None]]]:
    """Give a transcript on a screen of so many columns and rows, and what drives it."""
    app = Stage()
    async with app.run_test(size=size) as pilot:
        await pilot.pause()
        yield app.query_one(Transcript), pilot


def in_view(transcript: Transcript) -> list[str]:
    """Return the rows in view."""
    strips = [transcript.render_line(y) for y in range(transcript.size.height)]
    assert all(strip.cell_length == transcript.scrollable_content_region.width for strip in strips)
    return [strip.text.rstrip() for strip in strips]


def whole(transcript: Transcript) -> list[str]:
    """Return all rows, each as wide as the view."""
    rows: list[str] = []
    if not transcript._width:
        return rows  # too narrow to show anything
    for block in transcript.blocks:
        drawn = transcript._draw(block)
        for index in range(len(drawn.rows)):
            strip = drawn.strip(index)
            assert strip.cell_length == drawn.width
            assert sum(segment.cell_length for segment in strip) == drawn.width
            rows.append(strip.text)
    return rows


def said(transcript: Transcript) -> str:
    """Return all that is shown, without the white space that rows are laid out with."""
    return "".join("".join(whole(transcript)).split())
