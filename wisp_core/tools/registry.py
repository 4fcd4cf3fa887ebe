"""The tools of a conversation by name: their schemas, the check of a call's arguments, and the run."""

import difflib
from collections.abc import Callable, Iterable
from functools import cached_property
from typing import Any

from wisp_core.errors import ToolFailure
from wisp_core.records import JsonObject
from wisp_core.requests import ToolKind, ToolResult, ToolSchema
from wisp_core.text import one_line, sound
from wisp_core.tools.arguments import parameters, read_arguments
from wisp_core.tools.tool import Running, Tool

FAILURE_CHARACTERS = 500


class Registry:
    """The tools that the model has, without those that the settings disable."""

    def __init__(self, tools: Iterable[Tool[Any]], *, disabled: Iterable[str] = ()) -> None:
        left_out = set(disabled)
        self._tools = {tool.name: tool for tool in tools if tool.name not in left_out}

    def schemas(self) -> tuple[ToolSchema, ...]:
        """Return what the model is told of the tools, in the order in which they were given."""
        return self._schemas

    @cached_property
    def _schemas(self) -> tuple[ToolSchema, ...]:
        # Made on first use: a start pays for no schema.
        return tuple(
            ToolSchema(tool.name, tool.description, parameters(tool.arguments)) for tool in self._tools.values()
        )

    def kind(self, tool: str) -> ToolKind | None:
        """Return what the tool does to the world, None where there is no such tool."""
        found = self._tools.get(tool)
        return found.kind if found else None

    def check(self, tool: str, arguments: str) -> JsonObject:
        """Return the arguments, repaired and validated.

        Raises:
            ToolFailure: there is no such tool, or the arguments are not what it takes.
        """
        found = self._find(tool)
        return read_arguments(found.arguments, arguments, tool=found.name)

    async def preview(self, tool: str, arguments: JsonObject) -> str:
        """Return what a call with checked arguments will do, for an approval; empty where the arguments say it.

        Raises:
            ToolFailure: it cannot be done, so nobody need be asked; in one line for the model.
        """
        found = self._find(tool)
        try:
            return await found.preview(found.arguments.model_validate(arguments))
        except ToolFailure as failure:
            raise _short(failure) from failure

    async def run(
        self, tool: str, arguments: JsonObject, *, call: str, progress: Callable[[str], None], place: str = ""
    ) -> ToolResult:
        """Run the tool with checked arguments and return its bounded result; `place` is the permitted real path.

        Raises:
            ToolFailure: it could not be done, in one line for the model.
        """
        found = self._find(tool)
        try:
            return await found.run(found.arguments.model_validate(arguments), Running(call, progress, place))
        except ToolFailure as failure:
            raise _short(failure) from failure
        except Exception as error:  # noqa: BLE001 -- the named edge: a tool's bug is its result, the turn goes on
            said = one_line(sound(f"{tool} failed inside wisp: {type(error).__name__}: {error}"), FAILURE_CHARACTERS)
            return ToolResult(said, ok=False, bytes=len(said.encode()), lines=1)

    async def close(self) -> None:
        """Let go of what the tools hold."""
        for tool in self._tools.values():
            await tool.close()

    def _find(self, tool: str) -> Tool[Any]:
        found = self._tools.get(tool)
        if found is not None:
            return found
        asked = one_line(sound(tool), 64) or "without a name"
        near = difflib.get_close_matches(tool, self._tools, n=1, cutoff=0.4)
        if not self._tools:
            raise ToolFailure(f"there is no tool {asked}; this conversation has none")
        hint = f"the nearest is {near[0]}" if near else f"the tools are {', '.join(self._tools)}"
        raise ToolFailure(f"there is no tool {asked}; {hint}")


def _short(failure: ToolFailure) -> ToolFailure:
    return ToolFailure(one_line(sound(str(failure)), FAILURE_CHARACTERS))
