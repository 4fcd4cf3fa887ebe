"""M12, M14, M15: what `wisp chat` prints and returns for whatever a server does in a turn, and what it then sends.

Every way to ask has its turn; `tests/core/turn/test_passing_failures.py` has each of these for each of them.
"""

import asyncio
import email.utils
import re
import signal
import socket
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from tests.core.turn.endpoints import FAKES, begin, plan, refusal
from tests.fakes.certificate import make_certificate
from tests.flows.chat import TIMEOUT, Chat

SOON = {"first_wait": 0.01, "jitter_share": 0.0}
NEVER = {"first_wait": 600.0, "longest_wait": 600.0}
PAGE = "<html><head><title>502 Bad Gateway</title></head><body><h1>nginx</h1></body></html>"
AGAIN = r"; trying again in {} s \(attempt 1 of 4\)$"
KEY = "sk-0123456789abcdefghij"


def date(seconds: float) -> str:
    return email.utils.formatdate(int(time.time() + seconds), usegmt=True)


@dataclass(frozen=True)
class Turn:
    """What a server of an `api` does with a prompt, then answering `well`; and what the person reads of it.

    `fails` makes its answers; `notes` are patterns of the quiet lines, `error` of the sentence that ends the turn, ""
    where it is answered; `kept` is the reply. `asked` many requests reach the server.
    """

    api: str
    fails: Callable[[Any, str], None]
    notes: tuple[str, ...] = ()
    error: str = ""
    kept: str = "well\n"
    asked: int = 2
    settings: dict[str, Any] = field(default_factory=dict)


def answers(times: int = 1, **answer: Any) -> Callable[[Any, str], None]:
    """Return what answers so; a text as `body` is worded as this kind of server words a refusal."""

    def queue(server: Any, api: str) -> None:
        made = {name: value() if callable(value) else value for name, value in answer.get("headers", {}).items()}
        for _ in range(times):
            body = answer.get("body")
            plain = body is None or not isinstance(body, str) or body.startswith("<")
            server.answer(**answer | {"headers": made} | ({} if plain else {"body": refusal(api, body)}))

    return queue


def breaks(text: str, **how: Any) -> Callable[[Any, str], None]:
    """Return what begins an answer of `text` and does not end it."""
    return lambda server, api: server.answer(raw=begin(api, text), **how)


TURNS = {
    "429 with seconds": Turn(
        "chat",
        answers(status=429, body="slow down", headers={"retry-after": "0.05"}),
        (f"takes no more requests for now: slow down{AGAIN.format('0.05')}",),
    ),
    "429 with a date to come": Turn(
        "anthropic",
        answers(status=429, body="slow down", headers={"retry-after": lambda: date(2)}),
        (f"takes no more requests for now: slow down{AGAIN.format('[012](?:[.][0-9]+)?')}",),
    ),
    "429 with a date far off": Turn(
        "responses",
        answers(status=429, body="used up", headers={"retry-after": lambda: date(7200)}),
        error=r"takes no more requests for now: used up; try again in 2 h \(/retry sends it again\)",
        kept="",
        asked=1,
    ),
    "429 without a word of when": Turn(
        "ollama", answers(status=429, body="slow down"), (f"slow down{AGAIN.format('0.01')}",)
    ),
    "401": Turn(
        "responses",
        answers(status=401, body="invalid key"),
        error="refused the key: invalid key; set a valid key for it",
        kept="",
        asked=1,
    ),
    "403": Turn(
        "chat",
        answers(status=403, body="not allowed in your country"),
        error="does not allow it: not allowed in your country; see what the key may be used for",
        kept="",
        asked=1,
    ),
    "429 for a plan that is used up": Turn(
        "chat",
        answers(status=429, body={"error": {"message": "you exceeded your quota", "code": "insufficient_quota"}}),
        error="has no quota left for the key: you exceeded your quota; see its plan",
        kept="",
        asked=1,
    ),
    "503 while it loads": Turn(
        "ollama",
        answers(2, status=503, body="Loading model"),
        (
            rf"cannot answer now \(503\): Loading model{AGAIN.format('0.01')}",
            r"trying again in 0.02 s \(attempt 2 of 4\)$",
        ),
        asked=3,
    ),
    "a web page with 502": Turn(
        "anthropic",
        answers(status=502, body=PAGE),
        (rf"cannot answer now \(502\): 502 Bad Gateway{AGAIN.format('0.01')}",),
    ),
    "a web page with 200": Turn(
        "chat",
        answers(raw=PAGE.encode(), headers={"content-type": "text/html"}),
        error="answers with a web page; correct its url",
        kept="",
        asked=1,
    ),
    "a connection that breaks before a word": Turn("responses", breaks("", cut=True), (AGAIN.format("0.01"),)),
    "a server that dies in the middle": Turn(
        "anthropic",
        breaks("half", cut=True),
        error="broke its answer off; send the prompt again",
        kept="half\n",
        asked=1,
    ),
    # 300 s to 400 s, as 0.3 s to for ever.
    "a first token that comes too late": Turn(
        "chat",
        breaks("", hang=True),
        error="sent nothing for 0.3 s; send the prompt again, or allow more in `timeouts`",
        kept="",
        asked=1,
        settings={"timeouts": {"first_token": 0.3}},
    ),
    "a second token that comes too late": Turn(
        "ollama",
        breaks("half", hang=True),
        error="sent nothing for 0.3 s; send the prompt again, or allow more in `timeouts`",
        kept="half\n",
        asked=1,
        settings={"timeouts": {"between_tokens": 0.3}},
    ),
}


@pytest.fixture
def chat(tmp_path: Path) -> Chat:
    return Chat(tmp_path)


def configure(chat: Chat, url: str, api: str, **more: Any) -> None:
    endpoints = {"fake": {"url": url, "api": api, "window": 32768}}
    # What is made of a turn beside it asks the model too.
    chat.configure(**{"endpoints": endpoints, "facts": {"enabled": False}, "retries": SOON, **more})


def quiet(err: str) -> list[str]:
    """Return the quiet lines after the introduction, which names the model."""
    return [line for line in err.splitlines() if line.startswith("· ") and "it was named" not in line]


@pytest.mark.parametrize("name", TURNS)
async def test_a_turn_is_answered_after_a_wait_that_is_told_or_fails_in_one_sentence(chat: Chat, name: str):
    turn = TURNS[name]
    async with FAKES[turn.api]() as server:
        configure(chat, server.url, turn.api, **turn.settings)
        turn.fails(server, turn.api)
        plan(server, turn.api, text="well")
        ran = await asyncio.to_thread(chat.run, "--model", "local/fake", typed="hello\n")
        assert ran.out == turn.kept
        notes = quiet(ran.err)
        assert len(notes) == len(turn.notes), ran.err
        for note, pattern in zip(notes, turn.notes, strict=True):
            assert re.search(pattern, note), note
        errors = [line for line in ran.err.splitlines() if line.startswith("wisp: ")]
        assert (ran.status, len(errors)) == ((1, 1) if turn.error else (0, 0)), ran.err
        assert re.search(turn.error, "".join(errors)), errors
        # Where it is, once a line, and nothing of a page or of a fault's inside.
        assert all(line.count("http://127.0.0.1:") == 1 for line in [*notes, *errors])
        assert not re.search("<|Traceback|httpx|Error:", ran.err)
        assert len(server.requests) == turn.asked
        assert all(seen.body == server.requests[0].body for seen in server.requests)
        assert server.refused == []
        if turn.settings:
            await asyncio.wait_for(server.disconnected.wait(), TIMEOUT)
        assert [e["data"]["outcome"] for e in chat.audit() if e["event"] == "turn.end"] == [
            "failed" if turn.error else "done"
        ]


@pytest.mark.parametrize("api", ["anthropic", "ollama"])
async def test_an_interrupt_ends_the_wait_and_nothing_more_is_sent(chat: Chat, api: str):
    async with FAKES[api]() as server:
        configure(chat, server.url, api, retries=NEVER)
        server.answer(status=429, body=refusal(api, "slow down"), headers={"retry-after": "500"})
        process = await asyncio.to_thread(chat.start, "--model", "local/fake")
        assert process.stdin
        assert process.stderr
        process.stdin.write(b"hello\n")
        process.stdin.flush()
        lines = [""]
        while "trying again in 500 s (attempt 1 of 4)" not in lines[-1]:
            lines.append((await asyncio.wait_for(asyncio.to_thread(process.stderr.readline), TIMEOUT)).decode())
            assert lines[-1]
        process.send_signal(signal.SIGINT)
        out, err = await asyncio.wait_for(asyncio.to_thread(process.communicate), TIMEOUT)
        assert (process.returncode, out, err) == (130, b"", "· interrupted\n".encode())
        assert len(server.requests) == 1


async def test_a_server_that_refuses_connections_is_one_sentence_after_the_waits(chat: Chat):
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{unused.getsockname()[1]}/v1"
        configure(chat, url, "responses")
        ran = await asyncio.to_thread(chat.run, "--model", "local/fake", typed="hello\n")
    assert (ran.status, ran.out) == (1, "")
    assert [note.rpartition(" (")[2] for note in quiet(ran.err)] == [f"attempt {n} of 4)" for n in range(1, 5)]
    assert ran.err.splitlines()[-1] == (
        f"wisp: {url} cannot be reached (Connection refused); is the server running? (/retry sends it again)"
    )


async def test_a_certificate_that_nobody_vouches_for_is_one_sentence_at_once(chat: Chat, tmp_path: Path):
    context = make_certificate(tmp_path)
    async with FAKES["chat"]() as server:
        secured = await asyncio.start_server(server._serve, "127.0.0.1", 0, ssl=context)
        async with secured:
            url = f"https://127.0.0.1:{secured.sockets[0].getsockname()[1]}/v1"
            configure(chat, url, "chat", retries=NEVER)
            ran = await asyncio.to_thread(chat.run, "--model", "local/fake", typed="hello\n")
        assert (ran.status, ran.out, quiet(ran.err)) == (1, "", [])
        assert f"wisp: {url} cannot be trusted (self-signed certificate); correct its url" in ran.err
        assert server.paths == []


async def test_after_a_failed_turn_the_same_prompt_is_answered_by_retry_and_sent_once(chat: Chat):
    async with FAKES["chat"]() as server:
        configure(chat, server.url, "chat", retries={"most": 0})
        server.answer(status=503, body="down")
        plan(server, "chat", text="well")
        ran = await asyncio.to_thread(chat.run, "--model", "local/fake", typed="hello\n/retry\n")
        assert (ran.out, ran.status) == ("well\n", 0)
        assert [e["data"]["outcome"] for e in chat.audit() if e["event"] == "turn.end"] == ["failed", "done"]
        sides = [[message["role"] for message in seen.body["messages"]] for seen in server.requests]
        assert sides == [["system", "user"], ["system", "user"]]


TYPED = "one\n/effort medium\ntwo\n/effort high\nthree\n/effort off\nfour\n"


async def efforts(chat: Chat, api: str, *, model: dict[str, Any] | None = None) -> list[dict[str, Any]]:
    """Return the bodies of requests at a low effort from the config, then a medium, a high one and none."""
    async with FAKES[api]() as server:
        models = {"local/fake": {"effort": True} | (model or {})}
        configure(chat, server.url, api, effort="low", models=models)
        ran = await asyncio.to_thread(chat.run, "--model", "local/fake", typed=TYPED)
        assert (ran.status, ran.out) == (0, "ok\n" * 4), ran.err
        assert server.refused == []
        return [seen.body for seen in server.requests]


async def test_an_effort_is_a_growing_budget_of_thinking_to_anthropic(chat: Chat):
    *asked, last = await efforts(chat, "anthropic", model={"output": 32000})
    budgets = [body["thinking"]["budget_tokens"] for body in asked]
    assert budgets == sorted(set(budgets))
    assert all(body["thinking"]["type"] == "enabled" for body in asked)
    assert all(1024 <= body["thinking"]["budget_tokens"] < body["max_tokens"] for body in asked)
    assert "thinking" not in last


async def test_an_effort_is_named_to_the_responses_api(chat: Chat):
    asked = await efforts(chat, "responses")
    assert [body.get("reasoning", {}).get("effort") for body in asked] == ["low", "medium", "high", None]


async def test_an_effort_is_named_to_chat_completions(chat: Chat):
    asked = await efforts(chat, "chat")
    assert [body.get("reasoning_effort") for body in asked] == ["low", "medium", "high", None]
