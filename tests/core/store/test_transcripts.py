"""Saved transcripts: plain messages for any reader, links for resuming, and nothing resumed that does not match."""

import json
import os
import stat
import subprocess
import sys

import pytest
from hypothesis import given, settings

from tests.core.composer.conversations import conversations
from tests.core.store.saved import OLDER, conversation, entry, rows_of, save
from tests.fakes.provider import find_wrong
from wisp_core.errors import ResumeError, StorageError, UsageError
from wisp_core.records import CallContent, EntryState, OutputContent, PromptContent, ReplyContent
from wisp_core.store.carried import dump_record
from wisp_core.store.transcripts import (
    Saved,
    check_name,
    find_saved,
    list_transcripts,
    messages_of,
    read_transcript,
    write_transcript,
)


def strictly(messages):
    """Return what a strict reader finds wrong with the messages, as a request or the start of one."""
    plain = [{key: value for key, value in m.items() if key not in ("entries", "name")} for m in messages]
    following = [] if plain[-1]["role"] in ("user", "tool") else [{"role": "user", "content": "and?"}]
    return find_wrong({"model": "m", "messages": [*plain, *following]})


def test_what_is_active_is_a_list_of_messages_each_call_with_its_result():
    messages = messages_of(conversation())
    assert [(m["role"], m["content"]) for m in messages] == [
        ("system", "Be exact.\n\nMode: ask."),
        ("user", "The person ran `ls` (exit status 0):\na.txt\n\nread a.txt"),
        ("assistant", "I will."),
        ("tool", "1 1 2"),
        ("tool", "1\tx"),
        ("assistant", "It says `x`."),
    ]
    assert [(call["id"], call["function"]["name"]) for call in messages[2]["tool_calls"]] == [
        ("00000001", "read_file"),
        ("00000002", "run_command"),
    ]
    assert (messages[3]["tool_call_id"], messages[3]["name"]) == ("00000002", "run_command")
    assert strictly(messages) == ""


def test_each_message_names_the_entries_that_it_stands_for_in_the_order_of_the_conversation():
    entries = conversation()
    named = [(link["id"], link["kind"]) for message in messages_of(entries) for link in message["entries"]]
    assert named == [(e.wire_id, e.kind.value) for e in entries if e.state is EntryState.ACTIVE]


def test_a_call_without_a_result_gets_one_that_stands_for_no_entry():
    entries = [entry(1, PromptContent("go")), entry(2, CallContent("00000001", "run_command", "{}"))]
    last = messages_of(entries)[-1]
    assert (last["role"], last["content"], last["entries"]) == ("tool", "[cancelled by the person]", [])


def test_a_turn_that_ended_after_a_result_gets_an_end_before_the_next_prompt():
    entries = [*conversation()[:10], entry(11, PromptContent("go on"), turn=3)]
    assert [(m["role"], len(m["entries"])) for m in messages_of(entries)][-3:] == [
        ("tool", 1),
        ("assistant", 0),
        ("user", 1),
    ]


def test_a_result_without_a_call_and_a_reply_without_a_word_are_what_a_strict_reader_takes(tmp_path):
    entries = [
        entry(1, PromptContent("go")),
        entry(2, OutputContent("0000000a", "run_command", "lost")),
        entry(3, ReplyContent("")),
        entry(4, PromptContent("again"), turn=2),
        entry(5, CallContent("0000000b", "run_command", "{}"), turn=2),
        entry(6, OutputContent("0000000b", "run_command", "\n"), turn=2),
        entry(7, OutputContent("0000000b", "run_command", "twice"), turn=2),
    ]
    assert strictly(messages_of(entries)) == ""
    save(tmp_path, entries)
    assert read_transcript(tmp_path, "x").rows == rows_of(entries)


@settings(max_examples=60, deadline=None)
@given(script=conversations())
def test_whatever_happened_strict_readers_take_the_messages_and_the_links_match(script, tmp_path_factory):
    messages = messages_of(script.record.active_entries())
    assert strictly(messages) == ""
    folder = tmp_path_factory.mktemp("saved")
    rows = dump_record(script.record, {}, plans=[])
    write_transcript(folder, "x", messages=messages, rows=rows)
    assert read_transcript(folder, "x").rows == rows


def test_a_transcript_comes_back_as_it_was_saved_in_files_for_the_person_alone(tmp_path):
    before = os.umask(0)
    try:
        path = save(tmp_path / "transcripts", conversation())
    finally:
        os.umask(before)
    assert path == tmp_path / "transcripts/x.json"
    assert json.loads(path.read_text()) == messages_of(conversation())
    assert read_transcript(path.parent, "x") == Saved("x", rows_of(conversation()), ["s1", "s2"])
    assert sorted(os.listdir(path.parent)) == ["x.json", "x.store"]
    assert {stat.S_IMODE(file.stat().st_mode) for file in path.parent.iterdir()} == {0o600}
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700


def test_text_of_every_kind_comes_back_and_no_control_of_a_terminal_stands_in_the_files(tmp_path):
    text = "\x1b[31m\x9b \u202e a\u2028b \U0001f600 \ud800 \x7f"
    entries = [entry(1, PromptContent(text))]
    path = save(tmp_path, entries)
    assert read_transcript(tmp_path, "x").rows[-1]["content"]["text"] == text.replace("\ud800", "\ufffd")
    for file in (path, path.with_suffix(".store")):
        assert not set(file.read_text()) & set("\x1b\x9b\x7f\u202e\u2028")


def test_saving_the_messages_alone_removes_the_links_of_an_earlier_save(tmp_path):
    save(tmp_path, conversation())
    save(tmp_path, conversation(), rows=False)
    assert os.listdir(tmp_path) == ["x.json"]
    with pytest.raises(ResumeError) as caught:
        read_transcript(tmp_path, "x")
    assert caught.value.sentence() == OLDER


def test_a_transcript_that_other_tools_laid_out_anew_is_still_that_transcript(tmp_path):
    path = save(tmp_path, conversation())
    path.write_text(json.dumps(json.loads(path.read_text()), sort_keys=True))
    assert read_transcript(tmp_path, "x").name == "x"


@pytest.mark.parametrize("name", ["nothing", "../x", "", ".x", "a/../x", "x\0", "\x1b[31m"])
def test_a_name_that_is_no_transcript_is_said_so(name, tmp_path):
    save(tmp_path, conversation())
    assert find_saved(tmp_path, name) is None
    with pytest.raises(ResumeError, match="there is no transcript") as caught:
        read_transcript(tmp_path, name)
    assert "\x1b" not in caught.value.sentence()


@pytest.mark.parametrize("make", [os.mkdir, os.mkfifo, lambda path: path.symlink_to("/etc/passwd")])
def test_what_is_no_plain_file_is_not_read(make, tmp_path):
    make(tmp_path / "x.json")
    with pytest.raises(ResumeError) as caught:
        read_transcript(tmp_path, "x")
    assert caught.value.sentence() == "the transcript 'x' cannot be read (not a regular file)"
    assert list_transcripts(tmp_path) == []


def test_a_file_that_is_too_large_is_not_read(tmp_path):
    with (tmp_path / "x.json").open("wb") as file:
        file.truncate(257 * 1024 * 1024)
    with pytest.raises(ResumeError, match=r"cannot be read \(larger than 256 MiB\)"):
        read_transcript(tmp_path, "x")


GOOD = ["x", "x.store", "x.json", "Über uns", "日本語", "a b", "2026-01-01 (2)", "it's", "a" * 100, "_", "$HOME"]
BAD = ["", ".", "..", ".x", "a/b", "/etc", "a\\b", "a\0", "a\n", "-rf", " a", "a ", "a" * 101, "é" * 51, "a\u202eb"]
BAD += ["a\x1b[2J", "a\u200bb", "\ud800", "a:b", "a|b", 'a"b', "a\u3164"]


@pytest.mark.parametrize("name", GOOD, ids=ascii)
def test_a_plain_name_is_taken(name, tmp_path):
    assert check_name(name) == name
    save(tmp_path, conversation(), name=name)
    assert read_transcript(tmp_path, name).name == name
    assert [found.name for found in list_transcripts(tmp_path)] == [name]


@pytest.mark.parametrize("name", BAD, ids=ascii)
def test_any_other_name_is_refused_in_one_sentence_before_anything_is_written(name, tmp_path):
    with pytest.raises(UsageError, match="cannot be the name of a transcript") as caught:
        save(tmp_path / "transcripts", conversation(), name=name)
    assert caught.value.sentence().isprintable()
    assert os.listdir(tmp_path) == []


def test_the_links_of_x_and_a_transcript_named_x_store_do_not_collide(tmp_path):
    save(tmp_path, conversation(), name="x")
    save(tmp_path, conversation()[:6], name="x.store")
    assert len(read_transcript(tmp_path, "x").rows) == 15
    assert len(read_transcript(tmp_path, "x.store").rows) == 10
    assert [found.name for found in list_transcripts(tmp_path)] == ["x", "x.store"]


def test_the_list_has_names_sizes_and_dates_and_nothing_that_is_no_transcript(tmp_path):
    assert list_transcripts(tmp_path / "none") == []
    path = save(tmp_path, conversation(), name="b")
    save(tmp_path, conversation(), name="a")
    os.utime(path, (1_700_000_000, 1_700_000_000))
    os.utime(tmp_path / "a.json", (10**12, 10**12))  # as far on as the file system goes
    for name in (".hidden.json", "notes.txt", "c.store", "bad\x1bname.json"):
        (tmp_path / name).write_text("[]")
    (tmp_path / "folder.json").mkdir()
    first, second = list_transcripts(tmp_path)
    assert (first.name, first.time > "2400") == ("a", True)
    assert (second.name, second.bytes, second.time) == ("b", path.stat().st_size, "2023-11-14T22:13:20.000Z")


def test_where_it_cannot_be_written_one_sentence_says_so_and_nothing_is_left(tmp_path):
    (tmp_path / "x.json").mkdir()
    with pytest.raises(StorageError, match=r"the transcript 'x' could not be written \(Is a directory\)"):
        save(tmp_path, conversation())
    assert os.listdir(tmp_path) == ["x.json"]


def test_a_kill_at_any_instant_leaves_links_that_are_of_the_messages_or_none(tmp_path):
    both = {15: conversation(), 11: conversation()[:7]}
    command = [sys.executable, "-c", "from tests.core.store.saved import save_on; save_on()", str(tmp_path)]
    found = set()
    for saves in range(1, 9):
        with subprocess.Popen(command, stdout=subprocess.PIPE) as child:
            for _ in range(saves):
                child.stdout.readline()
            child.kill()
        messages = json.loads((tmp_path / "x.json").read_text())
        try:
            rows = len(read_transcript(tmp_path, "x").rows)
        except ResumeError as error:
            found.add(error.sentence())
        else:
            assert messages == messages_of(both[rows])
            found.add(rows)
    assert found <= {11, 15, OLDER}
    assert found & {11, 15}
