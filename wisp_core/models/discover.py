"""Finds the models that are there without being configured: servers on this machine, then keys in the environment.

It speaks HTTP/1.0 by itself: no client has to be loaded before the first input, no proxy is asked for this machine, no
redirect is followed, and what answers on these ports may be anything: it is read up to a bound, and believed only in
the shape that is looked for.
"""

import asyncio
import json
import re
import ssl
from collections.abc import Awaitable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from wisp_core.errors import SettingsError
from wisp_core.models.ollama_wire import full_name, read_models, read_running
from wisp_core.settings import Endpoint
from wisp_core.text import decode, sound

LIMIT_SECONDS = 0.3
"""How long looking may take in all."""
MAX_ANSWER_BYTES = 512 * 1024
MAX_MODELS = 200

OLLAMA_PORT = 11434
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

    `names` is empty where there is none yet, or where only the catalogue knows the provider's models. `url` is empty
    for one that is known by its key.
    """

    provider: str
    names: tuple[str, ...]
    why: str
    url: str = ""


async def discover(
    environ: Mapping[str, str],
    *,
    limit: float = LIMIT_SECONDS,
    places: Mapping[str, Endpoint] = WELL_KNOWN,
    keys: Mapping[str, str] = KEYS,
) -> list[Found]:
    """Return what is there, the first to be chosen first; it never raises.

    Servers are given at most `limit` seconds in all, and are not asked where that is 0.
    """
    looks = [_look_ollama(environ), *(_look_local(name, places[name].url) for name in places)]
    return await _within(limit, looks) + find_keys(environ, keys)


def find_keys(environ: Mapping[str, str], keys: Mapping[str, str] = KEYS) -> list[Found]:
    """Return the providers whose key is in the environment."""
    named = ((provider, variable) for provider, variable in keys.items() if environ.get(variable, "").strip())
    return [Found(provider, (), f"{variable} is set") for provider, variable in named]


def ollama_url(environ: Mapping[str, str]) -> str:
    """Return where Ollama is: `OLLAMA_HOST` as Ollama itself reads it, else port 11434 of this machine.

    It may hold a host, a port (`:11500`), both, a url, an IPv6 address; the address that a server listens at
    everywhere (`0.0.0.0`) is reached at this machine.

    Raises:
        SettingsError: it names no server.
    """
    given = environ.get("OLLAMA_HOST", "").strip().strip("\"'").strip()
    scheme, split, rest = given.partition("://")
    port = 443 if scheme == "https" else 80
    if not split:
        # Ollama's own service is the one name that means https by itself.
        scheme, rest, port = ("https", given, 443) if given == "ollama.com" else ("http", given, OLLAMA_PORT)
    place, _, path = rest.partition("/")
    host, stated = _host_and_port(place)
    if (
        not re.fullmatch(r"[0-9a-z._-]*|[0-9a-f:.]+(?:%\w+)?", host, re.IGNORECASE)
        or not re.fullmatch(r"[!-~]*", path)
        or scheme not in ("http", "https")
    ):
        raise SettingsError("OLLAMA_HOST names no server", "write it like 127.0.0.1:11434 or http://host:11434")
    host = {"": "127.0.0.1", "0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)
    shown = f"[{host}]" if ":" in host else host
    path = path.strip("/")
    return f"{scheme}://{shown}:{stated or port}" + (f"/{path}" if path else "")


def _host_and_port(place: str) -> tuple[str, int | None]:
    host, colon, port = place.rpartition(":")
    if not colon or place.endswith("]") or (":" in host and not host.endswith("]")):
        # No port: a name, or an IPv6 address.
        host, port = place, ""
    stated = int(port) if re.fullmatch(r"\d{1,5}", port, re.ASCII) else 0
    return host.removeprefix("[").removesuffix("]"), stated if 0 < stated <= 65535 else None


async def _within(limit: float, looks: Sequence[Awaitable[Found | None]]) -> list[Found]:
    # A task that is cancelled before it began asks nobody.
    tasks = [asyncio.ensure_future(look) for look in looks]
    try:
        if limit > 0:
            await asyncio.wait(tasks, timeout=limit)
    finally:
        for task in tasks:
            task.cancel()
        results = await asyncio.gather(*tasks, return_exceptions=True)
    return [result for result in results if isinstance(result, Found)]


async def _look_ollama(environ: Mapping[str, str]) -> Found | None:
    url = ollama_url(environ)
    tags, running = await asyncio.gather(_get(f"{url}/api/tags"), _get(f"{url}/api/ps"))
    if not isinstance(tags, dict) or not isinstance(tags.get("models"), list):
        return None
    loaded = [full_name(model.name) for model in read_running(running)]
    names = [model.name for model in read_models(tags)[:MAX_MODELS] if model.chats]
    names.sort(key=lambda name: full_name(name) not in loaded)
    where = "OLLAMA_HOST names it" if environ.get("OLLAMA_HOST", "").strip() else "Ollama runs on this machine"
    why = where if names else f"{where}, but it has no model: `wisp models pull NAME` gets one"
    return Found("ollama", tuple(f"ollama/{name}" for name in names), why, url)


async def _look_local(name: str, url: str) -> Found | None:
    root = url.removesuffix("/v1")
    # LM Studio tells in a call of its own which of its models is loaded and which is none for conversations.
    asked = [f"{root}/api/v0/models", f"{url}/models"] if name == "lm-studio" else [f"{url}/models"]
    models: list[str] = []
    for question in asked:
        models = models or _read_ids(await _get(question))
    if not models:
        return None
    names = tuple(f"local/{name}/{model}" for model in models)
    return Found(f"local/{name}", names, f"a model server answers at {urlsplit(url).netloc}", url)


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


async def _get(url: str) -> Any:
    """Return the JSON that a url answers, None where it is no such answer."""
    try:
        parts = urlsplit(url)
        head, _, body = decode(await _fetch(parts.scheme, parts.netloc, path=parts.path)).partition("\r\n\r\n")
        return json.loads(body) if re.match(r"HTTP/1\.[01] 200\b", head) else None
    except (OSError, ValueError, RecursionError, asyncio.LimitOverrunError):
        return None


async def _fetch(scheme: str, netloc: str, *, path: str) -> bytes:
    host = urlsplit(f"//{netloc}").hostname or ""
    port = urlsplit(f"//{netloc}").port
    # Loading the certificates would stop the loop.
    secure = await asyncio.to_thread(ssl.create_default_context) if scheme == "https" else None
    reader, writer = await asyncio.open_connection(host, port, ssl=secure)
    try:
        request = f"GET {path} HTTP/1.0\r\nHost: {netloc}\r\nUser-Agent: wisp\r\nAccept: application/json\r\n\r\n"
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
