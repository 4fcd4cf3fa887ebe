"""M15: any part of an answer puts the end of waiting off, shown or held back, and nothing else does."""

import json

import pytest

from tests.core.models import ollamas
from tests.core.models.asking import READ, ask, connect, prompt
from tests.fakes.ollama import FakeOllama, write_lines
from tests.fakes.provider import FakeProvider, delta
from wisp_core.errors import ModelTimeoutError
from wisp_core.settings import Timeouts

EARLY = Timeouts(connect=2.0, first_token=0.2, between_tokens=60.0)
LATE = Timeouts(connect=2.0, first_token=60.0, between_tokens=0.2)
CALL = {"index": 0, "id": "a", "function": {"name": "read_file", "arguments": '{"pa'}}
NO_PARTS = [delta(role="assistant", content=None), {"choices": []}]
PARTS = [
    delta(content="a"),
    delta(reasoning_content="a"),
    delta(tool_calls=[CALL]),
    delta(content='{"name'),
    {"choices": [], "prompt_progress": {"total": 20, "processed": 8}},
]


def stream(*chunks):
    """Return events that begin an answer."""
    return b": alive\n\n" + b"".join(f"data: {json.dumps(chunk)}\n\n".encode() for chunk in chunks)


async def wait_in_vain(backend):
    """Ask, and be told after a fifth of a second that nothing more comes."""
    with pytest.raises(ModelTimeoutError, match=r"0\.2 s"):
        await ask(backend, prompt(tools=(READ,)))
    await backend.close()


@pytest.mark.parametrize("chunk", NO_PARTS)
async def test_what_is_no_part_of_an_answer_does_not_put_it_off(chunk):
    async with FakeProvider() as provider:
        provider.answer(raw=stream(chunk), hang=True)
        await wait_in_vain(connect(provider, timeouts=EARLY))


@pytest.mark.parametrize("chunk", PARTS)
async def test_every_part_of_an_answer_does(chunk):
    async with FakeProvider() as provider:
        provider.answer(raw=stream(chunk), hang=True)
        await wait_in_vain(connect(provider, timeouts=LATE))


@pytest.mark.parametrize(("content", "timeouts"), [("", EARLY), ("a", LATE), ('{"name', LATE)])
async def test_an_ollamas_empty_line_is_no_part_and_its_text_is_one(content, timeouts):
    async with FakeOllama() as ollama:
        line = {"model": "m", "message": {"role": "assistant", "content": content}, "done": False}
        ollama.answer(raw=write_lines([line]), hang=True)
        await wait_in_vain(ollamas.connect(ollama, timeouts=timeouts))
