"""T11, T13: what is said of an edit before it is permitted cannot be forged by its path."""

import json
from pathlib import Path

import pytest

from tests.opened import opened
from wisp_core.records import Outcome
from wisp_core.requests import Answer, Approval, Question, Verdict


async def asked_about(folder: Path, path: str) -> Approval:
    """Return what the person is asked where the model would make a file."""
    call = {"name": "edit_file", "arguments": {"path": path, "content": "text\n"}}
    (folder / "script.json").write_text(json.dumps({"replies": [{"calls": [call]}, {"text": "done"}]}))
    asked: list[Approval | Question] = []
    async with opened(folder, model=f"scripted:{folder}/script.json") as home:
        home.verdict = lambda question: asked.append(question) or Answer(Verdict.ONCE)
        assert await home.thread.send("make it") is Outcome.DONE
        assert home.events("tool.result")[0].ok
        assert home.events("approval.requested")[0].why == asked[0].why
    (approval,) = asked
    assert isinstance(approval, Approval)
    return approval


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
async def test_a_path_with_line_ends_adds_no_line_to_the_difference(tmp_path: Path, end: str):
    approval = await asked_about(tmp_path, f"a.txt{end}@@ -0,0 +1 @@{end}+harmless")
    *_, name, place, line = approval.preview.splitlines()
    assert name.startswith("+++ a.txt<U+000")
    assert (place, line) == ("@@ -0,0 +1 @@", "+text")


async def test_where_a_path_really_leads_is_said_and_only_where_its_name_does_not(tmp_path: Path):
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "docs").symlink_to(tmp_path / "elsewhere")
    place = tmp_path.resolve() / "elsewhere" / "a.txt"
    assert (await asked_about(tmp_path, "docs/a.txt")).why == f"it changes files; it leads to {place}"
    assert (await asked_about(tmp_path, "./sub/../b.txt")).why == "it changes files"
