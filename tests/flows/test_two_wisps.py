"""A2, A6, A10: two wisps on one home, and on one thread, at the same time: nothing is lost and nobody waits unsaid."""

import json
import subprocess
from pathlib import Path

import pytest

from tests.flows.chat import TIMEOUT, Chat, Ran
from tests.flows.reading import FILE

TURNS = 12
READ = {"calls": [{"name": "read_file", "arguments": {"path": "piers.txt"}}], "when": "read"}


@pytest.fixture
def chat(tmp_path: Path) -> Chat:
    chat = Chat(tmp_path)
    (chat.cwd / "piers.txt").write_text(FILE)
    chat.configure(context={"policy": "keep-turns", "keep_turns": 2})
    return chat


def model(chat: Chat, word: str) -> str:
    """Return a model that reads the file in every turn, fills its window, and answers with the word."""
    replies = [reply for _ in range(TURNS) for reply in (READ, {"text": f"{word} {FILE}", "usage": {"prompt": 8000}})]
    return chat.script(*replies, window=8192, counts=False)


def run_together(chat: Chat, *runs: tuple[list[str], str]) -> list[Ran]:
    """Run several wisps at once, each with its arguments and what is typed."""
    processes = [chat.start("--json", *arguments) for arguments, _ in runs]
    for process, (_, typed) in zip(processes, runs, strict=True):
        assert process.stdin
        process.stdin.write(typed.encode())
        process.stdin.close()
        process.stdin = None
    return [_ended(process) for process in processes]


def _ended(process: "subprocess.Popen[bytes]") -> Ran:
    out, err = process.communicate(timeout=TIMEOUT)
    return Ran(process.returncode, out.decode(), err.decode())


def test_two_conversations_of_one_home_written_at_once_are_both_whole(chat: Chat):
    typed = {word: "".join(f"read {word} {n}\n" for n in range(TURNS)) for word in ("tide", "moon")}
    runs = [(["--model", model(chat, word)], f"{text}/save {word}\n") for word, text in typed.items()]
    rans = run_together(chat, *runs)
    for ran, (word, text) in zip(rans, typed.items(), strict=True):
        assert ran.status == 0, ran.err
        assert [e["data"]["outcome"] for e in ran.events("turn.end")] == ["done"] * TURNS
        assert [e["data"]["text"] for e in ran.events("prompt")] == text.splitlines()
        assert len(ran.events("context.reference")) == TURNS - 1
        assert len(ran.events("context.condensation")) == TURNS - 3
        (thread,) = {e["thread"] for e in ran.events("prompt")}
        numbers = [e["seq"] for e in chat.audit() if e["thread"] == thread]
        assert numbers == list(range(1, len(numbers) + 1))
        assert json.loads((chat.home / f"transcripts/{word}.json").read_text())
    assert chat.wisp("audit", "verify").status == 0
    asked = "/find tide\n/find moon\n/threads\n"
    found = [e["data"]["text"] for e in chat.run("--json", "--model", chat.script(), typed=asked).events("view")]
    assert all("read_file" in text or "reply" in text for text in found[:2])
    assert len([line for line in found[2].split("\n") if f"{TURNS} turns" in line]) == 2


def test_the_database_made_anew_from_the_audit_is_what_both_wrote(chat: Chat):
    typed = "".join(f"read it {n}\n" for n in range(4))
    run_together(chat, *((["--model", model(chat, word)], typed) for word in ("tide", "moon")))
    shown = [_shown(chat)]
    assert chat.wisp("doctor", "--rebuild").status == 0
    shown.append(_shown(chat))
    assert shown[0] == shown[1]


def _shown(chat: Chat) -> list[str]:
    asked = "/threads\n/find tide\n"
    views = chat.run("--json", "--model", chat.script(), typed=asked).events("view")
    return sorted(line for view in views for line in view["data"]["text"].split("\n"))


def test_of_two_on_one_thread_one_writes_and_the_other_hears_at_once_who_does(chat: Chat):
    (first,) = chat.run("--json", "--model", model(chat, "tide"), typed="read it\n").events("prompt")
    thread = first["thread"]
    writer = chat.start("--json", "--thread", thread, "--model", model(chat, "mine"))
    assert writer.stdin
    assert writer.stdout
    writer.stdin.write(b"read mine\n")
    writer.stdin.flush()
    for line in writer.stdout:
        if json.loads(line)["event"] == "turn.end":
            break
    for _ in range(3):
        other = chat.run("--thread", thread, "--model", model(chat, "yours"), typed="read yours\n")
        assert (other.status, other.out) == (2, "")
        assert f"another wisp (process {writer.pid}) is writing this conversation" in other.err
        assert thread in other.err, "with how to go on in a copy"
    rest, _ = writer.communicate(b"".join(b"read mine %d\n" % n for n in range(5)), timeout=TIMEOUT)
    assert writer.returncode == 0
    ended = [found for line in rest.split(b"\n") if line and (found := json.loads(line))["event"] == "turn.end"]
    assert [e["turn"] for e in ended] == [3, 4, 5, 6, 7]
    assert not any(e["event"] == "prompt" and "yours" in e["data"]["text"] for e in chat.audit())
    after = chat.run("--json", "--thread", thread, "--model", model(chat, "yours"), typed="read yours\n")
    assert [e["turn"] for e in after.events("turn.end")] == [8]
    assert chat.wisp("audit", "verify").status == 0


def test_several_that_fork_one_running_thread_each_get_a_whole_copy(chat: Chat):
    (first,) = chat.run("--json", "--model", model(chat, "tide"), typed="read it\nread on\n").events("prompt")[:1]
    thread = first["thread"]
    typed = "".join(f"read mine {n}\n" for n in range(6))
    runs = [(["--thread", thread, "--model", model(chat, "mine")], typed)]
    forking = f"/fork {thread} 2\nread of the copy\n/inspect context 3\n"
    runs += [(["--model", model(chat, "copy")], forking) for _ in range(2)]
    writer, *forks = run_together(chat, *runs)
    assert [e["turn"] for e in writer.events("turn.end")] == [3, 4, 5, 6, 7, 8]
    for fork in forks:
        assert fork.status == 0, fork.out
        assert [e["turn"] for e in fork.events("turn.end")] == [3]
        assert "composed again" not in fork.events("view")[0]["data"]["text"]
    assert chat.wisp("audit", "verify").status == 0
