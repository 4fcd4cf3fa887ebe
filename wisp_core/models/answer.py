"""Turns the chunks of one answer into model events: reasoning apart, calls joined, the end told once. Pure."""

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from wisp_core.errors import CutStreamError
from wisp_core.models.calls import CallAssembly, PrintedCall
from wisp_core.models.failures import failure, report_of, withheld
from wisp_core.models.streams import EventReader, LineReader, ServerEvent, parse_payloads
from wisp_core.models.thinking import Part, ThinkSplitter
from wisp_core.models.wire import Chunk, read_chunk
from wisp_core.records import Usage
from wisp_core.requests import (
    CallRequested,
    Finished,
    ModelEvent,
    PromptProgress,
    ReasoningDelta,
    TextDelta,
    UsageReported,
)
from wisp_core.text import sound


class Answer:
    """One answer as it arrives; `finished` tells that its end was stated, `heard` counts the parts of it that came.

    A ping or a comment is no part; what is held back, since it may be a call, is one. It comes as server-sent events
    or, with a `LineReader`, as lines of JSON; `read` knows the shape of its chunks.
    """

    def __init__(
        self,
        endpoint: str,
        tools: Iterable[str] = (),
        *,
        thinks_first: bool = False,
        reader: EventReader | LineReader | None = None,
        read: Callable[[Any], Chunk] = read_chunk,
    ) -> None:
        self.finished = False
        self.heard = 0
        self._endpoint = endpoint
        self._reader = reader or EventReader()
        self._read_value = read
        self._splitter = ThinkSplitter(thinks_first)
        self._printed = PrintedCall(tools)
        self._calls = CallAssembly()
        self._said = False
        self._reason = ""
        self._usage: Usage | None = None

    @property
    def thinks_first(self) -> bool:
        """Whether the reply began with reasoning that no tag opened."""
        return self._splitter.unopened

    def feed(self, data: bytes) -> Iterator[ModelEvent]:
        """Yield what bytes of the stream complete; what came before an error is yielded before it is raised.

        Raises:
            ModelError: the stream reports an error or holds what is no JSON.
        """
        try:
            yield from self._read(_payloads(self._reader.feed(data)))
        except CutStreamError as error:
            raise self._locate(error) from error

    def feed_whole(self, text: str) -> Iterator[ModelEvent]:
        """Yield what the body of a server says that does not stream.

        Raises:
            ModelError: it reports an error or is no JSON.
        """
        try:
            yield from self._read([text])
        except CutStreamError as error:
            raise self._locate(error) from error

    def end(self) -> list[ModelEvent]:
        """Return what the end of the stream leaves: rest, calls, usage and `Finished`.

        Raises:
            CutStreamError: the stream ended before the answer did.
            BadRequestError: the provider withholds all of the answer.
        """
        try:
            events = list(self._read(_payloads(self._reader.finish())))
        except CutStreamError as error:
            if not self.finished:
                raise self._locate(error) from error
            events = []
        if not self.finished:
            raise CutStreamError(
                f"{self._endpoint} ended the stream before its answer was complete",
                "send the prompt again",
                endpoint=self._endpoint,
            )
        events += self._show(self._splitter.finish())
        calls = self._calls.finish()
        rest, printed = self._printed.finish(alone=not calls)
        if printed:
            calls = [printed]
        if rest:
            events.append(TextDelta(rest))
        events += calls
        if self._reason == "content_filter" and not (self._said or rest.strip() or calls):
            raise withheld(self._endpoint, self._reason)
        if self._usage is not None:
            events.append(UsageReported(self._usage))
        events.append(Finished(self._end_reason(calls)))
        return events

    def _locate(self, error: CutStreamError) -> CutStreamError:
        if error.endpoint:
            return error
        message = f"{self._endpoint}: {error.message}"
        return CutStreamError(message, "send the prompt again", endpoint=self._endpoint, detail=sound(error.detail))

    def _end_reason(self, calls: list[CallRequested]) -> str:
        if calls and self._reason in ("", "stop"):
            return "tool_calls"
        return "stop" if not calls and self._reason in ("", "tool_calls") else self._reason

    def _read(self, payloads: list[str]) -> Iterator[ModelEvent]:
        for payload in payloads:
            for value in parse_payloads(payload):
                if value == "[DONE]":
                    self.finished = True
                else:
                    yield from self._take(value)

    def _take(self, value: Any) -> list[ModelEvent]:
        chunk = self._read_value(value)
        if chunk.error is not None:
            raise failure(self._endpoint, report_of(200, chunk.error))
        self.heard += bool(chunk.progress or chunk.reasoning or chunk.text or chunk.calls)
        events: list[ModelEvent] = []
        if chunk.progress:
            events.append(PromptProgress(*chunk.progress))
        if chunk.reasoning:
            events.append(ReasoningDelta(chunk.reasoning))
        if chunk.text:
            events += self._show(self._splitter.feed(chunk.text))
        if chunk.calls:
            self._calls.feed(chunk.calls)
        if chunk.usage:
            self._usage = chunk.usage
        if chunk.finish:
            self._reason = chunk.finish
            self.finished = True
        return events

    def _show(self, parts: list[Part]) -> list[ModelEvent]:
        events: list[ModelEvent] = []
        for part in parts:
            if isinstance(part, ReasoningDelta):
                events.append(part)
            elif shown := self._printed.feed(part.text):
                self._said = self._said or bool(shown.strip())
                events.append(TextDelta(shown))
        return events


def _payloads(parts: list[ServerEvent] | list[str]) -> list[str]:
    return [part.data for part in parts if isinstance(part, ServerEvent)] + [
        part for part in parts if isinstance(part, str) and part.strip()
    ]
