"""The shapes of Ollama's own API: messages on the way out, lines and descriptions on the way in. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from wisp_core.models.wire import LEAST_WINDOW, Chunk, read_arguments, read_count, write_name
from wisp_core.records import JsonObject, Usage
from wisp_core.requests import Message, Role, WireCall
from wisp_core.text import one_line, sound

CACHE_BYTES = 2
"""What one number of the key-value cache takes in bytes (f16, Ollama's default)."""

MOST_LAYERS = 4096

NAME_SHOWN = 200
"""A model's name is read to this many characters."""


def write_messages(messages: Sequence[Message]) -> list[JsonObject]:
    """Return the messages as the API takes them: arguments as objects; one without content and calls never goes out."""
    written: list[JsonObject] = []
    for message in messages:
        text = sound(message.text)
        if message.role is Role.TOOL:
            result: JsonObject = {"role": "tool", "tool_name": write_name(message.name)}
            written.append(result | {"tool_call_id": message.call_id, "content": text or "(no output)"})
            continue
        one: JsonObject = {"role": message.role.value, "content": text if text.strip() else ""}
        if message.calls:
            one["tool_calls"] = [_write_call(call, at) for at, call in enumerate(message.calls)]
        if one["content"] or message.calls:
            written.append(one)
    return written


def _write_call(call: WireCall, at: int) -> JsonObject:
    function = {"index": at, "name": write_name(call.name), "arguments": read_arguments(call)}
    return {"id": call.id, "function": function}


def read_line(value: Any) -> Chunk:
    """Return what one line of an answer holds; whatever is of an unknown shape in it is passed over."""
    if not isinstance(value, dict):
        return Chunk()
    if value.get("error"):
        return Chunk(error=value)
    given = value.get("message")
    message: JsonObject = given if isinstance(given, dict) else {}
    done = value.get("done") is True
    return Chunk(
        text=_text(message.get("content")),
        reasoning=_text(message.get("thinking")),
        calls=_read_calls(message.get("tool_calls")),
        finish=_reason(value.get("done_reason")) if done else "",
        usage=read_usage(value) if done else None,
    )


def read_usage(value: JsonObject) -> Usage | None:
    """Return the usage of an answer's last line, None where the prompt was not counted.

    The count of the prompt includes what was cached; servers before July 2024 leave it out, or report 0, when all of
    the prompt was cached, which counts as not reported.
    """
    prompt = read_count(value.get("prompt_eval_count")) or None
    if prompt is None:
        return None
    completion = read_count(value.get("eval_count"))
    cached = read_count(value.get("prompt_eval_cached_count"))
    return Usage(prompt, completion, prompt + completion if completion is not None else None, cached)


def _read_calls(value: Any) -> Any:
    """Return the calls, each whole, so that no two are joined: servers give them all the index 0, and ids at times."""
    if not isinstance(value, list):
        return None
    functions = [
        call["function"] for call in value if isinstance(call, dict) and isinstance(call.get("function"), dict)
    ]
    return [{"function": {"name": f.get("name"), "arguments": f.get("arguments") or {}}} for f in functions] or None


@dataclass(frozen=True, slots=True)
class About:
    """What `/api/show` says of a model: `context` in tokens, `token_bytes` of cache that one token takes.

    `can` are its capabilities, None where the server is too old to list them. A `remote` model runs elsewhere.
    """

    context: int | None = None
    token_bytes: int | None = None
    can: frozenset[str] | None = None
    remote: bool = False


def read_about(value: Any) -> About:
    """Return what a model's description says, as far as it is believed."""
    if not isinstance(value, dict):
        return About()
    given, can = value.get("model_info"), value.get("capabilities")
    info: JsonObject = given if isinstance(given, dict) else {}
    family = info.get("general.architecture")
    keys = [f"{family}.context_length", *(key for key in info if key.endswith(".context_length"))]
    context = next((tokens for key in keys if (tokens := read_count(info.get(key))) and tokens >= LEAST_WINDOW), None)
    names = frozenset(name for name in can if isinstance(name, str)) if isinstance(can, list) else None
    remote = any(isinstance(value.get(key), str) and value[key] for key in ("remote_host", "remote_model"))
    return About(context, _token_bytes(info, str(family)), names, remote)


def _token_bytes(info: JsonObject, family: str) -> int | None:
    def count(name: str) -> int:
        return read_count(info.get(f"{family}.{name}")) or 0

    layers, heads = count("block_count"), count("attention.head_count")
    each = info.get(f"{family}.attention.head_count_kv")
    # Some models attend in a few of their layers only, and list the heads by layer.
    by_layer = each if isinstance(each, list) else [read_count(each) or heads] * min(layers, MOST_LAYERS)
    kept = sum(read_count(one) or 0 for one in by_layer)
    size = count("embedding_length") // heads if heads else 0
    width = (count("attention.key_length") or size) + (count("attention.value_length") or size)
    return kept * width * CACHE_BYTES or None


@dataclass(frozen=True, slots=True)
class OnDisk:
    """A model that an Ollama has: `size` in bytes on its disk, `parameters` such as `8.2B`, `can` as in `About`."""

    name: str
    size: int = 0
    parameters: str = ""
    quantization: str = ""
    can: frozenset[str] | None = None

    @property
    def chats(self) -> bool:
        """Whether it can hold a conversation; where the server does not say, all but the embedding models can."""
        return "completion" in self.can if self.can is not None else "embed" not in self.name.lower()


def read_models(value: Any) -> tuple[OnDisk, ...]:
    """Return the models of `/api/tags` in its order, the latest first."""
    return tuple(_read_model(entry) for entry in _entries(value))


def _read_model(entry: JsonObject) -> OnDisk:
    given, can = entry.get("details"), entry.get("capabilities")
    details: JsonObject = given if isinstance(given, dict) else {}
    return OnDisk(
        _name(entry),
        read_count(entry.get("size")) or 0,
        one_line(_text(details.get("parameter_size")), 20),
        one_line(_text(details.get("quantization_level")), 20),
        frozenset(name for name in can if isinstance(name, str)) if isinstance(can, list) else None,
    )


@dataclass(frozen=True, slots=True)
class Running:
    """A model that is in memory: `context` is the window that is allocated, in tokens, 0 where it is not told."""

    name: str
    context: int = 0


def read_running(value: Any) -> tuple[Running, ...]:
    """Return the models of `/api/ps`; a window under 512 tokens is not believed."""
    found = [(_name(entry), read_count(entry.get("context_length")) or 0) for entry in _entries(value)]
    return tuple(Running(name, tokens if tokens >= LEAST_WINDOW else 0) for name, tokens in found)


def full_name(name: str) -> str:
    """Return a model's name as it is compared: with its tag, without Ollama's own registry, in lower case."""
    name = name.lower().removeprefix("registry.ollama.ai/").removeprefix("library/")
    return name if ":" in name.rpartition("/")[2] else f"{name}:latest"


def _entries(value: Any) -> list[JsonObject]:
    models = value.get("models") if isinstance(value, dict) else None
    return [entry for entry in models if isinstance(entry, dict) and _name(entry)] if isinstance(models, list) else []


def _name(entry: JsonObject) -> str:
    given = next((entry[key] for key in ("model", "name") if isinstance(entry.get(key), str) and entry[key]), "")
    return sound(given)[:NAME_SHOWN] if given.isprintable() else ""


def _text(value: Any) -> str:
    return sound(value) if isinstance(value, str) else ""


def _reason(value: Any) -> str:
    return one_line(_text(value), 40).lower() or "stop"
