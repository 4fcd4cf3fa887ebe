"""O1 to O4: what the tools really give, retyped as models do it."""

import json
import re

import pytest

from tests.core.composer.retyping import mark, tell
from wisp_core.permissions.paths import ProtectedPaths
from wisp_core.settings import Outputs as Limits
from wisp_core.settings import Tools
from wisp_core.store.outputs import Outputs
from wisp_core.tools.budget import Budget
from wisp_core.tools.list_files import ListFiles
from wisp_core.tools.read_file import ReadFile
from wisp_core.tools.registry import Registry
from wisp_core.tools.result import Results
from wisp_core.tools.run_command import RunCommand
from wisp_core.tools.search_files import SearchFiles

CALL = "3f9a2c1b"
SHOWN: list[str] = []
SOURCE = """import json
from pathlib import Path


class Ledger:
    \"\"\"Keeps what was read, a line a file.\"\"\"

    def __init__(self, path: Path) -> None:
        self._path = path

    def note(self, name: str, size: int) -> None:
        with self._path.open("a") as file:
            file.write(json.dumps({"name": name, "size": size}) + "\\n")
"""
LOG = """2026-03-01T10:00:00Z INFO  worker-1  started in 12 ms
2026-03-01T10:00:02Z WARN  worker-2  queue is at 90 percent
2026-03-01T10:00:03Z ERROR worker-1  lost the connection to 10.0.0.7:5432
2026-03-01T10:00:04Z INFO  worker-1  connected again after 1 try"""


class Shop:
    """The tools over one working directory."""

    def __init__(self, folder):
        self.cwd = folder / "work"
        self.cwd.mkdir()
        self.budget = Budget(Limits())
        outputs = Outputs(folder / "output", "session1", limits=Limits(), enabled=True)
        results, protection = Results(self.budget, outputs), ProtectedPaths(folder / "wisp", user_home=folder)
        self.tools = Registry(
            [
                RunCommand(self.cwd, Tools(), budget=self.budget, spools=outputs),
                ReadFile(self.cwd, self.budget, protection=protection),
                ListFiles(self.cwd, results, protection=protection),
                SearchFiles(self.cwd, results, protection=protection),
            ]
        )

    async def use(self, tool, **given):
        return tool, (await self.tools.run(tool, given, call=CALL, progress=SHOWN.append)).text

    async def run(self, command):
        return await self.use("run_command", command=command)

    async def read(self, data, **given):
        (self.cwd / "file").write_bytes(data)
        return await self.use("read_file", path="file", **given)


@pytest.fixture
async def shop(tmp_path, monkeypatch):
    monkeypatch.setenv("SHELL", "/bin/sh")
    monkeypatch.setenv("HOME", str(tmp_path / "user"))
    shop = Shop(tmp_path)
    yield shop
    await shop.tools.close()


def assert_cut(copy, output, *, entry=4):
    told = tell(f"Here it is:\n\n{copy}\n\nWhat next?", output)
    assert told.carried == f"Here it is:\n\n{mark(entry, output[0])}\n\nWhat next?"


def assert_kept(copy, output):
    assert tell(f"Here it is:\n\n{copy}\n\nWhat next?", output).cuts == []


def fenced(text, info=""):
    return f"```{info}\n{text}\n```"


@pytest.mark.parametrize("end", [b"\n", b"\r\n"])
async def test_a_file_that_was_read_is_cut_with_and_without_its_numbers(shop, end):
    output = await shop.read(SOURCE.encode().replace(b"\n", end))
    assert_cut(fenced(SOURCE, "python"), output)
    assert_cut(fenced(SOURCE.rstrip("\n").replace("\n", "\r\n"), "python"), output)
    assert_cut(fenced("\n".join(f"{n}\t{line}" for n, line in enumerate(SOURCE.split("\n")[:-1], 1))), output)
    assert_cut(fenced(output[1]), output)
    assert_kept(fenced(SOURCE.replace('"a"', '"w"'), "python"), output)


async def test_a_file_of_mixed_line_ends_is_cut_with_and_without_their_marks(shop):
    output = await shop.read(SOURCE.encode().replace(b"\n", b"\r\n", 6))
    assert "␍" in output[1]
    assert_cut(fenced(SOURCE), output)
    assert_cut(fenced("\n".join(output[1].split("\n")[:13])), output)


async def test_a_page_and_a_part_of_a_page_are_cut(shop):
    text = "\n".join(f"line {n} of the notes" for n in range(1, 60))
    output = await shop.read(text.encode(), offset=20, limit=20)
    assert "more from offset 40" in output[1]
    lines = text.split("\n")
    assert_cut("\n".join(lines[19:39]), output)
    assert_cut(fenced("\n".join(lines[24:33])), output)
    assert_kept(fenced("\n".join(lines[15:33])), output)


async def test_a_markdown_file_shown_as_it_is_is_one_stretch(shop):
    text = f"# Ledger\n\nWhat it keeps:\n\n- names\n  - and sizes\n\n{fenced(SOURCE, 'python')}\n\nSee `ledger.py`.\n"
    output = await shop.read(text.encode())
    assert_cut(f"````markdown\n{text}````", output)
    # Shown with its fence, whose lines are no part of any block, it falls in three: the copies long enough go.
    told = tell(text, output)
    assert mark(4, "read_file") in told.carried
    assert "Ledger:" not in told.carried


async def test_a_log_is_cut_as_code_as_a_paragraph_and_as_a_table(shop):
    output = await shop.run(f"cat <<'END'\n{LOG}\nEND")
    rows = "\n".join(f"| {' | '.join(line.split(None, 3))} |" for line in LOG.split("\n"))
    for copy in (fenced(LOG, "text"), LOG, f"| time | level | worker | what |\n|:--|:-:|---|--:|\n{rows}"):
        assert_cut(copy, output)
    assert_kept(fenced(LOG.replace("90 percent", "91 percent")), output)


async def test_both_streams_are_cut_each_alone_with_their_frames_and_without(shop):
    other = LOG.replace("worker", "keeper")
    output = await shop.run(f"cat <<'END'\n{LOG}\nEND\ncat >&2 <<'END'\n{other}\nEND\nexit 3")
    for copy in (LOG, other, f"{LOG}\n{other}", output[1], f"{LOG}\nstderr:\n{other}"):
        assert_cut(fenced(copy), output)
    assert_kept(fenced(f"{other}\n{LOG}"), output)


async def test_what_is_shown_of_a_bounded_output_is_cut(shop):
    output = await shop.run("seq 1 9000 | sed 's/^/this is the line number /'")
    lines = output[1].split("\n")
    held = next(i for i, line in enumerate(lines) if "held back …]" in line)
    assert_cut(fenced("\n".join(lines[2:held])), output)
    assert_cut(fenced("\n".join(lines[held + 1 : -1])), output)
    assert_cut(fenced("\n".join(lines[:-1])), output)
    assert_kept(fenced("\n".join(lines[2:held] + lines[held + 1 : -1])), output)


async def test_a_diff_is_cut_and_one_that_says_something_else_is_not(shop):
    (shop.cwd / "old").write_text(SOURCE)
    (shop.cwd / "new").write_text(SOURCE.replace("size", "bytes"))
    output = await shop.run("diff -u old new")
    diff = "\n".join(output[1].split("\n")[2:])
    assert_cut(fenced(diff, "diff"), output)
    hunk = diff[diff.index("@@") :]
    assert_cut(fenced(hunk, "diff"), output)
    assert_kept(fenced(hunk.replace("+", "-"), "diff"), output)


async def test_an_indented_list_is_cut_however_it_is_indented(shop):
    tree = "\n".join(f"{'  ' * (n % 4)}- branch {n} with leaves" for n in range(12))
    output = await shop.run(f"cat <<'END'\n{tree}\nEND")
    assert_cut(tree, output)
    assert_cut("\n".join(f"    {line}" for line in tree.split("\n")).lstrip(), output)
    assert_cut("\n\n".join(tree.split("\n")), output)


async def test_json_a_list_of_files_and_found_lines_are_cut(shop):
    for number in range(30):
        (shop.cwd / f"module_{number}.py").write_text(f"def sail_{number}(to):\n    return to.harbour({number})\n")
    listed = await shop.use("list_files", path=".")
    assert_cut(fenced(listed[1]), listed)
    found = await shop.use("search_files", pattern="harbour")
    assert_cut(fenced(found[1]), found)
    data = json.dumps({"harbours": [{"name": f"port {n}", "ships": n} for n in range(9)]}, indent=2)
    printed = await shop.run(f"cat <<'END'\n{data}\nEND")
    assert_cut(fenced(data, "json"), printed)
    assert_kept(fenced(json.dumps(json.loads(data), indent=2, sort_keys=True).replace("8", "9"), "json"), printed)


@pytest.mark.parametrize(
    ("line", "bar"),
    [("{0:>4} | {1:<9} | {2}", "-----+-----------+-----"), ("| {0:>4} | {1:<9} | {2} |", "+--+---+--+")],
)
async def test_tables_that_command_line_tools_draw_are_cut_drawn_anew(shop, line, bar):
    rows = [(n * 37 % 100, f"ship{n}", f"port of {n}") for n in range(9)]
    drawn = "\n".join([line.format("id", "name", "port"), bar, *(line.format(*row) for row in rows)])
    output = await shop.run(f"cat <<'END'\n{drawn}\nEND")
    again = "\n".join(f"| {n} | {name} | {port} |" for n, name, port in rows)
    assert_cut(fenced(drawn), output)
    assert_cut(drawn, output)
    assert_cut(f"| id | name | port |\n|---|---|---|\n{again}", output)
    assert_kept(f"| id | name | port |\n|---|---|---|\n{again.replace('ship3', 'ship4')}", output)


async def test_several_outputs_in_one_turn_are_cut_each_by_its_own_mark(shop):
    first, second = await shop.read(SOURCE.encode()), await shop.run(f"cat <<'END'\n{LOG}\nEND")
    told = tell(f"File:\n{fenced(SOURCE, 'python')}\nLog:\n{fenced(LOG)}\nDone.", first, second)
    assert told.carried == f"File:\n{mark(4, 'read_file')}\nLog:\n{mark(6)}\nDone."
    assert [cut.output for cut in told.cuts] == [4, 6]


async def test_wide_characters_of_a_file_are_cut_at_their_bytes(shop):
    text = "\n".join(f"第{n}行 – naïve 👩‍🚀 über ﷽ {'ｗｉｄｅ' * n}" for n in range(8))
    output = await shop.read(text.encode())
    told = tell(f"🎉🎉\n\n{fenced(text)}\n\n終わり", output)
    assert told.carried == f"🎉🎉\n\n{mark(4, 'read_file')}\n\n終わり"
    assert_kept(fenced(re.sub("naïve", "naive", text, count=1)), output)
