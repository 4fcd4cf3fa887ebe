"""M14 from the person's side: a wait is counted down in the status line, Esc stops it, and nothing is shown twice."""

import re
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.fakes.provider import FakeProvider
from tests.tui.face import conversation, shown, until
from tests.tui.test_conversation import done, send
from wisp_core.records import Outcome


@pytest.fixture
async def provider(wisp_home: Path) -> AsyncIterator[FakeProvider]:
    async with FakeProvider() as provider:
        wisp_home.mkdir(exist_ok=True)
        settings = f'{{"endpoints": {{"fake": {{"url": "{provider.url}"}}}}, "facts": {{"enabled": false}}}}'
        (wisp_home / "config.json").write_text(settings)
        yield provider


async def test_a_wait_is_counted_down_in_the_status_line_and_esc_stops_it(provider: FakeProvider) -> None:
    provider.answer(status=429, body="slow down", headers={"retry-after": "90"})
    async with conversation("local/fake") as (pilot, screen):
        send(screen, "hello")
        await until(pilot, lambda: re.search(r"trying again in 1 min [0-2]\d s", shown(screen)))
        assert shown(screen).count("slow down; trying again in 90 s") == 1
        await pilot.press("escape")
        await until(pilot, lambda: done(screen, 1) and "trying again in 1 min" not in shown(screen))
        assert screen.link.thread.record.turns[1].outcome is Outcome.INTERRUPTED
        assert len(provider.requests) == 1


async def test_after_the_wait_the_reply_is_shown_once(provider: FakeProvider) -> None:
    provider.answer(status=503, body="Loading model", headers={"retry-after": "0.05"})
    provider.answer("there it is")
    async with conversation("local/fake") as (pilot, screen):
        send(screen, "hello")
        await until(pilot, lambda: done(screen, 1) and "there it is" in shown(screen))
        assert shown(screen).count("there it is") == 1
