"""The shape of a tool: what the model is told of it, what it takes, and how it runs."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar, Generic, TypeVar

from pydantic import BaseModel, ConfigDict

from wisp_core.requests import ToolKind, ToolResult


class Arguments(BaseModel):
    """What a tool takes, as the model gives it; an argument that the tool does not have is an error."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False, defer_build=True)


Given = TypeVar("Given", bound=Arguments)


@dataclass(frozen=True, slots=True)
class Running:
    """One run of a tool: its `call` id, and `progress`, which shows the person a part of the output as it comes.

    `place` is the real path that was permitted, empty where none was judged: what writes goes there or nowhere.
    """

    call: str
    progress: Callable[[str], None]
    place: str = ""


class Tool(ABC, Generic[Given]):
    """A tool of the model's; its `description` is in every request and so is short."""

    name: ClassVar[str]
    kind: ClassVar[ToolKind]
    description: ClassVar[str]
    arguments: type[Given]

    @abstractmethod
    async def run(self, arguments: Given, running: Running) -> ToolResult:
        """Return the bounded result.

        Raises:
            ToolFailure: it could not be done, in one line for the model.
        """

    async def preview(self, arguments: Given) -> str:
        """Return what the run will do, exactly, for the person who is asked; empty where the arguments say it.

        Raises:
            ToolFailure: it cannot be done, in one line for the model.
        """
        return ""

    async def close(self) -> None:
        """Let go of what the tool holds when the conversation is closed."""
