"""One model on a server that tells of itself what it likes: its name, and its window as far as anybody knows it."""

from contextlib import suppress

from wisp_core.errors import ModelError
from wisp_core.models.backend import Server
from wisp_core.models.profile import Profile
from wisp_core.models.transport import Transport
from wisp_core.models.windows import Found, look, lower
from wisp_core.requests import Window


class ServerModel:
    """The model `name`, None for the server's first."""

    def __init__(self, server: Server, name: str | None, *, profile: Profile) -> None:
        self.profile = profile
        self.transport = Transport(server)
        self._name = name
        self._found: Found | None = None
        self._learnt: Window | None = None

    @property
    def name(self) -> str:
        """The server's name of the model."""
        return self._name or (self._found.models[0] if self._found is not None and self._found.models else "default")

    @property
    def tools(self) -> bool:
        """Whether it is known to take tools, or not known not to."""
        return self.profile.tools

    @property
    def llama(self) -> bool:
        """Whether the server is llama.cpp's."""
        return self._found is not None and self._found.llama

    @property
    def loads(self) -> bool:
        """Whether the server may load the model without a word: nobody hosts it, and llama.cpp's would say so."""
        return self.profile.probes and not self.llama

    @property
    def thinks(self) -> bool:
        """Whether it is known to think before it answers, also unasked: those do that take an effort."""
        return self.profile.effort

    @property
    def window(self) -> Window | None:
        """The window as far as it is known: config, then server, then catalogue, each lowered by what was learnt."""
        if self._learnt is not None:
            return self._learnt
        if self.profile.window is not None:
            return Window(self.profile.window, "config")
        if self._found is not None and self._found.window is not None:
            return Window(self._found.window, "server")
        return Window(self.profile.catalogued, "catalogue") if self.profile.catalogued is not None else None

    async def find_window(self) -> Window | None:
        """Return the window; the server is asked unless the config gives it."""
        if self.profile.window is None:
            with suppress(ModelError):
                await self.look()
        return self.window

    async def look(self) -> None:
        """Ask a server that may be asked about itself for its models and its window.

        Raises:
            UnreachableError: there is no server.
            ModelTimeoutError: it does not answer such questions now.
        """
        if self.profile.probes and (self._found is None or not self._found.sure):
            self._found = await look(self.transport, self._name)

    def learn(self, limit: int | None) -> None:
        """Lower the window to the limit that a refusal stated, in tokens."""
        self._learnt = lower(self.window, limit)
