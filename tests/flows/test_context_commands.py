"""U12, U13, A15, A23, A24, A27: the commands that show what the model carries, and find and copy conversations."""

import json
import os
import stat
from pathlib import Path

import pytest

from tests.flows.chat import Chat, Ran
from tests.flows.reading import READ, RETYPED, write_script
from wisp_core.text import count_cells

KEEP_ONE = {"policy": "keep-turns", "keep_turns": 1}
HOSTILE = "[red]bold[/red] \x1b[31mred\x1b[0m <script>alert(1)</script> \u202eabc `x` | #"


@pytest.fixture
def chat(tmp_path: Path) -> Chat:
    return Chat(tmp_path)


def views(ran: Ran) -> list[str]:
    return [event["data"]["text"] for event in ran.events("view")]


def read_and_go_on(chat: Chat, typed: str, *options: str, prompt: int = 8000) -> Ran:
    """Have three turns, the first of which is dropped at the third, then type `typed`."""
    chat.configure(context=KEEP_ONE, facts={"enabled": False})
    replies = [{"text": "b", "usage": {"prompt": prompt}}, {"text": "c"}]
    model = write_script(chat.cwd, READ, {"text": RETYPED}, *replies, window=8192, counts=False)
    return chat.run("--model", model, *options, typed=f"show it\nand now?\nand then?\n{typed}")


def test_a_bare_inspect_context_saves_the_exact_next_request_for_people_and_for_programs(chat: Chat):
    ran = read_and_go_on(chat, "/inspect context\nand?\n", "--json")
    page = Path(views(ran)[0].split(" as ", 1)[1].split("\n")[0])
    assert (page.parent, stat.S_IMODE(page.stat().st_mode)) == (chat.home / "context", 0o600)
    saved = json.loads(page.with_suffix(".json").read_text())
    roles = [message["role"] for message in saved["messages"]]
    assert roles == ["system", "user", "assistant", "user", "assistant"]
    assert {tool["name"] for tool in saved["tools"]} >= {"read_file", "run_command"}
    assert "and then?" in page.read_text()


def test_the_next_request_and_that_of_a_turn_are_listed_entry_by_entry(chat: Chat):
    ran = read_and_go_on(chat, "/inspect context next\n/inspect context 1\n/inspect context 2\n", "--json")
    coming, first, second = views(ran)
    assert [line.split()[0] for line in coming.split("\n")[:-1]] == ["1", "6", "7", "8", "9"]
    assert [line.split()[:5:4] for line in first.split("\n")[:-1]][:3] == [
        ["1", "whole"],
        ["2", "whole"],
        ["3", "whole"],
    ]
    assert first.split("\n")[-1].startswith("    5  turn 1    reply        whole")
    assert first.endswith("(answered)")
    renderings = {line.split()[3]: line.split()[4] for line in second.split("\n")[:-2]}
    assert (renderings["tool_output"], renderings["reply"]) == ("reference", "cut")
    assert "composed again" not in first + second


def test_a_line_of_a_listed_request_does_not_wrap_in_a_terminal_of_120_columns(chat: Chat):
    chat.configure(facts={"enabled": False})
    model = write_script(chat.cwd, {"text": "潮位" * 90}, window=8192, counts=False)
    typed = f"{'how high is it? ' * 20}\n/inspect context next\n/inspect context 1\n"
    listed = views(chat.run("--model", model, "--json", typed=typed))
    lines = [line for text in listed for line in text.split("\n")]
    assert max(count_cells(line) for line in lines) == 100
    assert lines[-1].endswith("…  (answered)")


def test_what_each_turn_changed_is_one_line_a_turn(chat: Chat):
    (text,) = views(read_and_go_on(chat, "/inspect context turns\n", "--json"))
    head, *rows = text.split("\n")
    assert head.split() == ["turn", "added", "cut", "refs", "dropped", "summed", "facts", "how", "full"]
    assert [row.split()[:5] for row in rows] == [
        ["1", "4", "1", "0", "0"],
        ["2", "2", "0", "1", "0"],
        ["3", "2", "0", "0", "4"],
    ]
    assert "8,000 tokens, 98%" in rows[1]


def test_what_cannot_be_inspected_is_one_sentence_with_what_can(chat: Chat):
    wrong = ["context -1", "context 1 2", "context x", "context ²", "", "calls 0", "config x", "contexts"]
    typed = "".join(f"/inspect {asked}\n" for asked in [*wrong, "context 9"])
    ran = chat.run("--model", chat.script({"text": "ok"}), typed=f"hello\n{typed}")
    assert ran.status == 2
    *said, last = [line for line in ran.err.split("\n") if line.startswith("wisp: ")]
    assert len(said) == len(wrong)
    assert all("/inspect context [next|N|turns]" in sentence for sentence in said)
    assert "there is no turn 9; the last is 1" in last


def test_the_settings_are_shown_with_their_origin_and_without_a_key_or_a_header(chat: Chat):
    chat.environ["HOSTED_KEY"] = "key-of-the-person-1234"
    chat.configure(
        theme="ansi-dark",
        endpoints={
            "hosted": {
                "url": "http://127.0.0.1:9/v1",
                "key_env": "HOSTED_KEY",
                "headers": {"X-Team": "the-team-value", "Authorization": "Bearer abcdefgh12345"},
            },
            "inline": {"url": "http://person:in-the-address@127.0.0.1:9/v1"},
        },
        instructions="My key is key-of-the-person-1234.",
    )
    ran = chat.run("--json", "--model", chat.script({"text": "ok"}), typed="/inspect config\n")
    (text,) = views(ran)
    for value in ("key-of-the-person-1234", "the-team-value", "abcdefgh12345", "in-the-address"):
        assert value not in text
    assert "theme = ansi-dark (file)" in text
    assert "context.budget = 0.85 (default)" in text
    assert "endpoints.hosted.key_env = HOSTED_KEY (file)" in text
    assert any(line.startswith("model = scripted:") and line.endswith("(command line)") for line in text.split("\n"))


def test_calls_are_listed_with_their_outcome_dropped_ones_too(chat: Chat):
    (text, last) = views(read_and_go_on(chat, "/inspect calls\n/inspect calls 1\n", "--json"))
    assert text == last
    (line,) = text.split("\n")
    assert line.split()[:2] == ["turn", "1"]
    assert ' read_file     {"path": "piers.txt"}  ok, ' in line


def test_the_output_of_a_dropped_turn_is_shown_whole(chat: Chat):
    ran = read_and_go_on(chat, "/show 4\n/show 4 lines 20-20\n/last\n", "--json")
    whole, part, last = [event["data"] for event in ran.events("view")]
    assert whole["text"] == last["text"]
    assert "the harbour master of pier 1 " in whole["text"]
    assert "the harbour master of pier 20 " in part["text"]
    assert "Show" not in whole["text"]


def test_tokens_tell_what_was_reported_and_what_is_estimated_apart(chat: Chat):
    (text,) = views(read_and_go_on(chat, "/tokens\n", "--json", prompt=1000))
    reported, latest, coming = text.split("\n")
    assert reported.startswith("reported over 4 requests: ")
    assert latest.startswith("last request: ")
    assert coming.startswith("next request: ~")
    assert "% of 8,192" in coming


def test_find_looks_through_every_conversation_and_marks_what_it_found(chat: Chat):
    chat.run("--model", chat.script({"text": "the lighthouse keeper is Ada"}), typed="who keeps the light?\n")
    chat.run("--model", chat.script({"text": HOSTILE}), typed="say something\n")
    ran = chat.run(
        "--json", "--model", chat.script(), typed="/find lighthouse keeper\n/find nobody\n/find alert\n/find\n"
    )
    found, none, _ = views(ran)
    assert "[lighthouse] [keeper] is Ada" in found
    assert "turn 1, entry 3, reply  who keeps the light?" in found
    assert none == "nothing holds `nobody`"
    assert "/find needs a word" in ran.events("note")[-1]["data"]["text"]
    plain = chat.run("--model", chat.script(), typed="/find alert\n").err
    assert "<script>[alert](1)</script>" in plain
    assert "\x1b" not in plain
    assert "\u202e" not in plain


def test_threads_lists_by_title_and_by_what_was_said(chat: Chat):
    chat.run("--model", chat.script({"text": "Ada"}), typed="who keeps the light?\n/rename The lighthouse\n")
    chat.run("--model", chat.script({"text": "ok"}), typed="another thing\n/save copy\n")
    ran = chat.run("--json", "--model", chat.script(), typed="/threads\n/threads Ada\n/threads nothing at all\n")
    every, some, none = views(ran)
    assert [line.split("  ")[-1] for line in every.split("\n")] == [
        "another thing",
        "The lighthouse",
        "(saved transcript)",
    ]
    assert some.endswith("The lighthouse")
    assert len(some.split("\n")) == 1
    assert none == "there is no such conversation"


def test_a_fork_goes_on_from_a_turn_and_leaves_the_other_as_it_was(chat: Chat):
    replies = [{"text": text} for text in ("a", "b", "c", "of the fork")]
    ran = chat.run("--json", "--model", chat.script(*replies), typed="one\ntwo\nthree\n/fork 1\nanother two\n/fork 9\n")
    first, second = dict.fromkeys(e["thread"] for e in ran.events("prompt"))
    assert [e["turn"] for e in ran.events("prompt") if e["thread"] == second] == [2]
    (forked,) = ran.events("thread.forked") or [e for e in chat.audit() if e["event"] == "thread.forked"]
    assert forked["data"] == {"source": first, "turn": 1}
    start = next(e for e in chat.audit() if e["event"] == "thread.start" and e["thread"] == second)
    assert start["group"] == forked["group"]
    assert start["data"]["carriedFrom"] == [start["session"]]
    assert "there is no ended turn 9" in ran.events("note")[-1]["data"]["text"]
    ran = chat.run("--json", "--thread", first, "--model", chat.script({"text": "d"}), typed="four\n")
    assert [e["turn"] for e in ran.events("prompt")] == [4]


def test_an_exported_conversation_is_what_the_person_saw_and_nothing_in_it_is_markup(chat: Chat):
    model = write_script(chat.cwd, READ, {"text": RETYPED + HOSTILE})
    ran = chat.run(
        "--json", "--model", model, typed=f"show {HOSTILE}\n/export\n/export json\n/export html\n/export pdf\n"
    )
    paths = [Path(text.split(" to ", 1)[1]) for text in views(ran)]
    assert [path.suffix for path in paths] == [".md", ".json", ".html"]
    assert all(path.parent == chat.cwd and stat.S_IMODE(path.stat().st_mode) == 0o600 for path in paths)
    page, data, html = [path.read_text() for path in paths]
    for text in (page, data, html):
        assert "the harbour master of pier 20" in text
        assert "\x1b" not in text
    assert "<script>" not in html
    assert json.loads(data)
    assert "pdf" in ran.events("note")[-1]["data"]["text"]


def test_a_title_is_one_line_without_controls_wherever_it_is_shown(chat: Chat):
    typed = json.dumps({"command": f"/rename {HOSTILE}\nsecond line"}) + "\n/threads\n"
    ran = chat.run("--json", "--model", chat.script({"text": "ok"}), typed="hello\n" + typed)
    title, listed = views(ran)
    assert title[:40] in listed
    assert len((title + listed).split("\n")) == 1
    assert len(title) <= 80
    typed = "/threads\n/find hello\n/fork\n/rename \u202e\u200b\n"
    plain = chat.run("--continue", "--model", chat.script(), typed=typed)
    assert "wisp: a title needs a word at least\n" in plain.err
    assert "\x1b" not in plain.err
    assert "\u202e" not in plain.err


def test_a_thread_that_another_writes_is_told_with_who_and_can_be_read_and_forked(chat: Chat):
    holder = chat.start("--json", "--model", chat.script({"text": "mine"}, {"text": "still mine", "hang": True}))
    assert holder.stdin
    assert holder.stdout
    holder.stdin.write(b"hello\nand on\n")
    holder.stdin.flush()
    thread = ""
    for line in holder.stdout:
        found = json.loads(line)
        thread = found.get("thread") or thread
        if found["event"] == "delta" and found["data"]["text"] == "still mine":
            break
    typed = f"/resume {thread}\n/threads\n/find hello\n/fork {thread}\n/inspect context 1\nmine too\n"
    ran = chat.run("--json", "--model", chat.script({"text": "yours"}), typed=typed)
    refused = next(e for e in ran.events("note") if e["data"]["kind"] == "error")["data"]["text"]
    assert f"another wisp (process {holder.pid}) is writing this conversation" in refused
    listed, found_text, first = views(ran)
    assert f"(open in process {holder.pid})" in listed
    assert "[hello]" in found_text
    assert "hello" in first
    assert [e["turn"] for e in ran.events("prompt")] == [2], "the running turn is none of the copy's"
    holder.kill()
    holder.communicate()


def test_model_goes_on_over_the_same_record_and_new_over_the_instructions_alone(chat: Chat):
    other = chat.script({"text": "b", "when": "(?s)two"}, window=4096)
    model = chat.script({"text": "a"}, window=8192)
    typed = f"one\n/model {other}\ntwo\n/new\n/inspect context next\nthree two\n"
    ran = chat.run("--json", "--model", model, typed=typed)
    assert [
        (e["data"]["model"], e["data"]["window"], len(e["data"]["entries"])) for e in ran.events("request.composed")
    ] == [
        (model, 8192, 2),
        (other, 4096, 4),
        (other, 4096, 2),
    ]
    assert "1 items" in views(ran)[-1]


def test_the_newest_conversation_of_the_folder_is_gone_on_with_whatever_a_transcript_is_called(chat: Chat):
    ran = chat.run("--json", "--model", chat.script({"text": "a"}), typed="one\n/save decoy\n")
    (thread,) = {e["thread"] for e in ran.events("prompt")}
    for ending in ("json", "store"):
        os.rename(chat.home / f"transcripts/decoy.{ending}", chat.home / f"transcripts/{thread}.{ending}")
    for options in (("--continue",), ("--thread", thread)):
        ran = chat.run("--json", *options, "--model", chat.script({"text": "b"}), typed="two\n")
        assert {e["thread"] for e in ran.events("prompt")} == {thread}


def test_before_its_first_prompt_there_is_nothing_to_save_fork_export_or_name(chat: Chat):
    typed = "/save x\n/fork\n/export\n/rename x\n/inspect context next\n/inspect context turns\n/inspect calls\n"
    ran = chat.run("--json", "--model", chat.script(), typed=typed)
    errors = [e["data"]["text"] for e in ran.events("note") if e["data"]["kind"] == "error"]
    assert errors == ["this conversation has not begun; it begins with its first prompt"] * 4
    assert [v.split("\n")[0][:20] for v in views(ran)] == [
        "    1  turn 0    ins",
        "no turn was taken ye",
        "no tool was called y",
    ]
    assert list(chat.cwd.iterdir()) == []
