"""What a turn is handed: the model, the tools, the writer and the person, each as little as the turn needs."""

from collections.abc import AsyncGenerator, Awaitable, Callable, Collection, Sequence
from pathlib import Path
from typing import Protocol, TypeAlias

from wisp_core.events import Event, EventData, Live, TurnEnd
from wisp_core.records import JsonObject, ThreadRecord
from wisp_core.requests import (
    Answer,
    Approval,
    Blocks,
    Capabilities,
    Composition,
    Measurement,
    Message,
    ModelEvent,
    ModelRequest,
    Question,
    ToolKind,
    ToolResult,
    ToolSchema,
    Window,
)

Ask: TypeAlias = Callable[[Approval | Question], Awaitable[Answer]]
Publish: TypeAlias = Callable[[Live], None]


class Backend(Protocol):
    """One model behind one endpoint; every failure is a `ModelError`."""

    name: str
    endpoint: str

    @property
    def capabilities(self) -> Capabilities:
        """What the model can do, as far as is known."""

    async def window(self) -> Window | None:
        """Return the window in tokens, None while nobody knows it."""

    async def count(self, messages: Sequence[Message], tools: Sequence[ToolSchema]) -> int | None:
        """Return the exact size of a prompt in tokens, None where it cannot be counted without a model call."""

    def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        """Yield the answer's parts; closing the generator closes the connection."""


class Toolbox(Protocol):
    """The tools of a conversation."""

    def schemas(self) -> tuple[ToolSchema, ...]:
        """Return what the model is told of the tools."""

    def kind(self, tool: str) -> ToolKind | None:
        """Return what the tool does to the world, None where there is no such tool."""

    def check(self, tool: str, arguments: str) -> JsonObject:
        """Return the arguments, repaired and validated; a `ToolFailure` says what was expected."""

    async def preview(self, tool: str, arguments: JsonObject) -> str:
        """Return what a call will do where its arguments do not say it; a `ToolFailure` says that it cannot be done."""

    async def run(
        self, tool: str, arguments: JsonObject, *, call: str, progress: Callable[[str], None], place: str = ""
    ) -> ToolResult:
        """Run the tool and return its bounded result; what writes goes to the permitted `place` or nowhere.

        A `ToolFailure` is one line for the model.
        Being cancelled it may raise `ToolCancelled`, with what had come.
        """


class Journal(Protocol):
    """The one writer."""

    async def record(self, record: ThreadRecord, data: EventData, *, turn: int | None = None) -> Event:
        """Append, fold, project and publish one event."""

    async def record_each(
        self, record: ThreadRecord, datas: Sequence[EventData], *, turn: int | None = None
    ) -> list[Event]:
        """Do so with several, each for itself, in one append."""

    async def record_group(
        self, record: ThreadRecord, datas: Sequence[EventData], *, turn: int | None = None
    ) -> list[Event]:
        """Do so with several that take effect together; the last names the change."""

    def publish(self, live: Live) -> None:
        """Publish what is not recorded."""


class Knowledge(Protocol):
    """What the thread knows beyond its literal turns."""

    async def blocks(self, *, window: int | None, without: Collection[int] = frozenset()) -> Blocks:
        """Return the two blocks of the open turn's next request, in a window of so many tokens.

        `without` are entries that are about to leave the literal turns.
        """

    async def end_turn(self, turn: int, end: TurnEnd) -> None:
        """Record how a turn ended, together with what that adds to what is known."""


class KeepContext(Protocol):
    """Writes a composition down for the person to read."""

    async def __call__(self, composition: Composition, size: Measurement, *, title: str) -> Path | None:
        """Return the Markdown file, None where nothing is written."""


class Protection(Protocol):
    """Tells what is out of bounds whatever the rules, in a sentence; empty where it is not."""

    def refuse_path(self, path: Path, *, writing: bool = False) -> str:
        """Judge a path that is read, or written, symlinks resolved."""

    def ask_before_edit(self, path: Path) -> str:
        """Judge a path that may be edited, though perhaps never without asking."""

    def ask_about(self, command: str, cwd: Path) -> str:
        """Judge the words of a command."""
