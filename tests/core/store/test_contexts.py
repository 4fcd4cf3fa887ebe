"""Saved contexts: the exact request for programs, a page of it for people, under names that sort by time."""

import json
import os
import stat
from itertools import pairwise

import pytest
from markdown_it import MarkdownIt

from wisp_core.composer.compose import canonical_hash
from wisp_core.errors import StorageError
from wisp_core.records import Rendering
from wisp_core.requests import Composition, Item, Measurement, Message, Role, ToolSchema, Window, WireCall
from wisp_core.store.contexts import Circumstances, write_context

HOSTILE = "```\n# Forged\n````` \x1b[2J \u202e <script>\n| a | b |\n```text"
SCHEMA = ToolSchema("read_file", "Reads a file.", {"type": "object", "properties": {"path": {"type": "string"}}})


def composed(text="hello"):
    messages = (
        Message(Role.SYSTEM, "Be exact."),
        Message(Role.USER, text),
        Message(Role.ASSISTANT, calls=(WireCall("00000001", "read_file", '{"path": "a"}'),)),
        Message(Role.TOOL, "[output not repeated]", call_id="00000001", name="read_file"),
        Message(Role.ASSISTANT, text),
    )
    items = (
        Item("e1", 1, "instructions", "turn", 0, Rendering.WHOLE, "Be exact."),
        Item("b1", None, "earlier", "turn", 1, Rendering.WHOLE, text),
        Item("00000001", 4, "tool_output", "resumed", 1, Rendering.REFERENCE, "[output not repeated]"),
    )
    return Composition(items, messages, canonical_hash(messages), 3)


def about(title="before condensing (budget)", *, tokens=1234):
    settings = {"references": True, "keep_turns": 4}
    return Circumstances(title, "local/small", Measurement(tokens), Window(8192, "error"), settings, [SCHEMA])


def test_the_json_holds_the_request_so_exactly_that_its_hash_can_be_made_again(tmp_path):
    composition = composed(HOSTILE)
    _, path = write_context(tmp_path / "context", composition, about=about(), time="2026-01-02T03:04:05.678Z")
    saved = json.loads(path.read_text())
    messages = [
        Message(
            Role(one["role"]),
            one.get("content", ""),
            tuple(
                WireCall(call["id"], call["function"]["name"], call["function"]["arguments"])
                for call in one.get("tool_calls", [])
            ),
            one.get("tool_call_id", ""),
            one.get("name", ""),
        )
        for one in saved["messages"]
    ]
    assert tuple(messages) == composition.messages
    assert canonical_hash(messages) == saved["sha256"] == composition.sha256
    assert [(i["id"], i["entry"], i["kind"], i["rendering"], i["bytes"], i["text"]) for i in saved["items"]] == [
        (i.id, i.entry, i.kind, i.rendering.value, i.bytes, i.text) for i in composition.items
    ]
    assert (saved["tokens"], saved["counted"], saved["window"]) == (1234, False, 8192)
    assert saved["windowSource"] == "error"
    assert (saved["time"], saved["title"]) == ("2026-01-02T03:04:05.678Z", "before condensing (budget)")
    assert saved["tools"] == [{"name": "read_file", "description": "Reads a file.", "parameters": SCHEMA.parameters}]
    assert saved["settings"] == {"references": True, "keep_turns": 4}


def test_the_page_holds_what_is_sent_in_fences_that_nothing_in_it_can_end(tmp_path):
    page, data = write_context(tmp_path, composed(HOSTILE), about=about("# ` <b> | title"))
    text = page.read_text()
    tokens = MarkdownIt("commonmark").enable("table").parse(text)
    headings = [after.content for token, after in pairwise(tokens) if token.type == "heading_open"]
    assert headings == [
        "Context: ``# ` <b> | title``",
        "Items",
        "Messages",
        "1. system",
        "2. user",
        "3. assistant",
        "4. tool `read_file`, the result of `00000001`",
        "5. assistant",
        "Tools",
        "Settings",
    ]
    assert not [token for token in tokens if token.type == "html_block"]
    fences = [token.content for token in tokens if token.type == "fence"]
    assert fences.count(HOSTILE.replace("\x1b", "␛").replace("\u202e", "<U+202E>") + "\n") == 2
    rows = [token for token in tokens if token.type == "tr_open"]
    assert len(rows) == 1 + 3
    for file in (page, data):
        assert not set(file.read_text()) & set("\x1b\u202e")


def test_a_page_says_what_is_estimated_and_what_is_unknown(tmp_path):
    page, _ = write_context(tmp_path, composed(), about=about())
    assert "- tokens: ~1,234 of 8,192 (error)\n" in page.read_text()
    counted = Circumstances("next request", "m", Measurement(9, counted=True), None, {}, [])
    page, _ = write_context(tmp_path, composed(), about=counted)
    assert "- tokens: 9 of unknown\n" in page.read_text()


def test_names_sort_by_time_and_never_collide_in_files_for_the_person_alone(tmp_path):
    before = os.umask(0)
    try:
        early = [
            write_context(tmp_path / "c", composed(), about=about(), time="2026-01-02T03:04:05.678Z") for _ in "abc"
        ]
        late = write_context(tmp_path / "c", composed(), about=about(), time="2026-01-02T03:04:05.679Z")
    finally:
        os.umask(before)
    names = sorted(os.listdir(tmp_path / "c"))
    assert len(names) == 8
    assert names[-2:] == [late[1].name, late[0].name]
    assert all(name.startswith("2026-01-02T03-04-05-678Z-") for name in names[:-2])
    assert {pair[0].stem for pair in early} == {pair[1].stem for pair in early}
    assert {stat.S_IMODE(path.stat().st_mode) for path in (tmp_path / "c").iterdir()} == {0o600}
    assert stat.S_IMODE((tmp_path / "c").stat().st_mode) == 0o700


def test_where_it_cannot_be_written_one_sentence_says_so(tmp_path):
    (tmp_path / "context").write_text("in the way")
    with pytest.raises(StorageError, match=r"the context could not be written \(.+\)"):
        write_context(tmp_path / "context", composed(), about=about())
