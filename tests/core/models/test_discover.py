"""M2: what is there without being configured is found in time, whatever answers on these ports."""

import asyncio
import base64
import json
import os
import subprocess
import sys
import time

import pytest

from tests.fakes.certificate import make_certificate
from tests.fakes.ollama import FakeOllama
from tests.fakes.provider import FakeProvider
from wisp_core.models.discover import WELL_KNOWN, Found, discover
from wisp_core.models.ollama_address import OLLAMA_HOSTED
from wisp_core.settings import Endpoint

NOBODY = "http://127.0.0.1:1"
KEYS = {"ANTHROPIC_API_KEY": "k", "OPENAI_API_KEY": "k", "HOME": "/"}


async def find(ollama=NOBODY, llama=NOBODY, studio=NOBODY, *, limit=5.0, hosted=OLLAMA_HOSTED, **environ):
    """Return what is found where these are the servers."""
    places = {"llama-server": Endpoint(url=f"{llama}/v1"), "lm-studio": Endpoint(url=f"{studio}/v1")}
    return await discover({"OLLAMA_HOST": ollama} | environ, limit=limit, places=places, hosted=hosted)


class Anything:
    """A server that answers every connection with the same bytes, then closes it or waits."""

    def __init__(self, data=b"", *, hang=False, forever=False, tls=None):
        self.data, self.hang, self.forever, self.tls = data, hang, forever, tls
        self.asked = []

    async def __aenter__(self):
        self.server = await asyncio.start_server(self._serve, "127.0.0.1", 0, ssl=self.tls)
        self.url = f"http{'s' if self.tls else ''}://127.0.0.1:{self.server.sockets[0].getsockname()[1]}"
        self.tasks = set()
        return self

    async def __aexit__(self, *error):
        self.server.close()
        await asyncio.gather(*self.tasks, return_exceptions=True)
        await self.server.wait_closed()

    async def _serve(self, reader, writer):
        self.tasks.add(asyncio.current_task())
        try:
            self.asked.append(await reader.readuntil(b"\r\n\r\n"))
            writer.write(self.data)
            while self.forever:
                writer.write(self.data)
                await writer.drain()
            if self.hang:
                await reader.read(1)
        except (OSError, asyncio.IncompleteReadError):
            pass  # the client went, which is what is expected
        finally:
            writer.close()


def http(body, head="HTTP/1.1 200 OK"):
    """Return an answer as bytes, with its length."""
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    return f"{head}\r\nContent-Length: {len(data)}\r\n\r\n".encode() + data


TAGS = {"models": [{"model": "a:1"}, {"model": "nomic-embed-text"}, {"model": "b:1"}]}
IDS = {"object": "list", "data": [{"id": "text-embedding-x"}, {"id": "m.gguf"}]}


async def test_an_ollama_is_found_with_its_models_for_conversations():
    async with Anything(http(TAGS)) as ollama:
        why = "OLLAMA_HOST names it"
        assert await find(ollama.url) == [Found("ollama", ("ollama/a:1", "ollama/b:1"), why, ollama.url)]


async def test_the_model_that_is_loaded_comes_first():
    async with FakeOllama() as ollama:
        ollama.failures["/api/tags"] = (200, TAGS)
        ollama.failures["/api/ps"] = (200, {"models": [{"name": "B:1"}]})
        assert (await find(ollama.url))[0].names == ("ollama/b:1", "ollama/a:1")


async def test_an_ollama_without_a_model_is_told_with_the_way_to_get_one():
    async with Anything(http({"models": []})) as ollama:
        (found,) = await find(ollama.url)
        assert found.names == ()
        assert "wisp models pull NAME" in found.why


async def test_llama_server_is_found():
    async with FakeProvider() as llama:
        found = await find(llama=llama.url.removesuffix("/v1"))
        where = llama.url.removeprefix("http://").removesuffix("/v1")
        why = f"a model server answers at {where}"
        assert found == [Found("local/llama-server", ("local/llama-server/fake",), why, llama.url)]


async def test_lm_studio_is_found_with_its_loaded_model_first():
    models = [
        {"id": "big", "type": "llm", "state": "not-loaded"},
        {"id": "vectors", "type": "embeddings", "state": "loaded"},
        {"id": "small", "type": "vlm", "state": "loaded"},
    ]
    async with Anything(http({"data": models})) as studio:
        (found,) = await find(studio=studio.url)
        assert found.names == ("local/lm-studio/small", "local/lm-studio/big")
        assert b"GET /api/v0/models HTTP/1.0" in studio.asked[0]


async def test_everything_is_found_at_once_servers_first_then_keys():
    async with Anything(http(TAGS)) as one, Anything(http(IDS)) as two, Anything(http(IDS)) as three:
        found = await find(one.url, two.url, three.url, **KEYS)
    assert [each.provider for each in found] == [
        "ollama",
        "local/llama-server",
        "local/lm-studio",
        "anthropic",
        "openai",
    ]
    assert found[3] == Found("anthropic", (), "ANTHROPIC_API_KEY is set")


async def test_a_key_is_never_sent_nor_shown_by_looking():
    async with Anything(http(TAGS)) as ollama:
        found = await find(ollama.url, OPENAI_API_KEY="sk-secret")
        assert "sk-secret" not in repr(found)
        assert all(b"sk-secret" not in head and b"authorization" not in head.lower() for head in ollama.asked)


HOSTILE = {
    "a web page": http(b"<html>Jenkins</html>"),
    "another service": http({"status": "UP"}),
    "a redirect": http(TAGS, "HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:1/"),
    "a refusal": http(TAGS, "HTTP/1.1 401 Unauthorized"),
    "no HTTP": b"SSH-2.0-OpenSSH_9.6\r\n",
    "nothing": b"",
    "deep": http(b'{"models":' + b"[" * 100_000),
    "binary": http(bytes(range(256)) * 9),
    "wrong types": http({"models": {"a": 1}, "data": "x"}),
    "wrong entries": http({"data": [1, None, {"id": 7}, {"id": "\x1b[31m"}, {"id": " "}]}),
    "a wrong length": b"HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999\r\n\r\n{}",
}


@pytest.mark.parametrize("data", HOSTILE.values(), ids=HOSTILE)
async def test_whatever_else_answers_there_is_passed_over(data):
    async with Anything(data) as other:
        assert await find(other.url, other.url, other.url) == []


@pytest.mark.parametrize(
    ("other", "told"),
    [
        ({"data": b"", "hang": True}, True),
        ({"data": b"HTTP/1.1 200 OK\r\n\r\n{", "hang": True}, True),
        ({"data": b"HTTP/1.1 200 OK\r\n\r\n" + b" " * 65536, "forever": True}, False),
    ],
    ids=["silent", "unfinished", "endless"],
)
async def test_one_that_does_not_end_costs_no_more_than_the_limit_and_hides_no_other(other, told):
    async with Anything(**other) as slow, Anything(http(IDS), hang=True) as quick:
        begun = time.perf_counter()
        found = await find(slow.url, quick.url, slow.url, limit=1.0, **KEYS)
        took = time.perf_counter() - begun
    usable = [each for each in found if each.names or not each.url]
    assert [each.provider for each in usable] == ["local/llama-server", "anthropic", "openai"]
    late = [each for each in found if each not in usable]
    assert [each.provider for each in late] == (["ollama", "local/lm-studio"] if told else [])
    why = f"{slow.url.removeprefix('http://')} did not answer within 1 s"
    assert all((each.why, each.url.removesuffix("/v1")) == (why, slow.url) for each in late)
    assert took < 5  # seconds: a machine that is busy adds to the limit


async def test_nothing_there_is_known_at_once_and_nobody_is_asked_with_no_time():
    begun = time.perf_counter()
    assert await find() == []
    assert time.perf_counter() - begun < 4  # of the 5 seconds that it may take
    async with Anything(http(TAGS)) as ollama:
        assert await find(ollama.url, limit=0) == []
        assert ollama.asked == []


async def test_a_proxy_of_the_environment_is_not_asked(monkeypatch):
    async with Anything(http(TAGS)) as ollama, Anything() as proxy:
        monkeypatch.setenv("HTTP_PROXY", proxy.url)
        monkeypatch.setenv("ALL_PROXY", proxy.url)
        assert await find(ollama.url)
        assert proxy.asked == []


async def test_an_ollama_host_that_names_no_server_hides_nothing_else():
    async with Anything(http(IDS)) as llama:
        found = await find("ftp://x", llama.url, **KEYS)
    assert found.pop(0) == Found("ollama", (), "OLLAMA_HOST names no server")
    assert [each.provider for each in found] == ["local/llama-server", "anthropic", "openai"]


async def test_ollamas_key_and_a_login_go_to_no_other_server():
    async with Anything(http(TAGS)) as ollama, Anything(http(IDS)) as llama, Anything(http(IDS)) as studio:
        named = ollama.url.replace("://", "://me:p%40ss@")
        found = await find(named, llama.url, studio.url, OLLAMA_API_KEY="key-of-ollama")
        login = base64.b64encode(b"me:p@ss")
        assert all(b"\r\nAuthorization: Basic " + login + b"\r\n" in head for head in ollama.asked)
        assert not any(b"uthorization" in head for head in llama.asked + studio.asked)
        assert not any(word in head for head in ollama.asked for word in (b"key-of-ollama", b"me:"))
    assert found[0].names
    assert not any("ss@" in each.why for each in found)


async def test_ollamas_service_is_asked_over_tls_with_its_key(monkeypatch, tmp_path):
    """Its host stands in for it: the name `ollama.com` cannot be this machine's."""
    context = make_certificate(tmp_path)
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "cert.pem"))
    async with Anything(http(TAGS), tls=context) as hosted, Anything(http(IDS)) as llama:
        found = await find(hosted.url, llama.url, hosted="127.0.0.1", OLLAMA_API_KEY="key-of-ollama")
        assert [each.provider for each in found] == ["ollama", "local/llama-server"]
        assert all(b"\r\nAuthorization: Bearer key-of-ollama\r\n" in head for head in hosted.asked)
        assert not any(b"key-of-ollama" in head for head in llama.asked)


async def test_a_key_for_ollamas_service_says_how_it_is_used_where_no_ollama_is_there():
    assert [each.why for each in await find(OLLAMA_API_KEY="k")] == [
        "OLLAMA_API_KEY is set, which is used with OLLAMA_HOST=ollama.com"
    ]
    async with Anything(http(TAGS)) as ollama:
        assert len(await find(ollama.url, OLLAMA_API_KEY="k")) == 1


def test_the_well_known_places_are_of_this_machine():
    assert [place.url for place in WELL_KNOWN.values()] == ["http://127.0.0.1:8080/v1", "http://127.0.0.1:1234/v1"]


def test_looking_loads_no_http_client():
    code = "import sys, wisp_core.models.discover; print('httpx' in sys.modules, 'psutil' in sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env=dict(os.environ), check=True
    )
    assert done.stdout.split() == ["False", "False"]
