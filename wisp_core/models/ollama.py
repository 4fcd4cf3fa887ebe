"""One model behind an Ollama, by its own API: the one that can set the window and refuse instead of cutting."""

from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing, suppress
from dataclasses import replace
from typing import TypeVar

from pydantic import BaseModel

from wisp_core.errors import BadRequestError, ContextOverflowError, ModelError, ModelTimeoutError, Sizes
from wisp_core.models.answer import Answer
from wisp_core.models.backend import Server
from wisp_core.models.guided import read_guided
from wisp_core.models.ollama_errors import ask_again_without, explain
from wisp_core.models.ollama_model import OllamaModel, OllamaProfile
from wisp_core.models.ollama_wire import read_line, write_messages
from wisp_core.models.openai import USAGE_SECONDS, ask_for
from wisp_core.models.streams import LineReader
from wisp_core.models.transport import Deadline
from wisp_core.models.wire import write_tools
from wisp_core.records import JsonObject
from wisp_core.requests import (
    CHARACTERS_A_TOKEN,
    Capabilities,
    Message,
    ModelEvent,
    ModelRequest,
    PromptProgress,
    ToolSchema,
    Window,
)

Schema = TypeVar("Schema", bound=BaseModel)


class OllamaBackend:
    """A `ModelBackend` over `/api/chat`; every request carries the window that wisp condenses against.

    What the server allocates is looked at after it loaded the model and before the prompt goes out. Less than was asked
    for lowers the window, and the window's source says so.
    """

    def __init__(self, name: str, server: Server, *, model: str | None, profile: OllamaProfile) -> None:
        self.name = name
        self.endpoint = server.shown
        self.capabilities = Capabilities(tools=True, counts=False, guided=True)
        self._model = OllamaModel(server, model, profile=profile)
        self._profile = profile
        self._refused: set[str] = set()
        self._thinks_first = False

    async def window(self) -> Window | None:
        """Return the window with its source: config, else what is allocated now, else sized; None without a server."""
        try:
            await self._look()
        except ModelError:
            return Window(self._profile.window, "config") if self._profile.window is not None else None
        return self._model.window

    async def warm(self) -> None:
        """Let the server load the model, and see the window that it gives; a failure is told by the first request."""
        with suppress(ModelError):
            await self._look()
            await self._model.load()

    async def count(self, messages: Sequence[Message], tools: Sequence[ToolSchema]) -> int | None:
        """Return None: an Ollama counts only what it also answers."""
        del messages, tools
        return None

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        """Yield the answer's parts, `Finished` last; closing the generator closes the connection.

        Raises:
            ModelError: the answer could not be had whole.
        """
        async with aclosing(self._answer(request, None)) as events:
            async for event in events:
                yield event

    async def guided(self, request: ModelRequest, schema: type[Schema]) -> Schema:
        """Return an answer in the form of `schema`, by `format`, else by asking for it in words.

        Raises:
            ModelError: no answer came, or none of that form.
        """
        answer = self._answer(replace(request, tools=()), schema)
        return await read_guided(answer, schema, endpoint=self.endpoint)

    async def close(self) -> None:
        """Close the connections."""
        await self._model.transport.close()

    async def _answer(self, request: ModelRequest, schema: type[BaseModel] | None) -> AsyncGenerator[ModelEvent, None]:
        try:
            # A server that is busy with another answer may not tell of itself in time.
            must_load = False
            with suppress(ModelTimeoutError):
                await self._look()
                must_load = await self._model.must_load()
            if must_load:
                yield PromptProgress(0, 0, loading=True)
                await self._load_for(request)
            async with aclosing(self._attempts(request, schema)) as events:
                async for event in events:
                    yield event
        except ContextOverflowError as error:
            self._model.learn(error.limit)
            raise
        except ModelError as error:
            explained = explain(error, self._model.name or "", endpoint=self.endpoint)
            if explained is error:
                raise
            raise explained from error

    async def _attempts(
        self, request: ModelRequest, schema: type[BaseModel] | None
    ) -> AsyncGenerator[ModelEvent, None]:
        while True:
            body, begun = self._body(request, schema), False
            try:
                async with aclosing(self._attempt(body)) as events:
                    async for event in events:
                        begun = True
                        yield event
                return
            except BadRequestError as error:
                refused = None if begun else ask_again_without(error, body)
                if refused is None:
                    raise
                self._refuse(refused)

    async def _attempt(self, body: JsonObject) -> AsyncGenerator[ModelEvent, None]:
        timeouts = self._model.transport.server.timeouts
        deadline = Deadline(timeouts.first_token)
        names = [tool["function"]["name"] for tool in body.get("tools", [])]
        answer = Answer(self.endpoint, names, thinks_first=self._thinks_first, reader=LineReader(), read=read_line)
        async with (
            self._model.transport.post(f"{self._model.url}/api/chat", body, deadline=deadline) as response,
            aclosing(self._model.transport.chunks(response, deadline)) as chunks,
        ):
            if response.headers.get("content-type", "").startswith("text/html"):
                what = f"{self.endpoint} answers with a web page"
                raise BadRequestError(what, "correct its url", endpoint=self.endpoint)
            try:
                async for chunk in chunks:
                    events = answer.feed(chunk)
                    for event in events:
                        yield event
                    if answer.finished:
                        # What follows is only the end of the connection, which is kept for the next request.
                        deadline.move(USAGE_SECONDS)
                    elif events:
                        deadline.move(timeouts.between_tokens)
            except ModelError:
                if not answer.finished:
                    raise
        for event in answer.end():
            yield event
        self._thinks_first = answer.thinks_first

    def _body(self, request: ModelRequest, schema: type[BaseModel] | None) -> JsonObject:
        guided = schema is not None and "format" not in self._refused
        messages = request.messages if schema is None or guided else ask_for(request.messages, schema)
        body = self._model.start() | {"messages": write_messages(messages), "stream": True}
        if request.max_output is not None:
            body["options"]["num_predict"] = request.max_output
        if request.temperature is not None:
            body["options"]["temperature"] = request.temperature
        if request.tools and self.capabilities.tools:
            body["tools"] = write_tools(request.tools)
        if "thinking" in (self._model.about.can or ()):
            # A form is kept to only after the thinking, which a judgement does not need.
            body["think"] = (request.effort or True) if schema is None else False
        if schema is not None and guided:
            body["format"] = schema.model_json_schema()
        return {key: value for key, value in body.items() if key not in self._refused}

    def _refuse(self, feature: str) -> None:
        self._refused.add(feature)
        if feature == "tools":
            self.capabilities = replace(self.capabilities, tools=False)

    async def _look(self) -> None:
        await self._model.look()
        can = self._model.about.can
        if can is not None and "tools" not in can:
            self.capabilities = replace(self.capabilities, tools=False)

    async def _load_for(self, request: ModelRequest) -> None:
        """Wait for the model to be loaded.

        Raises:
            ModelError: it cannot be loaded.
            ContextOverflowError: its window is smaller than the one composed for, and the request does not fit it.
        """
        before = self._model.window.tokens
        await self._model.load()
        tokens = self._model.window.tokens
        size = sum(len(message.text) for message in request.messages) // CHARACTERS_A_TOKEN
        if tokens < before and size > tokens:
            # An old server would cut the prompt without a word.
            raise ContextOverflowError(
                f"{self.endpoint} gave the model a window of {tokens:,} tokens, not the {before:,} asked for",
                "shorten the prompt or choose a smaller model",
                sizes=Sizes(limit=tokens),
                endpoint=self.endpoint,
            )
