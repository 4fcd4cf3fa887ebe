"""A25, A26: /save, --resume and /resume of transcripts; what cannot be resumed starts nothing."""

import json
import shutil
import stat
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.flows.chat import Chat
from tests.flows.reading import READ, RETYPED, write_script

REFUSED = "wisp: transcript 'story' was saved by an older wisp and cannot be resumed; start a new conversation\n"


@pytest.fixture
def chat(tmp_path: Path) -> Chat:
    chat = Chat(tmp_path)
    chat.configure(facts={"enabled": False})
    return chat


@pytest.fixture(scope="module")
def saved_home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home with a saved conversation, made once."""
    chat = Chat(tmp_path_factory.mktemp("saved"))
    save(chat)
    return chat.home


def save(chat: Chat, typed: str = "show it\nand now?\n/save story\n") -> None:
    model = write_script(chat.cwd, READ, {"text": RETYPED}, {"text": "b"}, {"text": "c"})
    ran = chat.run("--model", model, typed=typed)
    assert ran.status == 0, ran.err


def files(chat: Chat) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in (chat.home / "transcripts").iterdir()}


def prompts(chat: Chat) -> list[str]:
    return [m["content"] for m in json.loads(files(chat)["story.json"]) if m["role"] == "user"]


def sent(chat: Chat) -> list[dict]:
    return [event["data"] for event in chat.audit() if event["event"] == "request.composed"]


def test_a_resumed_conversation_goes_on_with_the_bytes_that_the_saving_one_last_sent(chat: Chat):
    save(chat)
    first = chat.audit()
    typed = "and then?\n/inspect context 3\n/inspect context 2\n"
    ran = chat.run("--json", "--model", chat.script({"text": "d"}), "--resume", "story", typed=typed)
    assert ran.status == 2, "the request of a turn before is not kept"
    (start,) = [event for event in chat.audit() if event["event"] == "session.start"][1:]
    assert start["data"]["carriedFrom"] == [first[0]["session"]]
    assert [event["turn"] for event in ran.events("prompt")] == [3]
    assert ran.events("context.reference") == []
    entries = sent(chat)[-1]["entries"]
    assert entries[:-2] == sent(chat)[-2]["entries"], "with the same cuts and references"
    assert [how for _, how in entries if how != "whole"] == ["reference", "cut"]
    assert "composed again" not in ran.events("view")[0]["data"]["text"]
    (refused,) = [e["data"]["text"] for e in ran.events("note") if e["data"]["kind"] == "error"]
    assert refused == "no request of turn 2 is known; a transcript keeps what was said alone"


def test_what_it_was_resumed_from_is_told_of_every_entry(chat: Chat):
    save(chat)
    ran = chat.run("--json", "--model", chat.script({"text": "d"}), "--resume", "story", typed="go on\n/save story\n")
    (thread,) = {event["thread"] for event in ran.events("prompt")}
    rows = [json.loads(line) for line in files(chat)["story.store"].split(b"\n") if line][1:]
    entries = [row for row in rows if "wire_id" in row]
    assert [row["origin"] for row in entries] == ["resumed"] * 7 + ["turn"] * 2
    assert [row["referenced_at"] for row in entries if row["referenced_at"] is not None] == [0]
    start = next(e for e in chat.audit() if e["event"] == "thread.start" and e["thread"] == thread)
    assert start["data"]["resumed"] == "story"


def test_a_conversation_with_a_name_is_saved_there_again_on_leaving(chat: Chat):
    save(chat, "show it\n/save story\nand now?\n/new\nanother\n")
    assert prompts(chat) == ["show it", "and now?"]
    model = chat.script({"text": "d"}, {"text": "e"})
    chat.run("--model", model, "--resume", "story", typed="third\n/resume story\nfourth\n")
    assert prompts(chat) == ["show it", "and now?", "third", "fourth"]
    assert all(stat.S_IMODE(p.stat().st_mode) == 0o600 for p in (chat.home / "transcripts").iterdir())


def test_the_messages_alone_are_for_other_readers_and_cannot_be_resumed(chat: Chat):
    save(chat, "show it\nand now?\n/save story\n/save story messages\n/save other\n")
    assert sorted(files(chat)) == ["other.json", "other.store", "story.json"]
    roles = [message["role"] for message in json.loads(files(chat)["story.json"])]
    assert roles == ["system", "user", "assistant", "tool", "assistant", "user", "assistant"]


def of_a_later_version(folder: Path) -> None:
    path = folder / "story.store"
    head, _, rest = path.read_text().partition("\n")
    path.write_text(json.dumps(json.loads(head) | {"version": 2}) + "\n" + rest)


def of_another_conversation(folder: Path) -> None:
    messages = json.loads((folder / "story.json").read_text())
    (folder / "story.json").write_text(json.dumps([*messages, {"role": "user", "content": "added by another"}]))


def cut_short(folder: Path) -> None:
    path = folder / "story.store"
    path.write_bytes(path.read_bytes()[:-40])


def of_another_order(folder: Path) -> None:
    messages = json.loads((folder / "story.json").read_text())
    (folder / "story.json").write_text(json.dumps([messages[0], *reversed(messages[1:])]))


SPOILT: dict[str, Callable[[Path], object]] = {
    "it has no links": lambda folder: (folder / "story.store").unlink(),
    "the links are no JSON": lambda folder: (folder / "story.store").write_bytes(b"\x00\xff not\n"),
    "the links are empty": lambda folder: (folder / "story.store").write_bytes(b""),
    "the links are deep": lambda folder: (folder / "story.store").write_text("[" * 100_000),
    "the links are a folder": lambda folder: ((folder / "story.store").unlink(), (folder / "story.store").mkdir()),
    "the messages are no JSON": lambda folder: (folder / "story.json").write_text("{"),
    "the messages are an object": lambda folder: (folder / "story.json").write_text("{}"),
    "the version is later": of_a_later_version,
    "the links are of another": of_another_conversation,
    "the links are cut short": cut_short,
    "the order is another": of_another_order,
}


@pytest.mark.parametrize("how", SPOILT)
def test_one_that_cannot_be_resumed_says_so_in_the_words_of_the_specification_and_starts_nothing(
    chat: Chat, saved_home: Path, how: str
):
    shutil.copytree(saved_home, chat.home, dirs_exist_ok=True)
    SPOILT[how](chat.home / "transcripts")
    before, audit = files_of(chat), chat.audit()
    ran = chat.run("--model", chat.script({"text": "never"}), "--resume", "story", typed="hello\n")
    assert (ran.status, ran.out, ran.err) == (64, "", REFUSED)
    assert chat.audit() == audit
    assert files_of(chat) == before


def files_of(chat: Chat) -> dict[str, bytes]:
    """Return what stands in the home, but for the files that an open database makes and removes."""
    return {
        str(path): path.read_bytes()
        for path in chat.home.rglob("*")
        if path.is_file() and not path.name.startswith("wisp.db")
    }


def test_in_a_conversation_it_is_said_and_the_conversation_goes_on(chat: Chat):
    save(chat)
    (chat.home / "transcripts/story.store").unlink()
    ran = chat.run("--model", chat.script({"text": "a"}, {"text": "b"}), typed="one\n/resume story\ntwo\n")
    assert (ran.status, ran.out) == (0, "a\nb\n")
    assert REFUSED in ran.err
    assert sum(event["event"] == "thread.start" for event in chat.audit()) == 2


def test_a_name_that_is_none_leads_nowhere_else(chat: Chat):
    save(chat)
    names = ["../story", "/etc/passwd", ".hidden", "a/b", "nul\x00", "-x", "a" * 200, "story.store/.."]
    typed = "hello\n" + "".join(json.dumps({"command": f"/save {name}"}) + "\n" for name in names)
    before = set(chat.root.rglob("*"))
    ran = chat.run("--json", "--model", chat.script({"text": "ok"}), typed=typed)
    errors = [e["data"]["text"] for e in ran.events("note") if e["data"]["kind"] == "error"]
    assert len(errors) == len(names)
    assert all("cannot be the name of a transcript" in error for error in errors)
    new = {path for path in set(chat.root.rglob("*")) - before if not path.name.startswith(("wisp.db", "script"))}
    assert {path.parent for path in new} <= {chat.home / "audit"}
    ran = chat.run("--model", chat.script({"text": "ok"}), "--resume", "../transcripts/story", typed="hello\n")
    assert (ran.status, ran.err.count("\n")) == (64, 1)


def test_links_that_try_to_be_a_permission_are_none(chat: Chat):
    save(chat)
    other = chat.root / "elsewhere"
    other.mkdir()
    options = ("--mode", "plan", "--cwd", str(other), "--model", chat.script({"text": "d"}))
    ran = chat.run("--json", *options, "--resume", "story", typed="go on\n")
    (thread,) = {event["thread"] for event in ran.events("prompt")}
    start = next(e for e in chat.audit() if e["event"] == "thread.start" and e["thread"] == thread)
    assert (start["data"]["cwd"], start["data"]["mode"]) == (str(other), "plan")
