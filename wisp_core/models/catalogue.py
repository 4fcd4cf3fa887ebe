"""Knows the names of models: parses and chooses one, and opens its backend."""

import difflib
import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cache
from urllib.parse import urlsplit

from wisp_core.errors import AuthenticationError, NoModelError, SettingsError
from wisp_core.models.backend import ModelBackend, Server
from wisp_core.records import JsonObject
from wisp_core.resources import read
from wisp_core.settings import Endpoint, Settings
from wisp_core.text import revealed, shorten

EMBEDDED = "embedded/smollm2-135m"
OPENAI_URL = "https://api.openai.com/v1"
OPENAI_KEY = "OPENAI_API_KEY"
ANTHROPIC_URL = "https://api.anthropic.com/v1"
ANTHROPIC_KEY = "ANTHROPIC_API_KEY"
PROVIDERS = {"openai": (OPENAI_URL, OPENAI_KEY, "chat"), "anthropic": (ANTHROPIC_URL, ANTHROPIC_KEY, "anthropic")}
"""The providers that need a key: url, environment variable, and the API where the catalogue names no other."""

DEMONSTRATION = (
    "SmolLM2-135M is a small demonstration model that cannot use tools; to connect a real one, name its server under "
    '"endpoints" in config.json and choose `local/NAME`, or set OPENAI_API_KEY and choose `openai/NAME`'
)
"""What the embedded model says of itself in a conversation's first line (M6)."""

FORMS = (
    "local/NAME, local/NAME/MODEL, openai/NAME, anthropic/NAME, embedded/smollm2-135m, embedded/PATH or scripted:FILE"
)

_LATER = {"ollama": "api chat at http://127.0.0.1:11434/v1"}


@dataclass(frozen=True, slots=True)
class Choice:
    """The model that is used and, for the conversation's first line, why."""

    model: str
    why: str


@dataclass(frozen=True, slots=True)
class ModelName:
    """A model's name in its parts: `place` is the endpoint, path or file, `model` the server's name ("" its first)."""

    provider: str
    place: str
    model: str = ""


def parse_model(name: str) -> ModelName:
    """Return the parts of a model's name.

    Raises:
        NoModelError: it has none of the known forms.
    """
    name = name.strip()
    if not name.isprintable():
        raise NoModelError(f"`{shorten(revealed(name), 80)}` names no model", f"a name is {FORMS}")
    if name.startswith("scripted:") and name != "scripted:":
        return ModelName("scripted", name.removeprefix("scripted:"))
    provider, _, rest = name.partition("/")
    if provider in _LATER:
        raise NoModelError(f"`{name}`: {provider} is not served yet by this wisp", f"connect {_LATER[provider]}")
    if provider == "local" and rest.strip("/"):
        place, _, model = rest.partition("/")
        if place:
            return ModelName("local", place, model)
    if provider in ("openai", "anthropic") and rest:
        return ModelName(provider, "", rest)
    if provider == "embedded" and rest:
        return ModelName("embedded", rest)
    near = difflib.get_close_matches(name, [EMBEDDED, *known()], n=1, cutoff=0.6)
    meant = f"did you mean `{near[0]}`? " if near else ""
    raise NoModelError(f"`{shorten(name, 80)}` names no model", f"{meant}a name is {FORMS}")


def choose(settings: Settings, environ: Mapping[str, str]) -> Choice:
    """Return the model to use: the one named, else the first configured endpoint's, else the embedded one.

    Raises:
        NoModelError: the one named has none of the known forms.
    """
    del environ  # keys found in the environment are looked at by a later step
    if settings.model:
        parse_model(settings.model)
        return Choice(settings.model, "it was named")
    if settings.endpoints:
        first = next(iter(settings.endpoints))
        return Choice(f"local/{first}", f"`{first}` is the first endpoint in config.json")
    return Choice(EMBEDDED, "no model is named and no endpoint configured")


def open_backend(model: str, settings: Settings, *, environ: Mapping[str, str]) -> ModelBackend:
    """Return the backend of a model; nothing is connected or started before its first request.

    Raises:
        NoModelError: there is no such model, or it cannot be run here.
        AuthenticationError: its key is not in the environment.
        SettingsError: its endpoint is configured wrongly.
    """
    name = parse_model(model)
    if name.provider == "scripted":
        from wisp_core.models.scripted import open_script  # off the start-up path: only tests and demos use it

        return open_script(model, name.place)
    if name.provider == "embedded":
        from wisp_core.models.embedded import open_embedded  # off the start-up path: it loads httpx

        return open_embedded(model, settings, weights=None if model.strip() == EMBEDDED else name.place)
    from wisp_core.models.anthropic import AnthropicBackend  # off the start-up path: it loads httpx
    from wisp_core.models.openai import ChatBackend, Profile  # off the start-up path: it loads httpx
    from wisp_core.models.responses import ResponsesBackend  # off the start-up path: it loads httpx

    kinds: Mapping[str, Callable[..., ModelBackend]]
    kinds = {"chat": ChatBackend, "anthropic": AnthropicBackend, "responses": ResponsesBackend}
    facts = find(model)
    profile = Profile(catalogued=facts.get("window"), most_output=facts.get("output"))
    if name.provider in PROVIDERS:
        url, variable, api = PROVIDERS[name.provider]
        server = Server(url, _key(environ, variable, needed_by=model), timeouts=settings.timeouts)
        profile = replace(profile, probes=False, output_key="max_completion_tokens")
        return kinds[facts.get("api", api)](model, server, model=name.model, profile=profile)
    server = open_server(name.place, settings, environ=environ)
    endpoint = settings.endpoints[name.place]
    profile = replace(profile, window=endpoint.window)
    return kinds[endpoint.api](model, server, model=name.model or endpoint.model, profile=profile)


def open_server(place: str, settings: Settings, *, environ: Mapping[str, str]) -> Server:
    """Return the server of the endpoint that is configured as `place`.

    Raises:
        NoModelError: no endpoint is called so.
        AuthenticationError: its key is not in the environment.
        SettingsError: it is configured wrongly.
    """
    endpoint = _endpoint(place, settings)
    key = _key(environ, endpoint.key_env, needed_by=f"endpoints.{place}.key_env") if endpoint.key_env else ""
    return Server(_url(place, endpoint), key, _headers(place, endpoint), settings.timeouts)


@cache
def known() -> dict[str, JsonObject]:
    """Return the catalogue: what is known of models by name; `window` and `output` in tokens."""
    found: dict[str, JsonObject] = json.loads(read("models.json"))
    return found


def find(model: str) -> JsonObject:
    """Return what the catalogue knows of a model, a dated name as its undated one; empty where it knows nothing."""
    return known().get(model) or known().get(re.sub(r"-\d{4}-?\d{2}-?\d{2}$", "", model), {})


def _endpoint(name: str, settings: Settings) -> Endpoint:
    endpoint = settings.endpoints.get(name)
    if endpoint is None:
        near = difflib.get_close_matches(name, settings.endpoints, n=1, cutoff=0)
        hint = f"did you mean `local/{near[0]}`?" if near else 'name its url under "endpoints" in config.json'
        raise NoModelError(f"no endpoint is named `{name}`", hint)
    if endpoint.api == "ollama":
        raise NoModelError(f"endpoints.{name}.api is `{endpoint.api}`, not served yet by this wisp", "use `chat`")
    return endpoint


def _url(name: str, endpoint: Endpoint) -> str:
    url = endpoint.url.strip().rstrip("/").removesuffix("/chat/completions")
    try:
        parts = urlsplit(url)
        sound = parts.scheme in ("http", "https") and bool(parts.hostname) and (parts.port or 1) > 0
    except ValueError:
        sound = False
    if not sound or not re.fullmatch(r"[!-~]+", url):
        raise SettingsError(f"endpoints.{name}.url is no web address", "write it like http://127.0.0.1:8080/v1")
    return url


def _headers(name: str, endpoint: Endpoint) -> tuple[tuple[str, str], ...]:
    for header, value in endpoint.headers.items():
        if not re.fullmatch(r"[A-Za-z0-9-]+", header) or not re.fullmatch(r"[ -~]*", value):
            raise SettingsError(f"endpoints.{name}.headers: `{header}` is no header of one line of plain characters")
    return tuple((header.lower(), value.strip()) for header, value in endpoint.headers.items())


def _key(environ: Mapping[str, str], variable: str, *, needed_by: str) -> str:
    key = environ.get(variable, "").strip()
    if not key:
        raise AuthenticationError(f"{needed_by} needs a key in the environment variable {variable}", "set it")
    if not re.fullmatch(r"[!-~]+", key):
        raise AuthenticationError(f"the key in {variable} holds characters that no key has", "set it anew")
    return key
