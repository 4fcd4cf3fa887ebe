"""The table of commands: each gets the decision that it must get."""

import os

import pytest

from tests.core.permissions.commands import ALLOW, ASK, DENY, TABLE
from tests.core.permissions.commands_seen_through import PROTECTED
from wisp_core.permissions.decide import Proposed, decide, read_rules, rule_for
from wisp_core.permissions.paths import ProtectedPaths
from wisp_core.records import Mode
from wisp_core.requests import ToolKind
from wisp_core.settings import Permissions

RULES = read_rules(Mode.ASK, Permissions(allow=ALLOW, ask=ASK, deny=DENY))
AUTO = read_rules(Mode.AUTO, Permissions(allow=ALLOW, ask=ASK, deny=DENY))
PLAN = read_rules(Mode.PLAN, Permissions(allow=[*ALLOW, "run_command"]), grants=["run_command"])
EVERYTHING = read_rules(Mode.AUTO, Permissions(allow=["run_command"]), grants=["run_command"])


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    home = tmp_path_factory.mktemp("home")
    for folder in (".ssh", ".aws", ".wisp/skills/a", "work/project/.wisp", "work/project/sub"):
        (home / folder).mkdir(parents=True)
    for file in (".ssh/id_rsa", ".aws/credentials", ".netrc", ".wisp/config.json", ".wisp/skills/a/SKILL.md"):
        (home / file).write_text("x")
    (home / "work/project/link").symlink_to("../../.ssh/id_rsa")
    (home / "work/project/folder").symlink_to("../../.ssh")
    return home


@pytest.fixture(scope="module")
def proposed(home):
    cwd = home / "work/project"
    paths = ProtectedPaths(home / ".wisp", user_home=home, patterns=["*.pem", "vault/**"], cwd=cwd)

    def propose(command):
        command = command.replace("@HOME@", str(home))
        return Proposed(
            "run_command",
            ToolKind.COMMAND,
            {"command": command},
            str(cwd),
            protected=paths.ask_about(command, cwd),
        )

    return propose


@pytest.mark.parametrize(("command", "decision", "why"), TABLE)
def test_a_command_gets_its_decision(proposed, command, decision, why):
    call = proposed(command)
    assert decide(call, RULES).verdict == decision, why
    assert decide(call, AUTO).verdict == decision, "mode auto runs allowed commands and no more"
    assert decide(call, PLAN).verdict == "deny", "mode plan runs none, whatever is allowed or granted"
    rule = rule_for(call, RULES)
    if rule:
        granted = read_rules(Mode.ASK, Permissions(ask=ASK, deny=DENY), grants=[rule])
        assert decide(call, granted).verdict == "allow", "the rule that is offered allows it"


@pytest.mark.parametrize("command", [command for command, decision, _ in PROTECTED if decision == "ask"])
def test_a_command_that_names_what_is_protected_says_so_and_no_rule_is_offered(proposed, command):
    call = proposed(command)
    assert call.protected
    assert decide(call, EVERYTHING).verdict == "ask"
    assert decide(call, EVERYTHING).why == call.protected
    assert rule_for(call, RULES) == ""


def test_the_table_is_large_and_says_nothing_twice():
    commands = [command for command, _, _ in TABLE]
    assert len(commands) >= 150
    assert len(set(commands)) == len(commands)
    assert all(why for _, _, why in TABLE)


@pytest.mark.parametrize("command", ["find", "rg x", "grep -r x", "ls -R", "tar cf x.tar .", "git add ."])
def test_in_a_folder_that_holds_a_protected_one_what_goes_over_it_is_asked_about(home, command):
    paths = ProtectedPaths(home / ".wisp", user_home=home)
    assert "goes" in paths.ask_about(command, home) or "go over" in paths.ask_about(command, home)
    assert paths.ask_about(command, home / "work/project") == ""


def test_the_home_by_another_name_is_the_home(home, tmp_path):
    other = tmp_path / "other"
    other.symlink_to(home)
    paths = ProtectedPaths(home / ".wisp", user_home=home)
    for command in (f"cat {other}/.ssh/id_rsa", f"cp -r {other} x", f"cat {other}/work/../.netrc"):
        assert paths.ask_about(command, home / "work/project")
    assert paths.ask_about(f"cat {os.path.relpath(other, home)}/.netrc", home)
