"""U15: `wisp doctor` says what it finds, changes nothing, and fails where something is wrong."""

import json
import os
import socket
import time
from pathlib import Path
from typing import Any

import pytest

from tests.fakes.provider import FakeProvider
from tests.flows.chat import Chat
from wisp_core.doctor import examine

HELLO = {"typed": "hello"}


@pytest.fixture
def chat(tmp_path: Path) -> Chat:
    return Chat(tmp_path)


def doctor(chat: Chat, status: int = 0) -> dict[str, list[str]]:
    """Run it, and return its sentences by part; a wrong one begins with an exclamation mark."""
    ran = chat.wisp("doctor", "--json")
    assert (ran.status, ran.err) == (status, ""), ran.out + ran.err
    found: dict[str, list[str]] = {}
    told: dict[str, Any] = json.loads(ran.out)
    assert told["ok"] is (status == 0)
    for finding in told["findings"]:
        found.setdefault(finding["part"], []).append("!" * finding["wrong"] + finding["text"])
    return found


def files(folder: Path) -> dict[str, tuple[bytes, float]]:
    return {str(p): (p.read_bytes(), p.stat().st_mtime) for p in folder.rglob("*") if p.is_file()}


def test_a_home_that_is_not_there_is_not_made(chat: Chat):
    found = doctor(chat)
    assert "is not there yet" in found["home"][0]
    assert found["audit"] == ["nothing is recorded yet"]
    assert found["commands"] == ["commands run as you do, not in a sandbox"]
    assert not chat.home.exists()


def test_a_home_in_order_is_told_part_by_part_and_left_as_it_was(chat: Chat):
    chat.run("--model", chat.script({"text": "ok"}), **HELLO)
    before = files(chat.home)
    found = doctor(chat)
    assert files(chat.home) == before
    assert found["home"] == [f"{chat.home} is yours alone"]
    assert found["database"][0].startswith("wisp.db is sound: 1 conversation in ")
    assert found["audit"][0].startswith("sound: 1 file, ")
    assert any(text.startswith("git: ") for text in found["tools"])
    assert found["terminal"] == ["standard output is no terminal"]


def test_a_person_reads_one_line_a_finding(chat: Chat):
    ran = chat.wisp("doctor")
    assert ran.status == 0
    lines = ran.out.rstrip("\n").split("\n")
    assert lines[0].startswith("  wisp ")
    assert lines[-1] == "all is well"
    chat.home.mkdir(mode=0o755)
    chat.home.chmod(0o755)
    ran = chat.wisp("doctor")
    assert ran.status == 1
    assert any(line.startswith("! home ") for line in ran.out.split("\n"))
    assert ran.out.endswith("1 to mend, marked with !\n")


def test_modes_that_let_others_in_are_wrong(chat: Chat):
    chat.run("--model", chat.script({"text": "ok"}), **HELLO)
    (chat.home / "wisp.db").chmod(0o644)
    (text,) = doctor(chat, 1)["home"]
    assert text.startswith(f"!others can use {chat.home / 'wisp.db'};")


@pytest.mark.parametrize("damage", [b"no database", b""])
def test_a_damaged_database_is_wrong(chat: Chat, damage: bytes):
    chat.run("--model", chat.script({"text": "ok"}), **HELLO)
    database = chat.home / "wisp.db"
    raw = database.read_bytes()
    database.write_bytes(damage or raw[:4096] + b"\xff" * (len(raw) - 4096))
    (text,) = doctor(chat, 1)["database"]
    assert text.startswith("!")
    assert "wisp doctor --rebuild" in text


def test_a_damaged_audit_is_wrong(chat: Chat):
    chat.run("--model", chat.script({"text": "ok"}), **HELLO)
    (audit,) = (chat.home / "audit").glob("*.jsonl")
    lines = audit.read_bytes().split(b"\n")
    audit.write_bytes(b"\n".join([lines[0], b"nonsense", *lines[3:]]))
    assert doctor(chat, 1)["audit"][0].startswith("!")


def test_the_output_store_is_measured_and_what_the_next_start_removes_is_told(chat: Chat):
    many = {"calls": [{"name": "run_command", "arguments": {"command": "seq 1 20000"}}]}
    chat.run("--model", chat.script(many, {"text": "ok"}, window=8192), "--allow", "run_command(seq *)", **HELLO)
    (text,) = doctor(chat)["outputs"]
    assert text == "107 KiB of 1 session; the next start removes nothing, as none is unused for 30 days"
    then = time.time() - 31 * 86_400
    for path in [*(chat.home / "output").rglob("*")]:
        os.utime(path, (then, then))
    (text,) = doctor(chat)["outputs"]
    assert text == "107 KiB of 1 session; the next start removes 107 KiB of 1 session"
    assert len(list((chat.home / "output").rglob("*"))) == 3
    chat.configure(context={"outputDays": 0})
    (chat.home / "config.json").chmod(0o600)
    (text,) = doctor(chat)["outputs"]
    assert text == "107 KiB of 1 session; nothing is ever removed (context.outputDays is 0)"


def test_settings_are_told_with_their_origin_and_no_secret(chat: Chat):
    endpoint = {"url": "http://127.0.0.1:9/v1", "headers": {"Authorization": "Bearer abc123def456"}}
    chat.configure(theme="s3cret-value-9", tools={"commandTimeout": 4000}, endpoints={"mine": endpoint})
    (chat.home / "config.json").chmod(0o600)
    chat.environ |= {"MY_TOKEN": "s3cret-value-9", "WISP_MODEL": "embedded/smollm2-135m"}
    config = doctor(chat)["config"]
    assert "theme = '[secret MY_TOKEN]' (file)" in config
    assert "tools.command_timeout = 4000 (file)" in config
    assert "model = 'embedded/smollm2-135m' (environment)" in config
    assert "endpoints.mine.headers.Authorization = … (file)" in config
    assert "tools.command_timeout is held to tools.command_timeout_max, 1800 s" in config


async def test_settings_of_the_command_line_are_told_as_such(tmp_path):
    found = await examine(tmp_path / "home", {"mode": "plan"})
    assert "mode = 'plan' (command line)" in [finding.text for finding in found]


@pytest.mark.parametrize("text", ["{", "[]", '{"thme": "x"}', '{"theme": 3}'])
def test_settings_that_are_wrong_are_told_and_the_rest_is_examined_all_the_same(chat: Chat, text: str):
    chat.home.mkdir(mode=0o700)
    (chat.home / "config.json").write_text(text)
    (chat.home / "config.json").chmod(0o600)
    found = doctor(chat, 1)
    assert found["config"][0].startswith(f"!{chat.home / 'config.json'}")
    assert found["tools"]


async def test_a_server_that_answers_is_told_with_its_window_and_its_models(tmp_path, wisp_home):
    async with FakeProvider() as provider:
        provider.models = {"data": [{"id": "harbour-7b", "max_model_len": 16384}]}
        found = await examine(wisp_home, {"endpoints": {"fake": {"url": provider.url}}})
    (text,) = [f.text for f in found if f.part == "model" and f.text.startswith("local/fake: ")]
    assert text == f"local/fake: window 16,384 tokens (server), {provider.url} answers: harbour-7b"
    assert not any(finding.wrong for finding in found)


async def test_the_chosen_server_that_does_not_answer_is_wrong_and_another_is_only_told(wisp_home):
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{unused.getsockname()[1]}/v1"
        found = await examine(wisp_home, {"endpoints": {"gone": {"url": url}}})
        (seen,) = [f for f in found if f.text.startswith("local/gone: ")]
        assert seen.wrong
        given = {"endpoints": {"gone": {"url": url}}, "model": "scripted:none.json"}
        found = await examine(wisp_home, given)
        (seen,) = [f for f in found if f.text.startswith("local/gone: ")]
        assert not seen.wrong
