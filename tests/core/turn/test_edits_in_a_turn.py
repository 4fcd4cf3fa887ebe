"""An edit in a turn: shown whole before it is asked about, written as it was shown, where it was permitted."""

import json
from pathlib import Path

from tests.opened import Opened, opened
from wisp_core.records import Mode, Outcome
from wisp_core.requests import Answer, Approval, Verdict


def model(folder: Path, *calls: tuple[str, dict[str, object]]) -> str:
    replies: list[object] = [{"calls": [{"name": name, "arguments": given}]} for name, given in calls]
    (folder / "script.json").write_text(json.dumps({"replies": [*replies, {"text": "done"}]}))
    return f"scripted:{folder}/script.json"


READ, EDIT = ("read_file", {"path": "a.txt"}), ("edit_file", {"path": "a.txt", "old": "one", "new": "two"})
DIFF = "--- a.txt\n+++ a.txt\n@@ -1 +1 @@\n-one\n+two\n"


def texts(home: Opened) -> list[str]:
    return [result.text for result in home.events("tool.result")]


async def test_the_approval_shows_the_difference_and_the_result_is_that_difference(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("one\n")
    asked: list[Approval] = []

    def yes(approval: Approval) -> Answer:
        asked.append(approval)
        return Answer(Verdict.ONCE)

    async with opened(tmp_path, model=model(tmp_path, READ, EDIT)) as home:
        home.verdict = yes
        assert await home.thread.send("edit it") is Outcome.DONE
        assert [approval.preview for approval in asked] == [DIFF]
        assert texts(home)[1] == f"wrote a.txt: 1 line added, 1 line removed\n{DIFF}".rstrip("\n")
    assert (tmp_path / "a.txt").read_text() == "two\n"


async def test_a_file_that_changes_while_the_person_decides_is_not_written(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("one\n")

    def late(approval: Approval) -> Answer:
        (tmp_path / "a.txt").write_text("one more\n")
        return Answer(Verdict.ONCE)

    async with opened(tmp_path, model=model(tmp_path, READ, EDIT)) as home:
        home.verdict = late
        assert await home.thread.send("edit it") is Outcome.DONE
        assert "has changed since it was read" in texts(home)[1]
    assert (tmp_path / "a.txt").read_text() == "one more\n"


async def test_a_link_that_is_turned_while_the_person_decides_diverts_nothing(tmp_path: Path) -> None:
    for name in ("here", "there"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "a.txt").write_text("one\n")
    (tmp_path / "link").symlink_to("here")

    def late(approval: Approval) -> Answer:
        (tmp_path / "link").unlink()
        (tmp_path / "link").symlink_to("there")
        return Answer(Verdict.ONCE)

    calls = [("read_file", {"path": f"{name}/a.txt"}) for name in ("here", "there")]
    edit = ("edit_file", {"path": "link/a.txt", "old": "one", "new": "two"})
    async with opened(tmp_path, model=model(tmp_path, *calls, edit)) as home:
        home.verdict = late
        assert await home.thread.send("edit it") is Outcome.DONE
        assert "nothing was written" in texts(home)[2]
    assert [(tmp_path / name / "a.txt").read_text() for name in ("here", "there")] == ["one\n", "one\n"]


async def test_what_cannot_be_edited_is_not_asked_about(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("one\n")
    async with opened(tmp_path, model=model(tmp_path, EDIT)) as home:
        assert await home.thread.send("edit it") is Outcome.DONE
        assert home.events("approval.requested") == []
        assert "was not read in this conversation" in texts(home)[0]


async def test_mode_auto_edits_unasked_and_mode_plan_never(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("one\n")
    async with opened(tmp_path, model=model(tmp_path, READ, EDIT, EDIT)) as home:
        await home.thread.change(mode=Mode.AUTO)
        assert await home.thread.send("edit it") is Outcome.DONE
        assert home.events("approval.requested") == []
        assert (tmp_path / "a.txt").read_text() == "two\n"
    (tmp_path / "a.txt").write_text("one\n")
    async with opened(tmp_path, model=model(tmp_path, READ, EDIT)) as home:
        await home.thread.change(mode=Mode.PLAN)
        assert await home.thread.send("edit it") is Outcome.DONE
        assert "mode plan" in texts(home)[1]
        assert (tmp_path / "a.txt").read_text() == "one\n"
