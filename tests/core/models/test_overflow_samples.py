"""M14: every sample of an overflow is recognised through every way to speak with a server, and none of the others."""

import pytest

from tests.core.models.asking import ask, connect
from tests.core.models.test_failures import FIGURES, SAMPLES
from tests.core.turn.endpoints import APIS, FAKES, refusal
from wisp_core.errors import ContextOverflowError, ModelError

OTHERS = [(status, sample["message"]) for sample in SAMPLES["not_overflow"] for status in (400, 429, 500)]


async def refuse(api, status, message):
    """Return the error that a server's refusal becomes."""
    async with FAKES[api]() as server:
        server.answer(status=status, body=refusal(api, message))
        backend = connect(server, api=api)
        with pytest.raises(ModelError) as caught:
            await ask(backend)
        await backend.close()
        assert len(server.requests) == 1
        assert server.refused == []
    return caught.value


@pytest.mark.parametrize("api", APIS)
@pytest.mark.parametrize("sample", SAMPLES["overflow"], ids=lambda sample: sample["provider"])
async def test_every_sample_is_an_overflow_with_its_numbers(api, sample):
    found = await refuse(api, sample["status"], sample["message"])
    assert isinstance(found, ContextOverflowError)
    assert (found.limit, found.count, found.output) == FIGURES.get(sample["provider"], (None, None, None))


@pytest.mark.parametrize("api", APIS)
@pytest.mark.parametrize(("status", "message"), OTHERS, ids=lambda value: str(value)[:20])
async def test_what_only_sounds_like_one_is_none(api, status, message):
    assert not isinstance(await refuse(api, status, message), ContextOverflowError)
