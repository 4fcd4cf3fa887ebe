"""The conversation as one widget: it takes entries and deltas, and posts what the person asks of a block.

How a screen uses it (all calls from the app's own task):

    show_welcome(lines)                 the empty state; the first prompt takes it away
    show(entry)                         an entry, live and on reopening; a reply takes the place of what was streamed,
                                        an output goes under its call; instructions are not shown
    show_all(entries, turns, notes=…)   a whole thread at once; blocks are drawn when they come into view
    show_all(entries, turns, above=True)     what came before all that, the view kept where it is
    stream(kind, text, call=…)          a delta: kind is "reply", "reasoning" or "output" (of a call)
    status_of_call(call, state, seconds=…)   "waiting", "running", "ok", "failed", "denied" or "cancelled"
    mark_turn(turn)                     how a turn ended, when not as it should
    note(text, kind)                    a quiet line: "info", "warning" or "error"
    view(title, text)                   what a slash command has to say
    clear()

It posts `CopyRequested`, `OpenRequested` and `FollowChanged` (hear them with `@on(Transcript.CopyRequested)`). Bindings
carry ids `transcript.*` for the keymap. Nothing shown is ever markup, an action, or a link that a terminal follows.
"""

import time
from collections.abc import Iterable, Mapping
from types import MappingProxyType

from textual.timer import Timer

from wisp_core.records import (
    CUT_SHORT,
    CallContent,
    CommandContent,
    Entry,
    InstructionsContent,
    Outcome,
    OutputContent,
    PromptContent,
    ReplyContent,
    Turn,
)
from wisp_tui.widgets.block import Block
from wisp_tui.widgets.block_call import CallBlock
from wisp_tui.widgets.block_words import NoteBlock, PageBlock, PromptBlock, ReasoningBlock, ReplyBlock
from wisp_tui.widgets.transcript_cursor import TranscriptCursor

DRAW_SECONDS = 0.1
TICK_SECONDS = 1.0
READING_COLUMNS = 100


class Transcript(TranscriptCursor):
    """All that was said and done, in order; `reading_columns` caps the width of replies."""

    def __init__(
        self,
        *,
        reading_columns: int = READING_COLUMNS,
        id: str | None = None,
        classes: str | None = None,
    ) -> None:
        super().__init__(id=id, classes=classes)
        self._columns = reading_columns
        self._calls: dict[str, CallBlock] = {}
        self._open_calls: dict[str, CallBlock] = {}
        self._reply: ReplyBlock | None = None
        self._reasoning: ReasoningBlock | None = None
        self._welcome: PageBlock | None = None
        self._changed: dict[Block, None] = {}
        self._batch: list[Block] | None = None
        self._draw_timer: Timer | None = None
        self._drawn_at = 0.0
        self._ticker: Timer | None = None

    def on_mount(self) -> None:
        """Begin the clock of running calls, at rest."""
        super().on_mount()  # type: ignore[no-untyped-call]  # Textual leaves it untyped
        self._ticker = self.set_interval(TICK_SECONDS, self._tick, pause=True)

    def show(self, entry: Entry) -> None:
        """Show an entry, or put it in the place of what was streamed of it."""
        match entry.content:
            case PromptContent(text=text):
                self._add(PromptBlock(text, entry=entry.id))
            case CommandContent() as content:
                self._add(CallBlock.of_command(content, entry.id))
            case CallContent() as content:
                self._add_call(CallBlock.of_call(content, entry.id))
            case OutputContent() as content:
                self._show_output(content, entry)
            case ReplyContent() as content:
                self._show_reply(content, entry)
            case InstructionsContent() | None:
                pass

    def show_all(
        self,
        entries: Iterable[Entry],
        turns: Mapping[int, Turn] | None = None,
        *,
        notes: Mapping[int, str] = MappingProxyType({}),
        above: bool = False,
    ) -> None:
        """Show a whole thread in place of what is shown, or, `above` it, whole turns that came before it.

        `turns` by number tell how each ended; `notes` stand before the entries of their ids.
        """
        if above:
            # What goes on here must not be taken for a part of them, so another weaves them.
            self.prepend_blocks(
                _weave(Transcript(reading_columns=self._columns), entries, turns=turns or {}, notes=notes)
            )
        else:
            self.clear()
            self.replace_blocks(_weave(self, entries, turns=turns or {}, notes=notes))

    def show_welcome(self, lines: Iterable[str]) -> None:
        """Show the lines of an empty conversation; the first is its heading."""
        self.clear()
        title, *rest = [*lines, ""]
        self._welcome = PageBlock(title, "\n".join(rest), quiet=True)
        self._add(self._welcome)

    def view(self, title: str, text: str) -> None:
        """Show what a slash command has to say."""
        self._add(PageBlock(title, text))

    def stream(self, kind: str, text: str, *, call: str | None = None) -> None:
        """Take a delta; it is drawn within `DRAW_SECONDS`, with all that came meanwhile."""
        block: ReplyBlock | ReasoningBlock | CallBlock | None
        if kind == "reply":
            if self._reply is None:
                self._reply = ReplyBlock(columns=self._columns)
                self._add(self._reply)
            block = self._reply
        elif kind == "reasoning":
            if self._reasoning is None:
                self._reasoning = ReasoningBlock(columns=self._columns, live=True)
                self._add(self._reasoning)
            block = self._reasoning
        else:
            block = self._calls.get(call or "")
        if block is not None and text:
            block.add(text)
            self._changed[block] = None
            if self._draw_timer is None:
                wait = self._drawn_at + DRAW_SECONDS - time.monotonic()
                self._draw_timer = self.set_timer(max(0.001, wait), self._draw_changed)

    def status_of_call(self, call: str, state: str, *, seconds: float | None = None) -> None:
        """Say how a call stands; `seconds` is how long it has taken."""
        block = self._open_calls.get(call)
        if block is None:
            return
        block.set_state(state, seconds)
        self._set_ticking()
        self.update_block(block)

    def mark_turn(self, turn: Turn) -> None:
        """End what is still open, and say how the turn ended when it did not end as it should."""
        if turn.outcome is None:
            return
        self._end_live()
        match turn.outcome:
            case Outcome.DONE:
                pass
            case Outcome.INTERRUPTED:
                self.note("interrupted; /retry answers it again")
            case Outcome.FAILED:
                self.note(f"failed: {turn.error or 'no reason was given'}; /retry answers it again", "error")
            case Outcome.ABANDONED:
                self.note("wisp ended before this was answered; /retry answers it", "warning")

    def note(self, text: str, kind: str = "info") -> None:
        """Say something quietly."""
        self._add(NoteBlock(text, kind))

    def clear(self) -> None:
        """Show nothing."""
        self._calls.clear()
        self._open_calls.clear()
        self._changed.clear()
        self._reply = self._reasoning = self._welcome = None
        self.replace_blocks([])

    def _show_output(self, content: OutputContent, entry: Entry) -> None:
        block = self._calls.get(content.call)
        if block is None:
            # An output whose call is not in the record still shows.
            block = self._add_call(CallBlock(content.tool, "", call=content.call, entry=entry.id))
        block.entry = entry.id
        self._open_calls.pop(content.call, None)
        block.end(content)
        self._set_ticking()
        self._update(block)

    def _add_call(self, block: CallBlock) -> CallBlock:
        if block.call is not None:
            self._calls[block.call] = self._open_calls[block.call] = block
        self._add(block)
        return block

    def _show_reply(self, content: ReplyContent, entry: Entry) -> None:
        reasoning, reply = self._reasoning, self._reply
        self._reasoning = self._reply = None
        if reasoning is None and content.reasoning.strip():
            reasoning = ReasoningBlock(columns=self._columns, entry=entry.id)
            self._add(reasoning, before=reply)
        if reasoning is not None:
            reasoning.settle(content.reasoning, entry=entry.id)
            self._update(reasoning)
        if reply is None and content.text.strip():
            reply = ReplyBlock(columns=self._columns)
            reply.settle(content.text, entry=entry.id)
            self._add(reply)
        elif reply is not None:
            reply.settle(content.text, entry=entry.id)
            self._update(reply)
        if content.finish in CUT_SHORT:
            self.note(CUT_SHORT[content.finish], "warning")

    def _end_live(self) -> None:
        if self._reasoning is not None:
            self._reasoning.settle(self._reasoning.text)
            self._update(self._reasoning)
        if self._reply is not None:
            self._reply.settle(self._reply.text)
            self._update(self._reply)
        self._reasoning = self._reply = None
        for block in self._open_calls.values():
            if block.state in ("waiting", "running"):
                block.set_state("cancelled", None)
                self._update(block)
        self._open_calls.clear()
        self._set_ticking()

    def _add(self, block: Block, before: Block | None = None) -> None:
        shown = self.blocks if self._batch is None else self._batch
        if isinstance(block, NoteBlock) and shown and isinstance(shown[-1], NoteBlock):
            block.gap = 0
        if self._batch is not None:
            self._batch.append(block)
            return
        if self._welcome is not None and isinstance(block, PromptBlock):
            self.replace_blocks(other for other in list(self.blocks) if other is not self._welcome)
            self._welcome = None
        self.add_block(block, before=before)

    def _update(self, block: Block) -> None:
        if self._batch is None:
            self.update_block(block)

    def _draw_changed(self) -> None:
        self._draw_timer = None
        self._drawn_at = time.monotonic()
        changed, self._changed = self._changed, {}
        for block in changed:
            if not isinstance(block, ReplyBlock):
                block.forget()
            self.update_block(block)

    def _set_ticking(self) -> None:
        running = any(block.state == "running" for block in self._open_calls.values())
        if self._ticker is not None:
            (self._ticker.resume if running else self._ticker.pause)()

    def _tick(self) -> None:
        for block in self._open_calls.values():
            if block.state == "running":
                block.forget()
                self.update_block(block)


def _weave(
    transcript: Transcript, entries: Iterable[Entry], *, turns: Mapping[int, Turn], notes: Mapping[int, str]
) -> list[Block]:
    """Return the blocks that a transcript makes of entries."""
    blocks = transcript._batch = []
    last: Turn | None = None
    for entry in entries:
        turn = turns.get(entry.turn)
        if last is not None and turn is not last:
            transcript.mark_turn(last)
        last = turn
        if entry.id in notes:
            transcript.note(notes[entry.id])
        transcript.show(entry)
    if last is not None:
        transcript.mark_turn(last)
    transcript._batch = None
    return blocks
