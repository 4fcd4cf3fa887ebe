"""Conversations and rows as they are saved, and what reads a page of HTML as a browser would."""

import sys
from dataclasses import replace
from html.parser import HTMLParser
from itertools import cycle
from pathlib import Path

from wisp_core.records import (
    CallContent,
    CommandContent,
    Entry,
    EntryKind,
    EntryState,
    InstructionsContent,
    Outcome,
    OutputContent,
    PromptContent,
    ReplyContent,
    Segment,
    Turn,
)
from wisp_core.store.carried_rows import Carried, write_rows
from wisp_core.store.transcripts import messages_of, write_transcript

KINDS = {
    InstructionsContent: EntryKind.INSTRUCTIONS,
    PromptContent: EntryKind.PROMPT,
    CommandContent: EntryKind.COMMAND,
    CallContent: EntryKind.TOOL_CALL,
    OutputContent: EntryKind.TOOL_OUTPUT,
    ReplyContent: EntryKind.REPLY,
}
OLDER = "transcript 'x' was saved by an older wisp and cannot be resumed; start a new conversation"
TIME = "2026-01-01T00:00:00.000Z"


def entry(number, content, *, turn=1, state=EntryState.ACTIVE):
    """Return an entry; that of a call and its output go by the call's id."""
    wire_id = content.call if isinstance(content, CallContent | OutputContent) else f"e{number}"
    made = Entry(number, wire_id, KINDS[type(content)], turn, TIME, content, state=state)
    return replace(made, dropped_by="c1", dropped_at=2) if state is EntryState.DROPPED else made


def conversation():
    """Return the entries of a turn that was dropped and one with a command, two calls and a reply."""
    return [
        entry(1, InstructionsContent((Segment("core", "Be exact."), Segment("mode", "Mode: ask."))), turn=0),
        entry(2, PromptContent("how are you?"), state=EntryState.DROPPED),
        entry(3, ReplyContent("Well."), state=EntryState.DROPPED),
        entry(4, CommandContent("ls", "a.txt", 0), turn=2),
        entry(5, PromptContent("read a.txt"), turn=2),
        entry(6, ReplyContent("I will.", "they want a.txt"), turn=2),
        entry(7, CallContent("00000001", "read_file", '{"path": "a.txt"}'), turn=2),
        entry(8, CallContent("00000002", "run_command", '{"command": "wc a.txt"}'), turn=2),
        entry(9, OutputContent("00000002", "run_command", "1 1 2", exit_status=0, seconds=1.26), turn=2),
        entry(10, OutputContent("00000001", "read_file", "1\tx"), turn=2),
        entry(11, ReplyContent("It says `x`."), turn=2),
    ]


def rows_of(entries):
    """Return the rows of a record that holds the entries."""
    contents = [entry.content for entry in entries]
    turns = [Turn(e.turn, e.id, TIME, Outcome.DONE) for e in entries if e.kind is EntryKind.PROMPT]
    stack = tuple(content for content in contents if isinstance(content, InstructionsContent))
    return write_rows(Carried("t", stack, tuple(turns), tuple(entries), plans=(), summaries=(), facts=()))


def save(folder, entries, *, name="x", rows=True):
    """Save a conversation, with its links or without."""
    found = rows_of(entries) if rows else None
    return write_transcript(folder, name, messages=messages_of(entries), rows=found, sessions=["s1", "s2"])


def save_on():
    """Save two states of a conversation in turn, saying so each time, until the process is killed."""
    for entries in cycle([conversation(), conversation()[:7]]):
        save(Path(sys.argv[1]), entries)
        print("saved", flush=True)


class Page(HTMLParser):
    """The elements, attributes and text of a page."""

    def __init__(self, source):
        super().__init__()
        self.elements = []
        self.attributes = []
        self.text = ""
        self.open = []
        self.feed(source)
        self.close()

    def handle_starttag(self, tag, attrs):  # signature of HTMLParser
        self.elements.append(tag)
        self.attributes += [(tag, name, value) for name, value in attrs]
        if tag not in ("meta", "br", "hr"):
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):  # signature of HTMLParser
        self.handle_starttag(tag, attrs)

    def handle_endtag(self, tag):  # signature of HTMLParser
        assert self.open.pop() == tag

    def handle_data(self, data):  # signature of HTMLParser
        self.text += data

    def handle_comment(self, data):  # signature of HTMLParser
        raise AssertionError(f"a comment: {data}")
