"""M3, A9: a name and password in a url and the values of headers reach their own server, and nothing written."""

import asyncio
import base64
import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.core.turn.endpoints import APIS, FAKES, plan, refusal
from tests.fakes.anthropic import FakeAnthropic
from tests.fakes.certificate import make_certificate
from tests.fakes.ollama import FakeOllama
from tests.fakes.provider import FakeProvider
from tests.flows.chat import Chat, Ran

USER, PASSWORD, GATE, SESSION = "wisp-user-1", "pässwort/51@x", "open-sesame-91", "s3ss10n-of-mine"
WRITTEN = "p%C3%A4sswort%2F51%40x"
LOGIN = base64.b64encode(f"{USER}:{PASSWORD}".encode()).decode()
SECRETS = [USER, PASSWORD, WRITTEN, LOGIN, GATE, SESSION]
HEADERS = {"X-Gate": GATE, "Cookie": f"theme=dark; session={SESSION}", "Accept": "text/plain"}
TYPED = """the gate is {gate}
again
/inspect config
/inspect context
/export md
/export json
/save mine
/retry
"""


class Gateway(FakeAnthropic):
    """A gateway in front of Anthropic's API, which takes the login that the API itself refuses."""

    def judge(self, seen: Any) -> Any:
        headers = {name: value for name, value in seen.headers.items() if name != "authorization"}
        return super().judge(replace(seen, headers=headers))


@pytest.fixture
def chat(tmp_path: Path) -> Chat:
    return Chat(tmp_path)


def with_login(url: str, login: str = f"{USER}:{WRITTEN}") -> str:
    return url.replace("://", f"://{login}@")


def found_in(data: bytes) -> list[str]:
    forms = {secret: (secret.encode(), json.dumps(secret)[1:-1].encode()) for secret in SECRETS}
    return [secret for secret, written in forms.items() if any(form in data for form in written)]


def written_under(chat: Chat) -> dict[str, list[str]]:
    """Return the secrets in each file that wisp wrote: in the home, but for the person's own config, and beside it."""
    files = [path for folder in (chat.home, chat.cwd) for path in folder.rglob("*") if path.is_file()]
    files = [path for path in files if path.name not in ("config.json", "secrets.txt")]
    assert any(path.suffix == ".jsonl" for path in files)
    return {str(path): secrets for path in files if (secrets := found_in(path.read_bytes()))}


async def run(chat: Chat, *arguments: str, typed: str) -> Ran:
    return await asyncio.to_thread(chat.run, *arguments, typed=typed)


@pytest.mark.parametrize("api", APIS)
async def test_they_are_in_no_file_though_server_and_model_repeat_them(chat: Chat, api: str):
    everything = " ".join(SECRETS)
    async with (Gateway if api == "anthropic" else FAKES[api])() as own, FakeProvider() as other:
        endpoints = {
            "own": {"url": with_login(own.url), "api": api, "headers": HEADERS, "window": 32768},
            "other": {"url": other.url, "headers": {"X-Gate": "another-gate-92"}},
        }
        chat.configure(endpoints=endpoints, retries={"most": 0}, facts={"enabled": False})
        (chat.cwd / "secrets.txt").write_text(everything)
        plan(own, api, text=f"I heard {everything}")
        own.answer(status=401, body=refusal(api, f"bad login {everything}"))
        ran = await run(chat, "--json", "--model", "local/own", typed=TYPED.format(gate=GATE) + "!cat secrets.txt\n")
        assert [end["data"]["outcome"] for end in ran.events("turn.end")][:2] == ["done", "failed"], ran.err
        await run(chat, "--json", "--model", "local/other", "--continue", typed="what was said?\n")

        assert written_under(chat) == {}
        events = [event for event in ran.objects() if event["event"] not in ("delta", "note")]
        assert found_in(json.dumps(events, ensure_ascii=False).encode()) == []
        assert "[secret own X-Gate]" in ran.events("response")[0]["data"]["text"]
        (config,) = [view["data"]["text"] for view in ran.events("view") if view["data"]["title"] == "settings"]
        assert f"endpoints.own.url = {with_login(own.url, '…')} (file)" in config
        assert "endpoints.own.headers.X-Gate = … (file)" in config

        for asked in own.requests:
            assert asked.headers["authorization"] == f"Basic {LOGIN}"
            assert (asked.headers["x-gate"], asked.headers["accept"]) == (GATE, "text/plain")
            assert found_in(json.dumps(asked.body, ensure_ascii=False).encode()) == []
        assert other.requests
        assert found_in(json.dumps([[r.headers, r.body] for r in other.requests], ensure_ascii=False).encode()) == []
        assert all("another-gate-92" not in str(asked.headers) for asked in own.requests)


async def test_doctor_and_the_list_of_models_show_none_though_the_server_repeats_them(chat: Chat):
    async with FakeOllama() as own:
        own.failures["/api/tags"] = (401, {"error": f"bad login {' '.join(SECRETS)}"})
        chat.configure(endpoints={"own": {"url": with_login(own.url), "api": "ollama", "headers": HEADERS}})
        for command in (["doctor"], ["doctor", "--json"], ["models"], ["models", "--json"]):
            ran = await asyncio.to_thread(chat.wisp, *command)
            assert "local/own" in ran.out
            assert found_in(ran.out.encode() + ran.err.encode()) == []


@pytest.mark.parametrize(
    "endpoint", [f"http://{USER}:{WRITTEN}@h/v1", {"url": [WRITTEN]}, {"url": "http://h", "headers": f"X-Gate: {GATE}"}]
)
def test_an_endpoint_that_is_configured_wrongly_is_told_by_its_key_and_not_by_its_value(chat: Chat, endpoint: Any):
    chat.configure(endpoints={"own": endpoint})
    for ran in (chat.run(typed="hello\n"), chat.wisp("doctor")):
        assert "`endpoints.own" in ran.out + ran.err
        assert "found something else" in ran.out + ran.err
        assert found_in(ran.out.encode() + ran.err.encode()) == []


async def test_a_plain_header_and_a_short_one_leave_the_conversation_as_it_is(chat: Chat):
    async with FakeProvider() as own:
        own.answer("text/plain it is, for team 7")
        headers = {"Accept": "text/plain", "X-Team": "team 7", "X-Mode": "conversation"}
        chat.configure(endpoints={"own": {"url": own.url, "headers": headers}}, facts={"enabled": False})
        ran = await run(chat, "--json", "--model", "local/own", typed="a conversation in text/plain\n")
        assert own.requests[0].headers["x-mode"] == "conversation"
        assert "[secret" not in ran.out
        assert not any("[secret" in path.read_text() for path in (chat.home / "audit").iterdir())


async def test_a_login_in_ollama_host_goes_there_alone_and_into_no_file(chat: Chat):
    async with FakeOllama() as ollama:
        ollama.answer(f"I heard {PASSWORD} of {USER}")
        chat.environ |= {"OLLAMA_HOST": with_login(ollama.url), "WISP_DISCOVERY": "5"}
        ran = await run(chat, "--json", typed=f"{PASSWORD}\n")
        assert ran.events("note")[0]["data"]["text"].startswith("ollama/granite:8b: no model is named, and OLLAMA_HOST")
        assert ollama.requests[0].headers["authorization"] == f"Basic {LOGIN}"
        assert "[secret OLLAMA_HOST]" in ran.events("response")[0]["data"]["text"]
        assert written_under(chat) == {}


async def test_a_login_in_a_proxy_goes_to_the_proxy_alone_and_into_no_file(chat: Chat):
    async with FakeProvider() as proxy, FakeProvider() as direct:
        chat.environ |= {"HTTP_PROXY": with_login(proxy.url.removesuffix("/v1"))}
        endpoints = {"far": {"url": "http://model.invalid/v1"}, "near": {"url": direct.url}}
        chat.configure(endpoints=endpoints, retries={"most": 0}, facts={"enabled": False})
        proxy.answer(f"by {USER} with {PASSWORD}")
        proxy.answer(status=407, body=f"no {LOGIN}")
        ran = await run(chat, "--json", "--model", "local/far", typed="hello\nagain\n/model local/near\nand here\n")
        assert [end["data"]["outcome"] for end in ran.events("turn.end")] == ["done", "failed", "done"], ran.err
        assert {seen.headers["proxy-authorization"] for seen in proxy.requests} == {f"Basic {LOGIN}"}
        assert all("authorization" not in seen.headers for seen in proxy.requests)
        assert found_in(json.dumps([[r.headers, r.body] for r in direct.requests]).encode()) == []
        assert direct.requests
        assert written_under(chat) == {}


KEY = "ollama-key-0123456789abcdef"


class Tunnel:
    """A proxy that leads every connection, whatever it names, to one server of this machine."""

    def __init__(self, port: int) -> None:
        self.port, self.named = port, []
        self.tasks: set[asyncio.Task] = set()

    async def __aenter__(self) -> "Tunnel":
        self.server = await asyncio.start_server(self.serve, "127.0.0.1", 0)
        self.url = f"http://127.0.0.1:{self.server.sockets[0].getsockname()[1]}"
        return self

    async def __aexit__(self, *error: object) -> None:
        self.server.close()
        for task in self.tasks:
            task.cancel()
        await asyncio.gather(*self.tasks, return_exceptions=True)
        await self.server.wait_closed()

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.tasks.add(asyncio.current_task())
        try:
            head = await reader.readuntil(b"\r\n\r\n")
            self.named.append(re.match(rb"CONNECT (\S+)", head).group(1).decode())
            assert KEY.encode() not in head
            far, out = await asyncio.open_connection("127.0.0.1", self.port)
            writer.write(b"HTTP/1.1 200 OK\r\n\r\n")
            await asyncio.gather(self.pass_on(reader, out), self.pass_on(far, writer))
        except (OSError, asyncio.IncompleteReadError, asyncio.CancelledError):
            pass  # either side went, or the test is over
        finally:
            writer.close()

    async def pass_on(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while data := await reader.read(65536):
            writer.write(data)
            await writer.drain()
        writer.close()


async def test_the_key_of_ollamas_service_reaches_it_over_tls_and_no_other_ollama(chat: Chat, tmp_path: Path):
    context = make_certificate(tmp_path, names="DNS:ollama.com")
    async with FakeOllama() as hosted, FakeOllama() as mine:
        secured = await asyncio.start_server(hosted._serve, "127.0.0.1", 0, ssl=context)
        async with secured, Tunnel(secured.sockets[0].getsockname()[1]) as tunnel:
            chat.environ |= {"OLLAMA_API_KEY": KEY, "SSL_CERT_FILE": str(tmp_path / "cert.pem")}
            chat.environ |= {"HTTPS_PROXY": tunnel.url, "OLLAMA_HOST": "ollama.com"}
            endpoints = {"mine": {"url": mine.url, "api": "ollama"}}
            chat.configure(endpoints=endpoints, facts={"enabled": False}, retries={"most": 0})
            hosted.answer(f"your key is {KEY}")
            typed = "hello\n/model local/mine/granite:8b\nand you?\n"
            ran = await run(chat, "--json", "--model", "ollama/granite:8b", typed=typed)
            assert [end["data"]["outcome"] for end in ran.events("turn.end")] == ["done", "done"], ran.out
            assert set(tunnel.named) == {"ollama.com:443"}
            assert hosted.requests[0].headers["authorization"] == f"Bearer {KEY}"
            assert len(mine.requests) == 1
            assert "authorization" not in mine.requests[0].headers
            assert KEY not in str(mine.asked)
    assert not any(KEY.encode() in path.read_bytes() for path in chat.home.rglob("*") if path.is_file())


async def test_an_ollama_of_the_config_is_sent_the_key_that_it_names(chat: Chat):
    async with FakeOllama() as own, FakeOllama() as other:
        chat.environ |= {"OLLAMA_API_KEY": KEY, "OLLAMA_HOST": other.url}
        chat.configure(endpoints={"own": {"url": own.url, "api": "ollama", "key_env": "OLLAMA_API_KEY"}})
        ran = await run(chat, "--json", "--model", "local/own", typed="hi\n/model ollama/granite:8b\nhi\n")
        assert [end["data"]["outcome"] for end in ran.events("turn.end")] == ["done", "done"], ran.err
        assert own.requests[0].headers["authorization"] == f"Bearer {KEY}"
        assert "authorization" not in other.requests[0].headers
