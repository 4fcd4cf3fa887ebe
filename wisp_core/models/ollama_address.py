"""Where Ollama is, by its own variable `OLLAMA_HOST`, and the key that it takes. Pure."""

import re
from collections.abc import Mapping
from urllib.parse import urlsplit

from wisp_core.errors import SettingsError

OLLAMA_PORT = 11434
OLLAMA_HOSTED = "ollama.com"
"""Ollama's own service, the one Ollama that takes the key in `OLLAMA_API_KEY`."""
OLLAMA_KEY = "OLLAMA_API_KEY"
"""The variable that holds its key."""


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
        scheme, rest, port = ("https", given, 443) if given == OLLAMA_HOSTED else ("http", given, OLLAMA_PORT)
    place, _, path = rest.partition("/")
    login, at, place = place.rpartition("@")
    host, stated = _host_and_port(place)
    if (
        not re.fullmatch(r"[0-9a-z._-]*|[0-9a-f:.]+(?:%\w+)?", host, re.IGNORECASE)
        or not re.fullmatch(r"[!-~]*", path)
        or not re.fullmatch(r"[!-~]*", login)
        or re.search(r"[/?#@]", login)
        or scheme not in ("http", "https")
    ):
        raise SettingsError("OLLAMA_HOST names no server", "write it like 127.0.0.1:11434 or http://host:11434")
    host = {"": "127.0.0.1", "0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)
    shown = f"[{host}]" if ":" in host else host
    path = path.strip("/")
    return f"{scheme}://{login}{at}{shown}:{stated or port}" + (f"/{path}" if path else "")


def ollama_key(url: str, environ: Mapping[str, str], *, hosted: str = OLLAMA_HOSTED) -> str:
    """Return the key for the Ollama at `url`: only Ollama's own service has one, over TLS; empty for any other."""
    parts, key = urlsplit(url), environ.get(OLLAMA_KEY, "").strip()
    known = parts.scheme == "https" and parts.hostname == hosted and parts.username is None
    return key if known and re.fullmatch(r"[!-~]+", key) else ""


def _host_and_port(place: str) -> tuple[str, int | None]:
    host, colon, port = place.rpartition(":")
    if not colon or place.endswith("]") or (":" in host and not host.endswith("]")):
        # No port: a name, or an IPv6 address.
        host, port = place, ""
    stated = int(port) if re.fullmatch(r"\d{1,5}", port, re.ASCII) else 0
    return host.removeprefix("[").removesuffix("]"), stated if 0 < stated <= 65535 else None
