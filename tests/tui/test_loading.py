"""M15 from the person's side: the status line says that a silent server may be loading, and how long it was waited."""

import asyncio
import json
import re
from pathlib import Path

from tests.fakes.provider import FakeProvider
from tests.tui.face import conversation, shown, until
from tests.tui.test_conversation import done, send


async def test_the_status_line_says_that_a_silent_model_may_be_loading_and_for_how_long(wisp_home: Path) -> None:
    async with FakeProvider() as provider:
        endpoints, quiet = {"fake": {"url": provider.url}}, {"enabled": False}
        wisp_home.mkdir(exist_ok=True)
        settings = {"endpoints": endpoints, "facts": quiet, "timeouts": {"silent": 0.05}}
        (wisp_home / "config.json").write_text(json.dumps(settings))
        provider.hold = asyncio.Event()
        provider.answer("there it is")
        async with conversation("local/fake") as (pilot, screen):
            send(screen, "hello")
            await until(pilot, lambda: re.search(r"the model may still be loading \d s", shown(screen)))
            provider.hold.set()
            await until(pilot, lambda: done(screen, 1) and "there it is" in shown(screen))
            assert "may still be loading" not in shown(screen)
