"""What the backends of one model behind one server do alike, whatever API the server speaks."""

import asyncio
from abc import ABC, abstractmethod
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import aclosing, suppress
from dataclasses import replace
from typing import ClassVar, Protocol, TypeVar

from pydantic import BaseModel

from wisp_core.errors import BadRequestError, ContextOverflowError, ModelError, ModelTimeoutError, OverloadedError
from wisp_core.models.exchange import Exchange, Read
from wisp_core.models.guided import FormlessError, ask_for, read_guided
from wisp_core.models.loading import is_loading, wait_until_loaded
from wisp_core.models.refusals import find_named, find_refused
from wisp_core.models.transport import Transport
from wisp_core.records import JsonObject
from wisp_core.requests import Capabilities, Message, ModelEvent, ModelRequest, PromptProgress, ToolSchema, Window

Schema = TypeVar("Schema", bound=BaseModel)

MOST_ATTEMPTS = 8
"""How often one request is asked at most, each time without one more thing that the server refuses."""


THINKING_ROOM = 4096
"""What an answer in a form may take beyond its limit where the model thinks first, in tokens: thinking is output."""


class KnownModel(Protocol):
    """What is known of the model as of now, and the connections to its server."""

    transport: Transport

    @property
    def tools(self) -> bool:
        """Whether it takes tools, as far as is known before it is asked."""

    @property
    def loads(self) -> bool:
        """Whether its server may load it without a word."""

    @property
    def thinks(self) -> bool:
        """Whether it is known to think before it answers, also unasked."""

    async def find_window(self) -> Window | None:
        """Return the window with its source, None while nobody knows it."""

    async def look(self) -> None:
        """Ask the server about itself, unless it has told.

        Raises:
            ModelError: it cannot be asked now.
        """

    def learn(self, limit: int | None) -> None:
        """Lower the window to the limit that a refusal stated, in tokens."""


class ServerBackend(ABC):
    """A `ModelBackend` but for how its API writes a request and reads an answer; what a server refused is remembered.

    `_features` gives the pattern by which a refusal names each part of a request that may be left out; `_forms` are
    those that ask for an answer in the form of a schema, the first that is known to work or not known not to is used.
    """

    _features: ClassVar[Mapping[str, str]]
    _forms: tuple[str, ...]
    _hint = "correct its url; it often ends in /v1"
    _lines = False

    def __init__(self, name: str, model: KnownModel, *, url: str) -> None:
        self.name = name
        self.endpoint = model.transport.server.shown
        self._known = model
        self._exchange = Exchange(model.transport, url, lines=self._lines, hint=self._hint)
        self._refused: set[str] = set()

    @property
    def capabilities(self) -> Capabilities:
        """What the model can do, as far as is known."""
        return Capabilities(self._known.tools and "tools" not in self._refused, guided=True, loads=self._known.loads)

    async def window(self) -> Window | None:
        """Return the window with its source, lowered by what was learnt; None while nobody knows it."""
        return await self._known.find_window()

    async def warm(self) -> None:
        """Ask the server about itself; one that cannot be reached is told by the first request."""
        with suppress(ModelError):
            await self._known.look()

    async def count(self, messages: Sequence[Message], tools: Sequence[ToolSchema]) -> int | None:
        """Return None: most servers count only what they also answer."""
        del messages, tools
        return None

    def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        """Yield the answer's parts, `Finished` last; closing the generator closes the connection.

        Raises:
            ModelError: the answer could not be had whole.
        """
        return self._answer(request, None, begin=self._begin)

    async def guided(self, request: ModelRequest, schema: type[Schema]) -> Schema:
        """Return an answer in the form of `schema`, as the API asks for one, else by asking for it in words.

        Raises:
            ModelError: no answer came, or none of that form.
        """
        limit = request.max_output
        if limit is not None and self._known.thinks:
            limit += THINKING_ROOM
        request = replace(request, tools=(), max_output=limit)
        forms = set(self._forms) - self._refused
        try:
            return await read_guided(self._answer(request, schema, begin=self._begin), schema, endpoint=self.endpoint)
        except FormlessError:
            if not forms:
                raise
        # A server may ignore a form that it does not know: it is asked once in words, and from then on if that works.
        self._refused |= forms
        try:
            return await read_guided(self._answer(request, schema, begin=self._begin), schema, endpoint=self.endpoint)
        except (ModelError, asyncio.CancelledError):
            self._refused -= forms
            raise

    async def close(self) -> None:
        """Close the connections."""
        await self._known.transport.close()

    @abstractmethod
    def _write(self, request: ModelRequest, schema: type[BaseModel] | None) -> JsonObject:
        """Return the body of a request with all that may be left out; a `schema` is the form of its answer."""

    @abstractmethod
    def _begin(self) -> Read:
        """Return what reads the values of one answer."""

    @property
    def _form(self) -> str | None:
        """The part that asks for an answer in the form of a schema, None where only words are left."""
        return next((form for form in self._forms if form not in self._refused), None)

    def _adapt(self, error: BadRequestError, body: JsonObject) -> bool:
        """Learn from the refusal of a body, and tell whether the next one will be another."""
        form = {name: pattern for name, pattern in self._features.items() if name == self._form}
        # A form is left out whatever is wrong with it: words do as well.
        refused = find_refused(error, body, features=self._features) or find_named(error, body, features=form)
        return self._leave_out(refused)

    def _leave_out(self, part: str | None) -> bool:
        """Send a part no more, and tell whether there was one to leave out."""
        if part is not None:
            self._refused.add(part)
        return part is not None

    async def _answer(
        self, request: ModelRequest, schema: type[BaseModel] | None, *, begin: Callable[[], Read]
    ) -> AsyncGenerator[ModelEvent, None]:
        # A server that is busy with another answer may not tell of itself in time.
        with suppress(ModelTimeoutError):
            await self._known.look()
        async with aclosing(self._attempts(request, schema, begin=begin)) as events:
            async for event in events:
                yield event

    async def _attempts(
        self, request: ModelRequest, schema: type[BaseModel] | None, *, begin: Callable[[], Read]
    ) -> AsyncGenerator[ModelEvent, None]:
        refusals = 0
        while True:
            body, begun = self._body(request, schema), False
            try:
                async with aclosing(self._exchange.attempt(body, begin())) as events:
                    async for event in events:
                        begun = True
                        yield event
                return
            except ContextOverflowError as error:
                self._known.learn(error.limit)
                raise
            except OverloadedError as error:
                if begun or not await is_loading(self._known.transport, error):
                    raise
            except BadRequestError as error:
                refusals += 1
                if begun or refusals == MOST_ATTEMPTS or not self._adapt(error, body):
                    raise
                continue
            yield PromptProgress(0, 0, loading=True)
            await wait_until_loaded(self._known.transport)
            await self.warm()

    def _body(self, request: ModelRequest, schema: type[BaseModel] | None) -> JsonObject:
        without = self._refused if self.capabilities.tools else {*self._refused, "tools"}
        if schema is not None and self._form is None:
            request = replace(request, messages=ask_for(request.messages, schema))
        return {key: value for key, value in self._write(request, schema).items() if key not in without}
