"""`wisp eval`: runs conversations through the context engine and prints what its requests would still answer."""

import argparse
import json
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from wisp_core.errors import UsageError
from wisp_core.evals.bank import read_bank
from wisp_core.evals.generate import HALVES, TOKENS, conversations
from wisp_core.evals.policies import POLICIES, USUAL, Bench, Result, named_policies, overlaid
from wisp_core.evals.report import as_json, print_tables, summarise
from wisp_core.evals.scenario import Scenario, read_scenario
from wisp_core.records import JsonObject
from wisp_core.text import displayable

WINDOW = 8192
CONVERSATIONS = 2
FULL_CONVERSATIONS = 20


@dataclass(frozen=True, slots=True)
class EvalOptions:
    """What to run: files, or `count` conversations of the `halves` of `tokens` each; `given` are settings of wisp's."""

    scenarios: Sequence[Path]
    policies: Sequence[str]
    window: int
    given: JsonObject
    halves: Sequence[str]
    count: int
    tokens: int
    seed: int
    json: bool


def add_parser(commands: Any) -> None:
    """Add `eval` to the commands of `wisp`."""
    listed = "\n".join(f"  {name:<16} {policy.about}" for name, policy in POLICIES.items())
    parser: argparse.ArgumentParser = commands.add_parser(
        "eval",
        help="measure what the context engine keeps of long conversations",
        description="Runs conversations with planted values through wisp, with no model, and scores the requests that\n"
        "would answer the questions in them: figures to standard output, progress to standard error.",
        epilog=f"policies:\n{listed}\n\nexample: wisp eval --policy wisp,drop-oldest --window 8192\n"
        f"everything: wisp eval --policy all --conversations {FULL_CONVERSATIONS}\n"
        "what is measured, and the format of a scenario: docs/eval.md",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("scenarios", nargs="*", metavar="SCENARIO", type=Path, help="files, instead of generated ones")
    parser.add_argument("--policy", metavar="P,…", default=",".join(USUAL), help="policies by name, or all")
    parser.add_argument("--window", metavar="W", type=int, default=WINDOW, help=f"tokens, {WINDOW} where not given")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument(
        "--conversations", metavar="N", type=int, default=CONVERSATIONS, help="how many, from both halves in turn"
    )
    parser.add_argument("--half", choices=HALVES, help="generated conversations of one half alone")
    parser.add_argument("--tokens", metavar="T", type=int, default=TOKENS, help="tokens of a generated conversation")
    parser.add_argument("--seed", metavar="S", type=int, default=0, help="other conversations of the same kind")
    parser.add_argument(
        "--set",
        dest="given",
        metavar="KEY=VALUE",
        action="append",
        default=[],
        help="a setting for wisp's policies, as facts.block_share=0.25",
    )


def eval_options(options: argparse.Namespace) -> EvalOptions:
    """Return what the parsed line asks for.

    Raises:
        UsageError: a figure, a policy or a setting is none.
    """
    for name, least in (("window", 1024), ("conversations", 1), ("tokens", 1000)):
        if getattr(options, name) < least:
            raise UsageError(f"--{name} {getattr(options, name)} is too small", f"the least is {least}")
    names = list(POLICIES) if options.policy == "all" else [name for name in options.policy.split(",") if name]
    given: JsonObject = {}
    for setting in options.given:
        given = overlaid(given, _setting(setting))
    return EvalOptions(
        scenarios=options.scenarios,
        policies=named_policies(names),
        window=options.window,
        given=given,
        halves=[options.half] if options.half else list(HALVES),
        count=options.conversations,
        tokens=options.tokens,
        seed=options.seed,
        json=options.json,
    )


async def evaluate(options: EvalOptions) -> int:
    """Run what is asked for and print the tables, or one JSON object."""
    results: list[Result] = []
    for number, scenario in enumerate(_scenarios(options), 1):
        bench = Bench(scenario, window=options.window, given=options.given)
        for name in options.policies:
            result = await bench.measure(name)
            results.append(result)
            _tell(number, result)
    results.sort(key=lambda result: options.policies.index(result.policy))
    results.sort(key=lambda result: result.half)
    rows = summarise(results)
    if options.json:
        print(json.dumps({"window": options.window, "seed": options.seed, "rows": as_json(rows)}))
    else:
        print(print_tables(rows), end="")
    return 0


def _scenarios(options: EvalOptions) -> Iterator[Scenario]:
    if options.scenarios:
        # All are read first: a mistake in the last is told before the first has run.
        yield from [read_scenario(path) for path in options.scenarios]
        return
    banks = [read_bank(half) for half in options.halves]
    yield from conversations(banks, options.seed, count=options.count, tokens=options.tokens)


def _tell(number: int, result: Result) -> None:
    share = sum(score.answerable for score in result.scores) / max(1, len(result.scores))
    line = f"{number} {displayable(result.name)}: {result.policy} {100 * share:.0f}% ({result.seconds:.1f} s)"
    print(line, file=sys.stderr, flush=True)


def _setting(given: str) -> JsonObject:
    key, equals, value = given.partition("=")
    if not equals or not key:
        raise UsageError(f"--set {given} is no setting", "give it as facts.block_share=0.25")
    try:
        read: Any = json.loads(value)
    except ValueError:
        read = value
    for part in reversed(key.split(".")):
        read = {part: read}
    return dict(read)
