"""What README and docs/ say of the code is so: links lead somewhere, commands and settings exist."""

import json
import re
from pathlib import Path

import pytest

from tests.architecture.source import ROOT
from wisp_core.commands.registry import COMMANDS
from wisp_core.settings import load_settings

PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
NAMES = [page.relative_to(ROOT).as_posix() for page in PAGES]


def blocks(text: str, language: str) -> list[str]:
    """Return the fenced blocks of a language."""
    return re.findall(rf"^```{language}\n(.*?)^```", text, re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("name", NAMES)
def test_every_link_to_a_file_leads_somewhere(name: str) -> None:
    page = ROOT / name
    links = re.findall(r"\]\(([^)#\s]+)", page.read_text("utf-8"))
    assert not [link for link in links if "://" not in link and not (page.parent / link).exists()]


@pytest.mark.parametrize("name", NAMES)
def test_no_page_names_a_host_other_than_loopback(name: str) -> None:
    hosts = re.findall(r"https?://([^/\s:`\")\]]+)", (ROOT / name).read_text("utf-8"))
    assert not [host for host in hosts if host not in ("127.0.0.1", "localhost")]


@pytest.mark.parametrize("name", NAMES)
def test_every_make_command_that_is_named_exists(name: str) -> None:
    targets = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE))
    named = set(re.findall(r"(?:^|`)make ([a-z]+)", (ROOT / name).read_text("utf-8"), re.MULTILINE))
    assert not named - targets


def test_every_configuration_that_the_readme_shows_loads(tmp_path: Path) -> None:
    shown = blocks((ROOT / "README.md").read_text("utf-8"), "json")
    assert shown
    for text in shown:
        (tmp_path / "config.json").write_text(text, "utf-8")
        settings = load_settings(tmp_path)
        assert json.loads(text).keys() <= settings.model_fields_set


def test_every_module_that_the_architecture_page_names_exists() -> None:
    page = (ROOT / "docs" / "architecture.md").read_text("utf-8")
    named = set(re.findall(r"`((?:wisp_core|wisp_tui)/[a-z_/]+(?:\.py)?)`", page))
    assert named
    assert not [path for path in named if not (ROOT / path).exists()]


def test_decisions_are_numbered_without_a_gap() -> None:
    numbers = [int(path.name[:4]) for path in sorted((ROOT / "docs" / "decisions").glob("*.md"))]
    assert numbers == list(range(1, len(numbers) + 1))


@pytest.mark.parametrize("name", ["README.md", "docs/tour.md", "docs/changelog.md"])
def test_every_slash_command_that_is_named_exists(name: str) -> None:
    named = set(re.findall(r"(?:^ *|`)/([a-z]+)\b", (ROOT / name).read_text("utf-8"), re.MULTILINE))
    assert named
    assert not named - COMMANDS.keys()
