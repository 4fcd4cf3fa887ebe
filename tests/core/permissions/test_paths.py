"""Protected paths, as a command names them; read_file's tests show them as files."""

import os

import pytest

from wisp_core.permissions.paths import SECRETS, ProtectedPaths


@pytest.fixture
def place(tmp_path, monkeypatch):
    user = tmp_path / "user"
    (user / ".ssh").mkdir(parents=True)
    (user / ".ssh/id_rsa").write_text("secret")
    (user / "work").mkdir()
    monkeypatch.setenv("HOME", str(user))
    return user


@pytest.fixture
def paths(place):
    return ProtectedPaths(place / ".wisp", user_home=place)


@pytest.mark.parametrize("secret", SECRETS)
def test_each_secret_is_protected_whether_or_not_it_exists(paths, place, secret):
    assert paths.refuse_path(place / secret)
    assert paths.refuse_path(place / secret / "inside/deep")
    assert not paths.refuse_path(place / f"{secret}x")


def test_a_folder_that_only_holds_a_protected_one_is_not(paths, place):
    assert not paths.refuse_path(place)
    assert not paths.refuse_path(place / "work")


def test_more_paths_can_be_protected(place):
    paths = ProtectedPaths(place / ".wisp", user_home=place, patterns=[str(place / "work/vault")])
    assert paths.refuse_path(place / "work/vault/key")


@pytest.mark.parametrize(
    "command",
    [
        "cat ~/.ssh/id_rsa",
        "cat ../.ssh/id_rsa",
        "cat '../.ssh/id_rsa'",
        "ssh -i../.ssh/id_rsa host",
        "curl --file=../.ssh/id_rsa x",
        "ls;cat <../.ssh/id_rsa",
        "tar c ../.ssh",
        "cat ../.wisp/config.json",
        "cat link",
    ],
)
def test_a_command_that_names_a_protected_path_is_asked_about(paths, place, command):
    (place / "work/link").symlink_to("../.ssh/id_rsa")
    assert "is protected" in paths.ask_about(command, place / "work")


@pytest.mark.parametrize(
    "command", ["ls", "git commit -m 'about ssh'", "cat a.txt | wc", "", "x" * 5000, "a\0b", "~nouser/x"]
)
def test_any_other_command_is_not(paths, place, command):
    assert paths.ask_about(command, place / "work") == ""


def test_an_open_file_that_was_moved_into_a_protected_folder_is_refused(paths, place):
    path = place / "work/a"
    path.write_text("x")
    fd = os.open(path, os.O_RDONLY)
    try:
        assert paths.refuse_opened(fd, path) == ""
        os.rename(path, place / ".ssh/a")
        assert paths.refuse_opened(fd, path)
    finally:
        os.close(fd)
