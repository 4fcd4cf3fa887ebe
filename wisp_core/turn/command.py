"""The person's own `!command`: run without asking, recorded for the next request, never sent on its own."""

import json

from wisp_core.events import CommandRun
from wisp_core.records import new_call_id
from wisp_core.requests import ToolCancelled, ToolResult
from wisp_core.turn.participants import Participants
from wisp_core.turn.tool_calls import keep_output

TOOL = "run_command"


async def run_command(parts: Participants, command: str) -> None:
    """Run the command and record it ahead of the turn that comes, also where it was cancelled.

    Raises:
        ToolFailure: it could not be run, or nothing was given.
    """
    arguments = parts.toolbox.check(TOOL, json.dumps({"command": command}))
    call = new_call_id()

    def show(text: str) -> None:
        parts.tell("delta", kind="output", text=text, call=call)

    try:
        result = await parts.toolbox.run(TOOL, arguments, call=call, progress=show)
    except ToolCancelled as stopped:
        await _record(parts, command, call=call, result=stopped.result, cancelled=True)
        raise
    await _record(parts, command, call=call, result=result)


async def _record(parts: Participants, command: str, *, call: str, result: ToolResult, cancelled: bool = False) -> None:
    await keep_output(parts, result, call=call, tool=TOOL)
    await parts.write(
        CommandRun(
            call=call,
            command=command,
            output=result.text,
            exitStatus=result.exit_status,
            bytes=result.bytes,
            lines=result.lines,
            kept=result.kept is not None,
            cancelled=cancelled,
        )
    )
