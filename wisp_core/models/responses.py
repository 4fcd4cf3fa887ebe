"""One model behind a server that speaks OpenAI's Responses API."""

import re
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import replace
from typing import TypeVar

from pydantic import BaseModel

from wisp_core.errors import BadRequestError
from wisp_core.models.backend import Server
from wisp_core.models.exchange import Asking, Exchange
from wisp_core.models.guided import read_guided
from wisp_core.models.openai import FEATURES, Profile, ask_for, find_refused
from wisp_core.models.responses_wire import ResponseReader, write_input, write_instructions, write_tools
from wisp_core.records import JsonObject
from wisp_core.requests import Capabilities, Message, ModelEvent, ModelRequest, ToolSchema, Window

Schema = TypeVar("Schema", bound=BaseModel)

LEAST_OUTPUT = 16
"""The smallest limit of a reply that the API takes, in tokens."""
EFFORTS = ("low", "medium", "high")

_FEATURES = {
    "temperature": r"temperature",
    "reasoning": r"reasoning",
    "text": r"text\.format|json_schema|structured output|grammar",
    "max_output_tokens": r"max_output_tokens",
    "tools": FEATURES["tools"],
}


class ResponsesBackend:
    """A `ModelBackend` over `/v1/responses`; what its server refused to know is remembered.

    Nothing is stored at the provider, and the whole conversation goes with every request. Reasoning is not sent back.
    """

    def __init__(self, name: str, server: Server, *, model: str | None, profile: Profile) -> None:
        self.name = name
        self.endpoint = server.shown
        self.capabilities = Capabilities(tools=profile.tools, counts=False, guided=True)
        url = server.url.removesuffix("/responses")
        self._exchange = Exchange(replace(server, url=url), model=model, profile=profile)
        self._profile = profile
        self._refused: set[str] = set()

    async def window(self) -> Window | None:
        """Return the window with its source; config, then server, then catalogue, each lowered by what was learnt."""
        if self._profile.window is None:
            await self.warm()
        return self._exchange.window

    async def warm(self) -> None:
        """Ask the server about itself; one that cannot be reached is told by the first request."""
        await self._exchange.warm()

    async def count(self, messages: Sequence[Message], tools: Sequence[ToolSchema]) -> int | None:
        """Return None: the API counts only what it also answers."""
        del messages, tools
        return None

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        """Yield the answer's parts, `Finished` last; closing the generator closes the connection.

        Raises:
            ModelError: the answer could not be had whole.
        """
        async with aclosing(self._exchange.answer(self._asking(request, None))) as events:
            async for event in events:
                yield event

    async def guided(self, request: ModelRequest, schema: type[Schema]) -> Schema:
        """Return an answer in the form of `schema`, by `text.format`, else by asking for it in words.

        Raises:
            ModelError: no answer came, or none of that form.
        """
        asking = self._asking(replace(request, tools=()), schema)
        return await read_guided(self._exchange.answer(asking), schema, endpoint=self.endpoint)

    async def close(self) -> None:
        """Close the connections."""
        await self._exchange.close()

    def _asking(self, request: ModelRequest, schema: type[BaseModel] | None) -> Asking:
        return Asking(
            "responses", lambda: self._body(request, schema), lambda: ResponseReader(self.endpoint), self._adapt
        )

    def _body(self, request: ModelRequest, schema: type[BaseModel] | None) -> JsonObject:
        guided = schema is not None and "text" not in self._refused
        messages = request.messages if schema is None or guided else ask_for(request.messages, schema)
        body: JsonObject = {"model": self._exchange.model, "input": write_input(messages)}
        body |= {"stream": True, "store": False}
        if instructions := write_instructions(messages):
            body["instructions"] = instructions
        if request.tools and self.capabilities.tools:
            body["tools"] = write_tools(request.tools)
        limits = [limit for limit in (request.max_output, self._profile.most_output) if limit is not None]
        if limits:
            body["max_output_tokens"] = max(LEAST_OUTPUT, min(limits))
        if request.temperature is not None:
            body["temperature"] = request.temperature
        if request.effort in EFFORTS:
            summary = {} if "summary" in self._refused else {"summary": "auto"}
            body["reasoning"] = {"effort": request.effort} | summary
        if schema is not None and guided:
            form = {"type": "json_schema", "name": schema.__name__, "schema": schema.model_json_schema()}
            body["text"] = {"format": form | {"strict": False}}
        return {key: value for key, value in body.items() if key not in self._refused}

    def _adapt(self, error: BadRequestError, body: JsonObject) -> bool:
        if "summary" in body.get("reasoning", {}) and re.search(r"summar", error.detail):
            # Some accounts must be verified before they are shown any.
            refused: str | None = "summary"
        else:
            refused = find_refused(error, body, features=_FEATURES)
        if refused is None:
            return False
        self._refused.add(refused)
        if refused == "tools":
            self.capabilities = replace(self.capabilities, tools=False)
        return True
