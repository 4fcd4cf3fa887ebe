"""The tool `models`: the models that wisp can run."""

from collections.abc import Awaitable, Callable, Sequence
from typing import TypeAlias

from wisp_core.requests import ToolKind, ToolResult
from wisp_core.text import one_line, revealed
from wisp_core.tools.current_date import NoArguments
from wisp_core.tools.result import Results
from wisp_core.tools.tool import Running, Tool

LINE_CHARACTERS = 200

ListModels: TypeAlias = Callable[[], Awaitable[Sequence[str]]]
"""Returns a line for each model that can be run."""


class Models(Tool[NoArguments]):
    """Lists models; `list_models` knows them."""

    name = "models"
    kind = ToolKind.READS
    description = "List the models that wisp can run."
    arguments = NoArguments

    def __init__(self, list_models: ListModels, results: Results) -> None:
        self._list_models = list_models
        self._results = results

    async def run(self, arguments: NoArguments, running: Running) -> ToolResult:
        """Return a model a line."""
        lines = [revealed(one_line(line, LINE_CHARACTERS)) for line in await self._list_models()]
        return await self._results.give("\n".join(lines) or "[no model can be run]", running.call)
