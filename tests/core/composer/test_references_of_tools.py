"""O8: what the tools really give, by its reference."""

import pytest

from tests.core.composer.test_references import reference
from wisp_core.permissions.paths import ProtectedPaths
from wisp_core.requests import ToolResult
from wisp_core.settings import Outputs as Limits
from wisp_core.settings import Tools
from wisp_core.store.outputs import Outputs
from wisp_core.tools.budget import Budget
from wisp_core.tools.read_file import ReadFile
from wisp_core.tools.registry import Registry
from wisp_core.tools.result import Results
from wisp_core.tools.run_command import RunCommand
from wisp_core.tools.search_files import SearchFiles

CALL = "aaaaaaaa"
SHOWN: list[str] = []
MANY = "seq 1 100 | sed 's/^/line number /'"


@pytest.fixture
async def tools(tmp_path, monkeypatch):
    monkeypatch.setenv("SHELL", "/bin/sh")
    monkeypatch.setenv("HOME", str(tmp_path / "user"))
    cwd, wisp = tmp_path / "work", tmp_path / "wisp"
    for folder in (cwd, wisp):
        folder.mkdir()
    budget = Budget(Limits())
    outputs = Outputs(tmp_path / "output", "session1", limits=Limits(), enabled=True)
    protection = ProtectedPaths(wisp, user_home=tmp_path)
    registry = Registry(
        [
            RunCommand(cwd, Tools(), budget=budget, spools=outputs),
            ReadFile(cwd, budget, protection=protection),
            SearchFiles(cwd, Results(budget, outputs), protection=protection),
        ]
    )
    yield registry
    await registry.close()


def lines_of(result: ToolResult, tool: str) -> list[str]:
    """Return first and last line and paging, as the reference of a result tells them."""
    found = reference(
        result.text, tool, ok=result.ok, exitStatus=result.exit_status, bytes=result.bytes, lines=result.lines
    )
    return found[2:]


@pytest.mark.parametrize(
    "more", ["", "; exit 3", "; kill -TERM $$", "; printf '\\0\\n' >&2; printf 'line number 100\\n' >&2"]
)
async def test_of_a_command_only_what_it_printed_is_content(tools, more):
    result = await tools.run("run_command", {"command": MANY + more}, call=CALL, progress=SHOWN.append)
    assert lines_of(result, "run_command") == ["first line: line number 1", "last line: line number 100"]


async def test_of_a_bounded_command_that_ran_out_of_time_only_what_it_printed_is_content(tools):
    command = f"{MANY}; {MANY}; {MANY}; {MANY}; sleep 60"
    result = await tools.run("run_command", {"command": command, "timeout": 1}, call=CALL, progress=SHOWN.append)
    assert "timed out after 1 s" in result.text
    assert "held back" in result.text
    assert lines_of(result, "run_command") == ["first line: line number 1", "last line: line number 100"]


async def test_of_a_page_the_numbered_lines_are_content_and_the_hint_stays(tools, tmp_path):
    (tmp_path / "work/a.txt").write_bytes(b"".join(b"text of line %d\r\n" % n for n in range(1, 1000)))
    page = await tools.run("read_file", {"path": "a.txt", "limit": 60}, call=CALL, progress=SHOWN.append)
    assert lines_of(page, "read_file") == [
        "first line: 1\ttext of line 1",
        "last line: 60\ttext of line 60",
        "paging: more from offset 61",
    ]
    end = await tools.run("read_file", {"path": "a.txt", "offset": 950}, call=CALL, progress=SHOWN.append)
    assert lines_of(end, "read_file") == ["first line: 950\ttext of line 950", "last line: 999\ttext of line 999"]


async def test_of_a_search_the_finds_are_content_and_its_notes_are_not(tools, tmp_path):
    (tmp_path / "work/a.txt").write_text("".join(f"(text {n}\n" for n in range(1, 50)))
    result = await tools.run("search_files", {"pattern": "(text"}, call=CALL, progress=SHOWN.append)
    assert "taken literally" in result.text
    assert lines_of(result, "search_files") == ["first line: a.txt:1: (text 1", "last line: a.txt:49: (text 49"]
