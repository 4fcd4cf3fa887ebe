"""Exported conversations: what the person saw, in three forms, and nothing of it as markup of the document."""

import json
import os
import re
import stat
import time
from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from tests.core.store.saved import TIME, Page, conversation, entry
from wisp_core.errors import UsageError
from wisp_core.records import (
    CallContent,
    CommandContent,
    EntryState,
    InstructionsContent,
    Outcome,
    OutputContent,
    PromptContent,
    ReplyContent,
    ThreadRecord,
    Turn,
)
from wisp_core.requests import CANCELLED
from wisp_core.store.export import FORMS, export, write_export

FORGED = [
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    '"><svg onload=alert(1)>',
    "<!-- <b>",
    "</pre></details></section></body></html><h1>",
    "[a](javascript:alert(1)) <javascript:alert(1)> [b](data:text/html,<script>) [c](  JaVaScRiPt:x)",
    "[a]: javascript:alert(1)\n\n[a]",
    "![a](http://tracker.example/x.png)",
    "[a](http://x.example \"onmouseover='alert(1)'\")",
    "```html\n<b>\n",
    "~~~\n`````\n",
    '``` "onload=x <b>\n</code>\n```',
    "<div style='position:fixed'>\n\n# Heading\n\n## Turn 99",
    "| a | b |\n|:-:|--:|\n| <b> | `<i>` |",
    "\x1b]0;title\x07\x1b[2J\x9b31m\x00\x7f",
    "\u202eevil\u2066 abc",
    "&lt;b&gt; &#60;i&#62; &colon;",
    "<a href='http://x.example'>\n<style>*{}</style>",
    "x" * 10 + "\n" * 5 + "> " * 200 + "<b>",
    "- " * 60 + "<b>",
    "<details><summary>",
    "\ud800 \ufffe",
    "[" * 3000 + "<b>",
]
ELEMENTS = {"html", "head", "meta", "title", "style", "body", "dl", "dt", "dd", "section", "div", "p", "pre", "code"}
ELEMENTS |= {
    "h1",
    "h2",
    "h3",
    "h4",
    "h5",
    "h6",
    "details",
    "summary",
    "span",
    "em",
    "strong",
    "s",
    "a",
    "ul",
    "ol",
    "li",
}
ELEMENTS |= {"blockquote", "hr", "br", "table", "thead", "tbody", "tr", "th", "td"}
SAFE = re.compile("https?://|mailto:", re.IGNORECASE)
OWN = {"prompt", "reply", "failed", "ending", "left", "center", "right"}


def record(**turns):
    found = {int(name[1:]): Turn(int(name[1:]), 0, TIME, outcome, "server said no") for name, outcome in turns.items()}
    return ThreadRecord("0123", title="About a", cwd="/w", model="local/small", created=TIME, turns=found)


def everywhere(text):
    """Return a conversation that says `text` in every place that has one."""
    said = [
        CommandContent(text, text, 1),
        PromptContent(text),
        ReplyContent(text, text, "length", text),
        CallContent("00000001", text, text),
        OutputContent("00000001", text, text, ok=False, exit_status=1),
        OutputContent("00000002", text, text),
        ReplyContent(text),
    ]
    entries = [entry(number, content) for number, content in enumerate(said, 1)]
    turns = {1: Turn(1, 2, TIME, Outcome.FAILED, text)}
    return entries, ThreadRecord("0123", title=text, cwd=text, model=text, created=text, turns=turns)


def inert(html):
    """Assert that a page has no element and no attribute but wisp's own, and return it."""
    page = Page(html)
    assert set(page.elements) <= ELEMENTS
    assert page.open == []
    for tag, name, value in page.attributes:
        allowed = {
            "a": (name, value) == ("rel", "noreferrer noopener") or (name == "href" and SAFE.match(value)),
            "ol": name == "start" and value.isdecimal(),
            "details": name == "open",
            "html": (name, value) == ("lang", "en"),
            "meta": name in ("charset", "http-equiv", "content", "name"),
        }
        assert (name == "class" and value in OWN) or (name, value) == ("dir", "auto") or allowed.get(tag), (tag, name)
    assert page.elements.count("meta") == 4
    assert page.elements.count("style") == 1
    assert not set(html) & {
        *map(chr, range(9)),
        *map(chr, range(11, 32)),
        *map(chr, range(127, 160)),
        "\u202e",
        "\u2066",
    }
    return page


@pytest.mark.parametrize("text", FORGED, ids=range(len(FORGED)))
def test_html_has_no_element_and_no_attribute_that_came_from_a_text(text):
    entries, about = everywhere(text)
    inert(export("html", entries, record=about))


@example(text="- - -")
@example(text="a  \nb")
@settings(max_examples=80, deadline=None)
@given(
    text=st.lists(st.sampled_from([*FORGED, "\n", "\n\n", "> ", "- ", "`", "*", "a", " ", "    "]), max_size=8).map(
        "".join
    )
)
def test_no_mixture_of_hostile_texts_becomes_markup(text):
    entries, about = everywhere(text)
    inert(export("html", entries, record=about))
    outline(export("md", entries, record=about))


def outline(markdown):
    """Assert that a document has no block at its top but wisp's own, no HTML but its folds; return the headings."""
    tokens = MarkdownIt("commonmark").enable("table").parse(markdown)
    headings = []
    for token, after in pairwise(tokens):
        if token.level == 0 and token.type == "heading_open":
            headings.append(re.sub("(`+).*?\\1(?!`)", "…", after.content, flags=re.S))
        html = [token, *(token.children or [])]
        found = [one.content.strip() for one in html if one.type in ("html_block", "html_inline")]
        assert set(found) <= {"<details><summary>Reasoning</summary>", "</details>"}
    assert tokens[-1].level == 0
    return headings


@pytest.mark.parametrize("text", FORGED, ids=range(len(FORGED)))
def test_no_text_ends_its_place_in_markdown(text):
    entries, about = everywhere(text)
    markdown = export("md", entries, record=about)
    assert outline(markdown) == [
        "…",
        "Turn 1 · …",
        "Command of the person (exit status 1)",
        "Prompt",
        "Reply of …",
        "Tool … (exit status 1)",
        "Tool … (ok)",
        "Reply",
    ]
    assert not set(markdown) & set("\x1b\x9b\x07\x00\x7f\u202e\u2066")


def test_html_tells_the_conversation_as_it_was_seen_in_one_file_that_loads_nothing():
    entries = conversation()
    entries[8] = replace(entries[8], content=replace(entries[8].content, ok=False, exit_status=2))
    html = export("html", entries, record=record(t1=Outcome.DONE, t2=Outcome.INTERRUPTED))
    text = inert(html).text
    assert "default-src 'none'" in html
    assert "prefers-color-scheme: dark" in html
    seen = ["About a", "Turn 1", "how are you?", "Well.", "Turn 2", "! ls", "exit status 0", "a.txt", "read a.txt"]
    seen += ["Reasoning", "they want a.txt", "I will.", "read_file", "ok", '{"path": "a.txt"}', "1\tx", "run_command"]
    seen += ["exit status 2, 1.3 s", "1 1 2", "It says x.", "The turn ended here: interrupted by the person"]
    at = 0
    for words in seen:
        at = text.index(words, at)
    assert "Be exact." not in text
    assert "It says <code>x</code>." in html


def test_markdown_tells_the_same():
    markdown = export("md", conversation(), record=record(t1=Outcome.DONE, t2=Outcome.FAILED))
    at = 0
    for words in ["# `About a`", "how are you?", "Well.", "## Turn 2", "```sh\nls\n```", "> read a.txt", "> I will."]:
        at = markdown.index(words, at)
    assert "**The turn ended here:** `failed: server said no`" in markdown
    assert "Be exact." not in markdown


def test_a_reply_is_shown_as_the_markdown_that_it_is():
    table = "| a | b |\n|---|--:|\n| 1 | [l](https://x.example/a?b&c) |"
    reply = f"# Plan\n\n1. **one**\n2. `two`\n\n{table}\n\n```py\nif a < b:\n```"
    html = export("html", [entry(1, PromptContent("go")), entry(2, ReplyContent(reply))], record=record())
    assert "<h1>Plan</h1>" in html
    assert "<li><strong>one</strong></li>" in html
    assert '<td class="right"><a href="https://x.example/a?b&amp;c" rel="noreferrer noopener">l</a></td>' in html
    assert "<pre><code>if a &lt; b:\n</code></pre>" in html
    markdown = export("md", [entry(1, ReplyContent(reply))], record=record())
    assert "\n".join(f"> {line}".rstrip() for line in reply.split("\n")) in markdown


def test_text_with_html_in_it_stands_in_a_fence_of_the_markdown():
    markdown = export("md", [entry(1, PromptContent("use <b>this</b> and ```"))], record=record())
    assert "````markdown\nuse <b>this</b> and ```\n````" in markdown


@pytest.mark.parametrize("text", ["> " * 60 + "inmost", "x" * 70_000 + "\n\n**inmost**", "*x " * 2000 + "inmost"])
def test_a_reply_that_takes_too_much_to_lay_out_is_shown_as_it_is_and_nothing_is_left_out(text):
    html = export("html", [entry(1, ReplyContent(text))], record=record())
    assert text.rstrip().replace("\n", "") in inert(html).text.replace("\n", "")


def test_a_preformatted_text_is_shown_to_the_character():
    html = export("html", [entry(1, CommandContent("x", "\n\n  a\n", 0))], record=record())
    assert "<pre>\n\n\n  a\n</pre>" in html


def test_how_a_call_ended_is_told():
    def told(output):
        entries = [entry(1, CallContent("00000001", "t", "{}")), *([entry(2, output)] if output else [])]
        return re.search(r"### Tool `t` \((.*)\)", export("md", entries, record=record()))[1]

    assert told(None) == "no result"
    assert told(OutputContent("00000001", "t", "x")) == "ok"
    assert told(OutputContent("00000001", "t", "x", ok=False)) == "failed"
    assert told(OutputContent("00000001", "t", "x", ok=False, exit_status=3, seconds=2)) == "exit status 3, 2.0 s"
    assert told(OutputContent("00000001", "t", f"half\n{CANCELLED}", ok=False)) == "cancelled"


def test_what_failed_was_dropped_or_is_not_kept_is_told_as_far_as_it_was_seen():
    entries = [
        entry(1, PromptContent("first"), state=EntryState.DROPPED),
        replace(entry(2, ReplyContent("gone"), state=EntryState.DROPPED), content=None),
        entry(3, PromptContent("second"), turn=2, state=EntryState.FAILED),
        entry(4, ReplyContent(""), turn=2, state=EntryState.FAILED),
        entry(5, CommandContent("sleep 9", ""), turn=3),
    ]
    for form in ("md", "html"):
        text = export(form, entries, record=record(t2=Outcome.FAILED, t3=Outcome.ABANDONED))
        for words in ["first", "(reply: its content is not kept)", "second", "(empty)", "failed: server said no"]:
            assert words in text
        assert "wisp ended here" in text
        assert "cancelled" in text


def test_json_holds_every_entry_whole_with_the_instructions():
    saved = json.loads(export("json", conversation(), record=record(t2=Outcome.FAILED)))
    assert (saved["thread"], saved["title"], saved["model"]) == ("0123", "About a", "local/small")
    assert saved["turns"][0]["error"] == "server said no"
    assert [(e["entry"], e["kind"], e["state"]) for e in saved["entries"]] == [
        (e.id, e.kind.value, e.state.value) for e in conversation()
    ]
    assert saved["entries"][0]["content"]["segments"][0] == {"name": "core", "text": "Be exact."}
    assert saved["entries"][5]["content"]["reasoning"] == "they want a.txt"


def test_another_form_is_refused_with_the_forms_there_are():
    with pytest.raises(UsageError) as caught:
        export("pdf", [], record=record())
    assert caught.value.sentence() == "there is no form `pdf` to export in; it is one of md, json, html"


@pytest.mark.parametrize("form", FORMS)
def test_an_export_is_a_new_file_for_the_person_alone_and_never_one_that_is_there(form, tmp_path):
    first = write_export(tmp_path, form, entries=conversation(), record=record())
    second = write_export(tmp_path, form, entries=conversation(), record=record())
    assert (first.name, second.name) == (f"wisp-0123.{form}", f"wisp-0123-2.{form}")
    assert first.read_text() == second.read_text() == export(form, conversation(), record=record())
    assert stat.S_IMODE(first.stat().st_mode) == 0o600
    assert len(os.listdir(tmp_path)) == 2


def test_an_empty_conversation_is_exported_in_every_form():
    entries = [entry(1, InstructionsContent(()), turn=0)]
    assert all(export(form, entries, record=ThreadRecord("0123")) for form in FORMS)


def test_replies_made_to_be_slow_are_exported_in_bounded_time():
    slow = ["[" * 60_000, "![[](" * 12_000, "- a\n" * 6_000, "|a|b|\n|-|-|\n" + "|x|\n" * 6_000, "> " * 30_000 + "<a "]
    entries = [entry(number, ReplyContent(text + "\n<")) for number, text in enumerate(slow, 1)]
    before = time.process_time()
    export("html", entries, record=record())
    export("md", entries, record=record())
    assert time.process_time() - before < 15
