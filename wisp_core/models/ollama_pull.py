"""Gets models for an Ollama and lists those that it has."""

import json
import re
from collections.abc import Callable
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Any

from wisp_core.errors import BadRequestError, CutStreamError, ModelError, NoModelError
from wisp_core.models.backend import Server
from wisp_core.models.failures import quote, report_of
from wisp_core.models.ollama_wire import OnDisk, read_models
from wisp_core.models.streams import LineReader
from wisp_core.models.transport import Deadline, Transport
from wisp_core.models.wire import read_count
from wisp_core.text import displayable, one_line, sound

SILENT_SECONDS = 900.0
"""How long a server may say nothing: it says nothing while it checks many gigabytes."""
STATUS_SHOWN = 80
_NOT_THERE = re.compile("file does not exist|manifest unknown|pull model manifest: 404")
_AGAIN = "pull it again: it goes on where it stopped"


@dataclass(frozen=True, slots=True)
class PullProgress:
    """How far a pull is: `completed` of `total` bytes of all layers known so far, and of the one that it is about.

    `status` is the server's word for it; `layer` is empty where it is about none.
    """

    status: str
    completed: int = 0
    total: int = 0
    layer: str = ""
    layer_completed: int = 0
    layer_total: int = 0


async def list_models(server: Server) -> tuple[OnDisk, ...]:
    """Return the models that an Ollama has, the latest first.

    Raises:
        ModelError: it cannot be asked, or is no Ollama.
    """
    transport = Transport(server)
    try:
        value = await transport.ask("GET", f"{_root(server)}/api/tags")
    finally:
        await transport.close()
    if not isinstance(value, dict) or not isinstance(value.get("models", []), list | None):
        raise BadRequestError(f"{server.shown} is no Ollama", "correct its url", endpoint=server.shown)
    return read_models(value)


async def pull(server: Server, name: str, *, progress: Callable[[PullProgress], None]) -> None:
    """Let an Ollama get the model `name`, telling every step; cancelling stops the server too.

    Raises:
        ModelError: it could not be had whole.
    """
    transport = Transport(server)
    state = _Pull(server.shown, name)
    try:
        deadline = Deadline(SILENT_SECONDS)
        async with (
            transport.post(f"{_root(server)}/api/pull", {"model": name, "stream": True}, deadline=deadline) as response,
            aclosing(transport.chunks(response, deadline)) as chunks,
        ):
            async for chunk in chunks:
                deadline.move(SILENT_SECONDS)
                for line in state.reader.feed(chunk):
                    state.take(line, progress)
        for line in state.reader.finish():
            state.take(line, progress)
    except ModelError as error:
        # Its own words about a prompt, or about trying again, would not fit.
        if isinstance(error, CutStreamError) or _NOT_THERE.search(error.detail):
            raise state.broken(error.detail) from error
        raise
    finally:
        await transport.close()
    if not state.done:
        raise state.broken()


@dataclass(slots=True)
class _Pull:
    endpoint: str
    name: str
    reader: LineReader = field(default_factory=LineReader)
    done: bool = False
    layers: dict[str, tuple[int, int]] = field(default_factory=dict)

    def take(self, line: str, progress: Callable[[PullProgress], None]) -> None:
        if not line.strip():
            return
        try:
            value: Any = json.loads(line)
        except (ValueError, RecursionError) as error:
            what = f"{self.endpoint} answers with something that is no JSON"
            raise BadRequestError(what, "correct its url", detail=sound(line[:2000])) from error
        if not isinstance(value, dict):
            return
        if value.get("error"):
            raise CutStreamError("", detail=report_of(200, value).message)
        status = value.get("status")
        status = one_line(displayable(status), STATUS_SHOWN) if isinstance(status, str) else ""
        digest, total = value.get("digest"), read_count(value.get("total"))
        layer, done = "", 0
        if isinstance(digest, str) and digest and total:
            layer = one_line(displayable(digest[:STATUS_SHOWN]), STATUS_SHOWN)
            # Several connections get one layer, and their counts may come out of order.
            done = min(total, max(read_count(value.get("completed")) or 0, self.layers.get(layer, (0, 0))[0]))
            self.layers[layer] = (done, total)
        self.done = self.done or status == "success"
        completed, whole = (sum(each) for each in zip(*self.layers.values(), strict=True)) if self.layers else (0, 0)
        progress(PullProgress(status, completed, whole, layer, done, total if layer and total else 0))

    def broken(self, said: str = "") -> ModelError:
        """Return what is told where it did not end well; `said` are the server's words."""
        shown = quote(self.name)
        if _NOT_THERE.search(said):
            where = f"no model is called `{shown}` where {self.endpoint} gets them"
            return NoModelError(where, "see its library for the names", endpoint=self.endpoint, detail=said)
        why = f": {quote(said)}" if said else ""
        return CutStreamError(
            f"{self.endpoint} broke off the pull of `{shown}`{why}", _AGAIN, endpoint=self.endpoint, detail=said
        )


def _root(server: Server) -> str:
    return server.root.removesuffix("/api")
