"""M14: a url that leads elsewhere, or carries a secret, is told in one sentence that says what to do."""

import pytest

from tests.core.models.asking import ask, connect
from tests.fakes.provider import FakeProvider
from wisp_core.errors import BadRequestError


async def test_a_web_page_is_no_answer():
    async with FakeProvider() as provider:
        provider.answer(raw=b"<html>Welcome!</html>", headers={"content-type": "text/html; charset=utf-8"})
        backend = connect(provider)
        with pytest.raises(BadRequestError) as failed:
            await ask(backend)
        await backend.close()
    assert failed.value.sentence() == f"{provider.url} answers with a web page; correct its url; it often ends in /v1"


async def test_a_password_in_a_url_is_not_shown():
    async with FakeProvider() as provider:
        provider.url = provider.url.replace("://", "://me:secret@")
        backend = connect(provider)
        assert backend.endpoint == provider.url.replace("me:secret@", "")
        await backend.close()
