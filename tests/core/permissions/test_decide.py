"""What is done with a call: allowed, asked about, denied, and by which rule."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wisp_core.errors import SettingsError
from wisp_core.permissions.decide import Proposed, decide, read_rules, rule_for
from wisp_core.permissions.patterns import matches_path
from wisp_core.permissions.plain import plain_words
from wisp_core.records import Mode
from wisp_core.requests import ToolKind
from wisp_core.settings import Permissions

NO_RULES = read_rules(Mode.ASK, Permissions())


def verdict(call, *, mode=Mode.ASK, allow=(), ask=(), deny=(), grants=()):
    rules = read_rules(mode, Permissions(allow=list(allow), ask=list(ask), deny=list(deny)), grants=grants)
    return decide(call, rules).verdict


def command(text, **more):
    return Proposed("run_command", ToolKind.COMMAND, {"command": text}, "/srv/work", **more)


def reading(name, **more):
    return Proposed("read_file", ToolKind.READS, {"path": name}, "/srv/work", **more)


def writing(name, **more):
    return Proposed("edit_file", ToolKind.WRITES, {"path": name}, "/srv/work", **{"path": f"/srv/work/{name}", **more})


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        (ToolKind.READS, "allow"),
        (ToolKind.SHOWS, "allow"),
        (ToolKind.ASKS, "allow"),
        (ToolKind.WRITES, "ask"),
        (ToolKind.COMMAND, "ask"),
    ],
)
def test_without_a_rule_the_kind_decides(kind, expected):
    assert verdict(Proposed("any", kind, {}, "/")) == expected


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        (ToolKind.READS, "allow"),
        (ToolKind.SHOWS, "allow"),
        (ToolKind.ASKS, "allow"),
        (ToolKind.WRITES, "deny"),
        (ToolKind.COMMAND, "deny"),
    ],
)
def test_mode_plan_refuses_whatever_the_rules_allow(kind, expected):
    call = Proposed("tool", kind, {}, "/")
    assert verdict(call, mode=Mode.PLAN, allow=["tool"], grants=["tool"]) == expected


def test_mode_auto_allows_edits_under_the_working_directory_and_no_more():
    assert verdict(writing("a.py"), mode=Mode.AUTO) == "allow"
    assert verdict(writing("a.py"), mode=Mode.ASK) == "ask"
    assert verdict(writing("link", path="/etc/passwd"), mode=Mode.AUTO) == "ask"
    assert verdict(writing("x", path="/srv/work2/x"), mode=Mode.AUTO) == "ask"
    assert verdict(writing("x", path="/srv/work/../x"), mode=Mode.AUTO) == "ask"
    assert verdict(writing("x", path=""), mode=Mode.AUTO) == "ask"
    assert verdict(command("ls"), mode=Mode.AUTO) == "ask"


def test_deny_beats_ask_beats_allow_beats_the_default():
    rule = "run_command(git status)"
    call = command("git status")
    assert verdict(call, allow=[rule]) == "allow"
    assert verdict(call, allow=[rule], ask=[rule]) == "ask"
    assert verdict(call, allow=[rule], ask=[rule], deny=[rule]) == "deny"
    assert verdict(call, grants=[rule]) == "allow"
    assert verdict(call, grants=[rule], ask=[rule]) == "ask"
    assert verdict(reading("a"), ask=["read_file"]) == "ask"
    assert verdict(reading("a"), deny=["read_file"]) == "deny"


def test_the_decision_names_the_rule_and_why():
    rules = read_rules(Mode.ASK, Permissions(deny=["run_command(rm *)"]))
    decision = decide(command("rm -rf x"), rules)
    assert decision.rule == "run_command(rm *)"
    assert "denies" in decision.why


def test_a_protected_path_beats_every_rule():
    call = reading("/home/u/.ssh/id", protected="it is protected")
    assert verdict(call, allow=["read_file"], grants=["read_file"]) == "deny"
    assert verdict(command("cat id", protected="it names id"), allow=["run_command"]) == "ask"


@pytest.mark.parametrize(
    ("pattern", "text", "expected"),
    [
        ("git status", "git status", True),
        ("git status", "  git   status ", True),
        ("git status", "git status -s", False),
        ("git status", "git", False),
        ("git", "git status", False),
        ("pytest *", "pytest -x tests/a.py::test", True),
        ("pytest *", "pytest", True),
        ("pytest *", "pytest2 -x", False),
        ("npm run test*", "npm run test:unit", True),
        ("npm run test*", "npm run test:unit --all", False),
        ("npm run test* *", "npm run test:unit --all", True),
        ("git * --stat", "git log --stat", True),
        ("git * --stat", "git log -p --stat", False),
        ("git commit -m *", "git commit -m 'a message; with (signs) & more'", True),
        ('git commit -m "a b"', "git commit -m 'a b'", True),
        ("*", "ls -l", True),
        ("ls", "/tmp/evil/ls", False),
        ("/bin/ls", "/bin/ls", True),
    ],
)
def test_a_pattern_matches_one_plain_command_word_by_word(pattern, text, expected):
    assert (verdict(command(text), allow=[f"run_command({pattern})"]) == "allow") is expected


@pytest.mark.parametrize(
    "text",
    [
        "pytest | sh",
        "pytest > /etc/passwd",
        "pytest < /etc/passwd",
        "pytest $(rm x)",
        "pytest `rm x`",
        'pytest "$(rm x)"',
        'pytest "`rm x`"',
        "pytest ${IFS}x",
        "pytest $HOME",
        "pytest\rrm x",
        "pytest\x0brm x",
        "pytest \\\nrm x",
        "pytest 'a\nrm x'",
        'pytest "a\\"; rm x; "',
        "pytest 'a' 'b",
        "pytest a'b'c",
        "pytest 'a''b'",
        "p'y'test",
        "pytest *.py",
        "pytest tests/?",
        "pytest [a-z]",
        "pytest {a,b}",
        "pytest ~/x",
        "pytest #x",
        "pytest !x",
        "(pytest)",
        "{ pytest; }",
        "! pytest",
        "A=1 pytest",
        "PATH=/tmp/evil pytest",
        "cd /tmp",
        "sudo pytest",
        "/usr/bin/sudo pytest",
        "env pytest",
        "env -i pytest",
        "xargs pytest",
        "sh -c pytest",
        "bash -c 'pytest'",
        "'sudo' pytest",
        "nohup pytest",
        "time pytest",
        "timeout 5 pytest",
        "exec pytest",
        "eval pytest",
        "command pytest",
        ". ./x",
        "source x",
        "if pytest",
        "pytest \u202e x",
        "pytest\u00a0x",
        "pytest \u200bx",
        "pytest \x1b[2K",
        "",
        "   ",
        "''",
    ],
)
def test_what_is_not_one_plain_command_always_asks(text):
    everything = ["run_command", "run_command(*)", "run_command(pytest *)", f"run_command({text})"]
    for rule in everything:
        try:
            assert verdict(command(text), allow=[rule], grants=[rule]) == "ask"
        except SettingsError:
            continue
    assert rule_for(command(text), NO_RULES) == ""


@pytest.mark.parametrize(
    "text",
    [
        "pytest; rm -rf x",
        "pytest;rm",
        "pytest & rm x",
        "pytest && rm x",
        "pytest || rm x",
        "pytest\nrm x",
        "pytest 'a'; rm 'b'",
    ],
)
def test_of_several_commands_each_must_be_allowed_and_one_rule_cannot_be_offered_for_all(text):
    assert verdict(command(text), allow=["run_command(pytest *)"]) == "ask"
    assert verdict(command(text), allow=["run_command(rm *)"]) == "ask"
    assert verdict(command(text), allow=["run_command(pytest *)", "run_command(rm *)"]) == "allow"
    assert verdict(command(text), allow=["run_command(pytest *)"], grants=["run_command(rm *)"]) == "allow"
    assert verdict(command(text), allow=["run_command"]) == "allow"
    assert rule_for(command(text), NO_RULES) == ""


@pytest.mark.parametrize(
    "text", ["ls; rm -rf x", "sudo rm x", "A=1 rm x", "env -i rm x", "rm -rf ~/x", "(rm x)", "ls | 'rm' x"]
)
def test_what_is_denied_is_denied_inside_of_more_where_it_can_be_seen(text):
    assert verdict(command(text), deny=["run_command(rm *)"]) == "deny"
    assert verdict(command(text), ask=["run_command(rm *)"]) == "ask"
    assert verdict(command(text), deny=["run_command"]) == "deny"


def test_a_quoted_name_is_the_same_command():
    assert verdict(command("'rm' x"), deny=["run_command(rm *)"]) == "deny"


@pytest.mark.parametrize(
    ("call", "rule"),
    [
        (command("git status"), "run_command(git status)"),
        (command(" git commit -m 'x y' "), "run_command(git commit -m 'x y')"),
        (reading("a/b"), "read_file"),
        (writing("src/a.py"), "edit_file(/srv/work/src/a.py)"),
        (writing("src/*.py", path="/srv/work/src/*.py"), ""),
    ],
)
def test_the_narrowest_rule_allows_that_call_again(call, rule):
    assert rule_for(call, NO_RULES) == rule
    if rule:
        assert verdict(call, grants=[rule]) == "allow"
    assert verdict(command("git push"), grants=["run_command(git status)"]) == "ask"


@given(st.text(alphabet="abc '\";|&$`()<>\\\n*~={}!#\t-./", max_size=30))
def test_a_grant_never_reaches_further_than_the_command_it_was_made_for(text):
    rule = rule_for(command(text), NO_RULES)
    if not rule:
        return
    assert verdict(command(text), grants=[rule]) == "allow"
    for more in (f"{text}; x", f"{text} x", f"x; {text}", f"{text}\nx", f"$({text})"):
        assert verdict(command(more), grants=[rule]) == "ask"


@given(st.text(max_size=60))
def test_any_text_of_a_model_is_decided(text):
    assert verdict(command(text), allow=["run_command(ls *)"], deny=["run_command(rm *)"]) in ("allow", "ask", "deny")
    words = plain_words(text)
    assert words is None or all(words)


@pytest.mark.parametrize(
    ("pattern", "path", "expected"),
    [
        ("src/**", "src/a/b.py", True),
        ("src/**", "src", True),
        ("src/**", "src2/a", False),
        ("src/**", "src/../secret", False),
        ("./src/**", "/srv/work/src/a", True),
        ("src/*.py", "src/a.py", True),
        ("src/*.py", "src/a/b.py", False),
        ("**/*.py", "src/a/b.py", True),
        ("**/*.py", "b.py", True),
        ("a?.md", "ab.md", True),
        ("/etc/**", "/etc/passwd", True),
        ("/etc/**", "../../etc/passwd", True),
    ],
)
def test_a_path_pattern_is_about_the_path_that_is_meant(pattern, path, expected):
    assert matches_path(pattern, path, cwd="/srv/work") is expected


def test_a_link_must_be_allowed_in_both_places_and_is_denied_in_either():
    link = reading("src/link", path="/etc/passwd")
    assert verdict(link, allow=["read_file(src/**)"], ask=["read_file(**)"]) == "ask"
    assert verdict(link, deny=["read_file(/etc/**)"]) == "deny"
    assert verdict(link, deny=["read_file(src/**)"]) == "deny"
    edit = writing("src/link", path="/etc/passwd")
    assert verdict(edit, allow=["edit_file(src/**)"]) == "ask"


@pytest.mark.parametrize(
    "text", ["", "run_command(", "run command", "(x)", "run_command()", "run_command( )", "a" * 65, "x)"]
)
def test_a_bad_rule_is_one_sentence_with_its_key(text):
    with pytest.raises(SettingsError) as error:
        read_rules(Mode.ASK, Permissions(allow=[text]))
    assert "`permissions.allow`" in error.value.message
    assert "is no rule" in error.value.message
    assert "run_command(git status)" in error.value.hint
