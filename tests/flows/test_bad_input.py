"""Bad input, each in one clear sentence, nothing lost: a damaged audit, what is in the way, odd names and objects."""

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.flows.chat import Chat

OK = {"text": "ok", "repeat": True}


@pytest.fixture
def chat(tmp_path: Path) -> Chat:
    return Chat(tmp_path)


def test_a_prompt_that_the_audit_lost_leaves_a_thread_whose_next_request_is_valid(chat: Chat):
    first = chat.run("--json", "--model", chat.script(OK), typed="first\nsecond\n")
    thread = first.events("prompt")[0]["thread"]
    (path,) = (chat.home / "audit").glob("*.jsonl")
    path.write_bytes(path.read_bytes().replace(b'"event":"prompt"', b'"event":', 1))
    assert chat.wisp("audit", "verify").status == 1
    told = chat.wisp("doctor", "--rebuild")
    assert told.status == 0
    assert "1 line of the audit is no event and was left out; `wisp audit verify` names what is wrong" in told.out
    ran = chat.run("--json", "--thread", thread, "--model", chat.script(OK), typed="and now?\n")
    assert [e["data"]["outcome"] for e in ran.events("turn.end")] == ["done"], ran.out


@pytest.mark.parametrize("option", ["--thread", "--resume", "--model"])
def test_an_empty_name_is_never_taken_for_none(chat: Chat, option: str):
    ran = chat.run(option, "", typed="hello")
    assert ran.status == 2
    assert f"{option}: it is empty" in ran.err
    assert not chat.home.exists()


@pytest.mark.parametrize(
    ("typed", "sentence"),
    [
        ('{"prompt": 1}', '"prompt" must be a text'),
        ('{"prompt": null}', '"prompt" must be a text'),
        ('{"command": ["/help"]}', '"command" must be a text'),
        ('{"approve": "1234abcd", "decision": "ever"}', 'an approval needs "approve": CALL and "decision": once, '),
        ('{"approve": "1234abcd", "decision": "once"}', "no call `1234abcd` waits for an answer"),
        ('{"what": 1}', "an object needs one of the keys prompt, command, approve"),
        ('{"prompt": "x"', "this line begins with { and is no JSON object"),
        ('{"n": ' + "9" * 5000 + "}", "this line begins with { and is no JSON object"),
        ('{"a":' * 9000, "this line begins with { and is no JSON object"),
        ('{"prompt": "  "}', "an empty prompt is not sent"),
        ('""""""', "an empty prompt is not sent"),
    ],
)
def test_a_line_of_the_wrong_shape_is_told_and_sends_nothing(chat: Chat, typed: str, sentence: str):
    ran = chat.run("--json", "--model", chat.script(OK), typed=f"{typed}\n")
    assert sentence in ran.events("note")[-1]["data"]["text"]
    assert ran.events("prompt") == []
    assert ran.err == ""


def test_what_no_file_can_hold_is_made_sound_before_it_is_stored(chat: Chat):
    typed = b'a\0b\n\xff\xfe\n{"prompt": "\\ud800 \\u0000"}\n'
    process = chat.start("--json", "--model", chat.script(OK))
    out, _ = process.communicate(typed, timeout=60)
    texts = [o["data"]["text"] for o in map(json.loads, out.splitlines()) if o["event"] == "prompt"]
    assert texts == ["a\ufffdb", "\ufffd\ufffd", "\ufffd \ufffd"]
    assert process.returncode == 0


def test_a_rule_for_a_tool_that_is_none_is_told(chat: Chat):
    ran = chat.run("--model", chat.script(OK), "--allow", "run_comand(ls)", "--allow", "server__tool", typed="hi")
    assert "the rule `run_comand(ls)` does nothing: there is no tool `run_comand`" in ran.err
    assert "server__tool" not in ran.err


def test_an_empty_answer_is_told(chat: Chat):
    ran = chat.run("--model", chat.script({}), typed="hi")
    assert (ran.status, ran.out) == (0, "")
    assert "the model's answer is empty" in ran.err


def test_a_server_that_asks_for_a_day_is_not_waited_for(chat: Chat):
    model = chat.script({"error": {"type": "rate_limited", "message": "later", "wait": 86400}})
    ran = chat.run("--json", "--model", model, typed="hi\n")
    assert [e["data"]["outcome"] for e in ran.events("turn.end")] == ["failed"]
    assert ran.events("request.retried") == []


def test_a_settings_file_of_an_editor_that_marks_its_encoding_is_read(chat: Chat):
    chat.home.mkdir()
    (chat.home / "config.json").write_text(json.dumps({"model": chat.script(OK)}), "utf-8-sig")
    assert chat.run(typed="hi").out == "ok\n"


@pytest.mark.parametrize(
    ("raw", "why"),
    [
        (b'{"model": "\xff"}', "byte 11 is no UTF-8"),
        (b'{"a":' * 9000, "it is nested too deep"),
        (b"{\n 1", "line 2, column 2"),
    ],
)
def test_a_settings_file_that_is_no_json_is_told_by_where(chat: Chat, raw: bytes, why: str):
    chat.home.mkdir()
    (chat.home / "config.json").write_bytes(raw)
    ran = chat.run(typed="hi")
    assert ran.status == 2
    assert ran.err == f"wisp: {chat.home / 'config.json'} is no JSON ({why}); mend it or move it away\n"


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"endpoints": {"x": {"url": "http://h", "window": 100}}}, "expected greater than or equal to 512, found 100"),
        ({"endpoints": {"x": {"url": "http://h", "api": "grpc"}}}, "or 'ollama', found \"grpc\""),
        ({"endpoints": {"x": {"window": 1024}}}, "`endpoints.x.url` is missing"),
        (
            {"endpoints": {"x": {"url": "http://h", "windw": 1024}}},
            "unknown setting `endpoints.x.windw`; did you mean `endpoints.x.window`?",
        ),
    ],
)
def test_what_is_wrong_of_an_endpoint_is_said_with_what_stands_there(chat: Chat, settings: dict[str, Any], said: str):
    chat.configure(**settings)
    ran = chat.run(typed="hi")
    assert (ran.status, ran.err.count("\n")) == (2, 1)
    assert said in ran.err


@pytest.mark.parametrize(
    ("reply", "note"),
    [
        ({"text": "half a", "finish": "length"}, "the reply stopped at its length limit; /continue goes on with it"),
        ({"text": "half a", "finish": "content_filter"}, "the provider withheld the rest of the reply"),
    ],
)
def test_a_reply_that_was_cut_short_does_not_look_whole(chat: Chat, reply: dict[str, Any], note: str):
    ran = chat.run("--model", chat.script(reply), typed="hi\n")
    assert (ran.status, ran.out) == (0, "half a\n")
    assert f"· {note}\n" in ran.err


def test_a_call_that_does_not_run_is_shown_before_what_became_of_it(chat: Chat):
    calls = [{"name": "read_file", "arguments": "{broken"}, {"name": "nothing", "arguments": {}}]
    ran = chat.run("--model", chat.script({"calls": calls}, OK), typed="hi\n")
    heads = [line for line in ran.err.splitlines() if line.startswith(("●", "  failed"))]
    assert [line.split(" · ")[0] for line in heads] == ["● read_file {broken", "  failed", "● nothing {}", "  failed"]


def test_a_file_where_a_folder_of_the_home_must_be_is_named(chat: Chat):
    chat.home.mkdir()
    (chat.home / "audit").write_text("")
    ran = chat.run("--model", chat.script(OK), typed="hi")
    assert ran.status == 2
    assert f"{chat.home / 'audit'} is in the way: there must be a folder; move it away" in ran.err


@pytest.mark.parametrize("home", ["with space", "höme", "link", "relative"])
def test_the_home_may_be_anywhere(chat: Chat, home: str):
    path = chat.root / home
    if home == "link":
        (chat.root / "real").mkdir()
        path.symlink_to(chat.root / "real")
    chat.environ["WISP_HOME"] = os.path.relpath(path, chat.cwd) if home == "relative" else str(path)
    assert chat.run("--model", chat.script(OK), typed="hi").status == 0
    ran = chat.run("--json", "--continue", "--model", chat.script(OK), typed="hi\n")
    assert [e["turn"] for e in ran.events("turn.end")] == [2]
    assert (path / "wisp.db").exists()


def test_two_wisps_share_a_home_and_the_audit_stays_sound(chat: Chat):
    both = [chat.start("--json", "--model", chat.script(OK)) for _ in range(2)]
    for _ in range(5):
        for process in both:
            assert process.stdin
            assert process.stdout
            process.stdin.write(b"hello\n")
            process.stdin.flush()
            while json.loads(process.stdout.readline())["event"] != "turn.end":
                pass
    assert [process.communicate()[1] for process in both] == [b"", b""]
    assert chat.wisp("audit", "verify").status == 0
    assert len({e["thread"] for e in chat.audit()} - {None}) == 2


def test_a_database_that_is_deleted_under_a_running_wisp_costs_nothing(chat: Chat):
    process = chat.start("--json", "--model", chat.script(OK))
    assert process.stdin
    assert process.stdout
    for turn in range(2):
        process.stdin.write(b"hello\n")
        process.stdin.flush()
        while json.loads(process.stdout.readline())["event"] != "turn.end":
            pass
        if turn == 0:
            for path in chat.home.glob("wisp.db*"):
                path.unlink()
    assert chat.wisp("doctor", "--rebuild").status == 2
    assert process.communicate()[1] == b""
    ran = chat.run("--json", "--continue", "--model", chat.script(OK), typed="again\n")
    assert [e["turn"] for e in ran.events("turn.end")] == [3]


@pytest.mark.parametrize("make", [os.mkfifo, os.mkdir])
def test_a_config_that_is_no_file_is_one_sentence_and_is_not_waited_for(chat: Chat, make: Callable[[Path], None]):
    chat.home.mkdir(mode=0o700)
    make(chat.home / "config.json")
    for ran in (chat.run(), chat.wisp("doctor")):
        assert f"{chat.home / 'config.json'} is no file" in ran.err + ran.out
        assert ran.status != 0


def test_words_permit_nothing_and_a_decision_answers_no_question(chat: Chat):
    calls = [
        {"name": "run_command", "arguments": {"command": "touch made"}},
        {"name": "ask", "arguments": {"question": "?"}},
    ]
    process = chat.start("--json", "--model", chat.script({"calls": calls}, {"text": "done"}))
    assert process.stdin is not None
    assert process.stdout is not None
    with process:
        process.stdin.write(b"go\n")
        process.stdin.flush()
        said: list[str] = []
        for line in process.stdout:
            event = json.loads(line)
            call = event["data"].get("call", "")
            words, decision = {"answer": call, "text": "no, never"}, {"approve": call, "decision": "no"}
            if event["event"] in ("approval.requested", "question.asked"):
                wrong_first = [words, decision] if event["event"] == "approval.requested" else [decision, words]
                process.stdin.write("".join(json.dumps(each) + "\n" for each in wrong_first).encode())
                process.stdin.flush()
            elif event["event"] == "note" and event["data"]["kind"] == "error":
                said.append(event["data"]["text"].partition("waits")[2])
            elif event["event"] == "turn.end":
                process.stdin.close()
                break
    assert said == [" for approve and a decision", " for an answer and a text"]
    assert not (chat.cwd / "made").exists()
    assert [event["data"]["answer"] for event in chat.audit() if event["event"] == "question.answered"] == ["no, never"]
