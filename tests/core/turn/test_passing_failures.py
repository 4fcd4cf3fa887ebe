"""M14: what may be over soon is tried again, each wait told, while nothing was shown; all else is told at once."""

import asyncio
import email.utils
import time
from typing import Any

import pytest

from tests.core.turn.endpoints import APIS, begin, plan, refusal, speaking
from tests.opened import Opened
from wisp_core.events import Live
from wisp_core.records import Outcome

SOON = {"retries": {"first_wait": 0.01, "jitter_share": 0.0}}
LATER = {"retries": {"first_wait": 600.0, "longest_wait": 600.0}}
PAGE = "<html><head><title>502 Bad Gateway</title></head><body><h1>502</h1></body></html>"


@pytest.fixture(params=APIS)
def api(request: pytest.FixtureRequest) -> str:
    return request.param


def retried(here: Opened) -> list[tuple[int, float | None]]:
    return [(data.attempt, data.wait) for data in here.events("request.retried")]


def said(here: Opened) -> list[str]:
    return [data.text for data in here.events("response")]


def shown(here: Opened) -> str:
    """Return what the person saw of replies, as it streamed."""
    return "".join(
        heard.data["text"]
        for heard in here.heard
        if isinstance(heard, Live) and heard.name == "delta" and heard.data["kind"] == "reply"
    )


async def fail(here: Opened) -> str:
    """Send a prompt that cannot be answered and return the sentence that the person reads."""
    assert await here.thread.send("hello") is Outcome.FAILED
    (end,) = here.events("turn.end")
    (error,) = here.events("error")
    assert error.message == end.error
    assert "\n" not in end.error
    assert "Traceback" not in end.error
    assert end.error.count("http://127.0.0.1:") == 1
    return str(end.error)


FAILURES: list[dict[str, Any]] = [
    {"status": 429, "body": "slow down"},
    {"status": 503, "body": {"error": {"message": "Loading model", "type": "unavailable_error", "code": 503}}},
    {"status": 502, "body": PAGE},
    {"status": 529, "body": {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}},
]


@pytest.mark.parametrize("failure", FAILURES, ids=lambda failure: str(failure["status"]))
async def test_a_failure_that_passes_is_waited_for_and_nothing_is_shown_twice(tmp_path, api, failure):
    async with speaking(tmp_path, api, settings=SOON) as (server, here):
        server.answer(**failure)
        server.answer(**failure)
        plan(server, api, text="well")
        assert await here.thread.send("hello") is Outcome.DONE
        assert retried(here) == [(1, 0.01), (2, 0.02)]
        assert (said(here), shown(here)) == (["well"], "well")
        bodies = [request.body for request in server.requests]
        assert bodies[0] == bodies[1] == bodies[2]
        first, _ = here.notes("retry")
        assert first.endswith("; trying again in 0.01 s (attempt 1 of 4)")
        assert "<" not in first


async def test_after_four_more_attempts_it_is_one_sentence_with_what_to_do(tmp_path, api):
    async with speaking(tmp_path, api, settings=SOON) as (server, here):
        for _ in range(6):
            server.answer(status=503, body=refusal(api, "Loading model"))
        sentence = await fail(here)
        assert sentence.endswith("cannot answer now (503): Loading model; try again later")
        assert len(server.requests) == 5
        assert [attempt for attempt, _ in retried(here)] == [1, 2, 3, 4]


async def test_waits_grow_up_to_the_longest_and_differ_by_chance(tmp_path):
    retries = {"retries": {"first_wait": 0.02, "longest_wait": 0.05, "jitter_share": 0.5}}
    async with speaking(tmp_path, "chat", settings=retries) as (server, here):
        for _ in range(5):
            server.answer(status=503, body="busy")
        await fail(here)
        waits = [wait for _, wait in retried(here)]
        for wait, middle in zip(waits, (0.02, 0.04, 0.05, 0.05), strict=True):
            assert wait == pytest.approx(middle, rel=0.5, abs=0.006)


@pytest.mark.parametrize("status", [429, 503])
async def test_the_servers_own_wait_in_seconds_is_kept_to(tmp_path, api, status):
    async with speaking(tmp_path, api, settings=LATER) as (server, here):
        server.answer(status=status, body=refusal(api, "slow down"), headers={"retry-after": "0.05"})
        plan(server, api, text="well")
        assert await here.thread.send("hello") is Outcome.DONE
        assert retried(here) == [(1, 0.05)]


async def test_the_servers_own_wait_may_be_a_date(tmp_path, api):
    async with speaking(tmp_path, api, settings=LATER) as (server, here):
        date = email.utils.formatdate(time.time() - 5, usegmt=True)
        server.answer(status=429, body=refusal(api, "slow down"), headers={"retry-after": date})
        plan(server, api, text="well")
        assert await here.thread.send("hello") is Outcome.DONE
        assert retried(here) == [(1, 0.0)]


async def test_a_server_that_asks_for_too_long_is_not_waited_for_and_says_when(tmp_path, api):
    async with speaking(tmp_path, api, settings=SOON) as (server, here):
        server.answer(status=429, body=refusal(api, "used up."), headers={"retry-after": "7200"})
        assert (await fail(here)).endswith("takes no more requests for now: used up; try again in 2 h")
        assert len(server.requests) == 1


async def test_a_refused_key_is_told_at_once(tmp_path, api):
    async with speaking(tmp_path, api, settings=SOON) as (server, here):
        server.answer(status=401, body=refusal(api, "invalid key"))
        assert (await fail(here)).endswith(" refused the key: invalid key; set a valid key for it")
        assert len(server.requests) == 1


async def test_a_web_page_in_place_of_an_answer_is_told_at_once(tmp_path, api):
    async with speaking(tmp_path, api, settings=SOON) as (server, here):
        server.answer(raw=PAGE.encode(), headers={"content-type": "text/html"})
        assert "answers with a web page; correct its url" in await fail(here)
        assert len(server.requests) == 1


async def test_a_connection_that_breaks_before_anything_was_shown_is_tried_again(tmp_path, api):
    async with speaking(tmp_path, api, settings=SOON) as (server, here):
        server.answer(raw=begin(api, ""), cut=True)
        plan(server, api, text="well")
        assert await here.thread.send("hello") is Outcome.DONE
        assert retried(here) == [(1, 0.01)]
        assert shown(here) == "well"


async def test_a_connection_that_breaks_in_the_middle_is_told_and_what_was_shown_is_kept(tmp_path, api):
    async with speaking(tmp_path, api, settings=SOON) as (server, here):
        server.answer(raw=begin(api, "half"), cut=True)
        assert (await fail(here)).endswith(" broke its answer off; send the prompt again")
        assert retried(here) == []
        assert (said(here), shown(here)) == (["half"], "half")
        plan(server, api, text="whole")
        assert await here.thread.retry() is Outcome.DONE
        assert said(here)[-1] == "whole"


async def test_a_first_token_that_does_not_come_in_time_is_told_and_the_server_is_left(tmp_path, api):
    # 300 s to 400 s, as 0.3 s to for ever.
    settings = SOON | {"timeouts": {"first_token": 0.3}}
    async with speaking(tmp_path, api, settings=settings) as (server, here):
        server.answer(raw=begin(api, ""), hang=True)
        assert (await fail(here)).endswith(
            " sent nothing for 0.3 s; send the prompt again, or allow more in `timeouts`"
        )
        assert len(server.requests) == 1
        await asyncio.wait_for(server.disconnected.wait(), 5)


async def test_a_first_token_that_is_slow_is_waited_for_where_the_config_allows_it(tmp_path, api):
    # 400 s of 500 s, as 0.4 s of 50 s: only the time between tokens is shorter.
    settings = SOON | {"timeouts": {"first_token": 50.0, "between_tokens": 0.2}}
    async with speaking(tmp_path, api, settings=settings) as (server, here):
        late = asyncio.Event()
        asyncio.get_running_loop().call_later(0.4, late.set)
        server.hold = late
        plan(server, api, text="late")
        assert await here.thread.send("hello") is Outcome.DONE
        assert shown(here) == "late"


async def test_a_server_that_is_down_at_the_start_and_comes_is_found(tmp_path, api):
    async with speaking(tmp_path, api, settings=SOON) as (server, here):
        address = server.port
        await server.go_down()
        turn = asyncio.create_task(here.thread.send("hello"))
        await here.until(lambda: here.notes("retry"))
        await server.come_up(address)
        plan(server, api, text="well")
        assert await turn is Outcome.DONE
        assert shown(here) == "well"


async def test_esc_stops_the_wait(tmp_path, api):
    async with speaking(tmp_path, api, settings=LATER) as (server, here):
        server.answer(status=429, body=refusal(api, "slow down"))
        turn = asyncio.create_task(here.thread.send("hello"))
        await here.until(lambda: here.notes("retry"))
        assert here.thread.cancel()
        assert await asyncio.wait_for(turn, 5) is Outcome.INTERRUPTED
        assert len(server.requests) == 1
        plan(server, api, text="well")
        assert await here.thread.send("again") is Outcome.DONE
