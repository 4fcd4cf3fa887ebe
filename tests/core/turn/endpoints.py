"""Every way to speak with a model's server: its strict fake, a thread that uses it, and how it words things."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from tests.fakes import anthropic, ollama, provider, responses
from tests.opened import Opened, opened

APIS = ("chat", "ollama", "anthropic", "responses")
FAKES: dict[str, Any] = {
    "chat": provider.FakeProvider,
    "ollama": ollama.FakeOllama,
    "anthropic": anthropic.FakeAnthropic,
    "responses": responses.FakeResponses,
}
QUIET = {"facts": {"enabled": False}}
"""What is made of a turn beside it asks the model too."""


def plan(server: Any, api: str, *, text: str) -> None:
    """Queue an answer of `text`."""
    match api:
        case "anthropic":
            server.answer(*anthropic.message(anthropic.said(text)))
        case "responses":
            server.answer(*responses.response(responses.said(text)))
        case _:
            server.answer(text)


def begin(api: str, text: str) -> bytes:
    """Return the bytes with which an answer begins that says `text`, "" for nothing yet, and does not end."""
    match api:
        case "anthropic":
            values = anthropic.message(anthropic.said(text))
            last = "content_block_delta" if text else "message_start"
            return anthropic.events(_up_to(values, last))
        case "responses":
            values = responses.response(responses.said(text))
            return responses.events(_up_to(values, "response.output_text.delta" if text else "response.in_progress"))
        case "ollama":
            return ollama.write_lines(ollama.make_lines(text))
        case _:
            chunks = provider.make_chunks(text)[:-1]
            return b"".join(f"data: {json.dumps(chunk)}\n\n".encode() for chunk in chunks)


def _up_to(values: Any, last: str) -> list[Any]:
    values = list(values)
    at = next(at for at, value in enumerate(values) if value["type"] == last)
    return values[: at + 1]


def refusal(api: str, message: str) -> Any:
    """Return the body of a refusal as this kind of server words it."""
    match api:
        case "ollama":
            return {"error": message}
        case "anthropic":
            return anthropic.report(400, message)
        case _:
            return {"error": {"message": message, "type": "invalid_request_error", "code": None}}


@asynccontextmanager
async def speaking(
    folder: Path, api: str, *, settings: dict[str, Any] | None = None, fake: dict[str, Any] | None = None
) -> AsyncIterator[tuple[Any, Opened]]:
    """Yield the fake of an api, and a thread whose model it has."""
    async with FAKES[api](**(fake or {})) as server:
        endpoint: dict[str, Any] = {"url": server.url, "api": api}
        given = {"model": "local/fake", "endpoints": {"fake": endpoint}, **QUIET} | (settings or {})
        async with opened(folder, **given) as here:
            yield server, here
        assert server.refused == []
