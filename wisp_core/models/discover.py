"""Finds the models that are there without being configured: servers on this machine, then keys in the environment.

It speaks HTTP/1.0 by itself: no client has to be loaded before the first input, no proxy is asked for this machine, no
redirect is followed, and what answers on these ports may be anything: it is read up to a bound, and believed only in
the shape that is looked for.
"""

import asyncio
import base64
import json
import re
import ssl
from collections.abc import Awaitable, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote, urlsplit

from wisp_core.errors import SettingsError
from wisp_core.models.ollama_address import OLLAMA_HOSTED, OLLAMA_KEY, ollama_key, ollama_url
from wisp_core.models.ollama_wire import full_name, read_models, read_running
from wisp_core.settings import Endpoint
from wisp_core.text import decode, sound

MAX_ANSWER_BYTES = 512 * 1024
MAX_MODELS = 200

KEYS = {"anthropic": "ANTHROPIC_API_KEY", "openai": "OPENAI_API_KEY"}
"""The variable that holds the key of each provider, in the order in which they are chosen."""
WELL_KNOWN = {
    "llama-server": Endpoint(url="http://127.0.0.1:8080/v1"),
    "lm-studio": Endpoint(url="http://127.0.0.1:1234/v1"),
}
"""The endpoints that need not be configured, as `local/NAME`."""


@dataclass(frozen=True, slots=True)
class Found:
    """A provider that can be used: `names` of its models as they are chosen, the best first, and `why` it is there.

    `names` is empty where there is none yet, where it did not answer in time, as `why` then says, or where only the
    catalogue knows the provider's models. `url` is empty for one that is known by its key, or has no address.
    """

    provider: str
    names: tuple[str, ...]
    why: str
    url: str = ""


async def discover(
    environ: Mapping[str, str],
    *,
    limit: float,
    places: Mapping[str, Endpoint] = WELL_KNOWN,
    keys: Mapping[str, str] = KEYS,
    hosted: str = OLLAMA_HOSTED,
) -> list[Found]:
    """Return what is there, the first to be chosen first; it never raises.

    Servers are given at most `limit` seconds in all, and are not asked where that is 0. One that did not answer in
    that time is told of too: the person may be waiting for it.
    """
    if limit <= 0:
        return find_keys(environ, keys)
    looks = [
        _look_ollama(environ, limit=limit, hosted=hosted),
        *(_look_local(name, places[name].url, limit=limit) for name in places),
    ]
    found = [found for found in await asyncio.gather(*looks) if found is not None]
    unused = environ.get(OLLAMA_KEY, "").strip() and not any(place.provider == "ollama" for place in found)
    hint = [Found("ollama", (), f"{OLLAMA_KEY} is set, which is used with OLLAMA_HOST={OLLAMA_HOSTED}")]
    return found + find_keys(environ, keys) + (hint if unused else [])


def find_keys(environ: Mapping[str, str], keys: Mapping[str, str] = KEYS) -> list[Found]:
    """Return the providers whose key is in the environment."""
    named = ((provider, variable) for provider, variable in keys.items() if environ.get(variable, "").strip())
    return [Found(provider, (), f"{variable} is set") for provider, variable in named]


async def _in_time(limit: float, look: Awaitable[Found | None], *, late: Found) -> Found | None:
    try:
        async with asyncio.timeout(limit):
            return await look
    except TimeoutError:
        return late


async def _look_ollama(environ: Mapping[str, str], *, limit: float, hosted: str) -> Found | None:
    try:
        url = ollama_url(environ)
    except SettingsError as error:
        return Found("ollama", (), error.message)
    late = Found("ollama", (), f"{_bare(url)} did not answer within {limit:g} s", url)
    named, key = bool(environ.get("OLLAMA_HOST", "").strip()), ollama_key(url, environ, hosted=hosted)
    return await _in_time(limit, _ask_ollama(url, key, named=named), late=late)


async def _ask_ollama(url: str, key: str, *, named: bool) -> Found | None:
    tags, running = await asyncio.gather(_get(f"{url}/api/tags", key), _get(f"{url}/api/ps", key))
    if not isinstance(tags, dict) or not isinstance(tags.get("models"), list):
        return None
    loaded = [full_name(model.name) for model in read_running(running)]
    names = [model.name for model in read_models(tags)[:MAX_MODELS] if model.chats]
    names.sort(key=lambda name: full_name(name) not in loaded)
    where = "OLLAMA_HOST names it" if named else "Ollama runs on this machine"
    why = where if names else f"{where}, but it has no model: `wisp models pull NAME` gets one"
    return Found("ollama", tuple(f"ollama/{name}" for name in names), why, url)


async def _look_local(name: str, url: str, *, limit: float) -> Found | None:
    late = Found(f"local/{name}", (), f"{_bare(url)} did not answer within {limit:g} s", url)
    return await _in_time(limit, _ask_local(name, url), late=late)


async def _ask_local(name: str, url: str) -> Found | None:
    root = url.removesuffix("/v1")
    # LM Studio tells in a call of its own which of its models is loaded and which is none for conversations.
    asked = [f"{root}/api/v0/models", f"{url}/models"] if name == "lm-studio" else [f"{url}/models"]
    models: list[str] = []
    for question in asked:
        models = models or _read_ids(await _get(question))
    if not models:
        return None
    names = tuple(f"local/{name}/{model}" for model in models)
    return Found(f"local/{name}", names, f"a model server answers at {_bare(url)}", url)


def _bare(url: str) -> str:
    """Return host and port as they are shown."""
    return urlsplit(url).netloc.rpartition("@")[2]


def _read_ids(value: Any) -> list[str]:
    data = value.get("data") if isinstance(value, dict) else None
    entries = [entry for entry in data if isinstance(entry, dict)] if isinstance(data, list) else []
    kept = [
        entry
        for entry in entries[:MAX_MODELS]
        if isinstance(entry.get("id"), str)
        and entry["id"].isprintable()
        and entry["id"].strip()
        and "embed" not in f"{entry.get('type')} {entry['id']}".lower()
    ]
    kept.sort(key=lambda entry: entry.get("state") not in (None, "loaded"))
    return [sound(entry["id"]) for entry in kept]


async def _get(url: str, key: str = "") -> Any:
    """Return the JSON that a url answers to whoever has the key, None where it is no such answer."""
    try:
        head, _, body = decode(await _fetch(url, key)).partition("\r\n\r\n")
        return json.loads(body) if re.match(r"HTTP/1\.[01] 200\b", head) else None
    except (OSError, ValueError, RecursionError, asyncio.LimitOverrunError):
        return None


async def _fetch(url: str, key: str) -> bytes:
    parts = urlsplit(url)
    # Loading the certificates would stop the loop.
    secure = await asyncio.to_thread(ssl.create_default_context) if parts.scheme == "https" else None
    reader, writer = await asyncio.open_connection(parts.hostname, parts.port, ssl=secure)
    try:
        request = f"GET {parts.path} HTTP/1.0\r\nHost: {_bare(url)}\r\nUser-Agent: wisp\r\nAccept: application/json\r\n"
        if parts.username is not None:
            login = f"{unquote(parts.username)}:{unquote(parts.password or '')}"
            request += f"Authorization: Basic {base64.b64encode(login.encode()).decode()}\r\n"
        elif key:
            request += f"Authorization: Bearer {key}\r\n"
        request += "\r\n"
        writer.write(request.encode())
        data = bytearray()
        while len(data) <= MAX_ANSWER_BYTES and (part := await reader.read(64 * 1024)):
            data += part
            if _whole(data):
                break
        return bytes(data)
    finally:
        writer.transport.abort()


def _whole(data: bytearray) -> bool:
    """Tell whether an answer has the length that its head states: not every server closes the connection."""
    head, end, body = bytes(data[:MAX_ANSWER_BYTES]).partition(b"\r\n\r\n")
    stated = re.search(rb"\r\ncontent-length: *(\d{1,9})", head.lower()) if end else None
    return stated is not None and len(body) >= int(stated.group(1))
