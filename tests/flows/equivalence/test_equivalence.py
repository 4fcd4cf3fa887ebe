"""A22: with every switch off and the policy keep-turns what goes out is the plain conversation, as it always was.

Scripted conversations run through `wisp chat` against a provider over HTTP: tools, condensing ahead and on overflow, a
failed turn, fail-fast, a model that counts, /new and resume, /model with /inspect context and /save. Every request that
arrived, every event of the audit, every reply, every saved context and transcript, and what chat printed are compared
with `snapshots/NAME.txt`, ids, times, durations, paths and ports by names that keep their relations. They change when
the instructions, a tool's schema, an event or a sentence does; write them again, and read what changed, with

    WISP_SNAPSHOTS=write python -m pytest tests/flows/equivalence
"""

import difflib
import os
from pathlib import Path

import pytest

from tests.flows.equivalence.capture import OFF, Scenario, capture, without_switches
from tests.flows.equivalence.normalise import normalise
from tests.flows.equivalence.scenarios import SCENARIOS

SNAPSHOTS = Path(__file__).parent / "snapshots"
NAMES = [scenario.name for scenario in SCENARIOS]
REFERRED_TO = "tools"
"""The conversation with an output that is longer than its reference."""


def assert_same(found: str, wanted: str, name: str) -> None:
    differs = difflib.unified_diff(wanted.split("\n"), found.split("\n"), "snapshot", "now", lineterm="", n=0)
    lines = [line[:400] for line in differs]
    assert not lines, f"{name} is not what it was:\n" + "\n".join(lines[:60])


@pytest.mark.parametrize("scenario", SCENARIOS, ids=NAMES)
async def test_with_all_switches_off_a_conversation_is_what_it_was(scenario: Scenario, tmp_path: Path):
    found = await capture(scenario, tmp_path, switches=OFF)
    path = SNAPSHOTS / f"{scenario.name}.txt"
    if os.environ.get("WISP_SNAPSHOTS") == "write":
        SNAPSHOTS.mkdir(exist_ok=True)
        path.write_text(found, "utf-8")
    assert_same(found, path.read_text("utf-8"), scenario.name)


@pytest.mark.parametrize("scenario", SCENARIOS, ids=NAMES)
async def test_cuts_and_references_change_nothing_where_there_is_nothing_to_cut_or_refer_to(
    scenario: Scenario, tmp_path: Path
):
    switches = {"cuts": True, "references": scenario.name != REFERRED_TO}
    found = await capture(scenario, tmp_path, switches=switches)
    wanted = (SNAPSHOTS / f"{scenario.name}.txt").read_text("utf-8")
    assert_same(without_switches(found), without_switches(wanted), scenario.name)


def test_every_snapshot_is_of_a_conversation():
    assert sorted(path.stem for path in SNAPSHOTS.iterdir()) == sorted(NAMES)


def test_the_same_id_has_the_same_name_and_another_has_another():
    one, two, sha = "01a22e71bb5b42c67e21553d", "01a22e71bb5da542e2764231", "ab" * 32
    text = f'{one} {two} {one} "call":"12345678" "seconds":0.012, {sha} at /tmp/x/home/a on 127.0.0.1:8080, 12345678 1'
    assert normalise(text, {"/tmp/x": "«root»", "/tmp/x/home": "«home»"}) == (
        '«id 1» «id 2» «id 1» "call":"«call 1»" "seconds":«seconds», «sha 1» at «home»/a on 127.0.0.1:«port», '
        "«call 1» 1"
    )
