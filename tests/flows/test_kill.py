"""A6: `kill -9` at random moments of a stream, a tool and the writes between loses nothing that was acknowledged."""

import json
import os
import random
import select
from pathlib import Path

from tests.flows.chat import Chat

KILLS = int(os.environ.get("WISP_KILLS", "10"))
SEED = int(os.environ.get("WISP_KILL_SEED", "1"))

STREAM = {"text": ["word "] * 200, "when": "stream", "repeat": True}
TOOL = {
    "calls": [{"name": "run_command", "arguments": {"command": "printf started; sleep 5"}}],
    "when": "slow",
    "repeat": True,
}
QUICK = {
    "calls": [
        {"name": "current_date", "arguments": {}},
        {"name": "run_command", "arguments": {"command": "printf quick"}},
    ],
    "when": "quick",
}
# Every command of a line must be allowed: with `sleep` alone left out the slow tool would wait for an approval.
ALLOWED = ("--allow", "run_command(printf *)", "--allow", "run_command(sleep *)")
AFTER = {"text": "looked", "when": "", "repeat": True}


def test_whatever_instant_it_is_killed_at_the_thread_opens_whole_and_its_next_request_is_valid(tmp_path: Path):
    chat = Chat(tmp_path)
    chance = random.Random(SEED)
    acknowledged: list[str] = []
    for kill in range(KILLS):
        model = chat.script(*[QUICK] * 3, STREAM, TOOL, AFTER)
        which = ["--continue"] if acknowledged else []
        process = chat.start("--json", "--model", model, *which, *ALLOWED)
        assert process.stdin
        assert process.stdout
        for prompt in chance.sample(["quick one", "stream it", "quick two", "slow tool", "plain"], 4):
            process.stdin.write(prompt.encode() + b"\n")
        process.stdin.flush()
        acknowledged += _read_until_killed(process, chance)
        process.communicate()
        held = [e["id"] for e in chat.audit_after_repair()]
        missing = [id for id in acknowledged if id not in set(held)]
        assert not missing, f"kill {kill}: acknowledged and lost: {missing}"
    # The scripted model refuses what a strict provider refuses, so an answer proves the request.
    ran = {e["data"]["arguments"].get("command") for e in chat.audit_after_repair() if e["event"] == "tool.call"}
    assert TOOL["calls"][0]["arguments"]["command"] in ran
    last = chat.run("--json", "--continue", "--model", chat.script(AFTER), typed="and now?\n")
    assert last.status == 0, last.err
    assert last.events("turn.end")[-1]["data"]["outcome"] == "done"
    assert chat.wisp("audit", "verify").status == 0
    assert chat.wisp("doctor", "--rebuild").status == 0


def _read_until_killed(process, chance: random.Random) -> list[str]:
    """Read events, kill at a random one, and return the ids of those that were seen: acknowledged, so on disk."""
    after, seen, ids = chance.randint(1, 60), 0, []
    rest = b""
    while seen < after:
        # A slow tool says nothing for a while: that silence is a moment to be killed at too.
        if not select.select([process.stdout], [], [], 2.0)[0]:
            break
        data = os.read(process.stdout.fileno(), 1024)
        if not data:
            break
        *lines, rest = (rest + data).split(b"\n")
        for line in lines:
            seen += 1
            found = json.loads(line)
            if "id" in found:
                ids.append(found["id"])
    process.kill()
    return ids
