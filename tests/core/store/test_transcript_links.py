"""Links that do not decode, are not of this version or not of these messages: nothing is resumed (A26)."""

import json
import os
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.core.store.saved import OLDER, conversation, entry, rows_of, save
from wisp_core.errors import ResumeError
from wisp_core.records import CommandContent, EntryState, ReplyContent
from wisp_core.store.transcripts import messages_of, read_transcript, write_transcript


def store(edit):
    """Return what changes the bytes of the links."""
    return lambda folder: (folder / "x.store").write_bytes(edit((folder / "x.store").read_bytes()))


def row(number, **changed):
    """Return what changes the row of one entry."""

    def edit(data):
        lines = data.split(b"\n")
        place = next(at for at, line in enumerate(lines) if line.startswith(b'{"row":"entry","id":%d,' % number))
        lines[place] = json.dumps({**json.loads(lines[place]), **changed}).encode()
        return b"\n".join(lines)

    return store(edit)


def swap(data):
    lines = data.split(b"\n")
    lines[5], lines[6] = lines[6], lines[5]
    return b"\n".join(lines)


def beside(edit):
    """Return what saves the messages with the links of a conversation that `edit` has changed: sound, but another."""

    def change(folder):
        entries = conversation()
        write_transcript(folder, "x", messages=messages_of(entries), rows=rows_of(edit(entries)))

    return change


def calls_swapped(entries):
    entries[6:8] = [replace(entries[7], id=7), replace(entries[6], id=8)]
    return entries


def one_more(entries):
    return [*entries, entry(12, ReplyContent("more"), turn=2)]


def another_kind(entries):
    return [*entries[:10], entry(11, CommandContent("ls", ""), turn=2)]


def another_id(entries):
    return [*entries[:10], replace(entries[10], wire_id="e99")]


def another_state(entries):
    entries[2] = replace(entries[2], state=EntryState.ACTIVE, dropped_by=None, dropped_at=None)
    return entries


def of_another(folder):
    entries = [replace(e, wire_id=f"other{e.id}") for e in conversation()]
    save(folder, entries, name="y")
    os.replace(folder / "y.store", folder / "x.store")


def linked(folder):
    os.replace(folder / "x.store", folder / "elsewhere")
    (folder / "x.store").symlink_to("elsewhere")


def instead(make):
    """Return what puts something else in the place of the links."""

    def change(folder):
        (folder / "x.store").unlink()
        make(folder / "x.store")

    return change


def without_the_last_row(folder):
    """Save rows that end with one that is no entry, and cut it off where its line begins."""
    entries = conversation()
    rows = [*rows_of(entries), {"row": "fact"}]
    write_transcript(folder, "x", messages=messages_of(entries), rows=rows)
    store(lambda data: data[: data.rindex(b"{")])(folder)


def reordered_messages(folder):
    messages = json.loads((folder / "x.json").read_text())
    messages[3], messages[4] = messages[4], messages[3]
    (folder / "x.json").write_text(json.dumps(messages))


BROKEN = {
    "missing": lambda folder: (folder / "x.store").unlink(),
    "0 bytes": store(lambda data: b""),
    "binary": store(lambda data: bytes(range(256)) * 50),
    "no UTF-8": store(lambda data: data.replace(b"s1", b"\xff")),
    "cut inside a line": store(lambda data: data[:-20]),
    "cut at a line's end": store(lambda data: b"\n".join(data.split(b"\n")[:-2]) + b"\n"),
    "cut before a row that is no entry": without_the_last_row,
    "version 2": store(lambda data: data.replace(b'"version":1', b'"version":2')),
    "version true": store(lambda data: data.replace(b'"version":1', b'"version":true')),
    "no version": store(lambda data: data.replace(b'"version":1,', b"")),
    "sessions of another kind": store(lambda data: data.replace(b'["s1","s2"]', b"[1]")),
    "lines in another order": store(swap),
    "entries in another order": beside(calls_swapped),
    "another kind": beside(another_kind),
    "another id": beside(another_id),
    "another state": beside(another_state),
    "an entry more": beside(one_more),
    "an entry less": beside(lambda entries: entries[:10]),
    "unknown kind": row(6, kind="song"),
    "unknown state": row(6, state=["active"]),
    "an id that is no number": row(6, id="five"),
    "an entry without content": row(6, content=None),
    "a prompt of no turn": row(5, turn=9),
    "of another transcript": of_another,
    "foreign file": store(lambda data: b"[package]\nname = 'x'\n"),
    "no objects": store(lambda data: b"1\n2\n"),
    "a list": store(lambda data: b"[" + data.replace(b"\n", b",") + b"0]"),
    "nested deeply": store(lambda data: b"[" * 100_000),
    "no number of JSON": store(lambda data: data.replace(b'"turn":2', b'"turn":NaN')),
    "a number too large": store(lambda data: data.replace(b'"turn":2', b'"turn":1' + b"0" * 30)),
    "a symbolic link": linked,
    "a folder": instead(os.mkdir),
    "a pipe": instead(os.mkfifo),
    "messages in another order": reordered_messages,
    "messages of another tool": lambda folder: (folder / "x.json").write_text('[{"role": "user", "content": "a"}]'),
    "messages that are none": lambda folder: (folder / "x.json").write_text('{"a": 1}'),
    "messages that are binary": lambda folder: (folder / "x.json").write_bytes(b"\xff\0\x1b" * 99),
    "messages of no bytes": lambda folder: (folder / "x.json").write_bytes(b""),
    "messages with links of no kind": lambda folder: (folder / "x.json").write_text('[{"entries": [{"id": 1}]}]'),
}


@pytest.mark.parametrize("change", BROKEN.values(), ids=BROKEN)
def test_links_that_are_not_those_of_the_transcript_resume_nothing(change, tmp_path):
    save(tmp_path, conversation())
    change(tmp_path)
    with pytest.raises(ResumeError) as caught:
        read_transcript(tmp_path, "x")
    assert caught.value.sentence() == OLDER


def test_links_without_an_active_entry_match_nothing(tmp_path):
    write_transcript(tmp_path, "x", messages=[], rows=[])
    with pytest.raises(ResumeError, match="older wisp"):
        read_transcript(tmp_path, "x")


@settings(max_examples=100, deadline=None)
@given(data=st.data())
def test_any_bytes_in_either_file_resume_nothing_or_what_was_saved(data, tmp_path_factory):
    folder = tmp_path_factory.mktemp("fuzz")
    save(folder, conversation())
    file = folder / data.draw(st.sampled_from(["x.json", "x.store"]))
    content = bytearray(file.read_bytes())
    start = data.draw(st.integers(0, len(content)))
    content[start : start + data.draw(st.integers(0, 40))] = data.draw(st.binary(max_size=40))
    file.write_bytes(content)
    try:
        said = f"{len(read_transcript(folder, 'x').rows)} rows"
    except ResumeError as error:
        said = error.sentence()
    assert said in (OLDER, "15 rows")
