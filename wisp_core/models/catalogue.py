"""Knows the names of models: parses and chooses one, and opens its backend."""

import difflib
import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from urllib.parse import urlsplit

from wisp_core.errors import AuthenticationError, NoModelError, SettingsError
from wisp_core.models.backend import ModelBackend, Server
from wisp_core.models.discover import KEYS, WELL_KNOWN, Found, discover
from wisp_core.models.ollama_address import OLLAMA_HOSTED, ollama_key, ollama_url
from wisp_core.models.profile import Profile
from wisp_core.records import JsonObject
from wisp_core.resources import read
from wisp_core.settings import Endpoint, Known, Settings
from wisp_core.text import revealed, shorten

EMBEDDED = "embedded/smollm2-135m"

_CONNECT = (
    'to connect a real one, start Ollama or another model server, name one under "endpoints" in config.json and choose '
    "`local/NAME`, or set ANTHROPIC_API_KEY or OPENAI_API_KEY"
)
DEMONSTRATION = f"SmolLM2-135M is a small demonstration model that cannot use tools; {_CONNECT}"
"""What the embedded model says of itself in a conversation's first line (M6)."""
DEMONSTRATION_WITH_TOOLS = f"SmolLM2-135M is a small demonstration model that chooses tools badly; {_CONNECT}"
"""What it says where `embedded.tools` is on."""

FORMS = (
    "ollama/NAME, local/NAME, local/NAME/MODEL, anthropic/NAME, openai/NAME, embedded/smollm2-135m, embedded/PATH or "
    "scripted:FILE"
)


@dataclass(frozen=True, slots=True)
class Provider:
    """A provider that needs a key: its url, the `variable` that holds the key, its API, the model where none is named.

    `api` is what it speaks where the catalogue names no other for a model.
    """

    url: str
    variable: str
    api: str
    first: str


PROVIDERS = {
    "anthropic": Provider(
        "https://api.anthropic.com/v1", KEYS["anthropic"], "anthropic", first="anthropic/claude-sonnet-5-5"
    ),
    # Its chat completions refuse tools to a model that reasons, unless it does not reason.
    "openai": Provider("https://api.openai.com/v1", KEYS["openai"], "responses", first="openai/gpt-6.1-terra"),
}


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
    if provider == "local" and rest.strip("/"):
        place, _, model = rest.partition("/")
        if place:
            return ModelName("local", place, model)
    if (provider in PROVIDERS or provider == "ollama") and rest:
        return ModelName(provider, "", rest)
    if provider == "embedded" and rest:
        return ModelName("embedded", rest)
    near = difflib.get_close_matches(name, [EMBEDDED, *known()], n=1, cutoff=0.6)
    meant = f"did you mean `{near[0]}`? " if near else ""
    raise NoModelError(f"`{shorten(name, 80)}` names no model", f"{meant}a name is {FORMS}")


def choose(settings: Settings, found: Sequence[Found] = ()) -> Choice:
    """Return the model to use: the one named, else the first configured endpoint's, else of what was found, else ours.

    Raises:
        NoModelError: the one named has none of the known forms.
    """
    if settings.model:
        parse_model(settings.model)
        return Choice(settings.model, "it was named")
    if settings.endpoints:
        first = next(iter(settings.endpoints))
        return Choice(f"local/{first}", f"`{first}` is the first endpoint in config.json")
    passed = ""
    for place in found:
        provider = PROVIDERS.get(place.provider)
        name = place.names[0] if place.names else provider.first if provider is not None else ""
        if name:
            return Choice(name, f"no model is named, and {place.why}{passed}")
        passed += f"; {place.why}"
    return Choice(EMBEDDED, f"no model is named and no endpoint configured{passed}")


async def look_around(settings: Settings, environ: Mapping[str, str]) -> list[Found]:
    """Return what is there without being configured; nobody is asked where a model or an endpoint is, or it is off."""
    seconds = settings.discovery.seconds
    if settings.model or settings.endpoints or not seconds:
        return []
    return await discover(environ, limit=seconds)


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
    facts = find(model, settings) | {"configured": _given(model, settings).window}
    if name.provider == "ollama":
        server = find_ollama(settings, environ)
        return _open(model, server, api="ollama", name=name.model, facts=facts)
    if name.provider in PROVIDERS:
        provider = PROVIDERS[name.provider]
        key = _key(environ, provider.variable, of=name.provider, needed_by=model)
        server = Server(provider.url, key, timeouts=settings.timeouts)
        return _open(model, server, api=facts.get("api", provider.api), name=name.model, facts=facts, hosted=True)
    server = open_server(name.place, settings, environ=environ)
    endpoint = find_endpoint(name.place, settings)
    facts["configured"] = facts["configured"] or endpoint.window
    return _open(model, server, api=endpoint.api, name=name.model or endpoint.model, facts=facts)


def _open(
    model: str, server: Server, *, api: str, name: str | None, facts: JsonObject, hosted: bool = False
) -> ModelBackend:
    """Return the backend of the model that the server calls `name`; a `hosted` one is not asked about itself."""
    window = facts["configured"]
    if api == "ollama":
        from wisp_core.models.ollama import OllamaBackend  # off the start-up path: it loads httpx
        from wisp_core.models.ollama_model import OllamaProfile  # off the start-up path: it loads httpx

        wanted = OllamaProfile(window, hosted=urlsplit(server.url).hostname == OLLAMA_HOSTED)
        return OllamaBackend(model, server, model=name, profile=wanted)
    from wisp_core.models.anthropic import AnthropicBackend  # off the start-up path: it loads httpx
    from wisp_core.models.openai import ChatBackend  # off the start-up path: it loads httpx
    from wisp_core.models.responses import ResponsesBackend  # off the start-up path: it loads httpx

    kinds: Mapping[str, Callable[..., ModelBackend]]
    kinds = {"chat": ChatBackend, "anthropic": AnthropicBackend, "responses": ResponsesBackend}
    profile = Profile(
        window=window,
        catalogued=facts.get("window"),
        probes=not hosted,
        tools=facts.get("tools", True),
        output_key="max_completion_tokens" if hosted else "max_tokens",
        most_output=facts.get("output"),
        effort=facts.get("effort", False),
        thinking=facts.get("thinking", ""),
    )
    return kinds[api](model, server, model=name, profile=profile)


def open_server(place: str, settings: Settings, *, environ: Mapping[str, str]) -> Server:
    """Return the server of the endpoint that is configured as `place`.

    Raises:
        NoModelError: no endpoint is called so.
        AuthenticationError: its key is not in the environment.
        SettingsError: it is configured wrongly.
    """
    endpoint = find_endpoint(place, settings)
    by = f"endpoints.{place}.key_env"
    key = _key(environ, endpoint.key_env, of=place, needed_by=by) if endpoint.key_env else ""
    return Server(_url(place, endpoint), key, _headers(place, endpoint), settings.timeouts)


def find_ollama(settings: Settings, environ: Mapping[str, str]) -> Server:
    """Return the Ollama that `OLLAMA_HOST` names, else this machine's; Ollama's own service with its key.

    Raises:
        SettingsError: it names none.
    """
    url = ollama_url(environ)
    return Server(url, ollama_key(url, environ), timeouts=settings.timeouts)


@cache
def known() -> dict[str, JsonObject]:
    """Return the catalogue: what is known of models by name; `window` and `output` in tokens."""
    found: dict[str, JsonObject] = json.loads(read("models.json"))
    return found


def find(model: str, settings: Settings) -> JsonObject:
    """Return what the catalogue, and over it the config, knows of a model; a dated name's facts are its undated one's.

    Empty where nobody knows anything.
    """
    model = model.strip()
    catalogued = known().get(model) or known().get(re.sub(r"-\d{4}-?\d{2}-?\d{2}$", "", model), {})
    return catalogued | _given(model, settings).model_dump(exclude_none=True, exclude_unset=True)


def fit_settings(model: str, settings: Settings) -> Settings:
    """Return the settings as they are for a model: with its own reserve and limit, unless the person set others.

    The catalogue's reserve belongs to the catalogue's window: where the person gave the window, it is left out.
    """
    facts, context, given = find(model, settings), settings.context, _given(model, settings)
    own: JsonObject = {}
    reserve = facts.get("reserve") if given.window is None else given.reserve
    if context.reserve is None and reserve is not None:
        own["context"] = context.model_copy(update={"reserve": reserve})
    if settings.compaction_limit is None and "compaction_limit" in facts:
        own["compaction_limit"] = facts["compaction_limit"]
    return settings.model_copy(update=own) if own else settings


def find_endpoint(name: str, settings: Settings) -> Endpoint:
    """Return the endpoint that is configured as `name`, else the well-known one of that name.

    Raises:
        NoModelError: there is none.
    """
    endpoint = settings.endpoints.get(name) or WELL_KNOWN.get(name)
    if endpoint is None:
        near = difflib.get_close_matches(name, settings.endpoints, n=1, cutoff=0)
        hint = f"did you mean `local/{near[0]}`?" if near else 'name its url under "endpoints" in config.json'
        raise NoModelError(f"no endpoint is named `{name}`", hint)
    return endpoint


def _given(model: str, settings: Settings) -> Known:
    return settings.models.get(model.strip(), Known())


def _url(name: str, endpoint: Endpoint) -> str:
    url = endpoint.url.strip().rstrip("/").removesuffix("/chat/completions")
    try:
        parts = urlsplit(url)
        sound = parts.scheme in ("http", "https") and bool(parts.hostname) and (parts.port or 1) > 0
        sound = sound and parts.netloc.count("@") <= 1
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


def _key(environ: Mapping[str, str], variable: str, *, of: str, needed_by: str) -> str:
    key = environ.get(variable, "").strip()
    if not key:
        raise AuthenticationError(
            f"{needed_by} needs a key in the environment variable {variable}",
            f"set it, or keep it in the keyring with `wisp models key {of}`",
        )
    if not re.fullmatch(r"[!-~]+", key):
        raise AuthenticationError(f"the key in {variable} holds characters that no key has", "set it anew")
    return key
