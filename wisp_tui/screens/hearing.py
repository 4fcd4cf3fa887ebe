"""Turns what the core publishes into blocks of the transcript and words of the status line."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from wisp_core.records import ThreadRecord
from wisp_tui.screens.learnt import line_of
from wisp_tui.widgets.live_output import LiveOutputs
from wisp_tui.widgets.status import Status
from wisp_tui.widgets.transcript import Transcript

IDLE = "ready"
WAITING = "waiting for the model"
LOADING = "loading the model"
MAY_LOAD = "the model may still be loading"
NOTE_KINDS = {"error": "error", "overflow": "warning", "cut": "warning", "retry": "warning"}
QUIET = frozenset({"loading", "prompt"})  # notes that only the status line tells


class Hearing:
    """Hears one thread; `record` is read only, and its entries up to `shown` are on the transcript."""

    def __init__(
        self, record: ThreadRecord, *, transcript: Transcript, status: Status, live: LiveOutputs, shown: int
    ) -> None:
        self._record = record
        self._transcript = transcript
        self._status = status
        self._live = live
        self._shown = shown
        self._window: int | None = None
        self._outside: list[str] = []  # what is done outside of a turn, the latest last

    @contextmanager
    def doing(self, what: str) -> Iterator[None]:
        """Tell what is done outside of a turn, until it ends or a turn has something else to tell."""
        self._outside.append(what)
        self._do(what)
        try:
            yield
        finally:
            self._outside.remove(what)
            told = self._status.condition.doing == what
            if told and self._outside:
                self._do(self._outside[-1])
            elif told:
                self._status.tell(doing=IDLE, since=None)

    def hear(self, published: Any) -> None:
        """Take an event or a live part: both have `name`, `turn` and `data`."""
        data = published.data
        if isinstance(data, dict):
            self._hear_live(published.name, data)
            return
        self._show_new()
        self._hear_event(published.name, data)
        if published.name == "turn.end":
            self._live.end_all()
            self._transcript.mark_turn(self._record.turns[published.turn])
            if learnt := line_of(self._record, data.facts):
                self._transcript.note(learnt)
            self._status.tell(doing=IDLE, since=None)
        elif published.name == "error" and published.turn is None:
            self._transcript.note(data.message, "error")

    def _show_new(self) -> None:
        for number in range(self._shown + 1, max(self._record.entries, default=0) + 1):
            entry = self._record.entries.get(number)
            if entry is not None:
                self._transcript.show(entry)
            self._shown = number

    def _hear_live(self, name: str, data: dict[str, Any]) -> None:
        kind, text = str(data.get("kind", "")), str(data.get("text", ""))
        if name == "delta":
            call = data.get("call")
            self._transcript.stream(kind, text, call=call)
            if kind == "output" and call:
                self._live.add(call, text)
            if kind in ("reply", "reasoning"):
                self._do("writing" if kind == "reply" else "thinking")
        elif name == "view":
            self._transcript.view(str(data.get("title", "")), text)
        elif name == "note":
            if kind == "prompt" and data.get("total"):
                self._do("reading the prompt", f"reading the prompt {100 * data['done'] // data['total']}%")
            elif kind == "loading" and data.get("waited"):
                self._do(WAITING, MAY_LOAD)
            elif kind in QUIET:
                self._do(LOADING)
            else:
                self._transcript.note(text, NOTE_KINDS.get(kind, "info"))
                if kind == "retry":
                    self._status.tell(doing=WAITING, since=time.monotonic() + data["seconds"])

    def _hear_event(self, name: str, data: Any) -> None:
        match name:
            case "prompt" | "request.composed":
                self._do(WAITING)
            case "tool.call":
                self._live.start(data.call)
                self._transcript.status_of_call(data.call, "running")
                self._do(data.tool, again=True)
            case "approval.requested":
                self._transcript.status_of_call(data.call, "waiting")
                self._do("needs your answer")
            case "tool.result":
                self._live.end(data.call)
                self._transcript.status_of_call(data.call, "ok" if data.ok else "failed", seconds=data.seconds)
                self._do(WAITING)
            case "context.estimated":
                self._window = data.window
                if data.window:
                    self._status.tell(share=data.total / data.window, estimated=True)
            case "response":
                self._used(data.usage)
            case "model.changed":
                self._status.tell(model=data.model, share=None)
            case "mode.changed":
                self._status.tell(mode=data.mode)
            case _:
                pass

    def know_window(self, tokens: int | None) -> None:
        """Take the window, in tokens, once it is known: what an earlier session reported shows against it."""
        self._window = tokens
        self._used(self._record.last_usage)

    def _used(self, usage: Any) -> None:
        totals = self._record.totals
        self._status.tell(tokens=totals.total or totals.prompt + totals.completion)
        if usage is not None and usage.prompt and self._window:
            self._status.tell(share=(usage.prompt + (usage.completion or 0)) / self._window, estimated=False)

    def _do(self, what: str, words: str = "", *, again: bool = False) -> None:
        """Tell what runs now; its time begins with it, and `again` begins it anew under the same name."""
        now = self._status.condition
        same = now.since is not None and now.doing.startswith(what) and not again
        self._status.tell(doing=words or what, since=now.since if same else time.monotonic())
