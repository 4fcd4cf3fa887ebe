"""M3: a key goes into the system's keyring and to its endpoint, and nowhere else."""

import json
from contextlib import AsyncExitStack

import pytest

from tests.fakes.provider import FakeProvider
from tests.opened import opened
from wisp_core.commands.registry import run
from wisp_core.crash import explain
from wisp_core.errors import UsageError
from wisp_core.models.keys import keep_key, with_keys
from wisp_core.settings import Settings
from wisp_core.shelf import Shelf

KEY = "sk-0123456789abcdefghij"
# It keeps what it is given where it stands, and every argument it ever had.
KEYRING = """#!/bin/sh
cd "$(dirname "$0")"
echo "$@" >>arguments
eval last=\\${$#}
case "$1" in
store) cat >"kept-$last" ;;
lookup) cat "kept-$last" 2>/dev/null ;;
esac
"""


@pytest.fixture
def keyring(tmp_path, monkeypatch):
    """A keyring of the test's own, as the program that the system has for it."""
    folder = tmp_path / "keyring"
    folder.mkdir()
    program = folder / "secret-tool"
    program.write_text(KEYRING)
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}:/usr/bin:/bin")
    return folder


async def test_a_key_comes_back_and_neither_the_list_nor_an_argument_holds_it(tmp_path, keyring):
    home = tmp_path / "home"
    await keep_key(home, "MY_KEY", key=KEY)
    await keep_key(home, "MY_KEY", key=KEY)
    environ, lost = await with_keys(home, {"HOME": "/"})
    assert environ == {"HOME": "/", "MY_KEY": KEY}
    assert lost == []
    assert json.loads((home / "keyring.json").read_text()) == ["MY_KEY"]
    assert KEY not in (keyring / "arguments").read_text()


async def test_the_environment_goes_before_the_keyring_which_is_not_asked_then(tmp_path, keyring):
    await keep_key(tmp_path, "MY_KEY", key=KEY)
    (keyring / "arguments").unlink()
    assert (await with_keys(tmp_path, {"MY_KEY": "other"}))[0]["MY_KEY"] == "other"
    assert not (keyring / "arguments").exists()


async def test_a_home_without_keys_asks_no_keyring(tmp_path, keyring):
    assert await with_keys(tmp_path, {}) == ({}, [])
    (tmp_path / "keyring.json").write_text('{"no": "list"}')
    assert await with_keys(tmp_path, {}) == ({}, [])
    (tmp_path / "keyring.json").write_text('["A B", 3, "--help", "; rm"]')
    assert await with_keys(tmp_path, {}) == ({}, [])
    assert not (keyring / "arguments").exists()


async def test_a_key_that_is_gone_is_told_by_its_name(tmp_path, keyring):
    await keep_key(tmp_path, "MY_KEY", key=KEY)
    (keyring / "kept-MY_KEY").unlink()
    environ, (told,) = await with_keys(tmp_path, {})
    assert environ == {}
    assert "MY_KEY" in told


@pytest.mark.parametrize("key", ["", "two words", "a\nb", "ключ", "x" * 5000])
async def test_what_is_no_key_is_not_kept(tmp_path, keyring, key):
    with pytest.raises(UsageError, match="no key"):
        await keep_key(tmp_path, "MY_KEY", key=key)
    assert not (tmp_path / "keyring.json").exists()


async def test_without_a_keyring_one_sentence_says_what_to_do(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(UsageError) as caught:
        await keep_key(tmp_path, "MY_KEY", key=KEY)
    assert "set MY_KEY instead" in caught.value.sentence()


async def test_a_keyring_that_refuses_is_told_without_the_key(tmp_path, keyring):
    (keyring / "secret-tool").write_text('#!/bin/sh\necho "no $(cat) for \033[31myou" >&2\nexit 1\n')
    with pytest.raises(UsageError) as caught:
        await keep_key(tmp_path, "MY_KEY", key=KEY)
    assert KEY not in caught.value.sentence()
    assert caught.value.sentence().isprintable()


def test_a_provider_has_its_variable_and_an_unknown_one_is_told(tmp_path):
    settings = Settings.model_validate(
        {"endpoints": {"a": {"url": "http://h", "key_env": "A"}, "b": {"url": "http://h"}}}
    )
    shelf = Shelf(tmp_path, settings)
    assert shelf.key_variable("openai") == "OPENAI_API_KEY"
    assert shelf.key_variable("local/a") == shelf.key_variable("a") == "A"
    with pytest.raises(UsageError, match=r"endpoints\.b names no key"):
        shelf.key_variable("b")
    with pytest.raises(UsageError, match="no provider"):
        shelf.key_variable("nobody")


async def test_a_kept_key_reaches_its_endpoint_alone_and_nothing_that_is_written(tmp_path, keyring):
    async with AsyncExitStack() as stack:
        mine, other = [await stack.enter_async_context(FakeProvider()) for _ in range(2)]
        given = {"endpoints": {"mine": {"url": mine.url, "key_env": "MINE_KEY"}, "other": {"url": other.url}}}
        home = tmp_path / "home"
        await Shelf(home, Settings.model_validate(given)).keep("mine", KEY)
        mine.answer(f"your key is {KEY}")
        mine.answer(status=401, body={"error": {"message": f"no {KEY}"}})
        other.answer("fine")
        async with opened(tmp_path, **given) as here:
            await here.thread.send("what is my key?")
            await here.thread.send("again")
            await here.thread.change(model="local/other")
            await here.thread.send("and you?")
            for form in ("md", "html", "json"):
                await run(f"/export {form}", thread=here.thread, wisp=here.wisp)
            report = explain(RuntimeError("broken"))
        assert mine.requests[0].headers["authorization"] == f"Bearer {KEY}"
        assert not any(KEY in str(request) for request in other.requests)
    written = [path for path in tmp_path.rglob("*") if path.is_file() and not path.is_relative_to(keyring)]
    assert len(written) > 5
    assert [path for path in written if KEY.encode() in path.read_bytes()] == []
    assert KEY not in report
