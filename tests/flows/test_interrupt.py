"""A16, U13: Ctrl-C and SIGTERM in every phase of `wisp chat`: what came is kept, nothing runs on, the status is 130."""

import asyncio
import json
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psutil
import pytest

from tests.flows.chat import Chat
from tests.flows.telling import script
from tests.opened import opened
from wisp_core.records import Outcome

SIGNALS = [signal.SIGINT, signal.SIGTERM]
RUN = {"calls": [{"name": "run_command", "arguments": {"command": "./slow.sh"}}]}
MARK = "7201"


@pytest.fixture
def chat(tmp_path: Path) -> Chat:
    chat = Chat(tmp_path)
    (chat.cwd / "slow.sh").write_text(f"#!/bin/sh\necho what came\nsleep {MARK} & sleep {MARK}\n")
    (chat.cwd / "slow.sh").chmod(0o700)
    return chat


def interrupt(chat: Chat, until: Callable[[dict[str, Any]], bool], *arguments: str, typed: str, by: int):
    """Run the chat, send the signal when `until` is seen, and return the objects that were printed and the status."""
    process = chat.start("--json", *arguments)
    assert process.stdin
    assert process.stdout
    process.stdin.write(typed.encode())
    process.stdin.flush()
    seen = []
    for line in process.stdout:
        seen.append(json.loads(line))
        if until(seen[-1]):
            break
    process.send_signal(by)
    seen += [json.loads(line) for line in process.stdout]
    process.communicate(timeout=30)
    return seen, process.returncode


def named(event: str) -> Callable[[dict[str, Any]], bool]:
    return lambda found: found["event"] == event


def is_output(found: dict[str, Any]) -> bool:
    return found["event"] == "delta" and found["data"]["kind"] == "output"


def is_alive(word: str) -> bool:
    return any(word in p.info["cmdline"] for p in psutil.process_iter(["cmdline"]) if p.info["cmdline"])


def goes_on(chat: Chat) -> None:
    """The record is whole and its next request is one that a strict provider takes."""
    ran = chat.run("--json", "--continue", "--model", chat.script({"text": "fine"}), typed="go on\n")
    assert [e["data"]["outcome"] for e in ran.events("turn.end")] == ["done"], ran.err
    assert chat.wisp("audit", "verify").status == 0


@pytest.mark.parametrize("by", SIGNALS)
def test_an_interrupted_commands_output_is_its_result_and_nothing_of_it_runs_on(chat: Chat, by: int):
    model = chat.script(RUN, {"text": "never"})
    seen, status = interrupt(
        chat, is_output, "--model", model, "--allow", "run_command(./slow.sh)", typed="run it\n", by=by
    )
    (result,) = filter(named("tool.result"), seen)
    assert result["data"]["text"] == "stdout:\nwhat came\n[cancelled by the person]"
    assert (result["data"]["cancelled"], result["data"]["ok"]) == (True, False)
    assert [e["data"]["outcome"] for e in filter(named("turn.end"), seen)] == ["interrupted"]
    assert status == 130
    assert not is_alive(MARK)
    goes_on(chat)


@pytest.mark.parametrize("by", SIGNALS)
def test_the_persons_own_command_is_interrupted_like_a_turn_and_keeps_what_came(chat: Chat, by: int):
    model = chat.script({"text": "hello yourself"})
    seen, status = interrupt(chat, is_output, "--model", model, typed="hello\n!./slow.sh\n", by=by)
    (command,) = filter(named("command"), seen)
    assert command["data"]["output"] == "stdout:\nwhat came\n[cancelled by the person]"
    assert command["data"]["cancelled"]
    assert status == 130
    assert not is_alive(MARK)
    goes_on(chat)


PHASES = {
    "while the model is silent": ([{"hang": True}], "request.composed"),
    "while it waits for an approval": ([RUN], "approval.requested"),
    "while it waits to try again": (
        [{"error": {"type": "rate_limited", "message": "x", "wait": 20}}],
        "request.retried",
    ),
}


@pytest.mark.parametrize("by", SIGNALS)
@pytest.mark.parametrize("phase", PHASES)
def test_it_can_be_interrupted(chat: Chat, phase: str, by: int):
    replies, event = PHASES[phase]
    seen, status = interrupt(chat, named(event), "--model", chat.script(*replies), typed="hello\n", by=by)
    assert [e["data"]["outcome"] for e in filter(named("turn.end"), seen)] == ["interrupted"]
    assert status == 130
    goes_on(chat)


def test_a_person_sees_what_had_come_and_that_it_was_cancelled(chat: Chat):
    model = chat.script(RUN, {"text": "never"})
    process = chat.start("--model", model, "--allow", "run_command(./slow.sh)")
    assert process.stdin
    assert process.stderr
    process.stdin.write(b"run it\n")
    process.stdin.flush()
    while not is_alive(MARK):
        assert process.poll() is None
    process.send_signal(signal.SIGINT)
    told = process.stderr.read().decode()
    process.communicate(timeout=30)
    assert "  cancelled · " in told
    assert "  │ what came\n  │ [cancelled by the person]\n" in told
    assert "Traceback" not in told


@pytest.mark.parametrize("steps", range(1, 20, 2))
async def test_a_turn_that_is_about_to_run_is_interrupted_too(tmp_path: Path, steps: int):
    async with opened(tmp_path, model=script(tmp_path, {"text": "thinking", "hang": True})) as home:
        sending = asyncio.create_task(home.thread.send("wait"))
        for _ in range(steps):
            await asyncio.sleep(0)
        assert home.thread.cancel()
        assert await asyncio.wait_for(sending, 10) is Outcome.INTERRUPTED
        assert [end.outcome for end in home.events("turn.end")] == ["interrupted"]
