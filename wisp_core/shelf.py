"""The models of this machine and of its providers, for the faces: listed, pulled, and given their keys."""

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from wisp_core.errors import UsageError
from wisp_core.models.catalogue import PROVIDERS, parse_model
from wisp_core.models.keys import keep_key, with_keys
from wisp_core.models.survey import Seen, ollama_server, survey
from wisp_core.settings import Settings
from wisp_core.text import byte_size


@dataclass(frozen=True, slots=True)
class Pulling:
    """How far a pull is, in words, and in bytes where they are known; `total` is 0 where they are not."""

    text: str
    done: int = 0
    total: int = 0


async def list_shelf(home: Path, settings: Settings) -> list[Seen]:
    """Return every model that can be run, and every place of models that cannot, which says why."""
    environ, _ = await with_keys(home, os.environ)
    return await survey(settings, environ)


async def pull_model(name: str, settings: Settings, *, home: Path, tell: Callable[[Pulling], None]) -> str:
    """Get a model, telling how far it is, and return the name to choose it by; cancelling stops it.

    `name` is a name of Ollama's, `ollama/NAME`, `local/ENDPOINT/NAME` of an Ollama in the config, or `embedded`.

    Raises:
        WispError: it could not be had whole.
    """
    if name in ("embedded", "embedded/smollm2-135m"):
        from wisp_core.models.embedded_pull import pull_embedded  # off the start-up path: it loads httpx

        return await pull_embedded(home, lambda done, total: tell(Pulling("the embedded model", done, total)))
    from wisp_core.models.ollama_pull import PullProgress, pull  # off the start-up path: it loads httpx

    place, model = "", name.removeprefix("ollama/")
    if name.startswith("local/"):
        parsed = parse_model(name)
        place, model = parsed.place, parsed.model
        endpoint = settings.endpoints.get(place)
        if endpoint is None or endpoint.api != "ollama":
            raise UsageError(f"`{place}` is no Ollama in the config", 'give its endpoint "api": "ollama"')
    if not model or not model.isprintable():
        raise UsageError("no model is named", "as in `wisp models pull granite4.1:8b`")
    environ, _ = await with_keys(home, os.environ)

    def heard(progress: PullProgress) -> None:
        tell(Pulling(progress.status, progress.completed, progress.total))

    await pull(ollama_server(settings, environ, place=place), model, progress=heard)
    return f"local/{place}/{model}" if place else f"ollama/{model}"


def key_variable(provider: str, settings: Settings) -> str:
    """Return the variable that holds the key of a provider or of an endpoint of the config.

    Raises:
        UsageError: there is no such provider, or it needs no key.
    """
    name = provider.removeprefix("local/")
    if provider in PROVIDERS:
        return PROVIDERS[provider].variable
    endpoint = settings.endpoints.get(name)
    if endpoint is not None and endpoint.key_env:
        return endpoint.key_env
    if endpoint is not None:
        raise UsageError(f"endpoints.{name} names no key", f"name a variable in endpoints.{name}.key_env first")
    raise UsageError(
        f"no provider is called `{provider}`", f"it is one of {', '.join([*PROVIDERS, *settings.endpoints])}"
    )


async def keep(provider: str, key: str, *, settings: Settings, home: Path) -> str:
    """Keep a provider's key in the system's keyring and return the variable that it stands for.

    Raises:
        WispError: there is no such provider, no keyring, or it is no key.
    """
    variable = key_variable(provider, settings)
    await keep_key(home, variable, key=key)
    return variable


def tell_progress(progress: Pulling) -> str:
    """Return how far a pull is, as one line."""
    if not progress.total:
        return progress.text
    share = min(100, progress.done * 100 // progress.total)
    return f"{progress.text} {share} %, {byte_size(progress.done)} of {byte_size(progress.total)}"
