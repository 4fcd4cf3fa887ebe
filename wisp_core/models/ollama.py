"""One model behind an Ollama, by its own API: the one that can set the window and refuse instead of cutting."""

from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import aclosing, suppress
from typing import ClassVar

from pydantic import BaseModel

from wisp_core.errors import BadRequestError, ContextOverflowError, ModelError, ModelTimeoutError, Sizes
from wisp_core.models.backend import Server
from wisp_core.models.exchange import Read
from wisp_core.models.ollama_errors import explain
from wisp_core.models.ollama_model import OllamaModel, OllamaProfile
from wisp_core.models.ollama_wire import read_line, write_messages
from wisp_core.models.refusals import find_named
from wisp_core.models.server_backend import ServerBackend
from wisp_core.models.wire import write_tools
from wisp_core.records import JsonObject
from wisp_core.requests import CHARACTERS_A_TOKEN, ModelEvent, ModelRequest, PromptProgress


class OllamaBackend(ServerBackend):
    """A `ModelBackend` over `/api/chat`; every request carries the window that wisp condenses against.

    What the server allocates is looked at after it loaded the model and before the prompt goes out. Less than was asked
    for lowers the window, and the window's source says so.
    """

    _features: ClassVar[Mapping[str, str]] = {
        "think": r"does not support thinking|\bthink\b|ThinkValue",
        "tools": r"does not support tools",
        "format": r"\bformat\b|grammar|json schema",
    }
    _forms = ("format",)
    _hint = "correct its url"
    _lines = True

    def __init__(self, name: str, server: Server, *, model: str | None, profile: OllamaProfile) -> None:
        self._model = OllamaModel(server, model, profile=profile)
        super().__init__(name, self._model, url=f"{self._model.url}/api/chat")

    async def warm(self) -> None:
        """Let the server load the model, and see the window that it gives; a failure is told by the first request."""
        with suppress(ModelError):
            await self._model.look()
            await self._model.load()

    def _write(self, request: ModelRequest, schema: type[BaseModel] | None) -> JsonObject:
        body = self._model.start() | {"messages": write_messages(request.messages), "stream": True}
        if request.max_output is not None:
            body["options"]["num_predict"] = request.max_output
        if request.temperature is not None:
            body["options"]["temperature"] = request.temperature
        if request.tools:
            body["tools"] = write_tools(request.tools)
        if "thinking" in (self._model.about.can or ()):
            # A form is kept to only after the thinking, which a judgement does not need.
            body["think"] = (request.effort or True) if schema is None else False
        if schema is not None:
            body["format"] = schema.model_json_schema()
        return body

    def _begin(self) -> Read:
        return read_line

    def _adapt(self, error: BadRequestError, body: JsonObject) -> bool:
        return self._leave_out(find_named(error, body, features=self._features))

    async def _answer(
        self, request: ModelRequest, schema: type[BaseModel] | None, *, begin: Callable[[], Read]
    ) -> AsyncGenerator[ModelEvent, None]:
        try:
            must_load = False
            with suppress(ModelTimeoutError):
                await self._model.look()
                must_load = await self._model.must_load()
            if must_load:
                yield PromptProgress(0, 0, loading=True)
                await self._load_for(request)
            async with aclosing(self._attempts(request, schema, begin=begin)) as events:
                async for event in events:
                    yield event
        except ModelError as error:
            explained = explain(error, self._model.name or "", endpoint=self.endpoint)
            if explained is error:
                raise
            raise explained from error

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
