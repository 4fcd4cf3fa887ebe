"""Finds a server's window in what it says of itself, and learns it from its refusals."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import httpx

from wisp_core.errors import ModelError, ModelTimeoutError, NoModelError, OverloadedError, UnreachableError
from wisp_core.models.transport import Transport
from wisp_core.models.wire import LEAST_WINDOW, read_count
from wisp_core.records import JsonObject
from wisp_core.requests import Window

_KEYS = ("max_model_len", "loaded_context_length", "context_length", "context_window", "max_context_length", "n_ctx")


@dataclass(frozen=True, slots=True)
class Found:
    """What a server says of itself: its models, its window in tokens, whether it is a llama.cpp server.

    `windows` has that of each model of which it tells one. `sure` tells that it is worth no second question; a server
    that is still loading is asked again. `refused` is the sentence by which it refused to tell anything.
    """

    models: tuple[str, ...] = ()
    window: int | None = None
    llama: bool = False
    sure: bool = True
    windows: Mapping[str, int] = field(default_factory=dict)
    refused: str = ""


async def look(transport: Transport, model: str | None) -> Found:
    """Ask the server for its models and its window: `/v1/models`, llama.cpp's `/props`, LM Studio's `/api/v0/models`.

    Raises:
        UnreachableError: there is no server.
        ModelTimeoutError: it does not answer such questions now.
    """
    server = transport.server
    refusals: list[ModelError] = []
    entries = _entries(await _try(transport, f"{server.url}/models", refusals=refusals))
    models = tuple(entry["id"] for entry in entries if isinstance(entry.get("id"), str) and entry["id"])
    listed = entries
    entry = _entry(entries, model)
    props = await _try(transport, f"{server.root}/props", refusals=refusals)
    generation = props.get("default_generation_settings") if isinstance(props, dict) else None
    window = _believed(generation.get("n_ctx")) if isinstance(generation, dict) else None
    llama = isinstance(generation, dict)
    window = window or _window_of(entry)
    if window is None and not llama:
        listed = _entries(await _try(transport, f"{server.root}/api/v0/models", refusals=refusals))
        window = _window_of(_entry(listed, model))
    windows = {name: tokens for name in models if (tokens := _window_of(_named(listed, name)))}
    told = models or llama or window is not None
    refused = "" if told or not refusals else refusals[0].sentence()
    busy = any(isinstance(error, OverloadedError) for error in refusals)
    return Found(models, window, llama, sure=not busy, windows=windows, refused=refused)


def lower(known: Window | None, limit: int | None) -> Window | None:
    """Return the window after a refusal that states `limit`: never a larger one, and none under 512 tokens."""
    if limit is None or limit < LEAST_WINDOW or (known is not None and limit >= known.tokens):
        return known
    return Window(limit, "error")


async def _try(transport: Transport, url: str, *, refusals: list[ModelError]) -> Any:
    try:
        return await transport.ask("GET", url)
    except ModelTimeoutError:
        raise
    except UnreachableError as error:
        # Only where nothing listens: some servers hang up on a path that they do not know.
        if isinstance(error.__cause__, httpx.ConnectError | httpx.ConnectTimeout):
            raise
    except NoModelError:
        pass  # it does not know the question
    except ModelError as error:
        refusals.append(error)
    return None


def _entries(value: Any) -> list[JsonObject]:
    data = value.get("data") if isinstance(value, dict) else None
    return [entry for entry in data if isinstance(entry, dict)] if isinstance(data, list) else []


def _entry(entries: list[JsonObject], model: str | None) -> JsonObject:
    named = _named(entries, model) if model is not None else {}
    # A server with one model answers to any name.
    return named or (entries[0] if entries and (model is None or len(entries) == 1) else {})


def _named(entries: list[JsonObject], model: str) -> JsonObject:
    return next((entry for entry in entries if entry.get("id") == model), {})


def _window_of(entry: JsonObject) -> int | None:
    meta = entry.get("meta")
    places = [entry, meta] if isinstance(meta, dict) else [entry]
    return next((window for place in places for key in _KEYS if (window := _believed(place.get(key)))), None)


def _believed(value: Any) -> int | None:
    tokens = read_count(value)
    return tokens if tokens is not None and tokens >= LEAST_WINDOW else None
