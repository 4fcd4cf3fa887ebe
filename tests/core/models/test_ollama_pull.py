"""M8: an Ollama's models are listed with their sizes, and pulled with progress that can be stopped."""

import asyncio

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.core.models.test_streams import pieces
from tests.fakes.ollama import FakeOllama, write_lines
from tests.fakes.provider import Planned
from wisp_core.errors import BadRequestError, CutStreamError, ModelError, NoModelError, UnreachableError
from wisp_core.models.backend import Server
from wisp_core.models.ollama_pull import PullProgress, list_models, pull
from wisp_core.models.ollama_wire import OnDisk, read_models

A, B = "sha256:aaaa", "sha256:bbbb"
STEPS = [
    {"status": "pulling manifest"},
    {"status": "pulling aaaa", "digest": A, "total": 100},
    {"status": "pulling aaaa", "digest": A, "total": 100, "completed": 40},
    {"status": "pulling bbbb", "digest": B, "total": 10, "completed": 10},
    {"status": "pulling aaaa", "digest": A, "total": 100, "completed": 30},
    {"status": "pulling aaaa", "digest": A, "total": 100, "completed": 100},
    {"status": "verifying sha256 digest"},
    {"status": "success"},
]
SEEN = [
    PullProgress("pulling manifest"),
    PullProgress("pulling aaaa", 0, 100, A, 0, 100),
    PullProgress("pulling aaaa", 40, 100, A, 40, 100),
    PullProgress("pulling bbbb", 50, 110, B, 10, 10),
    PullProgress("pulling aaaa", 50, 110, A, 40, 100),
    PullProgress("pulling aaaa", 110, 110, A, 100, 100),
    PullProgress("verifying sha256 digest", 110, 110),
    PullProgress("success", 110, 110),
]


@pytest.fixture
async def ollama():
    async with FakeOllama() as ollama:
        yield ollama


def plan(raw, **how):
    """Return an answer of these pieces."""
    return Planned(raw if isinstance(raw, list) else [raw], headers={"content-type": "application/x-ndjson"}, **how)


async def test_a_pull_tells_every_step_by_layer_and_in_all(ollama):
    ollama.pulls, seen = STEPS, []
    await pull(Server(ollama.url), "granite:8b", progress=seen.append)
    assert seen == SEEN
    assert ollama.asked == [("/api/pull", {"model": "granite:8b", "stream": True})]


@settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.integers(min_value=0, max_value=10_000), max_size=12))
async def test_a_pull_is_the_same_for_any_split_of_its_bytes(cuts):
    async with FakeOllama() as ollama:
        ollama._planned.append(plan(pieces(write_lines(STEPS), cuts)))
        seen = []
        await pull(Server(f"{ollama.url}/v1"), "x", progress=seen.append)
        assert seen == SEEN


@pytest.mark.parametrize(
    ("raw", "kind", "said"),
    [
        (write_lines([STEPS[0], {"error": "pull model manifest: file does not exist"}]), NoModelError, "`x` where"),
        (write_lines([STEPS[0], {"error": "no space left on device"}]), CutStreamError, "`x`: no space left"),
        (write_lines(STEPS[:3]), CutStreamError, "broke off the pull of `x`"),
        (b"", CutStreamError, "broke off the pull of `x`"),
        (b"<html>", BadRequestError, "no JSON"),
        (write_lines([7, [], {"status": 7}, {"digest": A, "total": "9"}]), CutStreamError, "broke off"),
    ],
)
async def test_a_pull_that_fails_is_told_in_one_sentence(ollama, raw, kind, said):
    ollama._planned.append(plan(raw))
    with pytest.raises(ModelError) as caught:
        await pull(Server(ollama.url), "x", progress=lambda step: None)
    assert type(caught.value) is kind
    assert said in caught.value.message
    assert ollama.url in caught.value.message
    assert "\n" not in caught.value.sentence()


async def test_a_refused_pull_and_a_server_that_is_not_there_are_typed(ollama):
    ollama._planned.append(plan(b'{"error": "invalid model name"}', status=400))
    with pytest.raises(BadRequestError, match="invalid model name"):
        await pull(Server(ollama.url), "x", progress=lambda step: None)
    with pytest.raises(UnreachableError):
        await pull(Server("http://127.0.0.1:1"), "x", progress=lambda step: None)


async def test_cancelling_a_pull_closes_the_connection_so_that_the_server_stops(ollama):
    ollama._planned.append(plan(write_lines(STEPS[:3]), hang=True))
    begun = asyncio.Event()
    task = asyncio.create_task(pull(Server(ollama.url), "x", progress=lambda step: begun.set()))
    await asyncio.wait_for(begun.wait(), 5)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await asyncio.wait_for(ollama.disconnected.wait(), 5)


async def test_the_models_are_listed_with_their_sizes(ollama):
    assert await list_models(Server(ollama.url)) == (OnDisk("granite:8b", 4_000_000_000, "8.2B", "Q4_K_M"),)
    for body in ("<html>", [1], {"models": 7}):
        ollama.failures["/api/tags"] = (200, body)
        with pytest.raises(BadRequestError):
            await list_models(Server(ollama.url))


def test_a_hostile_list_is_read_as_far_as_it_makes_sense():
    entries = [7, {}, {"name": "a\x1b[31m"}, {"model": "b", "size": -1, "details": []}, {"name": "c-embed"}]
    found = read_models({"models": [*entries, {"name": "d", "capabilities": ["embedding"]}]})
    assert [(model.name, model.size, model.chats) for model in found] == [
        ("b", 0, True),
        ("c-embed", 0, False),
        ("d", 0, False),
    ]
