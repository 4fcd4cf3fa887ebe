"""Rules: what is none, what could never match, what names a program that runs another, and what rule is offered."""

import pytest

from wisp_core.errors import SettingsError
from wisp_core.permissions.decide import Proposed, decide, read_rules, rule_for
from wisp_core.records import Mode
from wisp_core.requests import ToolKind
from wisp_core.settings import Permissions


def rules(mode=Mode.ASK, *, grants=(), **lists):
    return read_rules(mode, Permissions(**lists), grants=grants)


def command(text):
    return Proposed("run_command", ToolKind.COMMAND, {"command": text}, "/srv/work")


def edit(path, **more):
    return Proposed("edit_file", ToolKind.WRITES, {"path": path}, "/srv/work", **{"path": f"/srv/work/{path}", **more})


@pytest.mark.parametrize("key", ["allow", "ask", "deny"])
@pytest.mark.parametrize(
    "text", ["run_command(a | b)", "run_command(a; b)", "run_command(a 'b)", "run_command(a\u200b)"]
)
def test_a_pattern_that_could_never_match_is_one_sentence_with_rule_and_key(key, text):
    with pytest.raises(SettingsError) as error:
        rules(**{key: [text]})
    assert f"`permissions.{key}`" in error.value.message
    assert "can never match" in error.value.message
    assert "\n" not in error.value.sentence()


@pytest.mark.parametrize(
    "text", ["run_command(sudo *)", "run_command(env A=1 x)", "run_command(cd x)", "run_command(gi* x)"]
)
def test_a_pattern_that_could_never_allow_is_told_where_it_would_and_holds_where_it_refuses(text):
    with pytest.raises(SettingsError, match="can never allow"):
        rules(allow=[text])
    assert rules(deny=[text], ask=[text]).deny[0].text == text
    assert decide(command("sudo x"), rules(deny=["run_command(sudo *)"])).verdict == "deny"


def test_a_grant_that_cannot_be_read_any_more_allows_nothing_and_breaks_nothing():
    assert rules(grants=["run_command(a | b)", "", "run_command(ls)"]).grants[0].pattern == "ls"


@pytest.mark.parametrize(
    ("rule", "text", "expected"),
    [
        ("git -C ../other *", "git -C ../other status", "allow"),
        ("git -C ../other *", "git -C ../third status", "ask"),
        ("git -C * status", "git -C ../other status", "ask"),
        ("git -c color.ui=false log", "git -c color.ui=false log", "allow"),
        ("find src -delete", "find src -delete", "allow"),
        ("find src *", "find src -delete", "ask"),
        ("find src -exec wc *", "find src -exec wc -l {} +", "ask"),
        ("find src -exec wc *", "find src -exec wc -exec evil", "ask"),
    ],
)
def test_a_rule_that_names_what_a_program_runs_allows_that_alone(rule, text, expected):
    assert decide(command(text), rules(allow=[f"run_command({rule})"])).verdict == expected


def test_what_is_guarded_is_asked_about_in_every_mode_that_edits_whatever_is_allowed():
    call = edit("AGENTS.md", guarded="it tells wisp what to do")
    for mode, expected in ((Mode.ASK, "ask"), (Mode.AUTO, "ask"), (Mode.PLAN, "deny")):
        found = decide(call, rules(mode, allow=["edit_file"], grants=["edit_file"]))
        assert found.verdict == expected
    assert decide(call, rules(deny=["edit_file(*.md)"])).verdict == "deny"
    assert rule_for(call, rules()) == ""


def test_what_is_protected_is_denied_in_every_mode_whatever_is_allowed():
    call = edit("x", protected="it is wisp's own")
    for mode in Mode:
        assert decide(call, rules(mode, allow=["edit_file"], grants=["edit_file"])).verdict == "deny"


def test_a_protected_word_softens_no_refusal():
    call = Proposed("run_command", ToolKind.COMMAND, {"command": "rm x"}, "/srv/work", protected="it names x")
    assert decide(call, rules(Mode.PLAN)).verdict == "deny"
    assert decide(call, rules(deny=["run_command(rm *)"])).verdict == "deny"
    assert decide(call, rules(allow=["run_command(rm *)"])).verdict == "ask"


def test_a_servers_tool_is_allowed_by_its_name():
    call = Proposed("server__tool", ToolKind.COMMAND, {"command": "a; b", "path": "x"}, "/srv/work")
    assert decide(call, rules()).verdict == "ask"
    assert rule_for(call, rules()) == "server__tool"
    assert decide(call, rules(allow=["server__tool"])).verdict == "allow"
    assert decide(call, rules(allow=["server__other", "run_command"])).verdict == "ask"
    assert decide(call, rules(deny=["server__tool"])).verdict == "deny"


@pytest.mark.parametrize(
    ("call", "lists"),
    [
        (command("git push"), {"ask": ["run_command(git push *)"]}),
        (command("echo " + "x" * 2000), {}),
        (command("echo '*'"), {}),
        (command("git status > x"), {}),
        (command("sudo git status"), {}),
        (edit("src/*.py"), {}),
        (edit("a b "), {}),
    ],
)
def test_no_rule_is_offered_where_none_would_allow_it(call, lists):
    assert rule_for(call, rules(**lists)) == ""
