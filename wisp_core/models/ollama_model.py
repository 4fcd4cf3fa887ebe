"""One model on an Ollama: what it is, whether it is loaded, and the window that it is asked for and given."""

import asyncio
from contextlib import aclosing
from dataclasses import dataclass, replace
from typing import Any

from wisp_core.errors import AuthenticationError, BadRequestError, ModelError, NoModelError, OverloadedError
from wisp_core.models.backend import Server
from wisp_core.models.ollama_window import free_memory, size_window
from wisp_core.models.ollama_wire import About, Running, full_name, read_about, read_models, read_running
from wisp_core.models.transport import Deadline, Transport, is_loopback
from wisp_core.models.windows import lower
from wisp_core.records import JsonObject
from wisp_core.requests import Window


@dataclass(frozen=True, slots=True)
class OllamaProfile:
    """What is wanted of a model: its `window` in tokens, how long it stays loaded (`keep_alive`, such as `30m`).

    What is not given is left to the server and to what the memory allows. A `hosted` one runs at Ollama's own service.
    """

    window: int | None = None
    keep_alive: str | None = None
    hosted: bool = False


class OllamaModel:
    """The model `name`, None for the latest; its window never rises, so the server never loads it anew for that."""

    def __init__(self, server: Server, name: str | None, *, profile: OllamaProfile) -> None:
        self.name = name
        self.url = server.root.removesuffix("/api")
        self.about = About()
        self.transport = Transport(server)
        self._shown = server.shown
        self._profile = profile
        self._known = False
        self._asked: Window | None = None
        self._allocated: int | None = None
        self._learnt: Window | None = None
        self._tells = True
        self._looking = asyncio.Lock()
        self._loading = asyncio.Lock()

    @property
    def window(self) -> Window:
        """The window: what was asked for, the smaller one that was allocated, or the smaller one that was learnt."""
        window = self._asked or self._size(None, model_bytes=0)
        if self._allocated is not None and self._allocated < window.tokens:
            window = Window(self._allocated, f"server, which allocates less than the {window.tokens:,} asked for")
        learnt = self._learnt
        return learnt if learnt is not None and learnt.tokens < window.tokens else window

    @property
    def tools(self) -> bool:
        """Whether it takes tools; a server that does not say so refuses them."""
        return self.about.can is None or "tools" in self.about.can

    @property
    def loads(self) -> bool:
        """Whether it may be loaded without a word: never, since the server is asked before."""
        return False

    @property
    def thinks(self) -> bool:
        """Whether it thinks unasked: never, since it is told whether to."""
        return False

    async def find_window(self) -> Window | None:
        """Return the window: config, else what is allocated now, else sized; without a server the config's or None."""
        try:
            await self.look()
        except ModelError:
            return Window(self._profile.window, "config") if self._profile.window is not None else None
        return self.window

    def learn(self, limit: int | None) -> None:
        """Lower the window to the limit that a refusal stated, in tokens."""
        self._learnt = lower(self.window, limit)

    def start(self) -> JsonObject:
        """Return what every request carries: the same each time, or the server would load the model anew."""
        body: JsonObject = {"model": self.name or "", "truncate": False, "shift": False}
        body["options"] = {"num_ctx": self.window.tokens}
        if self._profile.keep_alive is not None:
            body["keep_alive"] = self._profile.keep_alive
        return body

    async def look(self) -> None:
        """Learn what the model is; the window asked for is the config's, else what is allocated now, else sized.

        Raises:
            ModelError: the server cannot be reached or does not answer now, or there is no model to choose.
        """
        async with self._looking:
            if self._known:
                return
            models = read_models(await self._ask("GET", "/api/tags", needed=self.name is None))
            if self.name is None:
                self.name = next((model.name for model in models if model.chats), None)
            if self.name is None:
                raise NoModelError(f"{self._shown} has no model", "get one with `wisp models pull NAME`")
            said = await self._ask("POST", "/api/show", body={"model": self.name})
            about = read_about(said)
            self.about = replace(about, remote=about.remote or self._profile.hosted)
            running = None if self.about.remote else await self._running()
            size = next((model.size for model in models if full_name(model.name) == full_name(self.name)), 0)
            self._asked = self._size(running, model_bytes=size)
            # A model that is not there yet may be pulled.
            self._known = said is not None

    async def must_load(self) -> bool:
        """Tell whether the server has to load the model before it can answer, as far as it tells.

        Raises:
            ModelError: the server cannot be reached or does not answer now.
        """
        if not self._tells or self.about.remote:
            return False
        running = await self._running()
        return running is None or 0 < running.context < self.window.tokens

    async def load(self) -> None:
        """Let the server load the model, and see what it allocates; cancelling closes the connection.

        Raises:
            ModelError: it cannot be loaded.
        """
        async with self._loading:
            if not await self.must_load():
                return
            asked = self.window.tokens
            deadline = Deadline(self.transport.server.timeouts.first_token)
            try:
                async with (
                    self.transport.post(
                        f"{self.url}/api/generate", self.start() | {"stream": False}, deadline=deadline
                    ) as response,
                    aclosing(self.transport.chunks(response, deadline)) as chunks,
                ):
                    async for _ in chunks:
                        pass
            except (NoModelError, BadRequestError):
                return  # the request itself will tell what is wrong
            running = await self._running()
            self._tells = running is not None
            if running is not None and 0 < running.context < asked:
                self._allocated = running.context

    def _size(self, running: Running | None, *, model_bytes: int) -> Window:
        if self._profile.window is not None:
            return Window(self._profile.window, "config")
        if running is not None and running.context:
            return Window(running.context, "server")
        free = free_memory() if is_loopback(self.url) else None
        return size_window(self.about, model_bytes=model_bytes, free_bytes=free)

    async def _running(self) -> Running | None:
        models = read_running(await self._ask("GET", "/api/ps"))
        wanted = full_name(self.name or "")
        return next((model for model in models if full_name(model.name) == wanted), None)

    async def _ask(self, method: str, path: str, *, body: JsonObject | None = None, needed: bool = False) -> Any:
        """Return what a question about the server gets, None where it does not know it or does not answer it now.

        Raises:
            AuthenticationError: it does not answer that with this key, and the answer is `needed`.
        """
        try:
            return await self.transport.ask(method, f"{self.url}{path}", body=body)
        except (NoModelError, BadRequestError, OverloadedError):
            return None
        except AuthenticationError:
            # It may answer the request itself all the same.
            if needed:
                raise
            return None
