"""A9: after any conversation no secret is in a file of the home or in a request, wherever it came from."""

import json
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.fakes.provider import FakeProvider
from tests.opened import opened
from wisp_core.requests import Answer, Approval, Verdict
from wisp_core.wisp import Wisp

KEY = 'mk-"7f3e\\9a1b/xy'
TOKEN = "tok_51e0c2d4b6a8f90e"
PEM = "-----BEGIN KEY-----\nMIIEvQIBADANBgkq\nhkiG9w0BAQEFAASC\n-----END KEY-----"
FOUND = [KEY, KEY.replace('"', '\\"'), TOKEN, "MIIEvQIBADANBgkq", "hkiG9w0BAQEFAASC"]

# Each step gives the model's calls of a turn and the answer's text; `%` stands where a secret does.
COMMANDS = [
    "cat secret.txt",
    "cat secret.json >&2; exit 3",
    'printf %s "$HARBOUR_TOKEN"',
    'for n in $(seq 40); do printf "%s" "$HARBOUR_TOKEN"; done',
    'i=0; while [ $i -lt 3000 ]; do echo "line $i $HARBOUR_TOKEN"; i=$((i+1)); done',
    'printf "%s" "$HARBOUR_TOKEN" | fold -w 5 | tr -d "\\n"; cat pem',
    "no-such-program-$HARBOUR_TOKEN",
]
CALLS = st.one_of(
    st.sampled_from(COMMANDS).map(lambda command: {"name": "run_command", "arguments": {"command": command}}),
    st.sampled_from(["secret.txt", "secret.json", "pem", TOKEN]).map(
        lambda path: {"name": "read_file", "arguments": {"path": path}}
    ),
    st.just({"name": "run_command", "arguments": {"command": f"echo {TOKEN}"}}),
    st.just({"name": f"no_{TOKEN}", "arguments": {}}),
)
TURNS = st.lists(
    st.fixed_dictionaries(
        {
            "prompt": st.sampled_from(["hello", f"use {KEY} please", f"{TOKEN}{TOKEN}", PEM]),
            "calls": st.lists(CALLS, max_size=2),
            "text": st.sampled_from(["fine", f"your token is {TOKEN}", KEY]),
            "fails": st.booleans(),
        }
    ),
    min_size=1,
    max_size=3,
)


@pytest.fixture
def secrets(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in {"MINE": KEY, "HARBOUR_TOKEN": TOKEN, "TLS_KEY": PEM}.items():
        monkeypatch.setenv(name, value)


@settings(max_examples=8)
@given(TURNS, st.booleans())
async def test_no_secret_is_written_or_sent(secrets: None, turns: list[dict], audited: bool):
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "work").mkdir()
        (folder / "work/secret.txt").write_text(f"one\n{KEY}\n{TOKEN}\n" * 3)
        (folder / "work/secret.json").write_text(json.dumps({"key": KEY, "inner": json.dumps({"key": KEY})}))
        (folder / "work/pem").write_text(f"  {PEM}\n")
        async with FakeProvider() as provider:
            await converse(folder, provider, turns=turns, audited=audited)
            assert provider.requests
            assert not provider.refused
            for request in provider.requests:
                holds_none(json.dumps(request.body, ensure_ascii=False).encode(), request.path)
        for path in (folder / "home").rglob("*"):
            if path.is_file():
                holds_none(path.read_bytes(), path)


def holds_none(data: bytes, where: object) -> None:
    for secret in FOUND:
        assert secret.encode() not in data, (where, secret)


async def converse(folder: Path, provider: FakeProvider, *, turns: list[dict], audited: bool) -> None:
    endpoint = {"url": provider.url, "window": 8192, "key_env": "MINE", "headers": {"X-Token": f"Bearer {TOKEN}"}}
    given = {
        "endpoints": {"fake": endpoint},
        "model": "local/fake",
        "instructions": f"The token is {TOKEN}.",
        "retries": {"most": 0},
        "audit": {"enabled": audited},
    }

    async def allow(_: Approval) -> Answer:
        return Answer(Verdict.ONCE)

    wisp = await Wisp.open(face="test", home=folder / "home", cwd=folder / "work", given=given)
    thread = await wisp.new_thread(listen=lambda _: None, ask=allow)
    try:
        for turn in turns:
            if turn["calls"]:
                provider.answer(text=turn["text"], calls=turn["calls"])
            if turn["fails"]:
                provider.answer(status=500, body={"error": {"message": f"broken: {TOKEN} {KEY}"}})
            else:
                provider.answer(text=turn["text"], reasoning=turn["text"])
            await thread.send(turn["prompt"])
            await thread.run_command(f"echo {TOKEN}; cat secret.txt")
            await wisp.desk.history_add(turn["prompt"])
            await wisp.desk.draft_set(thread.record.id, f"draft {TOKEN}")
            await wisp.desk.queue_put(thread.record.id, turn["prompt"])
        await wisp.library.rename(thread.record.id, f"about {TOKEN}")
    finally:
        await thread.close()
        await wisp.close()


async def test_what_runs_is_what_was_asked_for_and_the_model_reads_the_secrets_name(secrets: None, tmp_path: Path):
    (tmp_path / "work").mkdir()
    (tmp_path / "work/secret.txt").write_text("x")
    async with FakeProvider() as provider:
        command = f"test {TOKEN} = $HARBOUR_TOKEN && echo same: $HARBOUR_TOKEN"
        turn = {"prompt": "go", "calls": [{"name": "run_command", "arguments": {"command": command}}]}
        await converse(tmp_path, provider, turns=[{**turn, "text": "ok", "fails": False}], audited=True)
        told = json.dumps(provider.requests[-1].body)
    assert "same: [secret fake X-Token]" in told


async def test_no_part_of_a_secret_is_left_where_an_output_or_a_line_is_cut(secrets: None, tmp_path: Path):
    (tmp_path / "work").mkdir()
    (tmp_path / "work/secret.txt").write_text(TOKEN * 2000)
    calls = [
        {"name": "read_file", "arguments": {"path": "secret.txt"}},
        {"name": "run_command", "arguments": {"command": "cat secret.txt"}},
    ]
    async with FakeProvider() as provider:
        turn = {"prompt": "go", "calls": calls, "text": "ok", "fails": False}
        await converse(tmp_path, provider, turns=[turn], audited=True)
        told = json.dumps(provider.requests[-1].body)
    kept = [path.read_text() for path in (tmp_path / "home/output").glob("*/*") if not path.suffix]
    assert len(kept) == 2
    for text in (told, *kept):
        assert "[secret " in text
        assert TOKEN[:6] not in text
        assert TOKEN[-6:] not in text


async def test_the_same_instructions_stay_one_version(secrets: None, tmp_path: Path):
    (tmp_path / "work").mkdir()
    (tmp_path / "work/secret.txt").write_text("x")
    turn = {"prompt": "go", "calls": [], "text": "ok", "fails": False}
    async with FakeProvider() as provider:
        await converse(tmp_path, provider, turns=[turn, turn], audited=True)
    (audit,) = (tmp_path / "home/audit").glob("*.jsonl")
    events = [json.loads(line) for line in audit.read_text().splitlines()]
    composed = [event["data"]["instructions"] for event in events if event["event"] == "request.composed"]
    assert composed == [1, 1]


async def test_a_notification_shows_no_secret(secrets: None, tmp_path: Path):
    call = {"name": "notify", "arguments": {"text": f"the token is {TOKEN}"}}
    (tmp_path / "script.json").write_text(json.dumps({"replies": [{"calls": [call]}, {"text": "done"}]}))
    async with opened(tmp_path, model=f"scripted:{tmp_path}/script.json") as home:
        await home.thread.send("tell me")
        assert home.notes("notify") == ["the token is [secret HARBOUR_TOKEN]"]
