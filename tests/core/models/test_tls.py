"""M16: TLS is verified; a server whose certificate nobody vouches for, or that speaks none, is one sentence."""

import ssl
import subprocess
from asyncio import start_server
from contextlib import asynccontextmanager
from shutil import which

import pytest

from tests.core.models.asking import ask, connect, text
from tests.core.turn.endpoints import APIS, FAKES, QUIET
from tests.opened import opened
from wisp_core.records import Outcome

KEY = "sk-0123456789abcdefghij"


@pytest.fixture
def secured(tmp_path):
    """A certificate of this machine that signs itself."""
    if which("openssl") is None:
        pytest.skip("openssl makes the certificate")
    files = [str(tmp_path / name) for name in ("key.pem", "cert.pem")]
    command = ["openssl", "req", "-x509", "-nodes", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1"]
    about = ["-subj", "/CN=localhost", "-addext", "subjectAltName=IP:127.0.0.1", "-days", "2"]
    subprocess.run([*command, *about, "-keyout", files[0], "-out", files[1]], check=True, capture_output=True)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(files[1], files[0])
    return context


@asynccontextmanager
async def over_tls(provider, context):
    """Serve a fake over TLS too, and yield its url there."""
    server = await start_server(provider._serve, "127.0.0.1", 0, ssl=context)
    async with server:
        port = str(server.sockets[0].getsockname()[1])
        yield provider.url.replace("http:", "https:").replace(str(provider.port), port)


@asynccontextmanager
async def plain_http():
    """Yield the https url of a server that speaks HTTP alone, and what it heard."""
    heard = []

    async def serve(reader, writer):
        heard.append(await reader.read(1000))
        writer.write(b"HTTP/1.1 400 Bad Request\r\nconnection: close\r\n\r\n")
        writer.close()

    server = await start_server(serve, "127.0.0.1", 0)
    async with server:
        yield f"https://127.0.0.1:{server.sockets[0].getsockname()[1]}", heard


async def fail(folder, api, url, monkeypatch):
    """Return the sentence of a turn that fails."""
    monkeypatch.setenv("FAKE_KEY", KEY)
    endpoint = {"url": url, "api": api, "key_env": "FAKE_KEY"}
    retries = {"most": 4, "first_wait": 0.0}
    async with opened(folder, model="local/fake", endpoints={"fake": endpoint}, retries=retries, **QUIET) as here:
        assert await here.thread.send("hello") is Outcome.FAILED
        (end,) = here.events("turn.end")
        return end.error, len(here.events("request.retried"))


@pytest.mark.parametrize("api", APIS)
async def test_a_certificate_that_nobody_vouches_for_is_told_at_once_and_nothing_is_sent(
    tmp_path, monkeypatch, secured, api
):
    async with FAKES[api]() as provider, over_tls(provider, secured) as url:
        sentence, retried = await fail(tmp_path, api, url, monkeypatch)
        assert sentence.startswith(f"{url} cannot be trusted (self-signed certificate)")
        assert "\n" not in sentence
        assert retried == 0
        assert (provider.requests, provider.paths) == ([], [])


@pytest.mark.parametrize("api", APIS)
async def test_a_server_without_tls_at_an_https_url_is_told_at_once(tmp_path, monkeypatch, api):
    async with plain_http() as (url, heard):
        sentence, retried = await fail(tmp_path, api, url, monkeypatch)
        assert sentence.startswith(f"{url} does not speak TLS")
        assert sentence.endswith("correct its url: http in place of https?")
        assert retried == 0
        assert KEY.encode() not in b"".join(heard)


@pytest.mark.parametrize("api", APIS)
async def test_a_certificate_that_the_person_vouches_for_is_taken(tmp_path, monkeypatch, secured, api):
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "cert.pem"))
    async with FAKES[api]() as provider, over_tls(provider, secured) as url:
        backend = connect(provider, url=url, api=api)
        assert text(await ask(backend)) == "ok"
        await backend.close()
