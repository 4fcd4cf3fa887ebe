"""The tool `current_date`: date, time, zone and week."""

from collections.abc import Callable
from datetime import datetime

from wisp_core.requests import ToolKind, ToolResult
from wisp_core.tools.tool import Arguments, Running, Tool


class NoArguments(Arguments):
    """Nothing."""


def local_now() -> datetime:
    """Return the time now in the machine's zone."""
    return datetime.now().astimezone()


class CurrentDate(Tool[NoArguments]):
    """Tells the time; `now` returns it with its zone."""

    name = "current_date"
    kind = ToolKind.READS
    description = "Current date, time, time zone and week."
    arguments = NoArguments

    def __init__(self, now: Callable[[], datetime] = local_now) -> None:
        self._now = now

    async def run(self, arguments: NoArguments, running: Running) -> ToolResult:
        """Return one line with the weekday, the date and time, the zone and the ISO week."""
        now = self._now()
        year, week, _ = now.isocalendar()
        zone = f"{now:%Z} (UTC{now.isoformat()[-6:]})" if now.utcoffset() else "UTC"
        text = f"{now:%A}, {now:%Y-%m-%d}, {now:%H:%M:%S} {zone}, week {week} of {year}"
        return ToolResult(text, bytes=len(text.encode()), lines=1)
