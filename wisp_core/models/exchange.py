"""One attempt at one answer: what is sent, how what comes is read, and how long each part of it may take."""

from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from typing import Any, TypeAlias

from wisp_core.errors import BadRequestError, ModelError
from wisp_core.models.answer import Answer
from wisp_core.models.streams import EventReader, LineReader
from wisp_core.models.transport import MAX_REPLY_BYTES, Deadline, Transport
from wisp_core.models.wire import Chunk
from wisp_core.records import JsonObject
from wisp_core.requests import ModelEvent
from wisp_core.text import decode

USAGE_SECONDS = 5.0
"""How long the usage, and the end of the connection, may take after the answer's end was stated."""


Read: TypeAlias = Callable[[Any], Chunk]
"""Returns what one value of an answer holds, or raises the `ModelError` that it reports; it may know those before."""


class Exchange:
    """Attempts at answers from `url`; they come as server-sent events, or as `lines` of JSON.

    A `hint` tells what is wrong with a url that leads to a web page.
    """

    def __init__(self, transport: Transport, url: str, *, lines: bool, hint: str) -> None:
        self._transport = transport
        self._url = url
        self._lines = lines
        self._hint = hint
        self._thinks_first = False

    async def attempt(self, body: JsonObject, read: Read) -> AsyncGenerator[ModelEvent, None]:
        """Yield the parts of the answer to `body`, `Finished` last.

        Raises:
            ModelError: the answer could not be had whole.
        """
        deadline = Deadline(self._transport.server.timeouts.first_token)
        names = [tool.get("function", tool)["name"] for tool in body.get("tools", [])]
        answer = Answer(
            self._transport.server.shown,
            names,
            thinks_first=self._thinks_first,
            reader=LineReader() if self._lines else EventReader(),
            read=read,
        )
        async with (
            self._transport.post(self._url, body, deadline=deadline) as response,
            aclosing(self._transport.chunks(response, deadline)) as chunks,
        ):
            kind = response.headers.get("content-type", "")
            if kind.startswith("text/html"):
                shown = self._transport.server.shown
                raise BadRequestError(f"{shown} answers with a web page", self._hint, endpoint=shown)
            if kind.startswith("application/json") and not self._lines:
                # The server does not stream.
                for event in answer.feed_whole(await _gather(chunks)):
                    yield event
            else:
                async for event in self._events(answer, chunks, deadline=deadline):
                    yield event
        for event in answer.end():
            yield event
        self._thinks_first = answer.thinks_first

    async def _events(
        self, answer: Answer, chunks: AsyncGenerator[bytes, None], *, deadline: Deadline
    ) -> AsyncGenerator[ModelEvent, None]:
        try:
            async for chunk in chunks:
                heard = answer.heard
                for event in answer.feed(chunk):
                    yield event
                if answer.finished:
                    # What follows is only the end of the connection, which is kept for the next request.
                    deadline.move(USAGE_SECONDS)
                elif answer.heard > heard:
                    deadline.move(self._transport.server.timeouts.between_tokens)
        except ModelError:
            if not answer.finished:
                raise


async def _gather(chunks: AsyncGenerator[bytes, None]) -> str:
    data = bytearray()
    async for chunk in chunks:
        data += chunk
        if len(data) > MAX_REPLY_BYTES:
            break
    return decode(bytes(data))
