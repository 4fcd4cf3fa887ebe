"""Two wisps on one home for a minute, each on a thread of its own, then both wanting the same one: is anything lost?

Every turn is a prompt, a file read and a reply. Alone, one wisp writes as fast as it can; then two do, and then a
second one asks for the thread of the first, again and again, until it gets it and goes on with it. What was
acknowledged is looked for in the audit and in the database afterwards. Two on two homes share only the machine.
"""

import asyncio
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.benchmarks.figures import Figure
from tests.core.store.event_streams import fold_audit
from wisp_core.audit.verify import verify
from wisp_core.errors import ThreadLockedError
from wisp_core.journal import AUDIT, Journal
from wisp_core.records import Outcome, PromptContent, ThreadRecord
from wisp_core.requests import Answer, Approval, Question, Verdict
from wisp_core.settings import Settings
from wisp_core.thread import Thread
from wisp_core.wisp import Wisp

SECONDS, SHORT = 60.0, 15.0
BETWEEN = 0.05  # seconds between two questions for the thread
SCRIPT = {
    "window": 8_192,
    "loop": True,
    "replies": [
        {"calls": [{"name": "read_file", "arguments": {"path": "note.txt"}}]},
        {"text": "It keeps the bytes until the rest of the character is there. " * 4},
    ],
}


@dataclass(frozen=True, slots=True)
class Told:
    """What one wisp says at its end: its thread, the prompts that were answered, and the seconds of each turn.

    `refused` are the seconds that each refusal of the thread took, `sentence` what it said.
    """

    name: str
    thread: str
    prompts: list[str]
    seconds: list[float]
    refused: list[float]
    sentence: str = ""


def measure() -> tuple[list[Figure], str]:
    """Return the table of what was written, what was found of it, and who waited."""
    lines = ["| wisp | turns acknowledged | found in audit and database | a turn: median | p99 | longest | a second |"]
    lines.append("|---" * 7 + "|")
    wrong: list[str] = []
    with tempfile.TemporaryDirectory() as made:
        alone, apart, here, same = (Path(made) / name for name in ("alone", "apart", "home", "same"))
        runs = {
            ("alone",): [(alone, "one", SHORT, False)],
            ("two on two homes, the one", "the other"): [(apart, "one", SHORT, False), (alone, "two", SHORT, False)],
            ("two on one home, the one", "the other"): [(here, "one", SECONDS, False), (here, "two", SECONDS, False)],
            ("two on one thread, its writer", "then the other"): [
                (same, "one", SECONDS, False),
                (same, "two", SHORT, True),
            ],
        }
        for names, wisps in runs.items():
            told = run(wisps)
            counts = [found(folder, one) for (folder, *_), one in zip(wisps, told, strict=True)]
            lines += [row(name, one, there=count) for name, one, count in zip(names, told, counts, strict=True)]
        for folder in (alone, apart, here, same):
            wrong += verify(folder / "home" / AUDIT)
    last = told[-1]
    middle, longest = (1000 * value for value in (statistics.median(last.refused), max(last.refused)))
    lines += [
        "",
        f"The second on the same thread asked {len(last.refused):,} times and was told after {middle:.1f} ms "
        f"(longest {longest:.1f} ms): “{last.sentence}”.",
        "",
        f"`wisp doctor --verify`: {'; '.join(wrong) or 'nothing is wrong'}.",
    ]
    return [], "\n".join(lines)


def run(wisps: Sequence[tuple[Path, str, float, bool]]) -> list[Told]:
    """Run wisps beside each other, each on the home of its folder for its seconds; one may want the first's thread."""
    environment = os.environ | {"PYTHONPATH": str(Path(__file__).parent.parent.parent)}
    children: list[subprocess.Popen[str]] = []
    thread = ""
    for folder, name, seconds, wants in wisps:
        folder.mkdir(exist_ok=True)
        (folder / "script.json").write_text(json.dumps(SCRIPT))
        (folder / "note.txt").write_text("a line of the note\n" * 20)
        command = [sys.executable, "-m", "tests.benchmarks.two_wisps", str(folder), name, str(seconds)]
        command.append(thread if wants else "")
        child = subprocess.Popen(command, cwd=folder, env=environment, stdout=subprocess.PIPE, text=True)
        assert child.stdout is not None
        thread = child.stdout.readline().strip()
        children.append(child)
    told = [Told(**json.loads(child.communicate()[0])) for child in children]
    assert not any(child.returncode for child in children)
    return told


def found(folder: Path, told: Told) -> int:
    """Return how many of a wisp's acknowledged prompts are in the audit and in the database, in their order."""
    home = folder / "home"
    record, prompts = asyncio.run(read(home, told.thread))
    if record != fold_audit(home, told.thread):
        raise RuntimeError(f"the database does not have thread {told.thread} as the audit has it")
    mine = [prompt for prompt in prompts if prompt.startswith(f"{told.name} ")]
    return sum(kept == sent for kept, sent in zip(mine, told.prompts, strict=True))


async def read(home: Path, thread: str) -> tuple[ThreadRecord, list[str]]:
    """Return a thread's record as the database has it, and its prompts, dropped ones included."""
    journal = await Journal.open(home, Settings())
    try:
        record = await journal.read_thread(thread)
        said = await journal.database.contents(thread, [turn.prompt for turn in record.turns.values()])
        prompts = [said[turn.prompt] for turn in record.turns.values()]
        return record, [content.text for content in prompts if isinstance(content, PromptContent)]
    finally:
        await journal.close()


def row(name: str, told: Told, *, there: int) -> str:
    """Return a row of the table."""
    times = sorted(told.seconds)
    late = times[min(len(times) - 1, len(times) * 99 // 100)]
    cells = (f"{1000 * value:.1f} ms" for value in (statistics.median(times), late, times[-1]))
    return f"| {name} | {len(times):,} | {there:,} | {' | '.join(cells)} | {len(times) / sum(times):.1f} |"


async def write(folder: Path, name: str, *, seconds: float, wanted: str) -> Told:
    """Send prompts for as long as told, on a new thread or, as soon as it is free, on the one that is wanted."""
    refused: list[float] = []
    sentence = ""
    given: dict[str, Any] = {"model": f"scripted:{folder}/script.json", "context": {"keep_turns": 8}}
    wisp = await Wisp.open(face="bench", home=folder / "home", cwd=folder, given=given)
    try:
        thread: Thread | None = None if wanted else await wisp.new_thread(listen=lambda _: None, ask=refuse)
        print(thread.record.id if thread else wanted, flush=True)
        while thread is None:
            began = time.perf_counter()
            try:
                thread = await wisp.open_thread(wanted, listen=lambda _: None, ask=refuse)
            except ThreadLockedError as error:
                refused.append(time.perf_counter() - began)
                sentence = error.sentence()
                await asyncio.sleep(BETWEEN)
        prompts, taken = await talk(thread, name, seconds=seconds)
        await thread.close()
        return Told(name, thread.record.id, prompts, taken, refused, sentence)
    finally:
        await wisp.close()


async def talk(thread: Thread, name: str, *, seconds: float) -> tuple[list[str], list[float]]:
    """Send prompts, one after the other, until the time is over; return those acknowledged and how long each took."""
    prompts: list[str] = []
    taken: list[float] = []
    until = time.perf_counter() + seconds
    while (began := time.perf_counter()) < until:
        prompt = f"{name} {len(prompts)}: what is in the note?"
        if await thread.send(prompt) is not Outcome.DONE:
            raise RuntimeError(thread.record.turns[thread.record.last_turn].error)
        taken.append(time.perf_counter() - began)
        prompts.append(prompt)
    return prompts, taken


async def refuse(_: Approval | Question) -> Answer:
    """Answer no."""
    return Answer(Verdict.NO)


if __name__ == "__main__":
    place, who, time_given, thread_wanted = sys.argv[1:]
    ended = asyncio.run(write(Path(place), who, seconds=float(time_given), wanted=thread_wanted))
    print(json.dumps({name: getattr(ended, name) for name in Told.__slots__}))
