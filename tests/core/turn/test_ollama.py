"""M8, C27: whole turns through an Ollama: the window wisp condenses against is the server's, and a cut is noticed."""

from tests.core.turn.endpoints import speaking
from wisp_core.records import Outcome
from wisp_core.requests import Window

LONG = "x" * 30_000
RETRIES = {"retries": {"most": 0}}


def configured(window):
    """Return the settings of a window for the fake's model."""
    return RETRIES | {"models": {"local/fake": {"window": window}}}


async def test_every_request_of_a_turn_asks_for_the_same_window_and_for_no_cut(tmp_path):
    (tmp_path / "a").write_text("hello")
    async with speaking(tmp_path, "ollama", settings=configured(8192)) as (server, here):
        server.answer(calls=[{"name": "read_file", "arguments": {"path": "a"}}])
        server.answer("it says hello")
        assert [await here.thread.send(text) for text in ("what is in a?", "thanks")] == [Outcome.DONE] * 2
        asked = [body for path, body in server.asked if path in ("/api/chat", "/api/generate")]
        assert len(asked) == 4
        assert all((body["truncate"], body["shift"]) == (False, False) for body in asked)
        assert {body["options"]["num_ctx"] for body in asked} == {8192}
        assert {data.window for data in here.events("request.composed")} == {8192}
        assert server.loads == [8192]


async def test_a_server_that_allocates_less_than_asked_is_condensed_against_what_it_gives(tmp_path):
    settings = configured(16384)
    async with speaking(tmp_path, "ollama", settings=settings, fake={"allocates": 4096}) as (server, here):
        assert [await here.thread.send(text) for text in ("one", "two")] == [Outcome.DONE] * 2
        less = "server, which allocates less than the 16,384 asked for"
        assert here.thread.window == Window(4096, less)
        assert [request.body["options"]["num_ctx"] for request in server.requests] == [4096, 4096]
        (*_, last) = here.events("context.estimated")
        assert (last.window, last.windowSource) == (4096, less)


async def test_an_older_server_that_cuts_a_prompt_in_silence_is_told_and_recorded(tmp_path):
    fake = {"old": True, "tells_window": False, "allocates": 4096}
    async with speaking(tmp_path, "ollama", settings=configured(16384), fake=fake) as (_, here):
        assert await here.thread.send("one") is Outcome.DONE
        assert here.notes("cut") == []
        assert await here.thread.send(LONG) is Outcome.DONE
        (told,) = here.notes("cut")
        assert told.startswith("the server seems to have cut the prompt (sent about ")
        assert told.endswith("read 4,096)")
        (error,) = here.events("error")
        assert (error.kind, error.message) == ("prompt cut", told)


async def test_a_prompt_that_a_newer_server_refuses_to_cut_is_condensed_and_answered(tmp_path):
    fake = {"tells_window": False, "allocates": 4096}
    settings = configured(16384) | {"context": {"policy": "keep-turns", "keep_turns": 1}}
    async with speaking(tmp_path, "ollama", settings=settings, fake=fake) as (server, here):
        for text in ("one " + "y" * 9_000, "two", "three"):
            assert await here.thread.send(text) is Outcome.DONE
        assert await here.thread.send("z" * 4_000) is Outcome.DONE
        assert [data.reason for data in here.events("request.retried")] == ["overflow"]
        assert here.notes("cut") == []
        assert here.thread.window == Window(4096, "error")
        assert server.requests[-1].body["options"]["num_ctx"] == 4096
