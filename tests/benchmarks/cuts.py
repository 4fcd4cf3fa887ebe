"""Finding exact copies in a reply of 1 MB beside an output of 1 MB; the yardstick is normalising both once.

Beside the copies that models make stand texts made to take long: they show that nothing is looked at over and over.
"""

import time
from collections.abc import Sequence

from tests.benchmarks.figures import Figure, in_turns
from wisp_core.composer.blocks import normalise, raw_lines
from wisp_core.composer.cuts import find_cuts
from wisp_core.records import Entry, EntryKind, OutputContent, ReplyContent

ROUNDS = 11
BYTES = 1_000_000
GOAL = 3
REPEATED = "the same again\n"


def measure() -> tuple[list[Figure], str]:
    """Return the copies against their goal, then what is hostile."""
    lines = [f"line {n} of the file says something about {n * 7919 % 1000} things" for n in range(BYTES // 50)]
    text, page = "\n".join(lines), "\n".join(f"{n}\t{line}" for n, line in enumerate(lines, 1))
    rows = "\n".join(f"| {line.replace(' ', ' | ', 1)} |" for line in lines)
    near = "\n\n".join("\n".join([*lines[n : n + 9], *lines[n + 10 : n + 12]]) for n in range(0, len(lines), 10))
    again = (REPEATED * (BYTES // len(REPEATED))).rstrip()
    few = ["abcd"[(n * n + n // 7) % 4] for n in range(BYTES)]
    blocks = "\n\n".join("\n".join(few[n : n + 30]) for n in range(0, BYTES // 2, 30))
    figures = [
        figure("a command's output in fenced code", fenced(text), outputs=[("run_command", text)], goal=GOAL),
        figure("a file without its numbers", fenced(text), outputs=[("read_file", page)], goal=GOAL),
        figure("a file with its numbers", fenced(page), outputs=[("read_file", page)], goal=GOAL),
        figure(
            "a table of an output's lines", f"| a | b |\n|---|---|\n{rows}", outputs=[("run_command", text)], goal=GOAL
        ),
        figure("nothing alike", fenced(text.replace("line", "row")), outputs=[("run_command", text)], goal=GOAL),
        figure("one line, repeated", fenced(again), outputs=[("run_command", again)], goal=GOAL),
        figure("2,000 blocks that nearly match", near, outputs=[("run_command", text)]),
        figure("each line a paragraph", text.replace("\n", "\n\n"), outputs=[("run_command", text)]),
        figure("few letters, a line each", blocks, outputs=[("run_command", "\n".join(few[BYTES // 2 :]))]),
        figure(
            f"{len(lines) // 10:,} outputs",
            fenced(text),
            outputs=[("run_command", part) for part in near.split("\n\n")],
        ),
    ]
    return figures, ""


def figure(what: str, reply: str, *, outputs: Sequence[tuple[str, str]], goal: float | None = None) -> Figure:
    """Return the CPU seconds of finding the cuts beside those of normalising the same texts."""
    turn = [
        Entry(number, f"w{number}", EntryKind.TOOL_OUTPUT, 1, "", OutputContent(f"c{number}", tool, text))
        for number, (tool, text) in enumerate(outputs, 1)
    ]
    turn.append(Entry(len(turn) + 1, "r", EntryKind.REPLY, 1, "", ReplyContent(reply)))
    texts = [reply, *(text for _, text in outputs)]
    ours, its = in_turns(lambda: seconds_of_cuts(turn), lambda: seconds_of_normalising(texts), rounds=ROUNDS)
    return Figure(what, "normalising both once", "s", ours, its, goal=goal)


def seconds_of_cuts(turn: Sequence[Entry]) -> float:
    """Return the CPU seconds that finding the cuts of a turn takes."""
    began = time.process_time()
    find_cuts(turn)
    return time.process_time() - began


def seconds_of_normalising(texts: Sequence[str]) -> float:
    """Return the CPU seconds that normalising texts takes."""
    began = time.process_time()
    for text in texts:
        normalise(raw_lines(text))
    return time.process_time() - began


def fenced(text: str) -> str:
    """Return text as fenced code."""
    return f"Here it is:\n\n```\n{text}\n```\n\nThat is all."
