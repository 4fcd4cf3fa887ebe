"""Asks what models there are: the embedded one, and those of each configured endpoint, with their windows."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass

from wisp_core.errors import WispError
from wisp_core.models.catalogue import EMBEDDED, open_backend, open_server
from wisp_core.settings import Settings

SHOWN_MODELS = 8


@dataclass(frozen=True, slots=True)
class Seen:
    """One model or endpoint by the name it is chosen by, in a sentence; `usable` tells that it can be asked."""

    name: str
    text: str
    usable: bool


async def survey(settings: Settings, environ: Mapping[str, str]) -> list[Seen]:
    """Ask everywhere at once; a server that is not there costs five seconds at most."""
    places = [_endpoint(place, settings, environ=environ) for place in settings.endpoints]
    return list(await asyncio.gather(_embedded(settings, environ), *places))


async def _embedded(settings: Settings, environ: Mapping[str, str]) -> Seen:
    try:
        backend = open_backend(EMBEDDED, settings, environ=environ)
    except WispError as error:
        return Seen(EMBEDDED, error.sentence(), usable=False)
    window = await backend.window()
    await backend.close()
    size = "of an unknown window" if window is None else f"window {window.tokens:,} tokens"
    return Seen(EMBEDDED, f"built in, {size}", usable=True)


async def _endpoint(place: str, settings: Settings, *, environ: Mapping[str, str]) -> Seen:
    # off the start-up path: they load httpx
    from wisp_core.models.transport import Transport  # see above
    from wisp_core.models.windows import look  # see above

    name = f"local/{place}"
    try:
        transport = Transport(open_server(place, settings, environ=environ))
        try:
            found = await look(transport, settings.endpoints[place].model)
        finally:
            await transport.close()
    except WispError as error:
        return Seen(name, error.sentence(), usable=False)
    configured = settings.endpoints[place].window
    window = configured or found.window
    size = f"window {window:,} tokens ({'config' if configured else 'server'})" if window else "window unknown"
    models = ", ".join(found.models[:SHOWN_MODELS]) or "it names no models"
    more = f" and {len(found.models) - SHOWN_MODELS} more" if len(found.models) > SHOWN_MODELS else ""
    return Seen(name, f"{settings.endpoints[place].url} answers, {size}: {models}{more}", usable=True)
