"""The models of this machine and of its providers, for the faces: listed, pulled, and given their keys."""

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from wisp_core.errors import UsageError
from wisp_core.models.catalogue import EMBEDDED, PROVIDERS, find_ollama, open_server, parse_model
from wisp_core.models.keys import keep_key, with_keys
from wisp_core.models.ollama_address import OLLAMA_KEY
from wisp_core.models.survey import Seen, survey
from wisp_core.settings import Settings
from wisp_core.text import byte_size


@dataclass(frozen=True, slots=True)
class Pulling:
    """How far a pull is: what is done now, and bytes where they are known; `total` is 0 where they are not."""

    text: str
    done: int = 0
    total: int = 0

    @property
    def line(self) -> str:
        """All of it in one line."""
        if not self.total:
            return self.text
        share = min(100, self.done * 100 // self.total)
        return f"{self.text} {share} %, {byte_size(self.done)} of {byte_size(self.total)}"


class Shelf:
    """What there is under the settings of a home."""

    def __init__(self, home: Path, settings: Settings) -> None:
        self._home = home
        self._settings = settings

    async def list(self) -> list[Seen]:
        """Return every model that can be run, and every place of models that cannot, which says why."""
        environ, _ = await with_keys(self._home, os.environ)
        return await survey(self._settings, environ)

    async def pull(self, name: str, tell: Callable[[Pulling], None]) -> str:
        """Get a model, telling how far it is, and return the name to choose it by; cancelling stops it.

        `name` is a name of Ollama's, `ollama/NAME`, `local/ENDPOINT/NAME` of an Ollama in the config, or `embedded`.

        Raises:
            WispError: it could not be had whole.
        """
        name = name.strip()
        if name in ("embedded", EMBEDDED):
            from wisp_core.models.embedded_pull import pull_embedded  # off the start-up path: it loads httpx

            return await pull_embedded(
                self._home, lambda done, total: tell(Pulling("getting the embedded model", done, total))
            )
        from wisp_core.models.ollama_pull import PullProgress, pull  # off the start-up path: it loads httpx

        def heard(progress: PullProgress) -> None:
            tell(Pulling(progress.status, progress.completed, progress.total))

        place, model = self._place(name)
        environ, _ = await with_keys(self._home, os.environ)
        settings = self._settings
        server = open_server(place, settings, environ=environ) if place else find_ollama(settings, environ)
        await pull(server, model, progress=heard)
        return f"local/{place}/{model}" if place else f"ollama/{model}"

    async def keep(self, provider: str, key: str) -> str:
        """Keep a provider's key in the system's keyring and return the variable that it stands for.

        Raises:
            WispError: there is no such provider, no keyring, or it is no key.
        """
        variable = self.key_variable(provider)
        await keep_key(self._home, variable, key=key)
        return variable

    def key_variable(self, provider: str) -> str:
        """Return the variable that holds the key of a provider or of an endpoint of the config.

        Raises:
            UsageError: there is no such provider, or it needs no key.
        """
        name, endpoints = provider.removeprefix("local/"), self._settings.endpoints
        if provider in PROVIDERS:
            return PROVIDERS[provider].variable
        if provider == "ollama":
            return OLLAMA_KEY
        if name not in endpoints:
            known = ", ".join([*PROVIDERS, "ollama", *endpoints])
            raise UsageError(f"no provider is called `{provider}`", f"it is one of {known}")
        variable = endpoints[name].key_env
        if not variable:
            raise UsageError(f"endpoints.{name} names no key", f"name a variable in endpoints.{name}.key_env first")
        return variable

    def _place(self, name: str) -> tuple[str, str]:
        """Return the endpoint, "" for the one that is found by itself, and the model's name there."""
        place, model = "", name.removeprefix("ollama/")
        if name.startswith("local/"):
            parsed = parse_model(name)
            place, model = parsed.place, parsed.model
            endpoint = self._settings.endpoints.get(place)
            if endpoint is None or endpoint.api != "ollama":
                raise UsageError(f"`{place}` is no Ollama in the config", 'give its endpoint "api": "ollama"')
        if not model or not model.isprintable():
            raise UsageError("no model is named", "as in `wisp models pull granite4.1:8b`")
        return place, model
