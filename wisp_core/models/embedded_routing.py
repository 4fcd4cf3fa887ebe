"""Asks llama.cpp which tool a request needs and with what arguments: text that goes on, bound by a grammar."""

from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any

from wisp_core.errors import ModelError
from wisp_core.models.backend import Server
from wisp_core.models.exchange import Exchange
from wisp_core.models.gbnf import write_arguments, write_choice
from wisp_core.models.routing import ANSWER, Route, is_repeated
from wisp_core.models.transport import Transport
from wisp_core.models.wire import Chunk, read_count
from wisp_core.records import JsonObject, Usage
from wisp_core.requests import (
    CallRequested,
    Finished,
    ModelEvent,
    ModelRequest,
    PromptProgress,
    TextDelta,
    UsageReported,
)

MOST_TOKENS = 256
"""How long an answer may be, in tokens; a call whose arguments are not whole by then is not made."""


class Router:
    """Routes requests by the completions of one llama.cpp server."""

    def __init__(self, server: Server) -> None:
        self._transport = Transport(server)
        self._root = server.root
        self._exchange = Exchange(self._transport, f"{server.root}/completion", lines=False, hint="")

    async def count(self, text: str) -> int | None:
        """Return the size of a prompt in tokens, None where the server does not tell."""
        try:
            answer = await self._transport.ask("POST", f"{self._root}/tokenize", body={"content": text})
        except ModelError:
            return None
        tokens = answer.get("tokens") if isinstance(answer, dict) else None
        return len(tokens) if isinstance(tokens, list) else None

    async def choose(self, route: Route, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        """Yield the progress of what is asked, the call where one is to be made, and the usage of all of it.

        Raises:
            ModelError: it could not be asked.
        """
        heard = _Heard()
        async with aclosing(self._ask(route.prompt, write_choice([*route.offered, ANSWER]), into=heard)) as progress:
            async for part in progress:
                yield part
        name = heard.text
        if name in route.offered:
            form = write_arguments(next(tool.parameters for tool in request.tools if tool.name == name))
            async with aclosing(self._ask(f"{route.prompt} {name}", form, into=heard)) as progress:
                async for part in progress:
                    yield part
            call = CallRequested(name, heard.text)
            if heard.whole and not is_repeated(request.messages, call):
                yield call
        if heard.usage is not None:
            yield UsageReported(heard.usage)

    async def _ask(self, prompt: str, grammar: str, *, into: "_Heard") -> AsyncGenerator[PromptProgress, None]:
        """Have the prompt gone on with, into `into`; yield how far it is read."""
        body: JsonObject = {"prompt": prompt, "grammar": grammar, "n_predict": MOST_TOKENS, "temperature": 0.0}
        body |= {"stream": True, "return_progress": True}
        said = ""
        async with aclosing(self._exchange.attempt(body, read_completion)) as events:
            async for event in events:
                if isinstance(event, TextDelta):
                    said += event.text
                elif isinstance(event, PromptProgress):
                    yield event
                elif isinstance(event, UsageReported):
                    into.usage = add_usage(into.usage, event.usage)
                elif isinstance(event, Finished):
                    into.whole = event.reason != "length"
        into.text = said.strip()

    async def close(self) -> None:
        """Close the connections."""
        await self._transport.close()


@dataclass(slots=True)
class _Heard:
    """What the latest answer said, whether it is `whole`, and the usage of all so far."""

    text: str = ""
    whole: bool = True
    usage: Usage | None = None


def read_completion(value: Any) -> Chunk:
    """Return what a chunk of a completion holds; whatever is of an unknown shape in it is passed over."""
    if not isinstance(value, dict):
        return Chunk()
    if value.get("error"):
        return Chunk(error=value)
    text, progress = value.get("content"), value.get("prompt_progress")
    told = progress if isinstance(progress, dict) else {}
    done, total = read_count(told.get("processed")), read_count(told.get("total"))
    ended = value.get("stop") is True
    return Chunk(
        text=text if isinstance(text, str) else "",
        progress=(done, total) if done is not None and total else None,
        usage=_usage(value) if ended else None,
        finish=("length" if value.get("stop_type") == "limit" else "stop") if ended else "",
    )


def _usage(value: JsonObject) -> Usage | None:
    prompt, written = read_count(value.get("tokens_evaluated")), read_count(value.get("tokens_predicted"))
    timings = value.get("timings")
    cached = read_count(timings.get("cache_n")) if isinstance(timings, dict) else None
    return Usage(prompt, written, prompt + (written or 0), cached) if prompt else None


def add_usage(one: Usage | None, other: Usage) -> Usage:
    """Return what two requests of one step took; of the prompts the larger, which is what fills the window."""
    if one is None:
        return other
    larger = max(one, other, key=lambda usage: usage.prompt or 0)
    completion, total = (one.completion or 0) + (other.completion or 0), (one.total or 0) + (other.total or 0)
    return Usage(larger.prompt, completion, total, larger.cached)
