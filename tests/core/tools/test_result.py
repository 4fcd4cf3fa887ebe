"""The result of a whole text: within the budget, and the rest kept."""

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wisp_core.settings import Outputs as Limits
from wisp_core.store.outputs import Outputs
from wisp_core.tools.budget import Budget
from wisp_core.tools.result import Results

CALL = "3f9a2c1b"
OFF = Outputs(Path("/nowhere"), "session1", limits=Limits(), enabled=False)
texts = st.lists(st.one_of(st.text(max_size=40), st.text("aé€😀", max_size=900)), max_size=80).map("\n".join)


@given(text=texts, window=st.integers(1, 20_000))
async def test_head_marker_and_tail_are_the_text_and_nothing_is_over_the_budget(tmp_path_factory, text, window):
    folder = tmp_path_factory.mktemp("output")
    budget = Budget(Limits())
    budget.set_window(window)
    outputs = Outputs(folder, "session1", limits=Limits())
    result = await Results(budget, outputs).give(text, CALL)
    whole = text.replace("\0", "\ufffd").rstrip("\n")
    assert len(result.text.encode()) <= budget.bytes
    assert result.lines == whole.count("\n") + 1
    if result.kept is None:
        assert result.text == whole
        return
    stored = outputs.path(CALL).read_bytes()
    assert stored == whole.encode() + b"\n"
    assert (result.kept.bytes, result.kept.lines) == (result.bytes, result.lines) == (len(stored), stored.count(b"\n"))
    shown = result.text.split("\n")
    first, last = re.search(r"^held back: lines? ([\d,]+)(?:–([\d,]+))?", result.text, re.MULTILINE).groups()
    first, last = (int(number.replace(",", "")) for number in (first, last or first))
    lines = whole.split("\n")
    assert shown[: first - 1] == lines[: first - 1]
    after = lines[last:]
    assert not after or shown[-1 - len(after) : -1] == after


async def test_without_a_store_the_rest_is_said_to_be_lost():
    result = await Results(Budget(Limits()), OFF).give("line\n" * 5000, CALL)
    assert result.kept is None
    assert "not kept (the audit is off)" in result.text


@pytest.mark.parametrize("text", ["", "\n\n", "a", "a\n"])
async def test_a_short_text_is_given_without_its_last_line_ends(text):
    assert (await Results(Budget(Limits()), OFF).give(text, CALL)).text == text.rstrip("\n")
