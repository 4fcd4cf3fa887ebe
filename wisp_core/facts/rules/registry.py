"""Every rule, by what it reads: a command's run, or a call of one of wisp's own tools. Pure."""

from collections.abc import Callable
from typing import TypeAlias

from wisp_core.facts.rules import builds, installs, tests
from wisp_core.facts.rules.ask import ask
from wisp_core.facts.rules.calls import Called
from wisp_core.facts.rules.files import edit_file, read_file
from wisp_core.facts.rules.found import Found
from wisp_core.facts.rules.git import git
from wisp_core.facts.rules.machine import system_info
from wisp_core.facts.rules.run import Run
from wisp_core.facts.rules.versions import version

CommandRule: TypeAlias = Callable[[Run], list[Found]]
ToolRule: TypeAlias = Callable[[Called], list[Found]]

COMMAND_RULES: tuple[CommandRule, ...] = (
    version,
    tests.pytest,
    tests.unittest,
    tests.tox,
    tests.cargo_test,
    tests.go_test,
    tests.jest,
    tests.vitest,
    tests.ctest,
    tests.swift_test,
    tests.npm_test,
    tests.make_test,
    builds.ruff,
    builds.mypy,
    builds.eslint,
    builds.cargo,
    builds.make,
    builds.npm_run,
    builds.docker,
    git,
    installs.pip,
    installs.npm,
    installs.cargo,
)
"""Tried in this order; the first that finds something settles the run."""

TOOL_RULES: dict[str, ToolRule] = {
    "read_file": read_file,
    "edit_file": edit_file,
    "system_info": system_info,
    "ask": ask,
}
"""By the tool's name."""
