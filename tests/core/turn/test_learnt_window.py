"""M12a: a limit that a refusal states is the window from then on, at once and everywhere, with its source beside it."""

from typing import Any

import pytest

from tests.core.turn.endpoints import plan, refusal, speaking
from tests.opened import Opened
from wisp_core.commands.here import Here
from wisp_core.commands.session import Model
from wisp_core.records import Outcome
from wisp_core.requests import Window

LEARNT = Window(4096, "error")
SMALL: list[tuple[str, dict[str, Any]]] = [
    (api, {"status": 400, "body": refusal(api, "prompt is too long: 9000 tokens > 4096 maximum")})
    for api in ("chat", "ollama", "anthropic", "responses")
]


async def refuse(server: Any, here: Opened, answer: dict[str, Any]) -> None:
    """Let the only prompt of a conversation be refused as too long: there is nothing to condense."""
    assert here.thread.window is None
    await here.thread.warm()
    assert here.thread.window is not None
    assert here.thread.window.tokens > LEARNT.tokens
    server.answer(**answer)
    assert await here.thread.send("hello") is Outcome.FAILED


@pytest.mark.parametrize(("api", "answer"), SMALL, ids=[api for api, _ in SMALL])
async def test_the_thread_knows_the_learnt_window_as_soon_as_its_turn_has_failed(tmp_path, api, answer):
    models = {"models": {"local/fake": {"window": 16_384}}}
    async with speaking(tmp_path, api, settings=models) as (server, here):
        await refuse(server, here, answer)
        assert here.thread.window == LEARNT
        assert (await here.thread.preview()).window == LEARNT
        said = await Model().run("", Here(here.thread, here.wisp))
        assert "window 4,096 tokens (error)" in said.text
        assert " of 4,096 (error)\n" in (await here.thread.save_context()).read_text()


async def test_later_requests_are_measured_against_the_learnt_window(tmp_path):
    models = {"models": {"local/fake": {"window": 16_384}}}
    async with speaking(tmp_path, "chat", settings=models) as (server, here):
        await refuse(server, here, SMALL[0][1])
        plan(server, "chat", text="well")
        assert await here.thread.send("again") is Outcome.DONE
        before, after = here.events("context.estimated")
        assert (before.window, before.windowSource) == (16_384, "config")
        assert (after.window, after.windowSource) == (4096, "error")
        assert here.events("request.composed")[-1].window == 4096
