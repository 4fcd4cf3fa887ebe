"""The deterministic approximation of a request's size, and what its reply may take. Pure."""

import json
from collections.abc import Sequence

from wisp_core.requests import CHARACTERS_A_TOKEN, Composition, Estimate, Message, Role, ToolSchema, Window
from wisp_core.settings import Context, Output


def approximate(characters: int) -> int:
    """Return `ceil(characters / 4)` in tokens (C1)."""
    return -(-characters // CHARACTERS_A_TOKEN)


def estimate(
    composition: Composition,
    schemas: Sequence[ToolSchema],
    *,
    window: Window | None,
    settings: Context,
    turn: int,
) -> Estimate:
    """Return the approximation of each part; results of `turn`, still open, are the pending ones."""
    pending = {item.id for item in composition.items if item.kind == "tool_output" and item.turn == turn}
    system = messages = results = 0
    for message in composition.messages:
        size = _characters(message)
        if message.role is Role.SYSTEM:
            system += size
        elif message.role is Role.TOOL and message.call_id in pending:
            results += size
        else:
            messages += size
    return Estimate(
        approximate(system),
        approximate(messages),
        approximate(results),
        approximate(sum(len(schema_text(schema)) for schema in schemas)),
        window=window.tokens if window else None,
        reserve=reserve(window, settings),
    )


def reserve(window: Window | None, settings: Context) -> int | None:
    """Return what stays free, in tokens: the setting, else its share of the window."""
    if window is None:
        return None
    return settings.reserve if settings.reserve is not None else int(settings.reserve_share * window.tokens)


def output_limit(window: Window | None, prompt: int, *, settings: Output) -> int | None:
    """Return how long a reply may be, in tokens: the setting or what window, prompt and margin leave (C26a).

    None where neither is known; it can be zero or negative, where the request cannot be sent.
    """
    if window is None:
        return settings.max_tokens
    left = window.tokens - prompt - int(settings.margin_share * window.tokens)
    return left if settings.max_tokens is None else min(left, settings.max_tokens)


def wire_bytes(messages: Sequence[Message], schemas: Sequence[ToolSchema]) -> int:
    """Return the size of what a request says, in bytes of UTF-8, less any provider's frame."""
    said = sum(
        len(message.text.encode()) + sum(len(c.name) + len(c.arguments.encode()) for c in message.calls)
        for message in messages
    )
    return said + sum(len(schema_text(schema).encode()) for schema in schemas)


def schema_text(schema: ToolSchema) -> str:
    """Return a schema as it is serialised without spaces."""
    form = {"name": schema.name, "description": schema.description, "parameters": schema.parameters}
    return json.dumps(form, ensure_ascii=False, separators=(",", ":"))


def _characters(message: Message) -> int:
    return len(message.text) + sum(len(call.name) + len(call.arguments) for call in message.calls)
