"""M6 end to end: with `embedded.tools` the real embedded model calls tools in `wisp chat`, under the permissions."""

from pathlib import Path

import pytest

from tests.flows.chat import Chat

pytestmark = pytest.mark.embedded

MODEL = "embedded/smollm2-135m"


def open_chat(tmp_path: Path, **settings: object) -> Chat:
    chat = Chat(tmp_path)
    chat.configure(embedded={"tools": True, "mostOutput": 24}, **settings)
    return chat


def test_the_date_is_looked_up_and_a_greeting_is_answered(tmp_path: Path):
    chat = open_chat(tmp_path)
    ran = chat.run("--json", "--model", MODEL, typed="what is the date today?\nHello, who are you?\n")
    assert ran.status == 0, ran.err
    (call,) = ran.events("tool.call")
    (result,) = ran.events("tool.result")
    assert (call["turn"], call["data"]["tool"], call["data"]["arguments"]) == (1, "current_date", {})
    assert result["data"]["ok"]
    responses = [event["data"] for event in ran.events("response")]
    assert [response["finish"] == "tool_calls" for response in responses] == [True, False, False]
    assert [bool(response["text"]) for response in responses] == [False, True, True]
    assert all(response["usage"]["total"] > 0 for response in responses)
    assert not ran.events("error")


def test_the_size_that_was_told_is_the_size_that_the_model_read(tmp_path: Path):
    chat = open_chat(tmp_path)
    ran = chat.run("--json", "--model", MODEL, typed="what is the date today?\nread the file notes.txt\nthanks\n")
    sizes = [event["data"]["tokens"] for event in ran.events("request.composed")]
    read = [event["data"]["usage"]["prompt"] for event in ran.events("response")]
    assert len(sizes) == len(read) >= 4
    # The arguments are asked for behind the tool's name.
    assert all(size <= prompt <= size + 8 for size, prompt in zip(sizes, read, strict=True))
    assert not [note for note in ran.events("error") if note["data"]["kind"] == "prompt cut"]


def test_a_dangerous_call_waits_for_the_person_as_any_models_does(tmp_path: Path):
    chat = open_chat(tmp_path)
    ran = chat.run("--json", "--model", MODEL, typed="run the command touch made.txt\n")
    (asked,) = ran.events("approval.requested")
    assert asked["data"]["tool"] == "run_command"
    assert asked["data"]["arguments"] == {"command": "touch made.txt"}
    (decided,) = ran.events("approval.decided")
    assert decided["data"]["decision"] == "no"
    assert not (chat.cwd / "made.txt").exists()
    (turn,) = ran.events("turn.end")
    assert turn["data"]["outcome"] == "done"


def test_without_the_setting_nothing_is_called(tmp_path: Path):
    chat = Chat(tmp_path)
    chat.configure(embedded={"mostOutput": 8})
    ran = chat.run("--json", "--model", MODEL, typed="what is the date today?\n")
    assert ran.status == 0, ran.err
    assert not ran.events("tool.call")


def test_the_first_line_says_that_it_chooses_badly(tmp_path: Path):
    chat = open_chat(tmp_path, output={"maxTokens": 4})
    assert "chooses tools badly" in chat.run(typed="hello\n").err
