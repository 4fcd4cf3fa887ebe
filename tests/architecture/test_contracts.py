"""The import contracts bite: what they forbid is refused on a copy of the house with one file too many."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.architecture.source import ROOT

LINT = [sys.executable, "-c", "import sys; from importlinter.cli import lint_imports_command as run; sys.exit(run())"]

TRESPASSES = {
    "a file without a place": ("wisp_core/attic.py", '"""Nowhere."""\n'),
    "a room that imports a room": ("wisp_core/store/trespass.py", "import wisp_core.tools\n"),
    "a room that imports the turn": ("wisp_core/composer/trespass.py", "import wisp_core.turn.protocols\n"),
    "a vocabulary that looks up": ("wisp_core/text.py", "import wisp_core.records\n"),
    "a face that enters a room": ("wisp_core/cli/trespass.py", "import wisp_core.store\n"),
    "a pure room that reads the clock": ("wisp_core/composer/trespass.py", "import time\n"),
    "a core that draws": ("wisp_core/tools/trespass.py", "import textual\n"),
    "a widget that holds the settings": ("wisp_tui/widgets/trespass.py", "import wisp_core.settings\n"),
}


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Path:
    copy = tmp_path_factory.mktemp("house")
    for package in ("wisp_core", "wisp_tui"):
        shutil.copytree(ROOT / package, copy / package, ignore=shutil.ignore_patterns("__pycache__", "resources"))
    shutil.copy(ROOT / "pyproject.toml", copy)
    return copy


@pytest.mark.parametrize("trespass", TRESPASSES)
def test_the_contracts_refuse(trespass: str, house: Path) -> None:
    path, text = TRESPASSES[trespass]
    place = house / path
    before = place.read_text("utf-8") if place.exists() else None
    place.write_text(text, "utf-8")
    try:
        run = subprocess.run(
            [*LINT, "--no-cache"],
            cwd=house,
            env=os.environ | {"PYTHONPATH": str(house), "PYTHONSAFEPATH": "1"},
            capture_output=True,
            text=True,
            check=False,
        )
    finally:
        place.unlink() if before is None else place.write_text(before, "utf-8")
    assert run.returncode == 1, run.stdout + run.stderr
    module = path.removesuffix(".py").replace("/", ".")
    told = f"{module} -> {text.split()[1]}" if text.startswith("import") else module.rpartition(".")[2]
    assert told in run.stdout
