"""Scenarios through a real home, thread, store and composer; and the command that prints what came of it."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.core.evals.planted import PORT, port_scenario, written
from wisp_core.cli.main import main
from wisp_core.evals.bank import read_bank
from wisp_core.evals.generate import generate
from wisp_core.evals.policies import POLICIES, Bench
from wisp_core.evals.run import run_scenario
from wisp_core.evals.scenario import Scenario
from wisp_core.evals.score import find_evidence, score
from wisp_core.records import EntryKind


async def test_a_scenario_runs_with_its_replies_its_files_and_its_tools() -> None:
    run = await run_scenario(port_scenario(), window=8192, given={})
    assert [(sent.turn, sent.step) for sent in run.sent] == [(1, 1), (2, 1), (2, 2), (3, 1), (4, 1)]
    kinds = [run.entries[entry].kind for found in find_evidence(run).values() for entry in found.entries]
    assert kinds == [EntryKind.PROMPT, EntryKind.TOOL_OUTPUT, EntryKind.REPLY, EntryKind.PROMPT]
    (found,) = score(run)
    assert (found.answerable, found.current, found.stale) == (1, True, False)


async def test_each_step_is_what_was_sent_and_its_tokens_are_those_that_were_measured() -> None:
    run = await run_scenario(port_scenario(), window=8192, given={})
    before: tuple[Any, ...] = ()
    for sent in run.sent:
        said = sum(len(item.text) for item in sent.items) // 4
        assert sent.tokens - said > 0  # the tools' schemas
        assert sent.items[: len(before)] == before or sent.step == 1
        before = sent.items


@pytest.mark.parametrize(
    "command", ["cat notes.md; touch seen", "cat ../../../etc/passwd", "touch seen", "cat other.md"]
)
async def test_a_scenario_runs_no_command_but_reading_its_own_files(command: str) -> None:
    turn = {"prompt": "run it", "calls": [{"tool": "run_command", "arguments": {"command": command}}]}
    run = await run_scenario(Scenario.model_validate(PORT | {"turns": [turn]}), window=8192, given={})
    (output,) = [entry.content for entry in run.entries.values() if entry.kind is EntryKind.TOOL_OUTPUT]
    assert not output.ok
    assert "a scenario may only read its own files" in output.text


async def test_what_a_small_window_drops_is_not_answerable_by_keeping_turns_and_is_by_full_history() -> None:
    bench = Bench(generate(read_bank("development"), 5, tokens=20_000), window=4096, given={})
    full, dropped, kept = [await bench.measure(name) for name in ("full", "drop-oldest", "keep-turns")]
    assert all(found.answerable == 1 for found in full.scores)
    for short in (dropped, kept):
        assert sum(found.answerable for found in short.scores) < len(short.scores) / 2
        assert short.cost is not None
        assert short.cost.gaps
    assert dropped.cost.processed > 2 * full.cost.processed


async def test_whatever_a_policy_shows_resolves_to_its_author() -> None:
    bench = Bench(generate(read_bank("development"), 6, tokens=20_000), window=4096, given={})
    for name in ("wisp", "statements", "recollection"):
        checked = (await bench.measure(name)).checked
        assert checked is not None
        assert checked.lines > 0
        assert checked.usurped == 0
        assert checked.resolved == checked.supported == checked.lines - checked.unknown


async def test_every_policy_measures() -> None:
    bench = Bench(port_scenario(), window=2048, given={})
    for name in POLICIES:
        assert len((await bench.measure(name)).scores) == 1


def test_the_command_prints_tables_and_tells_its_progress_apart(capsys: Any, tmp_path: Path) -> None:
    assert main(["eval", str(written(tmp_path, json.dumps(PORT))), "--policy", "wisp,full"]) == 0
    printed = capsys.readouterr()
    assert "by hand: 1 questions over 1 conversations" in printed.out
    assert "| full   | 100.0%" in printed.out
    assert "1 a port that moves: wisp 100%" in printed.err


def test_the_command_prints_one_json_object(capsys: Any) -> None:
    line = ["eval", "--tokens", "4000", "--conversations", "2", "--policy", "keep-turns", "--json", "--window", "2048"]
    assert main([*line, "--set", "facts.enabled=false"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert [row["half"] for row in said["rows"]] == ["development", "test"]
    assert {row["policy"] for row in said["rows"]} == {"keep-turns"}


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (["--policy", "magic"], "there is no policy `magic`"),
        (["--window", "5"], "--window 5 is too small"),
        (["--conversations", "0"], "--conversations 0 is too small"),
        (["--set", "facts"], "--set facts is no setting"),
        (["--set", "facts.colour=1", "--policy", "wisp", "--tokens", "1000"], "unknown setting `facts.colour`"),
        (["none.json"], "none.json cannot be read"),
    ],
)
def test_a_mistake_on_the_line_is_one_sentence(capsys: Any, line: list[str], said: str) -> None:
    assert main(["eval", *line]) == 2
    printed = capsys.readouterr()
    assert said in printed.err
    assert not printed.out
