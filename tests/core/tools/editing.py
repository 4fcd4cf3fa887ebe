"""A working directory with read_file and edit_file over it, and a strict reader of unified diffs."""

import asyncio
import json
import re

import pytest

from wisp_core.errors import ToolFailure
from wisp_core.permissions.paths import ProtectedPaths
from wisp_core.settings import Outputs as Limits
from wisp_core.store.outputs import Outputs
from wisp_core.store.previous import Previous
from wisp_core.text import sound
from wisp_core.tools.budget import Budget
from wisp_core.tools.diff import CR_MARK, split_ends
from wisp_core.tools.edit_file import EditFile
from wisp_core.tools.edit_text import read_text
from wisp_core.tools.ledger import Ledger
from wisp_core.tools.read_file import ReadFile
from wisp_core.tools.registry import Registry
from wisp_core.tools.result import Results

CALL = "3f9a2c1b"


class Bench:
    """A person's home with a wisp home and a working directory, and the two tools that share a ledger."""

    def __init__(self, folder, monkeypatch, *, enabled=True):
        self.user, self.wisp, self.cwd = folder / "user", folder / "user/.wisp", folder / "user/work"
        for each in (self.user, self.wisp, self.cwd):
            each.mkdir()
        monkeypatch.setenv("HOME", str(self.user))
        self.output = self.wisp / "output"
        self.ledger, self.last = Ledger(), None
        self.previous = Previous(self.output, "session1", enabled=enabled)
        self.budget = Budget(Limits())
        outputs = Outputs(self.output, "session1", limits=Limits(), enabled=enabled)
        self.results = Results(self.budget, outputs)
        self.protect(ProtectedPaths(self.wisp, user_home=self.user))

    def protect(self, protection):
        """Make the tools anew, over the same ledger and store, with another protection."""
        shared = {"protection": protection, "ledger": self.ledger}
        self.edit_tool = EditFile(self.cwd, self.results, previous=self.previous, **shared)
        self.tools = Registry([ReadFile(self.cwd, self.budget, **shared), self.edit_tool])

    def write(self, name, data):
        path = self.cwd / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
        return path

    async def read(self, name, **given):
        return (await self.tools.run("read_file", {"path": name, **given}, call=CALL, progress=print)).text

    def check(self, name, **given):
        return self.tools.check("edit_file", json.dumps({"path": name, **given}))

    async def preview(self, name, **given):
        return await self.tools.preview("edit_file", self.check(name, **given))

    async def edit(self, name, *, call=CALL, place="", **given):
        arguments = self.check(name, **given)
        self.last = await self.tools.run("edit_file", arguments, call=call, progress=print, place=place)
        assert self.last.ok
        return self.last.text

    async def refusal(self, name, *, place="", **given):
        with pytest.raises(ToolFailure) as failure:
            await asyncio.wait_for(self.edit(name, place=place, **given), 10)
        assert "\n" not in str(failure.value)
        return str(failure.value)

    async def undo(self, name):
        return await self.edit_tool.undo(name)


def patched(before, diff):
    """Return the text that a unified diff makes of a file's bytes, each of its lines checked."""
    found = read_text(before)
    old = split_ends(found.text)
    marked = CR_MARK in diff
    crlf = not marked and "\r\n" in found.text and not re.search(r"(?<!\r)\n", found.text)
    out, at = [], 0
    lines = diff.split("\n")[:-1] if diff else []
    for index, line in enumerate(lines[2:], 2):
        if header := re.fullmatch(r"@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@", line):
            start, size = int(header.group(1)), int(header.group(2) or 1)
            start -= 1 if size else 0
            out += old[at:start]
            at = start
            continue
        if line.startswith("\\"):
            continue
        sign, text = line[0], line[1:]
        ended = index + 1 == len(lines) or not lines[index + 1].startswith("\\")
        if marked:
            text = text.removesuffix(CR_MARK) + ("\r\n" if text.endswith(CR_MARK) else "\n") if ended else text
        else:
            text += ("\r\n" if crlf else "\n") if ended else ""
        if sign in " -":
            assert sound(old[at]) == text
            text = old[at]
            at += 1
        if sign in " +":
            out.append(text)
    return "".join(out + old[at:])
