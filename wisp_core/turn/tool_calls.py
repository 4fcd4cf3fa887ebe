"""The calls of one response: permitted, run, recorded; reading tools side by side, the others in the model's order."""

import asyncio
import json
import time
from collections.abc import Sequence
from itertools import groupby

from wisp_core.errors import ToolFailure
from wisp_core.events import (
    ApprovalDecided,
    ApprovalRequested,
    CallData,
    OutputKept,
    PermissionGranted,
    ToolCalled,
    ToolReturned,
)
from wisp_core.permissions.decide import Proposed, Rules, decide, rule_for
from wisp_core.records import CallContent, JsonObject, OutputContent
from wisp_core.requests import Answer, Approval, ToolKind, ToolResult, Verdict
from wisp_core.turn.participants import Participants

LAST_ROUND = "[no more tool calls can be made in this turn: answer with what you have]"


async def run_calls(parts: Participants, turn: int, calls: Sequence[CallData], *, last: bool) -> None:
    """Run the calls and record a result for each; `last` tells the model that no further round follows."""
    for reads, group in groupby(calls, key=lambda call: parts.toolbox.kind(call.tool) is ToolKind.READS):
        batch = list(group)
        if not reads:
            for call in batch:
                await _run_call(parts, turn, call, last=last and call is calls[-1])
            continue
        try:
            async with asyncio.TaskGroup() as tasks:
                for call in batch:
                    tasks.create_task(_run_call(parts, turn, call, last=last and call is calls[-1]))
        except ExceptionGroup as failures:
            raise failures.exceptions[0] from None


async def _run_call(parts: Participants, turn: int, call: CallData, *, last: bool) -> None:
    began = time.monotonic()
    earlier = _repeats(parts, turn, call) if call.given is None else None
    try:
        arguments = parts.toolbox.check(call.tool, call.given if call.given is not None else call.arguments)
        await _permit(parts, turn, call, arguments)
        await parts.write(ToolCalled(call=call.call, tool=call.tool, arguments=arguments), turn)
        began = time.monotonic()
        result = await parts.toolbox.run(
            call.tool, arguments, call=call.call, progress=lambda text: _progress(parts, turn, call, text)
        )
    except ToolFailure as failure:
        text = str(failure)
        result = ToolResult(text, ok=False, bytes=len(text.encode()), lines=1)
    await keep_output(parts, turn, call.call, call.tool, result)
    text = f"{result.text}\n{LAST_ROUND}" if last else result.text
    await parts.write(
        ToolReturned(
            call=call.call,
            tool=call.tool,
            text=text,
            ok=result.ok,
            exitStatus=result.exit_status,
            bytes=result.bytes,
            lines=result.lines,
            seconds=round(time.monotonic() - began, 3),
            kept=result.kept is not None,
            repeat=earlier,
        ),
        turn,
    )


async def keep_output(parts: Participants, turn: int, call: str, tool: str, result: ToolResult) -> None:
    """Record that an output is kept whole in the output store, where it is."""
    if result.kept is None:
        return
    kept = result.kept
    await parts.write(
        OutputKept(
            call=call,
            tool=tool,
            bytes=kept.bytes,
            lines=kept.lines,
            sha256=kept.sha256,
            encoding=kept.encoding,
            cut=kept.cut,
        ),
        turn,
    )


async def _permit(parts: Participants, turn: int, call: CallData, arguments: JsonObject) -> None:
    """Return when the call may run; a `ToolFailure` tells the model why it may not."""
    record, rules = parts.record, parts.settings.permissions
    kind = parts.toolbox.kind(call.tool) or ToolKind.COMMAND
    proposed = Proposed(call.tool, kind, arguments, record.cwd)
    decision = decide(proposed, Rules(record.mode, rules.allow, rules.ask, rules.deny, record.grants))
    if decision.verdict == "allow":
        return
    if decision.verdict == "deny":
        await parts.write(ApprovalDecided(call=call.call, decision="no", by="rule", reason=decision.why), turn)
        raise ToolFailure(f"not permitted: {decision.why}")
    rule = rule_for(proposed)
    began = time.monotonic()
    await parts.write(
        ApprovalRequested(call=call.call, tool=call.tool, arguments=arguments, cwd=record.cwd, why=decision.why), turn
    )
    answer = await parts.ask(Approval(call.call, call.tool, kind, arguments, record.cwd, decision.why, rule))
    await _decided(parts, turn, call, answer, rule, time.monotonic() - began)


async def _decided(parts: Participants, turn: int, call: CallData, answer: Answer, rule: str, seconds: float) -> None:
    await parts.write(
        ApprovalDecided(
            call=call.call,
            decision=answer.verdict.value,
            by=answer.by,
            reason=answer.reason,
            seconds=round(seconds, 3),
        ),
        turn,
    )
    if answer.verdict is Verdict.NO:
        who = "the person said no" if answer.by == "person" else "nobody could be asked"
        raise ToolFailure(f"not run: {who}: {answer.reason}" if answer.reason else f"not run: {who}")
    if answer.verdict is Verdict.THREAD:
        await parts.write(PermissionGranted(rule=rule), turn)


def _progress(parts: Participants, turn: int, call: CallData, text: str) -> None:
    parts.tell("delta", turn, kind="output", text=text, call=call.call)


def _repeats(parts: Participants, turn: int, call: CallData) -> str | None:
    """Return the earlier call of the turn with the same tool and arguments that has a result."""
    entries = [e for i in parts.record.active if (e := parts.record.entries[i]).turn == turn]
    done = {e.content.call for e in entries if isinstance(e.content, OutputContent)}
    wanted = (call.tool, _canonical(call.arguments))
    for entry in entries:
        content = entry.content
        if not isinstance(content, CallContent) or content.call not in done or content.call == call.call:
            continue
        if (content.tool, _canonical(content.arguments)) == wanted:
            return content.call
    return None


def _canonical(arguments: str) -> str:
    return json.dumps(json.loads(arguments), sort_keys=True)
