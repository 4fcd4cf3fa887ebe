"""A16: what a cancelled command had printed is its result."""

import asyncio

import pytest

from wisp_core.requests import ToolCancelled
from wisp_core.settings import Outputs as Limits
from wisp_core.settings import Tools
from wisp_core.store.outputs import Outputs
from wisp_core.tools.budget import Budget
from wisp_core.tools.registry import Registry
from wisp_core.tools.run_command import RunCommand

CALL = "3f9a2c1b"


async def cancelled(folder, command, *, at):
    """Run the command, cancel it once it has printed `at`, and return what had come."""
    outputs = Outputs(folder / "output", "session1", limits=Limits(), enabled=True)
    tools = Registry([RunCommand(folder, Tools(), budget=Budget(Limits()), spools=outputs)])
    there, shown = asyncio.Event(), []

    def show(text):
        shown.append(text)
        if at in "".join(shown):
            there.set()

    running = asyncio.ensure_future(tools.run("run_command", {"command": command}, call=CALL, progress=show))
    await asyncio.wait_for(there.wait(), 10)
    running.cancel()
    with pytest.raises(ToolCancelled) as stopped:
        await running
    await tools.close()
    return stopped.value.result


async def test_what_had_come_is_the_result_with_what_it_said_at_its_end(tmp_path):
    # Some shells say of themselves that a trap which sets another is odd.
    command = "exec 2>&-; trap 'trap \"\" TERM; echo ended; exit' TERM; echo begun; while :; do read x </dev/null; done"
    result = await cancelled(tmp_path, command, at="begun")
    assert result.text == "stdout:\nbegun\nended\n[cancelled by the person]"
    assert (result.ok, result.exit_status, result.lines) == (False, None, 4)


async def test_a_large_output_is_kept_whole(tmp_path):
    result = await cancelled(tmp_path, "seq 1 30000; sleep 7107", at="30000")
    assert result.kept
    assert result.kept.lines >= 30000
    assert "held back" in result.text
    assert "[cancelled by the person]" in result.text
