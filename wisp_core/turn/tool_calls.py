"""The calls of one response: permitted, run, recorded; reading tools side by side, the others in the model's order."""

import asyncio
import json
import os
import time
from collections.abc import Sequence
from dataclasses import replace
from itertools import groupby
from pathlib import Path

from wisp_core.errors import SettingsError, ToolFailure
from wisp_core.events import (
    ApprovalDecided,
    ApprovalRequested,
    CallData,
    OutputKept,
    PermissionGranted,
    ToolCalled,
    ToolReturned,
)
from wisp_core.permissions.decide import Proposed, decide, read_rules, rule_for
from wisp_core.records import CallContent, JsonObject, OutputContent
from wisp_core.requests import Answer, Approval, ToolCancelled, ToolKind, ToolResult, Verdict
from wisp_core.text import load_object
from wisp_core.turn.participants import Participants

REPEATED = "[this repeats an earlier call of this turn exactly; that one's result stands in the context above]"
CUT_BY = {"length": "the output limit", "content_filter": "the provider's filter"}
"""What cuts off an answer that finishes so; a call whose arguments did not come whole before is none."""
CUT_OFF = "not run: {by} cut this call off before its arguments were whole; make it again, and shorter"
LAST_ROUND = "[no more tool calls can be made in this turn: answer with what you have]"


async def run_calls(parts: Participants, calls: Sequence[CallData], *, last: bool, finish: str = "tool_calls") -> None:
    """Run the calls of an answer that ended in `finish`, and record a result for each.

    `last` tells the model that no further round follows.
    """
    cut = CUT_BY.get(finish, "")
    for reads, group in groupby(calls, key=lambda call: parts.toolbox.kind(call.tool) is ToolKind.READS):
        batch = list(group)
        if not reads:
            for call in batch:
                await _run_call(parts, call, step=calls, last=last, cut=cut)
            continue
        try:
            async with asyncio.TaskGroup() as tasks:
                for call in batch:
                    tasks.create_task(_run_call(parts, call, step=calls, last=last, cut=cut))
        except ExceptionGroup as failures:
            raise failures.exceptions[0] from None


async def _run_call(parts: Participants, call: CallData, *, step: Sequence[CallData], last: bool, cut: str) -> None:
    began = time.monotonic()
    earlier = _repeats(parts, call, step=step) if call.given is None else None
    try:
        if cut and call.given is not None:
            raise ToolFailure(CUT_OFF.format(by=cut))
        arguments = parts.toolbox.check(call.tool, call.given if call.given is not None else call.arguments)
        place = await _permit(parts, call, arguments=arguments)
        await parts.write(ToolCalled(call=call.call, tool=call.tool, arguments=arguments))
        began = time.monotonic()
        result = await parts.toolbox.run(
            call.tool,
            arguments,
            call=call.call,
            progress=lambda text: _progress(parts, call, text=text),
            place=place,
        )
    except ToolFailure as failure:
        text = str(failure)
        result = ToolResult(text, ok=False, bytes=len(text.encode()), lines=1)
    except ToolCancelled as stopped:
        await _record(parts, call, result=stopped.result, began=began, earlier=earlier, cancelled=True)
        raise
    said = [REPEATED] if earlier is not None else []
    text = "\n".join([*said, result.text, *([LAST_ROUND] if last and call is step[-1] else [])])
    result = replace(result, text=text)
    await _record(parts, call, result=result, began=began, earlier=earlier)


async def _record(
    parts: Participants,
    call: CallData,
    *,
    result: ToolResult,
    began: float,
    earlier: str | None,
    cancelled: bool = False,
) -> None:
    await keep_output(parts, result, call=call.call, tool=call.tool)
    await parts.write(
        ToolReturned(
            call=call.call,
            tool=call.tool,
            text=result.text,
            ok=result.ok,
            exitStatus=result.exit_status,
            bytes=result.bytes,
            lines=result.lines,
            seconds=round(time.monotonic() - began, 3),
            kept=result.kept is not None,
            cancelled=cancelled,
            repeat=earlier,
        )
    )


async def keep_output(parts: Participants, result: ToolResult, *, call: str, tool: str) -> None:
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
        )
    )


async def _permit(parts: Participants, call: CallData, *, arguments: JsonObject) -> str:
    """Return, when the call may run, the real place of the path that it names; a `ToolFailure` says why it may not."""
    record = parts.record
    kind = parts.toolbox.kind(call.tool) or ToolKind.COMMAND
    rules = read_rules(record.mode, parts.settings.permissions, grants=record.grants)
    proposed = await asyncio.to_thread(_proposed, parts, Proposed(call.tool, kind, arguments, record.cwd))
    decision = decide(proposed, rules)
    if decision.verdict == "allow":
        return proposed.path
    if decision.verdict == "deny":
        await parts.write(ApprovalDecided(call=call.call, decision="no", by="rule", reason=decision.why))
        raise ToolFailure(f"not permitted: {decision.why}")
    rule, why = rule_for(proposed, rules), decision.why + _elsewhere(proposed)
    # What cannot be done is not asked about.
    preview = await parts.toolbox.preview(call.tool, arguments)
    began = time.monotonic()
    await parts.write(
        ApprovalRequested(
            call=call.call,
            tool=call.tool,
            arguments=arguments,
            cwd=record.cwd,
            why=why,
            preview=preview,
        )
    )
    approval = Approval(call.call, call.tool, kind, arguments, record.cwd, why, rule, preview)
    try:
        answer = await parts.person.approve(approval)
    except asyncio.CancelledError:
        seconds = round(time.monotonic() - began, 3)
        await parts.write(ApprovalDecided(call=call.call, decision="cancelled", by="person", seconds=seconds))
        raise
    await _decided(parts, call, answer=answer, rule=rule, seconds=time.monotonic() - began)
    return proposed.path


def _proposed(parts: Participants, call: Proposed) -> Proposed:
    """Return a call with the real place of the path that it names, and what is out of bounds or guarded in it."""
    cwd, named, command = Path(call.cwd), call.arguments.get("path"), call.arguments.get("command")
    writing = call.kind is ToolKind.WRITES
    if isinstance(named, str):
        path = cwd / os.path.expanduser(named)
        if refused := parts.protection.refuse_path(path, writing=writing):
            return replace(call, protected=refused)
        guarded = "" if call.kind is ToolKind.READS else parts.protection.ask_before_edit(path)
        return replace(call, path=os.path.realpath(path), guarded=guarded)
    return replace(call, protected=parts.protection.ask_about(command, cwd)) if isinstance(command, str) else call


def _elsewhere(call: Proposed) -> str:
    """Return where a path really leads, for the person, where its name does not say so."""
    named = call.arguments.get("path")
    if not call.path or not isinstance(named, str):
        return ""
    written = os.path.normpath(os.path.join(call.cwd, os.path.expanduser(named)))
    return "" if written == call.path else f"; it leads to {call.path}"


async def _decided(parts: Participants, call: CallData, *, answer: Answer, rule: str, seconds: float) -> None:
    await parts.write(
        ApprovalDecided(
            call=call.call,
            decision=answer.verdict.value,
            by=answer.by,
            reason=answer.reason,
            seconds=round(seconds, 3),
        )
    )
    if answer.verdict is Verdict.NO:
        who = "nobody could be asked" if answer.by == "none" else "the person said no"
        raise ToolFailure(f"not run: {who}: {answer.reason}" if answer.reason else f"not run: {who}")
    if answer.verdict in (Verdict.THREAD, Verdict.ALWAYS) and rule:
        lasts = await _keep_rule(parts, rule) if answer.verdict is Verdict.ALWAYS else Verdict.THREAD
        await parts.write(PermissionGranted(rule=rule, scope=lasts.value))


async def _keep_rule(parts: Participants, rule: str) -> Verdict:
    """Write a rule that is always to allow; where it cannot be, it holds for this conversation, which is said."""
    try:
        await asyncio.to_thread(parts.remember, rule)
    except SettingsError as error:
        text = f"the rule is for this conversation alone: {error.sentence()}"
        parts.tell("note", kind="error", text=text)
        return Verdict.THREAD
    return Verdict.ALWAYS


def _progress(parts: Participants, call: CallData, *, text: str) -> None:
    parts.tell("delta", kind="output", text=text, call=call.call)


def _repeats(parts: Participants, call: CallData, *, step: Sequence[CallData]) -> str | None:
    """Return the earlier call of the turn with the same tool and arguments that has a result, or gets one in `step`."""
    entries = [e for i in parts.record.active if (e := parts.record.entries[i]).turn == parts.turn]
    done = {e.content.call for e in entries if isinstance(e.content, OutputContent)}
    done |= {other.call for other in step[: step.index(call)]}
    wanted = (call.tool, _canonical(call.arguments))
    for entry in entries:
        content = entry.content
        if not isinstance(content, CallContent) or content.call not in done or content.call == call.call:
            continue
        if (content.tool, _canonical(content.arguments)) == wanted:
            return content.call
    return None


def _canonical(arguments: str) -> str:
    value = load_object(arguments)
    return arguments if value is None else json.dumps(value, sort_keys=True)
