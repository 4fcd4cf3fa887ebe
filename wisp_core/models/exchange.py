"""One model behind one server: its name, window and answers, asked again without what the server refuses."""

from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing, suppress
from dataclasses import dataclass
from typing import Any, Protocol

from wisp_core.errors import BadRequestError, ContextOverflowError, ModelError, ModelTimeoutError
from wisp_core.models.answer import Answer
from wisp_core.models.backend import Server
from wisp_core.models.openai import USAGE_SECONDS, Profile
from wisp_core.models.transport import MAX_REPLY_BYTES, Deadline, Transport
from wisp_core.models.windows import Found, look, lower
from wisp_core.models.wire import Chunk
from wisp_core.records import JsonObject
from wisp_core.requests import CallRequested, Finished, ModelEvent, TextDelta, Window
from wisp_core.text import decode

MOST_ATTEMPTS = 8
"""How often one request is asked at most, each time without one more thing that the server refuses."""


class Reader(Protocol):
    """Reads the values of one answer, in order."""

    def read(self, value: Any) -> Chunk:
        """Return what a value holds; whatever is of an unknown shape in it is passed over.

        Raises:
            ModelError: it reports a failure.
        """


@dataclass(frozen=True, slots=True)
class Asking:
    """How one request is made: its `body` as of now, a `reader` of its answer, and what may be left out.

    `adapt` takes a refusal and the body, and tells whether the next body is another.
    """

    path: str
    body: Callable[[], JsonObject]
    reader: Callable[[], Reader]
    adapt: Callable[[BadRequestError, JsonObject], bool]


class Exchange:
    """What is known of the model, and the connections to its server."""

    def __init__(self, server: Server, *, model: str | None, profile: Profile) -> None:
        self.endpoint = server.shown
        self._transport = Transport(server)
        self._model = model
        self._profile = profile
        self._found: Found | None = None
        self._learnt: Window | None = None
        self._thinks_first = False

    @property
    def model(self) -> str:
        """The server's name of the model: the one given, else the server's first."""
        return self._model or (self._found.models[0] if self._found is not None and self._found.models else "default")

    @property
    def window(self) -> Window | None:
        """The window as far as it is known: config, then server, then catalogue, each lowered by what was learnt."""
        if self._learnt is not None:
            return self._learnt
        if self._profile.window is not None:
            return Window(self._profile.window, "config")
        if self._found is not None and self._found.window is not None:
            return Window(self._found.window, "server")
        return Window(self._profile.catalogued, "catalogue") if self._profile.catalogued is not None else None

    async def look(self) -> None:
        """Ask a server that may be asked about itself for its models and its window.

        Raises:
            UnreachableError: there is no server.
            ModelTimeoutError: it does not answer such questions now.
        """
        if self._profile.probes and (self._found is None or not self._found.sure):
            self._found = await look(self._transport, self._model)

    async def warm(self) -> None:
        """Ask the server about itself; one that cannot be reached is told by the first request."""
        with suppress(ModelError):
            await self.look()

    async def close(self) -> None:
        """Close the connections."""
        await self._transport.close()

    async def answer(self, asking: Asking) -> AsyncGenerator[ModelEvent, None]:
        """Yield the answer's parts; a refusal of something optional is followed by one more attempt without it.

        Raises:
            ModelError: the answer could not be had whole.
        """
        # A server that is busy with another answer may not tell of itself in time.
        with suppress(ModelTimeoutError):
            await self.look()
        for attempt in range(1, MOST_ATTEMPTS + 1):
            body, begun = asking.body(), False
            try:
                async with aclosing(self._attempt(asking, body)) as events:
                    async for event in events:
                        begun = True
                        yield event
                return
            except ContextOverflowError as error:
                self._learnt = lower(self.window, error.limit)
                raise
            except BadRequestError as error:
                if begun or attempt == MOST_ATTEMPTS or not asking.adapt(error, body):
                    raise

    async def _attempt(self, asking: Asking, body: JsonObject) -> AsyncGenerator[ModelEvent, None]:
        deadline = Deadline(self._transport.server.timeouts.first_token)
        heard = _Heard(asking.reader())
        names = [tool["name"] for tool in body.get("tools", [])]
        answer = Answer(self.endpoint, names, thinks_first=self._thinks_first, read=heard.read)
        url = f"{self._transport.server.url}/{asking.path}"
        async with (
            self._transport.post(url, body, deadline=deadline) as response,
            aclosing(self._transport.chunks(response, deadline)) as chunks,
        ):
            kind = response.headers.get("content-type", "")
            if kind.startswith("text/html"):
                what = f"{self.endpoint} answers with a web page"
                raise BadRequestError(what, "correct its url; it often ends in /v1", endpoint=self.endpoint)
            if kind.startswith("application/json"):
                # The server does not stream.
                for event in answer.feed_whole(await _gather(chunks)):
                    yield event
            else:
                async for event in self._events(answer, chunks, heard=heard, deadline=deadline):
                    yield event
        for event in answer.end():
            yield event
        self._thinks_first = answer.thinks_first

    async def _events(
        self, answer: Answer, chunks: AsyncGenerator[bytes, None], *, heard: "_Heard", deadline: Deadline
    ) -> AsyncGenerator[ModelEvent, None]:
        between = self._transport.server.timeouts.between_tokens
        try:
            async for chunk in chunks:
                for event in answer.feed(chunk):
                    yield event
                if answer.finished:
                    # What follows is only the end of the connection, which is kept for the next request.
                    deadline.move(USAGE_SECONDS)
                elif heard.take():
                    deadline.move(between)
        except ModelError:
            if not answer.finished:
                raise


class _Heard:
    """Passes values on to a reader and notes whether any was a part of the answer: a ping is none, a call's part is."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader
        self._heard = False

    def read(self, value: Any) -> Chunk:
        chunk = self._reader.read(value)
        self._heard = self._heard or bool(chunk.text or chunk.reasoning or chunk.calls)
        return chunk

    def take(self) -> bool:
        """Return whether anything was heard since this was last asked."""
        heard, self._heard = self._heard, False
        return heard


async def _gather(chunks: AsyncGenerator[bytes, None]) -> str:
    data = bytearray()
    async for chunk in chunks:
        data += chunk
        if len(data) > MAX_REPLY_BYTES:
            break
    return decode(bytes(data))


async def as_text(events: AsyncGenerator[ModelEvent, None]) -> AsyncGenerator[ModelEvent, None]:
    """Yield an answer as one text: the arguments of its first call where it made one, else its reply."""
    said, given, reason = "", "", ""
    async with aclosing(events):
        async for event in events:
            if isinstance(event, TextDelta):
                said += event.text
            elif isinstance(event, CallRequested):
                given = given or event.arguments
            elif isinstance(event, Finished):
                reason = event.reason
    yield TextDelta(given or said)
    yield Finished(reason)
