"""The same conversation with real models: the embedded one, and llama.cpp's HTTP server through `local/NAME`."""

import secrets
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.flows.chat import Chat
from wisp_core.models.embedded import find_weights
from wisp_core.models.embedded_process import Child

pytestmark = pytest.mark.embedded


@pytest.fixture(scope="module")
def llama() -> Iterator[tuple[str, str]]:
    """llama.cpp's HTTP server as anyone may run it: its address and its key."""
    key = secrets.token_hex(8)
    config = {"path": str(find_weights()), "window": 1024, "threads": 1, "batch": 128, "cache_mib": 64}
    child = Child(config | {"key": key})
    yield child.start(), key
    child.stop()


def test_the_embedded_model_answers_two_turns_and_the_thread_outlives_its_database(tmp_path: Path):
    chat = Chat(tmp_path)
    chat.configure(output={"maxTokens": 24})
    ran = chat.run("--json", "--model", "embedded/smollm2-135m", typed="hello\nwhat did I say first?\n")
    assert ran.status == 0, ran.err
    assert [e["turn"] for e in ran.events("turn.end")] == [1, 2]
    usage = [e["data"]["usage"] for e in ran.events("response")]
    assert usage[1]["cached"] > 0
    estimated = ran.events("context.estimated")[-1]["data"]
    assert (estimated["window"], estimated["windowSource"]) == (8192, "server")
    (chat.home / "wisp.db").unlink()
    again = chat.run("--json", "--continue", typed="and now?\n")
    assert [e["turn"] for e in again.events("turn.end")] == [3]


def test_a_llama_cpp_server_gives_usage_and_cached_tokens_and_overflows_for_real(
    tmp_path: Path, llama: tuple[str, str]
):
    address, key = llama
    chat = Chat(tmp_path, {"LLAMA_KEY": key})
    chat.configure(endpoints={"llama": {"url": f"{address}/v1", "keyEnv": "LLAMA_KEY"}}, output={"maxTokens": 16})
    ran = chat.run("--json", "--model", "local/llama", typed="hello\nand again\n")
    assert ran.status == 0, ran.err
    usage = [e["data"]["usage"] for e in ran.events("response")]
    assert usage[1]["cached"] > 0
    assert usage[1]["total"] == usage[1]["prompt"] + usage[1]["completion"]
    assert ran.events("context.estimated")[0]["data"]["window"] == 1024
    over = chat.run("--json", "--continue", typed="one two three four five " * 400 + "\n")
    assert over.status == 1
    (error,) = over.events("error")
    assert "does not fit the model's context window" in error["data"]["message"]
    # The server is asked for real where the window is not known to be smaller than the prompt.
    chat.configure(
        endpoints={"llama": {"url": f"{address}/v1", "keyEnv": "LLAMA_KEY", "window": 8192}}, output={"maxTokens": 16}
    )
    real = chat.run("--json", "--model", "local/llama", typed="one two three four five " * 400 + "\n")
    (error,) = real.events("error")
    assert error["data"]["kind"] == "ContextOverflowError"
    assert "1,024" in error["data"]["message"] or "1024" in error["data"]["message"]
