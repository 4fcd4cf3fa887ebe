"""One model behind a server that speaks OpenAI's chat completions."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import ClassVar

from pydantic import BaseModel

from wisp_core.errors import BadRequestError, ModelError, NoModelError
from wisp_core.models.backend import Server
from wisp_core.models.exchange import Read
from wisp_core.models.profile import Profile
from wisp_core.models.refusals import TOOLS, find_refused
from wisp_core.models.server_backend import ServerBackend
from wisp_core.models.server_model import ServerModel
from wisp_core.models.wire import read_chunk, read_count, write_messages, write_tools
from wisp_core.records import JsonObject
from wisp_core.requests import Capabilities, Message, ModelRequest, ToolSchema

_OUTPUT_KEYS = {"max_tokens": "max_completion_tokens", "max_completion_tokens": "max_tokens"}
"""What the limit of a reply is called by servers that do not know it by the other name."""
_TOOLS_OR_THOUGHT = re.compile(r"tools with reasoning_effort", re.IGNORECASE)
"""How a model that reasons refuses tools over this API, also where no effort was asked for."""


class ChatBackend(ServerBackend):
    """A `ModelBackend` over `/v1/chat/completions`."""

    _features: ClassVar[Mapping[str, str]] = {
        "return_progress": "return_progress",
        "stream_options": "stream_options|include_usage",
        "temperature": "temperature",
        "max_tokens": r"\bmax_tokens\b(?!.*(?:too large|at most))",
        "max_completion_tokens": r"\bmax_completion_tokens\b(?!.*(?:too large|at most))",
        "reasoning_effort": "reasoning_effort|reasoning.effort",
        "response_format": "response_format|json_schema|structured output|grammar",
        "tools": TOOLS,
    }
    _forms = ("response_format",)

    def __init__(self, name: str, server: Server, *, model: str | None, profile: Profile) -> None:
        self._model = ServerModel(server, model, profile=profile)
        self._counts = True
        self._output_key = profile.output_key
        self._thinks_with_tools = True
        super().__init__(name, self._model, url=f"{server.url}/chat/completions")

    @property
    def capabilities(self) -> Capabilities:
        """What the model can do, as far as is known; llama.cpp's servers count."""
        return replace(super().capabilities, counts=self._counts and self._model.llama)

    async def count(self, messages: Sequence[Message], tools: Sequence[ToolSchema]) -> int | None:
        """Return the size of a prompt in tokens where the server is llama.cpp's, which counts without generating."""
        await self.warm()
        if not self.capabilities.counts:
            return None
        body: JsonObject = {"messages": write_messages(messages)}
        if tools and self.capabilities.tools:
            body["tools"] = write_tools(tools)
        url = f"{self._model.transport.server.url}/chat/completions/input_tokens"
        try:
            answer = await self._model.transport.ask("POST", url, body=body)
        except (NoModelError, BadRequestError):
            self._counts = False
            return None
        except ModelError:
            return None
        return read_count(answer.get("input_tokens")) if isinstance(answer, dict) else None

    def _write(self, request: ModelRequest, schema: type[BaseModel] | None) -> JsonObject:
        profile = self._model.profile
        body: JsonObject = {"model": self._model.name, "messages": write_messages(request.messages)}
        body |= {"stream": True, "stream_options": {"include_usage": True}}
        if self._model.llama:
            body["return_progress"] = True
        if request.tools:
            body["tools"] = write_tools(request.tools)
        body |= dict(profile.sampling)
        limit = profile.bound(request.max_output)
        if limit is not None:
            body[self._output_key] = limit
        if request.temperature is not None:
            body["temperature"] = request.temperature
        if request.effort and profile.effort:
            body["reasoning_effort"] = request.effort
        if request.tools and not self._thinks_with_tools:
            body["reasoning_effort"] = "none"
        if schema is not None:
            form = {"name": schema.__name__, "schema": schema.model_json_schema()}
            body["response_format"] = {"type": "json_schema", "json_schema": form}
        return body

    def _adapt(self, error: BadRequestError, body: JsonObject) -> bool:
        if _TOOLS_OR_THOUGHT.search(error.detail) and self._thinks_with_tools:
            self._thinks_with_tools = False
            return True
        other = _OUTPUT_KEYS.get(find_refused(error, body, features=self._features) or "")
        if other is not None and other not in self._refused:
            self._refused.add(self._output_key)
            self._output_key = other
            return True
        return super()._adapt(error, body)

    def _begin(self) -> Read:
        return read_chunk
