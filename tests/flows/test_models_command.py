"""`wisp models`: what can be run, pulling with progress, keys; and what a wrong use says."""

import asyncio
import json
import os
import subprocess
import sys

import pytest

from tests.fakes.ollama import FakeOllama
from tests.fakes.provider import FakeProvider
from tests.flows.chat import Chat
from wisp_core.settings import Settings
from wisp_core.shelf import Shelf

PULLS = [
    {"status": "pulling manifest"},
    {"status": "pulling abc", "digest": "sha256:abc", "total": 1000, "completed": 500},
    {"status": "success"},
]


@pytest.fixture
def chat(tmp_path):
    return Chat(tmp_path)


async def wisp(chat, ollama, *arguments):
    chat.environ |= {"OLLAMA_HOST": ollama.url, "WISP_DISCOVERY": "5"}
    return await asyncio.to_thread(chat.wisp, "models", *arguments)


async def test_models_are_listed_in_columns_with_their_sizes_and_windows(chat):
    async with FakeOllama() as ollama:
        ran = await wisp(chat, ollama)
        assert ran.status == 0
        assert ran.out.splitlines()[-1] == "  ollama/granite:8b      3.8 GiB  131,072 tokens (server)   8.2B Q4_K_M"
        starts = {line.index(about) for line in ran.out.splitlines() for about in ("built in", "8.2B") if about in line}
        assert len(starts) == 1
        assert not set(ran.out) & set("\x1b\r")
        ran = await wisp(chat, ollama, "list", "--json")
        found = {each["name"]: each for each in json.loads(ran.out)["models"]}
        assert found["ollama/granite:8b"]["size"] == ollama.size
        assert [found["ollama/granite:8b"][key] for key in ("window", "source")] == [131072, "server"]
        assert found["ollama/granite:8b"]["text"] == "3.8 GiB, window 131,072 tokens (server), 8.2B Q4_K_M"


async def test_a_model_is_pulled_with_its_progress_beside_the_result(chat):
    async with FakeOllama() as ollama:
        ollama.pulls = PULLS
        ran = await wisp(chat, ollama, "pull", "granite:8b", "--json")
        assert (ran.status, json.loads(ran.out)) == (0, {"model": "ollama/granite:8b"})
        assert ran.err.split("\n") == ["pulling manifest", "pulling abc", "success", ""]
        assert ollama.asked[-1] == ("/api/pull", {"model": "granite:8b", "stream": True})


async def test_a_pull_that_fails_is_one_sentence(chat):
    async with FakeOllama() as ollama:
        ollama.pulls = [{"error": "pull model manifest: file does not exist"}]
        ran = await wisp(chat, ollama, "pull", "nobody")
        assert (ran.status, ran.out) == (2, "")
        assert ran.err.startswith("wisp: no model is called `nobody`")
        assert ran.err.count("\n") == 1


def test_the_key_for_ollamas_service_is_kept_under_ollamas_own_name(tmp_path):
    assert Shelf(tmp_path, Settings()).key_variable("ollama") == "OLLAMA_API_KEY"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("pull",), "needs a name"),
        (("key", "nobody"), "no provider is called `nobody`"),
        (("pull", "local/nobody/x"), "no Ollama in the config"),
    ],
)
def test_a_wrong_use_is_one_sentence(chat, arguments, said):
    ran = chat.wisp("models", *arguments)
    assert ran.status == 2
    assert said in ran.err
    assert ran.err.count("\n") == 1


@pytest.mark.parametrize("arguments", [["models"], ["models", "--json"]], ids=" ".join)
def test_a_reader_that_has_enough_is_no_fault(chat, arguments):
    """As `wisp models | head -0`: nothing is said of it and no report is written."""
    read, write = os.pipe()
    os.close(read)
    command = [sys.executable, "-m", "wisp_core", *arguments]
    try:
        ran = subprocess.run(command, env=chat.environ, stdout=write, stderr=subprocess.PIPE, check=False)
    finally:
        os.close(write)
    assert (ran.returncode, ran.stderr) == (1, b"")


@pytest.mark.parametrize(
    ("status", "said"), [(401, "refused the key: no"), (429, "takes no more requests"), (500, "cannot answer now")]
)
async def test_a_server_that_refuses_to_name_its_models_cannot_be_used_and_says_why(chat, status, said):
    async with FakeProvider() as server:
        server.models = (status, {"error": {"message": "no"}})
        chat.configure(endpoints={"own": {"url": server.url}}, discovery={"seconds": 0})
        ran = await asyncio.to_thread(chat.wisp, "models", "list", "--json")
        found = {each["name"]: each for each in json.loads(ran.out)["models"]}
        assert not found["local/own"]["usable"]
        assert said in found["local/own"]["text"]
