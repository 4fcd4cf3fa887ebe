"""One model behind a server that speaks OpenAI's chat completions."""

import json
import re
from collections.abc import AsyncGenerator, Container, Iterator, Mapping, Sequence
from contextlib import aclosing, suppress
from dataclasses import dataclass, replace
from typing import TypeVar

from pydantic import BaseModel, ValidationError

from wisp_core.errors import (
    BadRequestError,
    ContextOverflowError,
    CutStreamError,
    ModelError,
    ModelTimeoutError,
    NoModelError,
)
from wisp_core.models.answer import Answer
from wisp_core.models.backend import Server
from wisp_core.models.failures import quote
from wisp_core.models.transport import MAX_REPLY_BYTES, Deadline, Transport
from wisp_core.models.windows import Found, look, lower
from wisp_core.models.wire import read_count, write_messages, write_tools
from wisp_core.records import JsonObject
from wisp_core.requests import (
    Capabilities,
    Finished,
    Message,
    ModelEvent,
    ModelRequest,
    Role,
    TextDelta,
    ToolSchema,
    Window,
)
from wisp_core.text import decode

Schema = TypeVar("Schema", bound=BaseModel)

USAGE_SECONDS = 5.0
"""How long the usage may come after the answer's end was stated."""

FEATURES = {
    "return_progress": "return_progress",
    "stream_options": "stream_options|include_usage",
    "temperature": "temperature",
    "reasoning_effort": "reasoning_effort|reasoning.effort",
    "response_format": "response_format|json_schema|structured output|grammar",
    # Not where it names a part of one, as in `tools.0.function.name` or `["tools", 0]`: that is a fault of the tool.
    "tools": r"(?s)^(?!.*schema).*(?:\btools?\b(?![\"']?\s*[.,\[]\s*[\"']?\d)|tool[_ ]choice|function call)",
}
"""What a server may not know, and the pattern by which its refusal names it."""
_UNKNOWN = re.compile(
    r"not (?:supported|permitted|allowed|implemented|available)|support|unknown|unrecogni[sz]ed|unexpected|extra"
    r"|requires?|invalid (?:parameter|argument|field)|additional propert",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Profile:
    """What is known of a model before its server is asked: the windows of config and catalogue, in tokens.

    `probes` tells that the server may be asked about itself; `output_key` names the limit of the reply.
    `most_output` bounds a reply that nothing else bounds more, in tokens; `sampling` goes with every request. `effort`
    tells that the model takes one.
    """

    window: int | None = None
    catalogued: int | None = None
    probes: bool = True
    tools: bool = True
    output_key: str = "max_tokens"
    most_output: int | None = None
    sampling: tuple[tuple[str, float], ...] = ()
    effort: bool = False


# What a person forgets, who copied the address from a browser.
ENDS = "correct its url; it often ends in /v1"


class ChatBackend:
    """A `ModelBackend` over chat completions; what its server refused to know is remembered."""

    def __init__(self, name: str, server: Server, *, model: str | None, profile: Profile) -> None:
        self.name = name
        self.endpoint = server.shown
        self._url = server.url
        self.capabilities = Capabilities(tools=profile.tools, counts=False, guided=True)
        self._model = model
        self._profile = profile
        self._transport = Transport(server)
        self._found: Found | None = None
        self._learnt: Window | None = None
        self._refused: set[str] = set()
        self._thinks_first = False

    async def window(self) -> Window | None:
        """Return the window with its source; config, then server, then catalogue, each lowered by what was learnt."""
        if self._profile.window is None:
            await self.warm()
        return self._window()

    async def warm(self) -> None:
        """Ask the server about itself; one that cannot be reached is told by the first request."""
        try:
            await self._look()
        except ModelError:
            return

    async def count(self, messages: Sequence[Message], tools: Sequence[ToolSchema]) -> int | None:
        """Return the size of a prompt in tokens where the server is llama.cpp's, which counts without generating."""
        await self.warm()
        if not self.capabilities.counts:
            return None
        body: JsonObject = {"messages": write_messages(messages)}
        if tools and self.capabilities.tools:
            body["tools"] = write_tools(tools)
        try:
            answer = await self._transport.ask("POST", f"{self._url}/chat/completions/input_tokens", body=body)
        except (NoModelError, BadRequestError):
            self.capabilities = replace(self.capabilities, counts=False)
            return None
        except ModelError:
            return None
        return read_count(answer.get("input_tokens")) if isinstance(answer, dict) else None

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        """Yield the answer's parts, `Finished` last; closing the generator closes the connection.

        Raises:
            ModelError: the answer could not be had whole.
        """
        async with aclosing(self._answer(request, None)) as events:
            async for event in events:
                yield event

    async def guided(self, request: ModelRequest, schema: type[Schema]) -> Schema:
        """Return an answer in the form of `schema`, by `response_format`, else by asking for it in words.

        Raises:
            ModelError: no answer came, or none of that form.
        """
        text, reason = "", ""
        async with aclosing(self._answer(replace(request, tools=()), schema)) as events:
            async for event in events:
                if isinstance(event, TextDelta):
                    text += event.text
                elif isinstance(event, Finished):
                    reason = event.reason
        start, end = text.find("{"), text.rfind("}")
        try:
            return schema.model_validate_json(text[start : end + 1] if 0 <= start < end else text)
        except ValidationError as error:
            if reason == "length":
                raise self._failed(CutStreamError, "reached its output limit before its answer was whole") from error
            raise self._failed(BadRequestError, f"gave no {schema.__name__}: {quote(text)}") from error

    async def close(self) -> None:
        """Close the connections."""
        await self._transport.close()

    async def _answer(self, request: ModelRequest, schema: type[BaseModel] | None) -> AsyncGenerator[ModelEvent, None]:
        # A server that is busy with another answer may not tell of itself in time.
        with suppress(ModelTimeoutError):
            await self._look()
        while True:
            body = self._body(request, schema)
            begun = False
            try:
                async with aclosing(self._attempt(body)) as events:
                    async for event in events:
                        begun = True
                        yield event
                return
            except ContextOverflowError as error:
                self._learnt = lower(self._window(), error.limit)
                raise
            except BadRequestError as error:
                refused = None if begun else find_refused(error, body)
                if refused is None:
                    raise
                self._refuse(refused)

    async def _attempt(self, body: JsonObject) -> AsyncGenerator[ModelEvent, None]:
        timeouts = self._transport.server.timeouts
        deadline = Deadline(timeouts.first_token)
        names = [tool["function"]["name"] for tool in body.get("tools", [])]
        answer = Answer(self.endpoint, names, thinks_first=self._thinks_first)
        async with (
            self._transport.post(f"{self._url}/chat/completions", body, deadline=deadline) as response,
            aclosing(self._transport.chunks(response, deadline)) as chunks,
        ):
            kind = response.headers.get("content-type", "")
            if kind.startswith("text/html"):
                raise self._failed(BadRequestError, "answers with a web page", hint=ENDS)
            if kind.startswith("application/json"):
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
        between = self._transport.server.timeouts.between_tokens
        try:
            async for chunk in chunks:
                events = answer.feed(chunk)
                for event in events:
                    yield event
                if answer.finished:
                    deadline.move(USAGE_SECONDS)
                elif events:
                    # A comment only keeps the connection alive: it is no part of the answer.
                    deadline.move(between)
        except ModelError:
            if not answer.finished:
                raise

    def _body(self, request: ModelRequest, schema: type[BaseModel] | None) -> JsonObject:
        guided = schema is not None and "response_format" not in self._refused
        messages = request.messages if schema is None or guided else ask_for(request.messages, schema)
        body: JsonObject = {"model": self._model or self._first_model(), "messages": write_messages(messages)}
        body |= {"stream": True, "stream_options": {"include_usage": True}}
        if self._found is not None and self._found.llama:
            body["return_progress"] = True
        if request.tools and self.capabilities.tools:
            body["tools"] = write_tools(request.tools)
        body |= dict(self._profile.sampling)
        limits = [limit for limit in (request.max_output, self._profile.most_output) if limit is not None]
        if limits:
            body[self._profile.output_key] = min(limits)
        if request.temperature is not None:
            body["temperature"] = request.temperature
        if request.effort and self._profile.effort:
            body["reasoning_effort"] = request.effort
        if schema is not None and guided:
            form = {"name": schema.__name__, "schema": schema.model_json_schema()}
            body["response_format"] = {"type": "json_schema", "json_schema": form}
        return {key: value for key, value in body.items() if key not in self._refused}

    def _refuse(self, feature: str) -> None:
        self._refused.add(feature)
        if feature == "tools":
            self.capabilities = replace(self.capabilities, tools=False)

    async def _look(self) -> None:
        if self._profile.probes and (self._found is None or not self._found.sure):
            self._found = await look(self._transport, self._model)
            self.capabilities = replace(self.capabilities, counts=self._found.llama)

    def _window(self) -> Window | None:
        if self._learnt is not None:
            return self._learnt
        if self._profile.window is not None:
            return Window(self._profile.window, "config")
        if self._found is not None and self._found.window is not None:
            return Window(self._found.window, "server")
        return Window(self._profile.catalogued, "catalogue") if self._profile.catalogued is not None else None

    def _first_model(self) -> str:
        return self._found.models[0] if self._found is not None and self._found.models else "default"

    def _failed(self, kind: type[ModelError], what: str, *, hint: str = "") -> ModelError:
        return kind(f"{self.endpoint} {what}", hint, endpoint=self.endpoint)


def find_refused(error: ModelError, body: Container[str], *, features: Mapping[str, str] = FEATURES) -> str | None:
    """Return which optional part of the body the server does not know, by what it says; None where it is another."""
    text = error.detail
    if not _UNKNOWN.search(text):
        return None
    named = (feature for feature, pattern in features.items() if re.search(pattern, text, re.IGNORECASE))
    return next((feature for feature in named if feature in body), None)


def ask_for(messages: Sequence[Message], schema: type[BaseModel]) -> tuple[Message, ...]:
    """Return the messages with the schema asked for in words, at the end of the last one of the user."""
    words = f"Answer with one JSON object and nothing else. Its JSON schema: {_write_schema(schema)}"
    return tuple(_append(messages, words))


def _append(messages: Sequence[Message], words: str) -> Iterator[Message]:
    last = max((at for at, message in enumerate(messages) if message.role is Role.USER), default=-1)
    for at, message in enumerate(messages):
        yield replace(message, text=f"{message.text}\n\n{words}") if at == last else message
    if last < 0:
        yield Message(Role.USER, words)


def _write_schema(schema: type[BaseModel]) -> str:
    return json.dumps(schema.model_json_schema())


async def _gather(chunks: AsyncGenerator[bytes, None]) -> str:
    data = bytearray()
    async for chunk in chunks:
        data += chunk
        if len(data) > MAX_REPLY_BYTES:
            break
    return decode(bytes(data))
