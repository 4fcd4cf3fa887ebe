"""Runs a scripted conversation through `wisp chat` against the fake provider and tells all that came of it, as text."""

import asyncio
import json
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.fakes.provider import FakeProvider
from tests.flows.chat import TIMEOUT, Chat, Ran
from tests.flows.equivalence.normalise import normalise

OFF = {"cuts": False, "references": False}
FIGURES = ("cuts", "references")


@dataclass(frozen=True)
class Sitting:
    """One run of `wisp chat`: its arguments, what is typed, the answers that its model gives in order."""

    typed: str
    answers: tuple[dict[str, Any], ...] = ()
    arguments: tuple[str, ...] = ()


@dataclass(frozen=True)
class Scenario:
    """A conversation in one sitting or more; `endpoint` and `context` are settings, `files` those in its folder.

    `counts` makes the provider one that counts a prompt, as llama.cpp's server does, with a window of 8,192 tokens.
    """

    name: str
    sittings: tuple[Sitting, ...]
    endpoint: dict[str, Any] = field(default_factory=dict)
    context: dict[str, Any] = field(default_factory=dict)
    files: dict[str, str] = field(default_factory=dict)
    counts: bool = False


async def capture(scenario: Scenario, root: Path, *, switches: dict[str, bool]) -> str:
    """Return everything of the conversation under the given switches of the context, normalised."""
    chat = Chat(root)
    for name, text in scenario.files.items():
        (chat.cwd / name).write_text(text)
    rans: list[Ran] = []
    async with FakeProvider() as provider:
        if scenario.counts:
            provider.props = {"default_generation_settings": {"n_ctx": 8192}}
            provider.input_tokens = lambda body: {"input_tokens": _count(body)}
        endpoint = {"url": provider.url, **scenario.endpoint}
        chat.configure(
            model="local/fake",
            endpoints={"fake": endpoint, "other": {**endpoint, "window": 16384}},
            retries={"most": 0},
            context={
                "policy": "keep-turns",
                "keep_turns": 2,
                "recall": {"enabled": False},
                **scenario.context,
                **switches,
            },
            facts={"enabled": False, "stated": False, "summary": False},
            permissions={"allow": ["run_command(cat *)"]},
        )
        for sitting in scenario.sittings:
            for answer in sitting.answers:
                provider.answer(**answer)
            rans.append(await _sit(chat, sitting))
            assert not provider._planned, "every answer was asked for"
        assert not provider.refused, provider.refused
        bodies = [seen.body for seen in provider.requests]
    lines = [*_said(rans), *_requests(bodies), *_events(chat.audit())]
    text = "\n".join([*lines, *_files(chat.home, told="\n".join(lines))])
    places = {str(chat.home): "«home»", str(chat.cwd): "«cwd»", str(root): "«root»"}
    return normalise(text, places) + "\n"


def without_switches(text: str) -> str:
    """Return a captured text without the settings that were switched: these alone may differ."""
    for key in FIGURES:
        text = text.replace(f'"{key}":true', f'"{key}":«switch»').replace(f'"{key}":false', f'"{key}":«switch»')
        text = text.replace(f'"{key}": true', f'"{key}": «switch»').replace(f'"{key}": false', f'"{key}": «switch»')
    return text


def _count(body: dict[str, Any]) -> int:
    return 2 * len(json.dumps([body["messages"], body.get("tools")]))


async def _sit(chat: Chat, sitting: Sitting) -> Ran:
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "wisp_core",
        "chat",
        "--tools",
        "read_file,run_command",
        *sitting.arguments,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        cwd=chat.cwd,
        env=chat.environment(),
    )
    out, err = await asyncio.wait_for(process.communicate(sitting.typed.encode()), TIMEOUT)
    assert process.returncode is not None
    return Ran(process.returncode, out.decode(), err.decode())


def _said(rans: list[Ran]) -> list[str]:
    lines = []
    for number, ran in enumerate(rans, 1):
        lines += [f"== chat {number}: exit status {ran.status}", "-- standard output", ran.out, "-- standard error"]
        lines.append(ran.err)
    return lines


def _requests(bodies: list[dict[str, Any]]) -> list[str]:
    """Return the requests as they arrived, one message a line; of the tools' schemas the names and the size."""
    lines = []
    for number, body in enumerate(bodies, 1):
        rest = {key: value for key, value in body.items() if key not in ("messages", "tools")}
        tools = [tool["function"]["name"] for tool in body.get("tools", ())]
        size = len(_dump(body.get("tools", [])))
        lines.append(f"== request {number}: {_dump(rest)} {_dump(tools)} of {size} characters")
        lines += [_dump(message) for message in body["messages"]]
    return lines


def _events(events: list[dict[str, Any]]) -> list[str]:
    lines = ["== audit"]
    for event in events:
        if event["event"] == "session.start":
            event["data"]["versions"] = sorted(event["data"]["versions"])
        lines.append(_dump(event))
    return lines


def _files(home: Path, *, told: str) -> list[str]:
    """Return the saved files in the order in which they are told of: names of one millisecond end by chance."""
    lines = []
    for folder in ("context", "transcripts"):
        for path in sorted((home / folder).glob("*"), key=lambda path: (told.find(path.stem), path.name)):
            assert folder != "context" or path.stem in told, f"nothing tells of {path.name}"
            lines += [f"== {folder}/{path.name}", path.read_text()]
    return lines


def _dump(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
