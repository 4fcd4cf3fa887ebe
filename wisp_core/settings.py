"""Every setting by name, with its unit and its default; read from defaults, file, environment and command line.

Keys are written in snake_case or camelCase alike. Bounds that the specification fixes stand here and nowhere else.
"""

import difflib
import json
import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal, TypeAlias

from pydantic import AliasChoices, BaseModel, ConfigDict, Field, ValidationError

from wisp_core.errors import SettingsError
from wisp_core.records import JsonObject
from wisp_core.settings_file import read_object

KIB = 1024
MIB = 1024 * KIB

Effort: TypeAlias = Literal["", "low", "medium", "high"]
"""How hard a model is to think; empty leaves it to the model."""


class Section(BaseModel):
    """A group of settings; an unknown key is an error."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


class Audit(Section):
    """The audit log; `max_bytes` is the size at which a file rotates."""

    enabled: bool = True
    max_bytes: int = Field(64 * MIB, ge=4 * KIB)


class Recall(Section):
    """Earlier passages in a request: at most `passages`, in `share` of the window; fewer in a small one (O25)."""

    enabled: bool = True
    passages: int = Field(8, ge=0)
    share: float = Field(0.08, ge=0, le=1)


class Context(Section):
    """What a request carries; `reserve` in tokens, None for `reserve_share` of the window.

    `policy` says what happens to old turns: `keep-turns` keeps the last `keep_turns`, `fail-fast` drops none; until
    there is more to it `target` keeps turns as well. `headroom_turns` are the turns whose average the next is taken to
    be. Where no report was seen a byte is `token_rate` tokens; a learnt rate stays up to `token_rate_most`.
    `cuts` and `references` let recorded marks stand in place of what they replace. `output_days` after a session's last
    use its kept outputs go, 0 for never.
    """

    budget: float = Field(0.85, gt=0, le=1)
    target: float = Field(0.60, gt=0, le=1)
    reserve: int | None = Field(None, ge=0)
    reserve_share: float = Field(0.10, ge=0, lt=1)
    policy: Literal["target", "keep-turns", "fail-fast"] = "target"
    keep_turns: int = Field(4, ge=1)
    headroom_turns: int = Field(8, ge=1)
    token_rate: float = Field(0.25, gt=0, le=1)
    token_rate_most: float = Field(1.0, gt=0, le=1)
    cuts: bool = True
    references: bool = True
    recall: Recall = Recall()
    output_days: int = Field(30, ge=0)


class Tools(Section):
    """What tools may take: times in seconds, sizes in bytes, `max_rounds` of calls a turn."""

    disabled: list[str] = []
    command_timeout: float = Field(120.0, gt=0)
    command_timeout_max: float = Field(1800.0, gt=0)
    command_max_output_bytes: int | None = Field(None, ge=512)
    max_rounds: int = Field(40, ge=1)


class Outputs(Section):
    """How much of an output is kept: past `file_bytes` the first `head_bytes` and the last `tail_bytes`.

    At a start at most `sweep_sessions` of old sessions are removed, in at most `sweep_seconds`.
    """

    file_bytes: int = Field(16 * MIB, ge=2 * KIB)
    head_bytes: int = Field(15 * MIB, ge=KIB)
    tail_bytes: int = Field(1 * MIB, ge=KIB)
    window_share: float = Field(0.125, gt=0, le=1)
    least_bytes: int = Field(4 * KIB, ge=512)
    least_bytes_small: int = Field(2 * KIB, ge=512)
    most_bytes: int = Field(64 * KIB, ge=512)
    small_window: int = Field(8192, ge=1)
    sweep_sessions: int = Field(16, ge=0)
    sweep_seconds: float = Field(0.1, gt=0)


class Permissions(Section):
    """Rules such as `run_command(git status)`; deny beats ask beats allow."""

    allow: list[str] = []
    ask: list[str] = []
    deny: list[str] = []


class Timeouts(Section):
    """How long a model's server may take, in seconds.

    One that is `silent` for so long before its first token, and may be loading the model, is told of.
    """

    connect: float = Field(5.0, gt=0)
    silent: float = Field(10.0, gt=0)
    first_token: float = Field(300.0, gt=0)
    between_tokens: float = Field(120.0, gt=0)


class Retries(Section):
    """How a passing failure is tried again: `most` times, seconds growing from `first_wait` to `longest_wait`.

    Each wait is longer or shorter by chance, by up to `jitter_share` of it. A server that asks for more than
    `longest_asked` seconds is not waited for.
    """

    most: int = Field(4, ge=0)
    first_wait: float = Field(1.0, ge=0)
    longest_wait: float = Field(30.0, ge=0)
    longest_asked: float = Field(600.0, ge=0)
    jitter_share: float = Field(0.2, ge=0, lt=1)


class Embedded(Section):
    """The embedded model: `threads` None for cores less one, `batch` in tokens, `cache_mib` of saved prompts.

    So small a model repeats itself for ever at the server's own sampling: what it said over `repeat_last_n` tokens is
    made less likely by `repeat_penalty`; `most_output` in tokens bounds what is left.
    With `tools` it calls them as well as it can, after a request of their own that chooses one.
    """

    window: int = Field(8192, ge=512, le=8192)
    threads: int | None = Field(None, ge=1)
    batch: int = Field(128, ge=16)
    cache_mib: int = Field(256, ge=0)
    temperature: float = Field(0.2, ge=0, le=2)
    repeat_penalty: float = Field(1.15, gt=0, le=2)
    repeat_last_n: int = Field(256, ge=0)
    most_output: int = Field(1024, ge=1)
    tools: bool = False


class Endpoint(Section):
    """A server of the person's: `key_env` names the environment variable that holds its key."""

    url: str
    api: Literal["chat", "responses", "anthropic", "ollama"] = "chat"
    window: int | None = Field(None, ge=512)
    key_env: str | None = None
    headers: dict[str, str] = {}
    model: str | None = None


class Price(Section):
    """What a model costs, in US dollars for a million tokens; `cached` is for those read from the provider's cache."""

    prompt: float = Field(0.0, ge=0)
    completion: float = Field(0.0, ge=0)
    cached: float | None = Field(None, ge=0)


class Known(Section):
    """What is known of a model by its full name, over what the catalogue knows; sizes in tokens.

    `reserve` stays free; over `compaction_limit` it is condensed; `effort` tells that it takes one, `thinking` how.
    """

    window: int | None = Field(None, ge=512, validation_alias=AliasChoices("window", "context_length"))
    output: int | None = Field(None, ge=1)
    tools: bool | None = None
    effort: bool | None = None
    thinking: Literal["budget", "adaptive", "unasked"] | None = None
    reserve: int | None = Field(None, ge=0)
    compaction_limit: int | None = Field(None, ge=512)
    api: Literal["chat", "responses"] | None = None
    price: Price = Price()


class Discovery(Section):
    """Model servers are looked for where nothing is configured, `seconds` long in all; 0 for never."""

    seconds: float = Field(0.3, ge=0, le=10)


class Output(Section):
    """A reply's size: `max_tokens` None for what the window leaves; `least_tokens` below which nothing is sent."""

    max_tokens: int | None = Field(None, ge=1)
    least_tokens: int = Field(256, ge=1)
    margin_share: float = Field(0.02, ge=0, lt=1)


class Kind(Section):
    """A kind of facts that is added or changed; what is not given stays as it is."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, populate_by_name=True)
    temporal_class: Literal["permanent", "dynamic", "ephemeral"] | None = Field(None, alias="class")
    normaliser: Literal["text", "command", "path", "port", "none"] | None = None
    distil: bool | None = None
    description: str | None = Field(None, min_length=1)


class Facts(Section):
    """What wisp remembers: `share` of the window for the facts of a request, `summary_share` for the summary.

    `block_share` bounds the whole earlier block, and statements fill what is left of it. The floors in bytes give way
    to it in a small window. A kind is found by its subject. `turn_facts` are extracted a turn at most. A summary is
    written once `summary_batch_turns` wait for it, in one call with the distilled facts with `summary_with_facts`.
    """

    enabled: bool = True
    stated: bool = True
    share: float = Field(0.10, gt=0, le=1)
    summary_share: float = Field(0.05, ge=0, le=1)
    block_share: float = Field(0.20, gt=0, le=1)
    least_bytes: int = Field(1 * KIB, ge=0)
    stated_least_bytes: int = Field(1 * KIB, ge=0)
    summary_least_bytes: int = Field(512, ge=0)
    turn_facts: int = Field(12, ge=0)
    kinds: dict[str, Kind] = {}
    distil: bool = True
    summary: bool = True
    summary_batch_turns: int = Field(3, ge=1)
    summary_with_facts: bool = True


class Waiting(Section):
    """Each wisp of a home looks every `poll_seconds` for answers; who gave one waits `answer_seconds` for that."""

    poll_seconds: float = Field(0.5, ge=0.05)
    answer_seconds: float = Field(5.0, ge=0)


class Settings(Section):
    """All settings of wisp; `effort` is how hard a model thinks that can be told, empty for as it is.

    A request of more than `compaction_limit` tokens is condensed whatever the window.
    `protected_paths` are paths and patterns that are never read nor edited.
    """

    model: str = ""
    effort: Effort = ""
    mode: Literal["plan", "ask", "auto"] = "ask"
    instructions: str = ""
    theme: str = ""
    keys: dict[str, str] = {}
    endpoints: dict[str, Endpoint] = {}
    models: dict[str, Known] = {}
    discovery: Discovery = Discovery()
    audit: Audit = Audit()
    context: Context = Context()
    compaction_limit: int | None = Field(None, ge=512)
    tools: Tools = Tools()
    outputs: Outputs = Outputs()
    output: Output = Output()
    facts: Facts = Facts()
    permissions: Permissions = Permissions()
    waiting: Waiting = Waiting()
    protected_paths: list[str] = []
    timeouts: Timeouts = Timeouts()
    retries: Retries = Retries()
    embedded: Embedded = Embedded()


ENVIRONMENT = {"WISP_MODEL": "model", "WISP_EFFORT": "effort", "WISP_DISCOVERY": "discovery.seconds"}
"""The variables that set a setting; one of nothing is none."""


def home_path() -> Path:
    """Return `WISP_HOME`, else `~/.wisp`."""
    named = os.environ.get("WISP_HOME")
    return Path(named).expanduser() if named else Path.home() / ".wisp"


def load_settings(home: Path, given: JsonObject | None = None) -> Settings:
    """Return the settings of `home`: defaults, `config.json`, environment, then `given` (the command line's).

    A list that is given adds to the file's, everything else replaces.

    Raises:
        SettingsError: the file is no JSON object, or a key or value is wrong.
    """
    path = home / "config.json"
    merged = _snake(read_object(path), Settings)
    for key, value in _environment().items():
        section, _, name = key.rpartition(".")
        merged = _merge(merged, {section: {name: value}} if section else {key: value})
    merged = _merge(merged, given or {})
    try:
        return Settings.model_validate(merged)
    except ValidationError as error:
        raise _explain(error, path) from error


def trace_settings(home: Path, given: JsonObject | None = None) -> dict[str, tuple[Any, str]]:
    """Return every setting that is not left to its default, by dotted key: its value and where it comes from.

    Raises:
        SettingsError: the file is no JSON object.
    """
    found: dict[str, tuple[Any, str]] = {}
    file = _snake(read_object(home / "config.json"), Settings)
    sources = ((file, "file"), (_environment(), "environment"), (given or {}, "command line"))
    for settings, origin in sources:
        found |= {key: (value, origin) for key, value in leaves(settings)}
    return found


def leaves(settings: JsonObject, prefix: str = "") -> list[tuple[str, Any]]:
    """Return the settings by dotted key; an empty section is a value."""
    found: list[tuple[str, Any]] = []
    for key, value in settings.items():
        found += leaves(value, f"{prefix}{key}.") if isinstance(value, dict) and value else [(prefix + key, value)]
    return found


def _environment() -> JsonObject:
    """Return the settings that the environment makes, by dotted key; a number is read as one."""
    given = {key: os.environ[name] for name, key in ENVIRONMENT.items() if os.environ.get(name)}
    seconds = given.get("discovery.seconds")
    if seconds is not None and re.fullmatch(r"\d{1,9}(\.\d{1,9})?", seconds):
        return given | {"discovery.seconds": float(seconds)}
    return dict(given)


def _merge(settings: JsonObject, given: JsonObject) -> JsonObject:
    merged = dict(settings)
    for key, value in given.items():
        known = merged.get(key)
        if isinstance(known, dict) and isinstance(value, dict):
            value = _merge(known, value)
        elif isinstance(known, list) and isinstance(value, list):
            value = [*known, *value]
        merged[key] = value
    return merged


def _snake(raw: JsonObject, section: type[BaseModel]) -> JsonObject:
    """Return `raw` with its setting names in snake_case; names that the person chose (endpoints, keys) stay."""
    found: JsonObject = {}
    for key, value in raw.items():
        name = re.sub(r"(?<=[a-z0-9])([A-Z])", lambda match: "_" + match.group(1).lower(), key)
        inner = _section(section, name)
        if inner is not None and isinstance(value, dict):
            value = _snake(value, inner)
        elif name in _MAPS and isinstance(value, dict):
            value = {k: _snake(v, _MAPS[name]) if isinstance(v, dict) else v for k, v in value.items()}
        found[name] = value
    return found


_MAPS: dict[str, type[BaseModel]] = {"endpoints": Endpoint, "models": Known}


def _section(model: type[BaseModel], name: str) -> type[BaseModel] | None:
    kind = model.model_fields[name].annotation if name in model.model_fields else None
    return kind if isinstance(kind, type) and issubclass(kind, BaseModel) else None


def _explain(error: ValidationError, path: Path) -> SettingsError:
    first: Any = error.errors()[0]
    key = ".".join(str(part) for part in first["loc"])
    where = next((name for name, sets in ENVIRONMENT.items() if sets == key and os.environ.get(name)), str(path))
    if first["type"] == "missing":
        return SettingsError(f"{where}: `{key}` is missing")
    if first["type"] == "extra_forbidden":
        near = difflib.get_close_matches(key, _beside(first["loc"]), n=1, cutoff=0.5)
        hint = f"did you mean `{near[0]}`?" if near else "no setting is named like it"
        return SettingsError(f"{path}: unknown setting `{key}`", hint)
    expected = first["msg"].removeprefix("Input should be ").removeprefix("Value error, ")
    # The url and the headers of an endpoint may hold a password or a key.
    hidden = first["loc"][0] == "endpoints" and (len(first["loc"]) < 3 or first["loc"][2] in ("url", "headers"))
    found = "something else" if hidden else json.dumps(first["input"], default=str)[:80]
    return SettingsError(f"{where}: `{key}` is wrong: expected {expected}, found {found}")


def _beside(loc: Sequence[int | str]) -> list[str]:
    """Return the keys that a key could have been: of the entry that it stands in, else of all settings."""
    if loc[0] in _MAPS and len(loc) == 3:
        return [f"{loc[0]}.{loc[1]}.{name}" for name in _MAPS[str(loc[0])].model_fields]
    return _known(Settings)


def _known(model: type[BaseModel], prefix: str = "") -> list[str]:
    names: list[str] = []
    for name in model.model_fields:
        inner = _section(model, name)
        names += _known(inner, f"{prefix}{name}.") if inner else [prefix + name]
    return names
