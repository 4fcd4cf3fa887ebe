"""Asks what models there are: each with its size and window, wherever one is configured or found."""

import asyncio
from collections.abc import Awaitable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace

from wisp_core.errors import ModelError, WispError
from wisp_core.known_secrets import make_redaction
from wisp_core.models.backend import Server
from wisp_core.models.catalogue import (
    EMBEDDED,
    find,
    find_endpoint,
    find_ollama,
    known,
    open_backend,
    open_server,
)
from wisp_core.models.discover import Found, discover, find_keys
from wisp_core.models.ollama_wire import About, full_name, read_about, read_running
from wisp_core.requests import Window
from wisp_core.settings import Settings
from wisp_core.text import byte_size

SHOWN_MODELS = 8
"""How many models of a server its own line names."""
LISTED_MODELS = 100
"""How many models of a server have a line, and how many an Ollama is asked about."""
ASKED_AT_ONCE = 8
ASKING_SECONDS = 5.0
"""How long an Ollama may take to describe its models; what it told by then is shown."""
UNKNOWN = "–"


@dataclass(frozen=True, slots=True)
class Seen:
    """One model or endpoint by the name it is chosen by; `usable` tells that it can be asked.

    `about` says what the figures do not, or why it is not usable. `size` in bytes and `window` in tokens are None where
    nobody tells; `source` says who told the window.
    """

    name: str
    about: str
    usable: bool
    size: int | None = None
    window: int | None = None
    source: str = ""

    @property
    def sized(self) -> str:
        """Its size in a few cells."""
        return byte_size(self.size) if self.size else UNKNOWN

    @property
    def windowed(self) -> str:
        """Its window and who told it, in a few cells."""
        return f"{self.window:,} tokens ({self.source})" if self.window else UNKNOWN

    @property
    def text(self) -> str:
        """All of it but the name, in a line."""
        window = f"window {self.windowed}" if self.window else "window unknown" if self.usable else ""
        return ", ".join(part for part in (self.sized if self.size else "", window, self.about) if part)


@dataclass(slots=True)
class _Told:
    """What an Ollama says of its models, by name; `loaded` are the windows in memory, in tokens."""

    about: dict[str, About] = field(default_factory=dict)
    loaded: dict[str, int] = field(default_factory=dict)


async def survey(settings: Settings, environ: Mapping[str, str]) -> list[Seen]:
    """Ask everywhere at once; a server that is not there costs five seconds, one that is slow a few times that.

    What is not configured is looked for as at a start, and not where `discovery.seconds` is 0. No secret is in it,
    whatever the servers say.
    """
    asked: list[Awaitable[list[Seen]]] = [_embedded(settings, environ)]
    asked += [_endpoint(place, settings, environ=environ) for place in settings.endpoints]
    seconds = settings.discovery.seconds
    found = await discover(environ, limit=seconds, keys={}) if seconds else []
    asked += [_found(place, settings, environ=environ) for place in found]
    seen = [each for several in await asyncio.gather(*asked) for each in several]
    for place in find_keys(environ):
        seen += _catalogued(place.provider, place.why, settings=settings)
    hidden = make_redaction(settings, environ)
    return [replace(each, name=hidden.text(each.name), about=hidden.text(each.about)) for each in seen]


async def _embedded(settings: Settings, environ: Mapping[str, str]) -> list[Seen]:
    try:
        backend = open_backend(EMBEDDED, settings, environ=environ)
    except WispError as error:
        return [Seen(EMBEDDED, error.sentence(), usable=False)]
    window = await backend.window()
    await backend.close()
    return [_windowed(Seen(EMBEDDED, "built in", usable=True), window)]


async def _found(place: Found, settings: Settings, *, environ: Mapping[str, str]) -> list[Seen]:
    if not place.url:
        return [Seen(place.provider, place.why, usable=False)]
    if place.provider == "ollama":
        return await _ollama("ollama", find_ollama(settings, environ), settings=settings, why=place.why)
    name = place.provider.partition("/")[2]
    return [] if name in settings.endpoints else await _endpoint(name, settings, environ=environ)


async def _ollama(
    name: str, server: Server, *, settings: Settings, why: str = "", given: int | None = None
) -> list[Seen]:
    from wisp_core.models.ollama_pull import list_models  # off the start-up path: it loads httpx

    try:
        models = await list_models(server)
    except WispError as error:
        return [Seen(name, error.sentence(), usable=False)]
    told = await _describe(server, [model.name for model in models if model.chats])
    seen = []
    for model in models:
        kind = " ".join(part for part in (model.parameters, model.quantization) if part)
        about = told.about.get(model.name, About())
        chats = model.chats and (about.can is None or "completion" in about.can)
        line = Seen(f"{name}/{model.name}", kind or "runs elsewhere", usable=chats, size=model.size or None)
        tokens = told.loaded.get(full_name(model.name)) or about.context
        seen.append(_fit(line, tokens, given=given, settings=settings))
    return seen or [Seen(name, why or f"{server.shown} answers, but it has no model", usable=False)]


async def _describe(server: Server, names: Sequence[str]) -> _Told:
    """Return what an Ollama says of its models without loading one, as far as it does in time."""
    from wisp_core.models.transport import Transport  # off the start-up path: it loads httpx

    told, gate, transport = _Told(), asyncio.Semaphore(ASKED_AT_ONCE), Transport(server)
    root = server.root.removesuffix("/api")

    async def describe(name: str) -> None:
        async with gate:
            with suppress(ModelError):
                told.about[name] = read_about(await transport.ask("POST", f"{root}/api/show", body={"model": name}))

    async def see_loaded() -> None:
        with suppress(ModelError):
            running = read_running(await transport.ask("GET", f"{root}/api/ps"))
            told.loaded.update({full_name(each.name): each.context for each in running})

    try:
        async with asyncio.timeout(ASKING_SECONDS):
            await asyncio.gather(see_loaded(), *map(describe, names[:LISTED_MODELS]))
    except TimeoutError:
        pass  # the rest is unknown
    finally:
        await transport.close()
    return told


async def _endpoint(place: str, settings: Settings, *, environ: Mapping[str, str]) -> list[Seen]:
    # off the start-up path: they load httpx
    from wisp_core.models.transport import Transport  # see above
    from wisp_core.models.windows import look  # see above

    name, endpoint = f"local/{place}", find_endpoint(place, settings)
    try:
        server = open_server(place, settings, environ=environ)
        if endpoint.api == "ollama":
            return await _ollama(name, server, settings=settings, given=endpoint.window)
        if endpoint.api == "anthropic":
            line = Seen(name, f"{server.shown}, which speaks Anthropic's API", usable=True)
            return [_fit(line, None, given=endpoint.window, settings=settings)]
        transport = Transport(server)
        try:
            found = await look(transport, endpoint.model)
        finally:
            await transport.close()
    except WispError as error:
        return [Seen(name, error.sentence(), usable=False)]
    if found.refused:
        return [Seen(name, found.refused, usable=False)]
    models = ", ".join(found.models[:SHOWN_MODELS]) or "it names no models"
    more = f" and {len(found.models) - SHOWN_MODELS} more" if len(found.models) > SHOWN_MODELS else ""
    # Its url may hold a name and a password, which are shown to nobody.
    first = Seen(name, f"{server.shown} answers: {models}{more}", usable=True)
    lines = [(first, found.window)]
    if len(found.models) > 1:
        lines += [
            (Seen(f"{name}/{model}", "", usable=True), found.windows.get(model))
            for model in found.models[:LISTED_MODELS]
        ]
    return [_fit(line, tokens, given=endpoint.window, settings=settings) for line, tokens in lines]


def _fit(line: Seen, tokens: int | None, *, given: int | None, settings: Settings) -> Seen:
    """Return a server's model with its window: the config's for the model or its server, else what the server told."""
    configured = find(line.name, settings).get("window") or given
    return _windowed(line, Window(configured, "config") if configured else Window(tokens, "server") if tokens else None)


def _windowed(line: Seen, window: Window | None) -> Seen:
    return line if window is None else replace(line, window=window.tokens, source=window.source)


def _catalogued(provider: str, why: str, *, settings: Settings) -> list[Seen]:
    """Return what catalogue and config know of a provider whose key is there; the provider itself is not asked."""
    seen = []
    for name in dict.fromkeys([*known(), *settings.models]):
        if name.startswith(f"{provider}/"):
            given = name in settings.models and settings.models[name].window is not None
            window, source = find(name, settings).get("window"), "config" if given else "catalogue"
            seen.append(Seen(name, why, usable=True, window=window, source=source if window else ""))
    return seen
