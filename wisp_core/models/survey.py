"""Asks what models there are: each with its size and window, wherever one is configured or found."""

import asyncio
from collections.abc import Awaitable, Mapping
from dataclasses import dataclass

from wisp_core.errors import WispError
from wisp_core.models.backend import Server
from wisp_core.models.catalogue import EMBEDDED, find, find_endpoint, known, open_backend, open_server
from wisp_core.models.discover import Found, discover, find_keys, ollama_url
from wisp_core.settings import Settings
from wisp_core.text import byte_size

SHOWN_MODELS = 8


@dataclass(frozen=True, slots=True)
class Seen:
    """One model or endpoint by the name it is chosen by, in a sentence; `usable` tells that it can be asked.

    `size` in bytes and `window` in tokens are None where nobody tells.
    """

    name: str
    text: str
    usable: bool
    size: int | None = None
    window: int | None = None


async def survey(settings: Settings, environ: Mapping[str, str]) -> list[Seen]:
    """Ask everywhere at once; a server that is not there costs five seconds at most.

    What is not configured is looked for as at a start, and not where `discovery.seconds` is 0.
    """
    asked: list[Awaitable[list[Seen]]] = [_embedded(settings, environ)]
    asked += [_endpoint(place, settings, environ=environ) for place in settings.endpoints]
    found = await discover(environ, limit=settings.discovery.seconds) if settings.discovery.seconds else []
    asked += [_found(place, settings, environ=environ) for place in found if place.url]
    seen = [each for several in await asyncio.gather(*asked) for each in several]
    return seen + [
        each for place in find_keys(environ) for each in _catalogued(place.provider, place.why, settings=settings)
    ]


async def _embedded(settings: Settings, environ: Mapping[str, str]) -> list[Seen]:
    try:
        backend = open_backend(EMBEDDED, settings, environ=environ)
    except WispError as error:
        return [Seen(EMBEDDED, error.sentence(), usable=False)]
    window = await backend.window()
    await backend.close()
    size = "of an unknown window" if window is None else f"window {window.tokens:,} tokens"
    return [Seen(EMBEDDED, f"built in, {size}", usable=True, window=window.tokens if window else None)]


async def _found(place: Found, settings: Settings, *, environ: Mapping[str, str]) -> list[Seen]:
    if place.provider == "ollama":
        return await _ollama("ollama", Server(place.url, timeouts=settings.timeouts), why=place.why)
    name = place.provider.partition("/")[2]
    return [] if name in settings.endpoints else await _endpoint(name, settings, environ=environ)


async def _ollama(name: str, server: Server, *, why: str = "") -> list[Seen]:
    from wisp_core.models.ollama_pull import list_models  # off the start-up path: it loads httpx

    try:
        models = await list_models(server)
    except WispError as error:
        return [Seen(name, error.sentence(), usable=False)]
    seen = []
    for model in models:
        kind = " ".join(part for part in (model.parameters, model.quantization) if part)
        told = ", ".join(part for part in (byte_size(model.size) if model.size else "elsewhere", kind) if part)
        seen.append(Seen(f"{name}/{model.name}", told, usable=model.chats, size=model.size or None))
    return seen or [Seen(name, why or f"{server.shown} answers, but it has no model", usable=False)]


async def _endpoint(place: str, settings: Settings, *, environ: Mapping[str, str]) -> list[Seen]:
    # off the start-up path: they load httpx
    from wisp_core.models.transport import Transport  # see above
    from wisp_core.models.windows import look  # see above

    name, endpoint = f"local/{place}", find_endpoint(place, settings)
    try:
        server = open_server(place, settings, environ=environ)
        if endpoint.api == "ollama":
            return await _ollama(name, server)
        if endpoint.api == "anthropic":
            return [Seen(name, f"{server.shown}, which speaks Anthropic's API", usable=True, window=endpoint.window)]
        transport = Transport(server)
        try:
            found = await look(transport, endpoint.model)
        finally:
            await transport.close()
    except WispError as error:
        return [Seen(name, error.sentence(), usable=False)]
    window = endpoint.window or found.window
    size = f"window {window:,} tokens ({'config' if endpoint.window else 'server'})" if window else "window unknown"
    models = ", ".join(found.models[:SHOWN_MODELS]) or "it names no models"
    more = f" and {len(found.models) - SHOWN_MODELS} more" if len(found.models) > SHOWN_MODELS else ""
    # Its url may hold a name and a password, which are shown to nobody.
    return [Seen(name, f"{server.shown} answers, {size}: {models}{more}", usable=True, window=window)]


def _catalogued(provider: str, why: str, *, settings: Settings) -> list[Seen]:
    """Return what catalogue and config know of a provider whose key is there; the provider itself is not asked."""
    names = dict.fromkeys([*known(), *settings.models])
    seen = []
    for name in names:
        if name.startswith(f"{provider}/"):
            window = find(name, settings).get("window")
            size = f"window {window:,} tokens" if window else "window unknown"
            seen.append(Seen(name, f"{size} (catalogue); {why}", usable=True, window=window))
    return seen


def ollama_server(settings: Settings, environ: Mapping[str, str], *, place: str = "") -> Server:
    """Return the Ollama that models are pulled to: the endpoint `place`, else the one that `OLLAMA_HOST` names.

    Raises:
        WispError: it names none.
    """
    if place:
        return open_server(place, settings, environ=environ)
    return Server(ollama_url(environ), timeouts=settings.timeouts)
