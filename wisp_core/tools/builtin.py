"""Makes the built-in tools of a conversation."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from wisp_core.settings import Tools
from wisp_core.tools.budget import Budget
from wisp_core.tools.current_date import CurrentDate
from wisp_core.tools.read_file import Protection, ReadFile
from wisp_core.tools.run_command import RunCommand
from wisp_core.tools.spool import Spools
from wisp_core.tools.tool import Tool


def builtin_tools(
    cwd: Path, settings: Tools, *, budget: Budget, spools: Spools, protection: Protection
) -> Sequence[Tool[Any]]:
    """Return the built-in tools, working in `cwd`, in the order in which the model is told of them."""
    return (
        CurrentDate(),
        ReadFile(cwd, budget=budget, protection=protection),
        RunCommand(cwd, settings, budget=budget, spools=spools),
    )
