"""What holds for any command: no rule reaches another command, nothing raises, nothing takes long."""

import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from tests.architecture.source import ROOT
from wisp_core.permissions.decide import Proposed, decide, read_rules, rule_for
from wisp_core.permissions.grammar import every_command, seen_commands
from wisp_core.permissions.paths import ProtectedPaths
from wisp_core.permissions.plain import plain_commands, plain_words
from wisp_core.records import Mode
from wisp_core.requests import ToolKind
from wisp_core.settings import Permissions

GIT = read_rules(Mode.AUTO, Permissions(allow=["run_command(git *)"], deny=["run_command(evil *)"]))
SECONDS = 5.0  # of this process, for what takes milliseconds
MANY = 100_000  # characters

# Each runs `evil x` somewhere, seen or not.
HIDING = [
    "{}; evil x",
    "evil x; {}",
    "{} && evil x",
    "{} || evil x",
    "{} | evil x",
    "{} & evil x",
    "{}\nevil x",
    "{}\n\n  evil x\n",
    "{} $(evil x)",
    "{} `evil x`",
    '{} "$(evil x)"',
    "{} <(evil x)",
    "{} >(evil x)",
    "({}; evil x)",
    "{{ {}; evil x; }}",
    "if {}; then evil x; fi",
    "for a in b; do {}; evil x; done",
    "while {}; do evil x; done",
    "case a in a) {}; evil x;; esac",
    "f() {{ evil x; }}; {}",
    "{} <<EOF\n$(evil x)\nEOF",
    "{} > out; evil x",
    "{} 2>&1; evil x",
    "{} \\\n; evil x",
    "! {}; evil x",
    "A=1 evil x; {}",
    "sudo evil x && {}",
    "{} | xargs evil",
    "{}; sh -c 'evil x'",
    "{}; eval 'evil x'",
    "time {}; nohup evil x",
    "{}; e'v'il x",
    "{}; \\evil x",
    "{}; $'\\x65vil' x",
    "{} && cd sub && evil x",
    "find . -exec evil x ';' ; {}",
]
git = st.builds(
    lambda words: " ".join(["git", "status", *words]),
    st.lists(
        st.sampled_from(["status", "log", "-5", "--oneline", "a/b.py", "'a b'", '"c;d"', "--", "x=y", "a:b", "@"]),
        min_size=1,
        max_size=4,
    ),
)
pieces = st.lists(
    st.sampled_from(
        [
            *("git status", "git log", "git", "evil", " ", "  ", "\t", "\n", ";", "&", "|", "&&", "||", "'", '"', "\\"),
            *("$", "`", "(", ")", "{", "}", "<", ">", "2>&1", ">/dev/null", "#", "!", "~", "*", "=", "-", "A=1", "$("),
            *("${", "x"),
        ]
    ),
    max_size=12,
).map("".join)


def command(text):
    return Proposed("run_command", ToolKind.COMMAND, {"command": text}, "/srv/work")


@pytest.mark.parametrize("hiding", HIDING)
@given(git)
@settings(max_examples=5)
def test_no_rule_permits_a_command_that_holds_another(hiding, allowed):
    assert decide(command(allowed), GIT).verdict == "allow"
    decision = decide(command(hiding.format(allowed)), GIT)
    assert decision.verdict == "deny"


@given(pieces)
@example("git status && git log")
@example("git status;\ngit log 2>&1 | git status &")
@settings(max_examples=300)
def test_what_is_allowed_is_made_of_allowed_commands_alone(text):
    if decide(command(text), GIT).verdict == "allow":
        assert all(words[0] == "git" for words in every_command(text))
        assert "evil" not in [word for words in seen_commands(text) for word in words[:1]]


@pytest.mark.parametrize("shell", [name for name in ("bash", "dash", "zsh", "ksh") if shutil.which(name)])
@given(texts=st.lists(st.one_of(pieces, git), min_size=10, max_size=20))
@settings(max_examples=8, suppress_health_check=list(HealthCheck))
def test_a_real_shell_runs_nothing_but_what_was_allowed(shell, texts, tmp_path_factory):
    """Every program that the shell can find writes its name down; only the allowed one may."""
    allowed = [text for text in texts if decide(command(text), GIT).verdict == "allow"]
    place = tmp_path_factory.mktemp("shell")
    programs, work = place / "programs", place / "work"
    programs.mkdir()
    work.mkdir()
    for name in ("git", "evil", "x", "gitx", "status", "log"):
        program = programs / name
        program.write_text(f"#!/bin/sh\necho {name} >>{place}/ran\n")
        program.chmod(0o755)
    for text in allowed:
        subprocess.run(
            [shutil.which(shell), "-c", text],
            cwd=work,
            env={"PATH": str(programs)},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=False,
            timeout=20,
        )
    ran = (place / "ran").read_text().split() if (place / "ran").exists() else []
    assert set(ran) <= {"git"}
    assert list(work.iterdir()) == []


@given(st.text(max_size=80))
@example("\ud800")
@example("a\0b")
def test_any_text_is_decided_and_named(text):
    call = command(text)
    assert decide(call, GIT).verdict in ("allow", "ask", "deny")
    assert rule_for(call, GIT) in ("", f"run_command({text.strip()})")
    assert isinstance(ProtectedPaths(Path("/nowhere")).ask_about(text, Path("/")), str)
    words = plain_words(text)
    assert words is None or plain_commands(text) == [words]


LARGE = {
    "letters": "a" * MANY,
    "words": "a b " * (MANY // 4),
    "commands": "git x; " * (MANY // 7),
    "pipes": "git x|" * (MANY // 6) + "git",
    "lists": "git x && " * (MANY // 9) + "git",
    "lines": "git x\n" * (MANY // 6),
    "blanks": "git " + " " * MANY,
    "blanks, then none": "git " + " " * MANY + ";",
    "subshells": "(" * MANY,
    "closed subshells": "(" * (MANY // 2) + ")" * (MANY // 2),
    "substitutions": "$(" * (MANY // 2),
    "substitutions in quotes": '"$(' * (MANY // 3),
    "backticks": "`" * MANY,
    "groups": "{ " * (MANY // 2),
    "braces": "{a," * (MANY // 3),
    "variables": "${" * (MANY // 2),
    "quotes": "'" * MANY,
    "double quotes": '"' * MANY,
    "heredocs": "<<E " * (MANY // 4),
    "conditions": "if " * (MANY // 3),
    "wrappers": "sudo " * (MANY // 5),
    "evaluations": "eval '" * (MANY // 6),
    "escapes": "\\" * MANY,
    "NUL": "\0" * MANY,
    "what is slow to recover from": "`<{" * (MANY // 3),
    "paths": "a/" * (MANY // 2),
    "parents": "../" * (MANY // 3),
    "globs": "*a" * (MANY // 2),
    "classes": "[a" * (MANY // 2),
    "stars": "git " + "*" * MANY,
    "tildes": "~" * MANY,
    "percent": "%41" * (MANY // 3),
    "assignments": "A=" * (MANY // 2),
}


@pytest.mark.parametrize("kind", LARGE)
@pytest.mark.parametrize("size", [MANY, 1999])
def test_a_large_or_deep_command_is_decided_in_bounded_time(kind, size):
    text = LARGE[kind][:size]
    paths = ProtectedPaths(Path("/nowhere/.wisp"), patterns=["*.pem", "**/a/**/b"])
    began = time.process_time()
    protected = paths.ask_about(text, Path("/srv/work"))
    decision = decide(command(text), GIT)
    rule_for(command(text), GIT)
    assert time.process_time() - began < SECONDS
    assert isinstance(protected, str)
    assert decision.verdict in ("allow", "ask")


def test_a_large_command_that_is_denied_is_denied():
    assert decide(command("git x; " * 5000 + "evil x"), GIT).verdict == "deny"
    assert decide(command("sudo " * 50 + "evil x"), GIT).verdict == "deny"


def test_a_rule_of_many_stars_is_matched_in_one_pass():
    rules = read_rules(Mode.ASK, Permissions(allow=["run_command(git " + "*a" * 200 + ")"]))
    began = time.process_time()
    assert decide(command("git " + "a" * 15_000 + "b"), rules).verdict == "ask"
    assert decide(command("git " + "xa" * 7000), rules).verdict == "allow"
    assert time.process_time() - began < SECONDS


def test_the_grammar_is_not_on_the_way_to_the_first_input():
    script = "import sys, wisp_core.wisp; print([name for name in sys.modules if name.startswith('tree_sitter')])"
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=True, timeout=60
    )
    assert done.stdout.strip() == "[]"
