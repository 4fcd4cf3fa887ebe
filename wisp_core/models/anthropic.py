"""One model behind a server that speaks Anthropic's Messages API."""

import re
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import aclosing
from dataclasses import replace
from typing import Any, ClassVar

from pydantic import BaseModel

from wisp_core.errors import BadRequestError
from wisp_core.models.anthropic_turn import RunningTurn, find_start
from wisp_core.models.anthropic_wire import MessageReader, write_messages, write_system, write_tools
from wisp_core.models.backend import Server
from wisp_core.models.exchange import Read
from wisp_core.models.profile import Profile
from wisp_core.models.refusals import TOOLS, find_named, find_refused
from wisp_core.models.server_backend import ServerBackend
from wisp_core.models.server_model import ServerModel
from wisp_core.models.wire import write_name
from wisp_core.records import JsonObject
from wisp_core.requests import CallRequested, ModelEvent, ModelRequest, ToolSchema, WireCall

VERSION = "2023-06-01"
DEFAULT_OUTPUT = 8192
"""The reply's limit in tokens where neither request nor catalogue gives one; the API wants one in every request."""
THINKING_SHARES = {"low": 0.2, "medium": 0.4, "high": 0.7}
"""What of the output limit may go into thinking, by effort."""
LEAST_THINKING = 1024
"""The smallest budget of thinking that the API takes, in tokens; as much is left for the reply."""

_UNFIT_THOUGHTS = re.compile(
    r"bound to a different conversation|blocks?.{0,80}cannot be modified|expected `?thinking|signature`? in `?thinking",
    re.IGNORECASE,
)
"""How the API refuses thoughts that it cannot place any more, as when earlier turns were condensed away in the turn."""
_MOST_OUTPUT = re.compile(r"max_tokens: (\d{1,9}) > (\d{1,9})")


class AnthropicBackend(ServerBackend):
    """A `ModelBackend` over `/v1/messages`.

    A model is told to think only where an effort is asked for, and may think unasked. What it thought before its calls
    goes back with their results, since the API wants it there, and nowhere else; it is kept in memory alone, so that a
    turn which another process began is gone on with without a budget of thinking.

    An answer has a form by `output_config`, which models of the provider know, else as the arguments of a tool that
    must be called, which other servers know and the newest models do not.
    """

    _features: ClassVar[Mapping[str, str]] = {
        "thinking": r"thinking|budget_tokens|output_config|effort",
        "temperature": r"temperature",
        "cache": r"cache_control",
        "tool_choice": r"tool[_ ]choice",
        "tools": TOOLS,
        "format": r"output_config|output_format|json_schema|structured output",
        "forced": TOOLS,
    }

    def __init__(self, name: str, server: Server, *, model: str | None, profile: Profile) -> None:
        key = (("x-api-key", server.key),) if server.key else ()
        headers = (*key, ("anthropic-version", VERSION), *server.headers)
        url = server.url.removesuffix("/messages")
        self._model = ServerModel(replace(server, url=url, key="", headers=headers), model, profile=profile)
        super().__init__(name, self._model, url=f"{url}/messages")
        self._most_output = profile.most_output
        forms = ("forced", "format") if profile.probes else ("format", "forced")
        self._forms = forms if profile.tools else ("format",)
        self._adaptive = profile.thinking in ("adaptive", "unasked")
        self._turn = RunningTurn()

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        """Yield the answer's parts, `Finished` last; closing the generator closes the connection.

        Raises:
            ModelError: the answer could not be had whole.
        """
        if find_start(request.messages) == len(request.messages):
            self._turn = RunningTurn()
        self._turn.tools = request.tools or self._turn.tools
        readers: list[MessageReader] = []
        calls: list[WireCall] = []

        def begin() -> Read:
            readers.append(MessageReader(self.endpoint))
            return readers[-1].read

        async with aclosing(self._answer(request, None, begin=begin)) as events:
            async for event in events:
                if isinstance(event, CallRequested):
                    calls.append(WireCall("", event.name, event.arguments))
                yield event
        if calls:
            self._turn.keep(calls, readers[-1].blocks)

    def _begin(self) -> Read:
        return MessageReader(self.endpoint).read

    def _write(self, request: ModelRequest, schema: type[BaseModel] | None) -> JsonObject:
        cached, limit = "cache" not in self._refused, self._limit(request)
        thinking = {} if schema is not None else self._thinking(request, limit)
        form = self._form if schema is not None else None
        body: JsonObject = {"model": self._model.name, "max_tokens": limit, "stream": True}
        if system := write_system(request.messages, cached=cached):
            body["system"] = system
        # Another question than the turn's own is no part of it.
        turn = self._turn if schema is None else RunningTurn()
        stable = request.stable if cached else 0
        body["messages"] = write_messages(request.messages, stable=stable, came=turn.find(request.messages))
        if self.capabilities.tools:
            body |= _offer(request, turn.tools) if form != "forced" or schema is None else _force(schema)
        if form == "format" and schema is not None:
            body["output_config"] = {"format": {"type": "json_schema", "schema": _close(schema.model_json_schema())}}
        if request.temperature is not None and not thinking:
            body["temperature"] = request.temperature
        return body | thinking

    def _limit(self, request: ModelRequest) -> int:
        limits = [limit for limit in (request.max_output, self._most_output) if limit is not None]
        return min(limits, default=DEFAULT_OUTPUT)

    def _thinking(self, request: ModelRequest, limit: int) -> JsonObject:
        """Return what asks for thinking; no budget in the middle of a turn whose first thoughts are not at hand."""
        share = THINKING_SHARES.get(request.effort)
        unasked = self._model.profile.thinking == "unasked"
        if not (share or unasked) or "thinking" in self._refused or not self._turn.thinks:
            return {}
        if self._adaptive:
            # Newer models decide themselves how much they think, and would keep it to themselves, with what they say
            # between their calls.
            thinking: JsonObject = {"thinking": {"type": "adaptive", "display": "summarized"}}
            return thinking | ({"output_config": {"effort": request.effort}} if share else {})
        if not share or not self._turn.begins_with_thoughts(request.messages):
            return {}
        budget = min(max(LEAST_THINKING, int(limit * share)), limit - LEAST_THINKING)
        return {"thinking": {"type": "enabled", "budget_tokens": budget}} if budget >= LEAST_THINKING else {}

    def _adapt(self, error: BadRequestError, body: JsonObject) -> bool:
        most = _MOST_OUTPUT.search(error.detail)
        if most and 0 < int(most.group(2)) < body["max_tokens"]:
            self._most_output = int(most.group(2))
            return True
        if _UNFIT_THOUGHTS.search(error.detail) and self._go_on_without_thoughts(body):
            return True
        sent = self._sent(body)
        # These are left out whatever is wrong with them, as with a temperature beside thoughts that nobody asked for.
        needless = {name: self._features[name] for name in ("temperature", *self._forms)}
        refused = find_refused(error, sent, features=self._features) or find_named(error, sent, features=needless)
        if refused == "thinking" and not self._adaptive:
            self._adaptive = True
            return True
        if refused == "thinking":
            # A server that does not know what asks for thoughts may not know them either.
            self._turn.forget()
        if refused == "tools":
            self._refused.add("forced")
        return self._leave_out(refused)

    def _go_on_without_thoughts(self, body: JsonObject) -> bool:
        """Give the thoughts of the turn back no more, then ask for none, and tell whether that changes the body."""
        if self._turn.forget():
            return True
        asked, self._turn.thinks = "thinking" in body, False
        return asked

    def _sent(self, body: JsonObject) -> set[str]:
        """Return the parts of a body that may be left out; tools that are not to be chosen are none of them."""
        sent = set(body) if "cache" in self._refused else {*body, "cache"}
        if "format" in body.get("output_config", {}):
            sent.add("format")
        choice = body.get("tool_choice", {}).get("type")
        if choice == "tool":
            return sent - {"tools", "tool_choice"} | {"forced"}
        return sent - {"tools"} if choice else sent


def _offer(request: ModelRequest, former: Sequence[ToolSchema]) -> JsonObject:
    """Return the tools that may be chosen; where there are none the `former` ones of the turn, which may not."""
    if request.tools:
        return {"tools": write_tools(request.tools)}
    # Calls in the messages are refused where no tools are named, and thoughts are signed for those of their turn.
    names = dict.fromkeys(write_name(call.name) for message in request.messages for call in message.calls)
    past = [ToolSchema(name, "Not available now.", {"type": "object"}) for name in names]
    tools = former or past
    return {"tools": write_tools(tools), "tool_choice": {"type": "none"}} if tools else {}


def _force(schema: type[BaseModel]) -> JsonObject:
    """Return the one tool that must be called with an object of the form."""
    tool = ToolSchema(schema.__name__, "Takes the answer.", schema.model_json_schema())
    choice = {"type": "tool", "name": tool.name, "disable_parallel_tool_use": True}
    return {"tools": write_tools([tool]), "tool_choice": choice}


def _close(schema: Any) -> Any:
    """Return a JSON schema whose objects allow no other properties, as the API demands."""
    if isinstance(schema, list):
        return [_close(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    closed = {key: _close(part) for key, part in schema.items()}
    return closed | {"additionalProperties": False} if schema.get("type") == "object" else closed
