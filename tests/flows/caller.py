"""A program that holds a conversation open, as an MCP server does, and asks as its caller to keep a fact.

`python -m tests.flows.caller VALUE`: prints the thread, the fact and the value as one JSON line, then waits for the end
of its input.
"""

import asyncio
import json
import sys

from wisp_core.requests import Answer, Approval, Question
from wisp_core.wisp import Wisp


async def hold(value: str) -> None:
    """Open a conversation, record the value in it, ask to keep it, and hold it open."""

    async def ask(asked: Approval | Question) -> Answer:
        return await asyncio.Future()

    wisp = await Wisp.open(face="caller")
    thread = await wisp.new_thread(listen=lambda _: None, ask=ask)
    await thread.send("hello")
    (fact,) = await thread.knowledge.state("entity", "editor", value=value)
    assert await wisp.pending.ask_to_keep(fact.id)
    print(json.dumps({"thread": thread.record.id, "fact": fact.id, "value": value}), flush=True)
    await asyncio.to_thread(sys.stdin.read)
    await thread.close()
    await wisp.close()


if __name__ == "__main__":
    asyncio.run(hold(sys.argv[1]))
