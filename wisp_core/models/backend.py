"""What a backend gives beyond what the turn asks of it, and the server that one speaks to. Pure."""

import re
from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass, field
from typing import Protocol, TypeVar

from pydantic import BaseModel

from wisp_core.requests import Capabilities, Message, ModelEvent, ModelRequest, ToolSchema, Window
from wisp_core.settings import Timeouts

Schema = TypeVar("Schema", bound=BaseModel)


_NAMED = re.compile("(?<=://)[^/]*@")


@dataclass(frozen=True, slots=True)
class Server:
    """One endpoint: `url` up to and with its `/v1`, and the key and headers that go to it alone.

    `label` stands for the url where a person would not know it.
    """

    url: str
    key: str = field(default="", repr=False)
    headers: tuple[tuple[str, str], ...] = field(default=(), repr=False)
    timeouts: Timeouts = field(default_factory=Timeouts)
    label: str = ""

    @property
    def shown(self) -> str:
        """What messages call the endpoint; a name and password in the url are nobody's business."""
        return self.label or _NAMED.sub("", self.url)

    @property
    def root(self) -> str:
        """The url without its `/v1`, where llama.cpp and LM Studio have their own calls."""
        return self.url.removesuffix("/v1")


class ModelBackend(Protocol):
    """One model behind one endpoint (M7); every failure is a `ModelError`."""

    name: str
    endpoint: str

    @property
    def capabilities(self) -> Capabilities:
        """What the model can do, as far as is known."""

    async def window(self) -> Window | None:
        """Return the window in tokens with its source, None while nobody knows it."""

    async def count(self, messages: Sequence[Message], tools: Sequence[ToolSchema]) -> int | None:
        """Return the exact size of a prompt in tokens, None where it cannot be counted without a model call."""

    def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        """Yield the answer's parts, `Finished` last; closing the generator closes the connection.

        Raises:
            ModelError: the answer could not be had whole.
        """

    async def guided(self, request: ModelRequest, schema: type[Schema]) -> Schema:
        """Return an answer in the form of `schema`.

        Raises:
            ModelError: no answer came, or none of that form.
        """

    async def warm(self) -> None:
        """Begin in advance what the first request would wait for; a failure is told by that request."""

    async def close(self) -> None:
        """Close connections and end processes."""
