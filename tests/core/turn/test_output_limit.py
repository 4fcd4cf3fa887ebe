"""C26a: input and output share the window; where only both are too much the reply's limit is lowered, nothing else."""

from pathlib import Path

from tests.fakes.provider import FakeProvider
from tests.opened import opened
from wisp_core.records import Outcome

TOO_MUCH = (
    "This model's maximum context length is 4096 tokens. However, you requested 5000 tokens "
    "(1000 in the messages, 4000 in the completion). Please reduce the length of the messages or completion."
)


def endpoint(provider: FakeProvider, **settings: object) -> dict[str, object]:
    return {"endpoints": {"fake": {"url": provider.url, **settings}}, "model": "local/fake"}


async def test_a_reply_limit_that_is_too_large_is_lowered_and_the_request_sent_once_more(tmp_path: Path):
    async with FakeProvider() as provider, opened(tmp_path, **endpoint(provider), output={"max_tokens": 4000}) as home:
        provider.answer(status=400, body={"error": {"message": TOO_MUCH}})
        provider.answer(text="short enough")
        assert await home.thread.send("hello") is Outcome.DONE
        assert [request.body["max_tokens"] for request in provider.requests] == [4000, 4096 - 1000 - 81]
        assert [data.reason for data in home.events("request.retried")] == ["output limit"]


async def test_a_request_that_leaves_less_than_the_least_reply_is_an_overflow_and_not_sent(tmp_path: Path):
    async with FakeProvider() as provider, opened(tmp_path, **endpoint(provider, window=1024)) as home:
        provider.props = {"default_generation_settings": {"n_ctx": 4096}, "total_slots": 1}
        provider.input_tokens = {"input_tokens": 900}
        assert await home.thread.send("hello") is Outcome.FAILED
        assert "does not fit the model's context window" in home.thread.record.turns[1].error
        assert provider.requests == []


async def test_an_estimate_over_the_window_is_told_and_the_servers_count_decides(tmp_path: Path):
    async with FakeProvider() as provider, opened(tmp_path, **endpoint(provider, window=1024)) as home:
        provider.answer(text="it did fit")
        assert await home.thread.send("word " * 1000) is Outcome.DONE
        (note,) = home.notes("overflow")
        assert "1,024" in note
