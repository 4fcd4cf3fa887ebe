"""U13, A3 to A8, A16, A24: `wisp chat` in its own process over a scripted model, and what it leaves behind."""

import json
import signal
import sqlite3
import stat
from pathlib import Path

import pytest

from tests.flows.chat import Chat


@pytest.fixture
def chat(tmp_path: Path) -> Chat:
    return Chat(tmp_path)


def test_two_lines_are_two_turns_and_the_store_names_the_events_that_recorded_them(chat: Chat):
    model = chat.script({"text": "hello yourself"}, {"text": "you said hello"})
    ran = chat.run("--json", "--model", model, typed="hello\nwhat did I say first?\n")
    assert ran.status == 0, ran.err
    assert [e["data"]["text"] for e in ran.events("prompt")] == ["hello", "what did I say first?"]
    assert [e["turn"] for e in ran.events("turn.end")] == [1, 2]
    ids = {e["id"]: e["event"] for e in chat.audit()}
    rows = sqlite3.connect(chat.home / "wisp.db").execute("select kind, sources from entries order by id").fetchall()
    named = {kind: ids[json.loads(sources)[0]] for kind, sources in rows}
    assert (named["prompt"], named["reply"]) == ("prompt", "response")


def test_deleting_the_database_loses_nothing_and_the_thread_goes_on_with_turn_three(chat: Chat):
    model = chat.script({"text": "one"}, {"text": "two"})
    first = chat.run("--json", "--model", model, typed="hello\nagain\n")
    for path in chat.home.glob("wisp.db*"):
        path.unlink()
    model = chat.script({"text": "three"})
    ran = chat.run("--json", "--model", model, "--continue", typed="and now?\n")
    assert ran.status == 0, ran.err
    assert {e["thread"] for e in ran.events("prompt")} == {e["thread"] for e in first.events("prompt")}
    assert [e["turn"] for e in ran.events("turn.end")] == [3]
    carried = ran.events("request.composed")[-1]["data"]["entries"]
    assert [entry for entry, _ in carried] == [1, 2, 3, 4, 5, 6]


def test_the_reply_goes_to_standard_output_and_everything_else_to_standard_error(chat: Chat):
    ran = chat.run("--model", chat.script({"text": "forty-two"}), typed="what is the answer?")
    assert (ran.status, ran.out) == (0, "forty-two\n")
    assert "forty-two" not in ran.err


def test_a_prompt_can_span_lines_between_three_quotes(chat: Chat):
    ran = chat.run("--json", "--model", chat.script({"text": "ok"}), typed='"""first\nsecond\n"""\n')
    assert [e["data"]["text"] for e in ran.events("prompt")] == ["first\nsecond"]


def test_a_line_of_json_may_be_a_prompt_a_command_or_wrong(chat: Chat):
    typed = '{"prompt": "a\\nb"}\n{"command": "/tokens"}\n{"what": 1}\n'
    ran = chat.run("--json", "--model", chat.script({"text": "ok"}), typed=typed)
    assert [e["data"]["text"] for e in ran.events("prompt")] == ["a\nb"]
    assert ran.events("view")[0]["data"]["title"] == "tokens"
    assert "prompt, command, approve" in ran.events("note")[-1]["data"]["text"]
    assert ran.status == 2


def test_every_file_of_the_home_is_the_persons_alone(chat: Chat):
    chat.run("--model", chat.script({"text": "ok"}), typed="hello")
    assert stat.S_IMODE(chat.home.stat().st_mode) == 0o700
    for path in chat.home.rglob("*"):
        assert stat.S_IMODE(path.stat().st_mode) == (0o700 if path.is_dir() else 0o600), path


RUN = {"calls": [{"name": "run_command", "arguments": {"command": "echo from the shell"}}]}


def test_a_command_is_refused_where_nobody_can_be_asked_and_the_model_is_told(chat: Chat):
    model = chat.script(RUN, {"text": "I could not."})
    ran = chat.run("--json", "--model", model, typed="run it\n")
    (result,) = ran.events("tool.result")
    assert not result["data"]["ok"]
    assert "nobody could be asked" in result["data"]["text"]
    assert ran.events("tool.call") == []
    assert ran.status == 0


def test_a_rule_of_the_command_line_allows_the_command(chat: Chat):
    model = chat.script(RUN, {"text": "done"})
    ran = chat.run("--json", "--model", model, "--allow", "run_command(echo from the shell)", typed="run it\n")
    (call,), (result,) = ran.events("tool.call"), ran.events("tool.result")
    assert call["data"]["call"] == result["data"]["call"]
    assert "from the shell" in result["data"]["text"]
    assert result["data"]["exitStatus"] == 0


@pytest.mark.parametrize(("decision", "ok"), [("once", True), ("no", False)])
def test_an_approval_is_answered_by_the_object_that_names_its_call(chat: Chat, decision: str, ok: bool):
    model = chat.script(RUN, {"text": "done"})
    process = chat.start("--json", "--model", model)
    assert process.stdin
    assert process.stdout
    process.stdin.write(b'{"prompt": "run it"}\n')
    process.stdin.flush()
    for line in process.stdout:
        found = json.loads(line)
        if found["event"] == "approval.requested":
            answer = {"approve": found["data"]["call"], "decision": decision, "reason": "not now"}
            process.stdin.write(json.dumps(answer).encode() + b"\n")
            process.stdin.close()
        if found["event"] == "tool.result":
            assert found["data"]["ok"] is ok
            assert ok or "not now" in found["data"]["text"]
        if found["event"] == "turn.end":
            break
    process.stdout.read()
    assert process.wait() == 0
    process.stdout.close()
    assert process.stderr
    process.stderr.close()
    decided = [e for e in chat.audit() if e["event"] == "approval.decided"]
    assert [(e["data"]["decision"], e["data"]["by"]) for e in decided] == [(decision, "person")]


def test_a_failed_turn_ends_with_status_one_and_one_sentence_and_its_retry_has_no_copy(chat: Chat):
    model = chat.script({"error": {"type": "bad_request", "message": "no"}}, {"text": "now it works"})
    ran = chat.run("--json", "--model", model, typed="hello\n/retry\n")
    assert [e["data"]["outcome"] for e in ran.events("turn.end")] == ["failed", "done"]
    assert len(ran.events("prompt")) == 1
    assert chat.run("--model", chat.script({"error": {"type": "bad_request", "message": "no"}}), typed="hi").status == 1


def test_the_persons_own_command_reaches_the_model_with_the_next_prompt(chat: Chat):
    model = chat.script({"text": "I see it", "when": "(?s)echo hi.*\nhi\n.*look"})
    ran = chat.run("--json", "--model", model, typed="!echo hi\nlook\n")
    assert ran.events("command")[0]["data"]["exitStatus"] == 0
    assert [e["data"]["outcome"] for e in ran.events("turn.end")] == ["done"]


def test_an_interrupt_keeps_what_arrived_and_ends_with_130(chat: Chat):
    process = chat.start("--json", "--model", chat.script({"text": ["Once ", "upon"], "hang": True}))
    assert process.stdin
    assert process.stdout
    process.stdin.write(b"tell me\n")
    process.stdin.flush()
    seen = ""
    for line in process.stdout:
        found = json.loads(line)
        if found["event"] == "delta":
            seen += found["data"]["text"]
        if seen == "Once upon":
            break
    process.send_signal(signal.SIGINT)
    out, _ = process.communicate(timeout=30)
    assert process.returncode == 130
    rest = [json.loads(line) for line in out.split(b"\n") if line]
    (response,) = [e for e in rest if e["event"] == "response"]
    assert (response["data"]["text"], response["data"]["finish"]) == ("Once upon", "interrupted")
    assert [e["data"]["outcome"] for e in rest if e["event"] == "turn.end"] == ["interrupted"]


def test_without_audit_everything_works_and_nothing_is_written_but_the_database(chat: Chat):
    chat.configure(audit={"enabled": False})
    ran = chat.run("--json", "--model", chat.script({"text": "one"}), typed="hello\n")
    assert ran.status == 0, ran.err
    assert not list((chat.home / "audit").glob("*")) if (chat.home / "audit").exists() else True
    again = chat.run("--json", "--model", chat.script({"text": "two"}), "--continue", typed="and?\n")
    assert [e["turn"] for e in again.events("turn.end")] == [2]
    refused = chat.wisp("doctor", "--rebuild")
    assert refused.status == 2
    assert "audit" in refused.err


@pytest.mark.parametrize(
    ("config", "words"),
    [
        ('{"modle": 1}', ["config.json", "modle", "mode"]),
        ('{"audit": {"maxBytes": "big"}}', ["config.json", "audit.max_bytes", "integer"]),
        ("{", ["config.json", "no JSON"]),
    ],
)
def test_a_wrong_config_is_one_sentence_with_file_key_and_what_is_right(chat: Chat, config: str, words: list[str]):
    chat.home.mkdir(mode=0o700)
    (chat.home / "config.json").write_text(config)
    ran = chat.run(typed="hello")
    assert ran.status == 2
    assert ran.err.count("\n") == 1
    assert all(word in ran.err for word in words), ran.err


def test_a_model_that_is_none_is_one_sentence_with_what_is_one(chat: Chat):
    ran = chat.run("--model", "gpt9", typed="hello")
    assert ran.status == 2
    assert "gpt9" in ran.err
    assert "local/NAME" in ran.err
    assert ran.err.count("\n") == 1


def test_a_server_that_is_not_there_is_one_sentence_with_the_endpoint(chat: Chat):
    chat.configure(endpoints={"gone": {"url": "http://127.0.0.1:9/v1"}}, retries={"most": 0})
    ran = chat.run("--model", "local/gone", typed="hello")
    assert ran.status == 1
    assert "127.0.0.1:9" in ran.err
    assert "Traceback" not in ran.err


def test_nothing_to_continue_ends_with_64(chat: Chat):
    ran = chat.run("--continue", "--model", chat.script(), typed="hello")
    assert ran.status == 64
    assert ran.err.count("\n") == 1


def test_a_second_wisp_on_the_same_thread_is_told_who_holds_it(chat: Chat):
    holder = chat.start("--json", "--model", chat.script({"text": "mine", "hang": True}))
    assert holder.stdin
    assert holder.stdout
    holder.stdin.write(b"hello\n")
    holder.stdin.flush()
    for line in holder.stdout:
        if json.loads(line)["event"] == "delta":
            break
    second = chat.run("--continue", "--model", chat.script({"text": "yours"}), typed="me too")
    assert second.status == 2
    assert str(holder.pid) in second.err
    holder.kill()
    holder.communicate()
    third = chat.run("--json", "--continue", "--model", chat.script({"text": "yours"}), typed="me too\n")
    assert [e["data"]["outcome"] for e in third.events("turn.end")] == ["abandoned", "done"]


def test_a_home_of_a_newer_wisp_is_refused_and_left_as_it_is(chat: Chat):
    chat.run("--model", chat.script({"text": "ok"}), typed="hello")
    path = chat.home / "wisp.db"
    base = sqlite3.connect(path)
    base.execute("pragma user_version = 9999")
    base.commit()
    base.execute("pragma wal_checkpoint(truncate)")
    base.close()
    before = {p.name: p.read_bytes() for p in chat.home.rglob("*") if p.is_file()}
    ran = chat.run("--model", chat.script({"text": "ok"}), typed="hello")
    assert ran.status == 2
    assert "newer" in ran.err
    assert {p.name: p.read_bytes() for p in chat.home.rglob("*") if p.is_file()} == before


def test_the_audit_of_a_sound_home_verifies(chat: Chat):
    chat.run("--model", chat.script({"text": "ok"}), typed="hello")
    assert chat.wisp("audit", "verify").status == 0


def test_after_a_turn_a_quiet_line_says_what_it_recorded_and_none_where_that_is_nothing(chat: Chat):
    model = chat.script({"text": "Noted."}, {"text": "Hello."})
    ran = chat.run("--model", model, typed="Our staging host is called heron-3.\nhello\n")
    assert ran.status == 0, ran.err
    assert [line for line in ran.err.splitlines() if "fact" in line] == [
        "· 1 fact: said: Our staging host is called heron-3"
    ]
