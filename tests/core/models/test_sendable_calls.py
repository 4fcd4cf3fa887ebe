"""M13: a call that lies in the history never spoils a later request, whatever the model once named it or gave it."""

import json

import pytest

from tests.core.models.asking import READ, ask, connect, text
from tests.core.test_json_from_outside import UNSENDABLE
from tests.core.turn.endpoints import APIS, FAKES, plan
from wisp_core.requests import Message, ModelRequest, Role, WireCall

HALF = "half a character", '{"path": "\\ud83d"}'
NAMES = ["functions.read file", "föö", "a" * 300, "", "read_file\x00", "😀", '","x":"']


def history(name: str, arguments: str) -> ModelRequest:
    """Return a request after one call and its result."""
    call = WireCall("1234abcd", name, arguments)
    result = Message(Role.TOOL, "it is so", call_id="1234abcd", name=name)
    said = (Message(Role.SYSTEM, "Be brief."), Message(Role.USER, "look"), Message(Role.ASSISTANT, "", calls=(call,)))
    return ModelRequest((*said, result), tools=(READ,))


async def send(api: str, request: ModelRequest) -> dict:
    """Return the body of a request that the strict fake must take."""
    async with FAKES[api]() as server:
        plan(server, api, text="I see")
        backend = connect(server, api=api)
        try:
            events = await ask(backend, request)
        finally:
            await backend.close()
        assert server.refused == []
        assert text(events) == "I see"
        return server.requests[-1].body


@pytest.mark.parametrize("api", APIS)
@pytest.mark.parametrize("arguments", [*UNSENDABLE.values(), HALF[1]], ids=[*UNSENDABLE, HALF[0]])
async def test_arguments_that_a_server_cannot_read_never_go_out(api, arguments):
    written = json.dumps(await send(api, history("read_file", arguments)))
    assert not any(word in written for word in ("NaN", "Infinity", "1e999", "ud83d"))


@pytest.mark.parametrize("api", APIS)
@pytest.mark.parametrize("name", NAMES)
async def test_a_name_of_the_models_own_making_goes_out_as_one_that_servers_take(api, name):
    written = json.dumps(await send(api, history(name, "{}")))
    assert f'name": {json.dumps(name)}' not in written


@pytest.mark.parametrize("api", APIS)
async def test_a_name_and_arguments_that_are_in_order_go_out_as_they_are(api):
    written = json.dumps(await send(api, history("read_file", '{"path": "é\\u00e9.txt"}')), ensure_ascii=False)
    assert "read_file" in written
    assert "\\u00e9.txt" in written or "éé.txt" in written
