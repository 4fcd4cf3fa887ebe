"""The tool `system_info`: ports, disk, processes, memory, battery and network of this machine."""

import asyncio
from collections.abc import Callable
from typing import Literal

from wisp_core.requests import ToolKind, ToolResult
from wisp_core.tools.result import Results
from wisp_core.tools.tool import Arguments, Running, Tool

Topic = Literal["ports", "disk", "processes", "memory", "battery", "network"]


class SystemArguments(Arguments):
    """What is asked about."""

    topic: Topic


class SystemInfo(Tool[SystemArguments]):
    """Looks at the machine."""

    name = "system_info"
    kind = ToolKind.READS
    description = "Look at this machine: listening ports, disk, processes, memory, battery or network."
    arguments = SystemArguments

    def __init__(self, results: Results) -> None:
        self._results = results

    async def run(self, arguments: SystemArguments, running: Running) -> ToolResult:
        """Return the topic's lines."""
        from wisp_core.tools.machine import LOOKS  # psutil is heavy: off the start-up path

        look: Callable[[], list[str]] = LOOKS[arguments.topic]
        return await self._results.give("\n".join(await asyncio.to_thread(look)), running.call)
