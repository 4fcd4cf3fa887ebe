"""One model behind a server that speaks OpenAI's Responses API."""

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import ClassVar

from pydantic import BaseModel

from wisp_core.errors import BadRequestError
from wisp_core.models.backend import Server
from wisp_core.models.exchange import Read
from wisp_core.models.profile import Profile
from wisp_core.models.refusals import TOOLS
from wisp_core.models.responses_wire import ResponseReader, write_input, write_instructions, write_tools
from wisp_core.models.server_backend import ServerBackend
from wisp_core.models.server_model import ServerModel
from wisp_core.records import JsonObject
from wisp_core.requests import ModelRequest

LEAST_OUTPUT = 16
"""The smallest limit of a reply that the API takes, in tokens."""
EFFORTS = ("low", "medium", "high")


class ResponsesBackend(ServerBackend):
    """A `ModelBackend` over `/v1/responses`.

    Nothing is stored at the provider, and the whole conversation goes with every request. Reasoning is not sent back.
    """

    _features: ClassVar[Mapping[str, str]] = {
        "temperature": r"temperature",
        "reasoning": r"reasoning",
        "text": r"text\.format|json_schema|structured output|grammar",
        "max_output_tokens": r"max_output_tokens",
        "tools": TOOLS,
    }
    _forms = ("text",)

    def __init__(self, name: str, server: Server, *, model: str | None, profile: Profile) -> None:
        url = server.url.removesuffix("/responses")
        self._model = ServerModel(replace(server, url=url), model, profile=profile)
        super().__init__(name, self._model, url=f"{url}/responses")

    def _write(self, request: ModelRequest, schema: type[BaseModel] | None) -> JsonObject:
        body: JsonObject = {"model": self._model.name, "input": write_input(request.messages)}
        body |= {"stream": True, "store": False}
        if instructions := write_instructions(request.messages):
            body["instructions"] = instructions
        if request.tools:
            body["tools"] = write_tools(request.tools)
        limit = self._model.profile.bound(request.max_output)
        if limit is not None:
            body["max_output_tokens"] = max(LEAST_OUTPUT, limit)
        if request.temperature is not None:
            body["temperature"] = request.temperature
        if request.effort in EFFORTS:
            summary = {} if "summary" in self._refused else {"summary": "auto"}
            body["reasoning"] = {"effort": request.effort} | summary
        if schema is not None:
            form = {"type": "json_schema", "name": schema.__name__, "schema": schema.model_json_schema()}
            body["text"] = {"format": form | {"strict": False}}
        return body

    def _begin(self) -> Read:
        return ResponseReader(self.endpoint).read

    def _adapt(self, error: BadRequestError, body: JsonObject) -> bool:
        if "summary" in body.get("reasoning", {}) and re.search(r"summar", error.detail):
            # Some accounts must be verified before they are shown any.
            return self._leave_out("summary")
        return super()._adapt(error, body)
