"""Protected paths: what is one however it is named or reached, what is not, and what is never edited without asking."""

import os
import pwd
from pathlib import Path

import pytest

from wisp_core.errors import SettingsError
from wisp_core.permissions.paths import INSTRUCTION_FILES, SECRETS, ProtectedPaths


@pytest.fixture
def place(tmp_path, monkeypatch):
    user = tmp_path / "user"
    for folder in (".ssh", "work/sub", ".wisp/skills"):
        (user / folder).mkdir(parents=True)
    (user / ".ssh/id_rsa").write_text("secret")
    (user / "work/a").write_text("x")
    monkeypatch.setenv("HOME", str(user))
    return user


@pytest.fixture
def paths(place):
    return ProtectedPaths(place / ".wisp", user_home=place)


def refused_open(paths, path, *, writing=False):
    fd = os.open(path, os.O_RDONLY)
    try:
        return paths.refuse_opened(fd, path, writing=writing)
    finally:
        os.close(fd)


@pytest.mark.parametrize("secret", SECRETS)
def test_each_secret_is_protected_whether_or_not_it_exists(paths, place, secret):
    for writing in (False, True):
        assert paths.refuse_path(place / secret, writing=writing)
        assert paths.refuse_path(place / secret / "inside/deep", writing=writing)
    assert not paths.refuse_path(place / f"{secret}x")


def test_the_accounts_own_home_is_protected_too_where_home_names_another(place):
    paths, account = ProtectedPaths(place / ".wisp"), Path(pwd.getpwuid(os.getuid()).pw_dir)
    assert account != Path.home()
    for home in (Path.home(), account):
        assert paths.refuse_path(home / ".ssh/id_rsa")
    assert paths.ask_about(f"cat ~{pwd.getpwuid(os.getuid()).pw_name}/.ssh/id_rsa", place / "work")


def test_a_folder_that_only_holds_a_protected_one_is_not(paths, place):
    assert not paths.refuse_path(place)
    assert not paths.refuse_path(place / "work")


@pytest.mark.parametrize(
    "name",
    [
        "{user}/work/../.ssh/id_rsa",
        "{user}/work/sub/../../.ssh/id_rsa",
        "{user}/./.ssh//id_rsa",
        "{user}/.ssh/",
        "{user}/.ssh/.",
        "{user}/.ssh/x/../id_rsa",
        "{user}/work/not-there/../../.ssh/id_rsa",
        "{user}/.SSH/id_rsa",
        "{user}/.Ssh/ID_RSA",
        "//{user}/.ssh/id_rsa",
        "/proc/self/root{user}/.ssh/id_rsa",
        "/proc/{pid}/root{user}/.ssh/id_rsa",
        "/proc/self/cwd/../.ssh/id_rsa",
        "/proc/thread-self/cwd/../.ssh/id_rsa",
    ],
)
def test_a_protected_file_is_protected_by_any_name(paths, place, name, monkeypatch):
    monkeypatch.chdir(place / "work")
    assert paths.refuse_path(Path(name.format(user=place, pid=os.getpid())))


def test_a_protected_file_is_protected_through_links(paths, place, tmp_path):
    work = place / "work"
    (work / "file").symlink_to("../.ssh/id_rsa")
    (work / "folder").symlink_to("../.ssh")
    (work / "far").symlink_to("folder")
    (tmp_path / "other-home").symlink_to(place)
    (work / "dangling").symlink_to("../.aws/new")
    (work / "absolute").symlink_to(place / ".gnupg")
    names = ("file", "folder/id_rsa", "far/id_rsa", "dangling", "absolute/x", "folder/../.ssh/id_rsa")
    for path in [*(work / name for name in names), tmp_path / "other-home/.ssh/id_rsa", tmp_path / "other-home/.netrc"]:
        assert paths.refuse_path(path), path
        assert paths.refuse_path(path, writing=True), path


def test_links_that_lead_in_circles_are_no_way_in_and_no_failure(paths, place):
    (place / "work/one").symlink_to("two")
    (place / "work/two").symlink_to("one")
    assert paths.refuse_path(place / "work/one") == ""


def test_the_home_is_protected_where_its_own_name_is_a_link(tmp_path):
    real = tmp_path / "real"
    (real / ".ssh").mkdir(parents=True)
    home = tmp_path / "home"
    home.symlink_to(real)
    paths = ProtectedPaths(home / ".wisp", user_home=home)
    for folder in (home, real):
        assert paths.refuse_path(folder / ".ssh/id")
        assert paths.refuse_path(folder / ".wisp/config.json")


def test_an_open_file_of_another_process_is_judged_by_where_it_is(paths, place):
    fd = os.open(place / ".ssh/id_rsa", os.O_RDONLY)
    try:
        assert paths.refuse_path(Path(f"/proc/self/fd/{fd}"))
        assert paths.refuse_path(Path(f"/proc/{os.getpid()}/fd/{fd}"))
        assert paths.refuse_path(Path(f"/dev/fd/{fd}"))
    finally:
        os.close(fd)


def test_a_file_that_is_swapped_for_a_link_after_the_check_is_refused_when_it_is_open(paths, place):
    path = place / "work/a"
    assert paths.refuse_path(path) == ""
    path.unlink()
    path.symlink_to("../.ssh/id_rsa")
    assert refused_open(paths, path)


def test_a_folder_that_is_swapped_for_a_link_after_the_check_is_refused_when_the_file_is_open(paths, place):
    path = place / "work/sub/id_rsa"
    path.write_text("x")
    assert paths.refuse_path(path) == ""
    path.unlink()
    (place / "work/sub").rmdir()
    (place / "work/sub").symlink_to("../.ssh")
    assert refused_open(paths, path)


def test_a_link_that_is_swapped_back_after_the_opening_hides_nothing(paths, place):
    path = place / "work/b"
    path.symlink_to("../.ssh/id_rsa")
    fd = os.open(path, os.O_RDONLY)
    try:
        path.unlink()
        path.write_text("harmless")
        assert paths.refuse_opened(fd, path)
    finally:
        os.close(fd)


def test_a_hard_link_to_a_protected_file_is_that_file(paths, place):
    path = place / "work/b"
    os.link(place / ".ssh/id_rsa", path)
    assert paths.refuse_path(path) == ""
    assert refused_open(paths, path)
    os.link(place / "work/a", place / "work/c")
    assert refused_open(paths, place / "work/c") == ""


def test_an_open_file_that_was_moved_into_a_protected_folder_is_refused(paths, place):
    path = place / "work/a"
    fd = os.open(path, os.O_RDONLY)
    try:
        assert paths.refuse_opened(fd, path) == ""
        os.rename(path, place / ".ssh/a")
        assert paths.refuse_opened(fd, path)
    finally:
        os.close(fd)


@pytest.mark.parametrize("name", ["a\0b", "\udcff", "x" * 5000, "a/" * 50_000])
def test_what_is_no_path_is_refused_in_a_sentence(paths, place, name):
    assert "is n" in paths.refuse_path(Path(f"{place}/{name}"))
    assert paths.ask_before_edit(Path(f"{place}/{name}")) == ""


def test_skills_are_read_but_never_written_and_lead_nowhere_else(paths, place):
    home = place / ".wisp"
    (home / "skills/a").write_text("x")
    (home / "skills/settings").symlink_to("../config.json")
    (home / "skills/keys").symlink_to("../../.ssh")
    assert paths.refuse_path(home / "skills/a") == ""
    assert refused_open(paths, home / "skills/a") == ""
    assert refused_open(paths, home / "skills/a", writing=True)
    assert paths.refuse_path(home / "skills/a", writing=True)
    assert paths.refuse_path(home / "skills/new/SKILL.md", writing=True)
    for path in ("config.json", "wisp.db", "skills/../config.json", "skills/settings", "skills/keys/id_rsa", "skillsx"):
        assert paths.refuse_path(home / path), path


def test_skills_that_are_a_link_to_secrets_open_nothing(place):
    home = place / "other"
    home.mkdir()
    (home / "skills").symlink_to("../.ssh")
    paths = ProtectedPaths(home, user_home=place)
    assert paths.refuse_path(home / "skills/id_rsa")


@pytest.mark.parametrize(
    ("pattern", "name", "protected"),
    [
        ("*.pem", "work/server.pem", True),
        ("*.pem", "work/deep/er/Server.PEM", True),
        ("*.pem", "work/server.pem/inside", True),
        ("*.pem", "work/server.pem.txt", False),
        (".env", "work/.env", True),
        (".env", "work/.envrc", False),
        (".env*", "work/.envrc", True),
        ("vault/**", "work/vault", True),
        ("vault/**", "work/vault/a/b", True),
        ("vault/**", "work/vaults/a", False),
        ("vault/", "work/vault/a", True),
        ("keys/?.txt", "work/keys/a.txt", True),
        ("keys/?.txt", "work/keys/ab.txt", False),
        ("~/diary", "diary/today", True),
        ("~/diary", "work/diary", False),
        ("~/d*/x", "diary/x", True),
    ],
)
def test_more_is_protected_by_patterns(place, pattern, name, protected):
    paths = ProtectedPaths(place / ".wisp", user_home=place, patterns=[pattern])
    assert bool(paths.refuse_path(place / name)) is protected
    assert bool(paths.refuse_path(place / name, writing=True)) is protected


def test_what_a_pattern_protects_is_so_by_any_name(place):
    work = place / "work"
    paths = ProtectedPaths(place / ".wisp", user_home=place, patterns=["*.pem", str(place / "exact")], cwd=work)
    (work / "sub/server.pem").write_text("x")
    (work / "link").symlink_to("sub/server.pem")
    os.link(work / "sub/server.pem", work / "hard")
    (place / "exact").write_text("x")
    os.link(place / "exact", work / "hard-exact")
    assert paths.refuse_path(work / "link")
    assert refused_open(paths, work / "hard")
    assert refused_open(paths, work / "hard-exact")
    assert refused_open(paths, work / "a") == ""


@pytest.mark.parametrize("pattern", ["", "  ", "/", "a\0b", "x" * 5000])
def test_a_bad_pattern_is_one_sentence_with_its_key(place, pattern):
    with pytest.raises(SettingsError) as error:
        ProtectedPaths(place / ".wisp", user_home=place, patterns=[pattern])
    assert "`protectedPaths`" in error.value.message
    assert "\n" not in error.value.sentence()
    assert "*.pem" in error.value.hint


@pytest.mark.parametrize(
    "name",
    [
        *INSTRUCTION_FILES,
        *("agents.md", "sub/AGENTS.md", "sub/../CLAUDE.md", ".wisp/config.json", ".wisp", ".WISP/x"),
        *(".git/config", ".git/hooks/pre-commit", "sub/.git", ".claude/skills/a/SKILL.md"),
    ],
)
def test_what_tells_wisp_what_to_do_is_never_edited_without_asking(paths, place, name):
    assert "always asked about" in paths.ask_before_edit(place / "work" / name)
    assert paths.refuse_path(place / "work" / name) == ""


def test_an_instruction_file_is_one_by_any_name(paths, place):
    work = place / "work"
    (work / "AGENTS.md").write_text("x")
    (work / "link").symlink_to("AGENTS.md")
    os.link(work / "AGENTS.md", work / "sub/hard")
    (work / "dangling").symlink_to("sub/CLAUDE.md")
    for name in ("link", "sub/hard", "dangling"):
        assert paths.ask_before_edit(work / name), name


@pytest.mark.parametrize("name", ["README.md", "src/a.py", ".gitignore", "MY_AGENTS.md", "wisp/x", "a"])
def test_any_other_file_may_be_edited(paths, place, name):
    assert paths.ask_before_edit(place / "work" / name) == ""


@pytest.mark.parametrize(
    "command",
    ["ls", "git commit -m 'about ssh'", "cat a | wc", "", "x" * 5000, "a\0b", "~nouser/x", "$x", "*", "\udcff"],
)
def test_a_command_that_names_nothing_protected_is_not_asked_about_for_it(paths, place, command):
    assert paths.ask_about(command, place / "work") == ""


def test_a_command_of_too_many_words_is_asked_about(paths, place):
    assert "too many words" in paths.ask_about(" ".join(f"a{i}" for i in range(3000)), place / "work")
