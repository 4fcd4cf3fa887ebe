"""Sums the results up by half and policy, as figures and as tables to read."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass

from wisp_core.evals.cost import Cost
from wisp_core.evals.intervals import interval
from wisp_core.evals.policies import Result
from wisp_core.records import JsonObject

OWN = "by hand"
"""The half of scenarios that are of none."""


@dataclass(frozen=True, slots=True)
class Row:
    """One policy over one half; shares are from 0 to 1, tokens are of four characters, None is what was not measured.

    `answerable` has the ends of its 95% interval with it. `resolved` and `supported` are shares of the blocks' lines
    that name an entry, `unnamed` counts the lines that name none, `usurped` those that give the person the word of
    another. `kinds` is answerable by the kind of question.
    """

    half: str
    policy: str
    conversations: int
    questions: int
    answerable: tuple[float, float, float]
    kinds: dict[str, float]
    current: float | None
    stale: int
    lines: int
    resolved: float | None
    supported: float | None
    unnamed: int
    usurped: int
    prompt: float | None
    processed: float | None
    amplification: float | None
    amplification_large: float | None
    shared: float | None
    gap_least: int | None
    gap_median: int | None
    failed: int


def summarise(results: Sequence[Result]) -> list[Row]:
    """Return a row for each half and policy, in the order in which they came."""
    groups: dict[tuple[str, str], list[Result]] = {}
    for result in results:
        groups.setdefault((result.half or OWN, result.policy), []).append(result)
    return [_row(half, policy, results=group) for (half, policy), group in groups.items()]


def as_json(rows: Sequence[Row]) -> list[JsonObject]:
    """Return the rows as JSON takes them."""
    return [asdict(row) for row in rows]


def print_tables(rows: Sequence[Row]) -> str:
    """Return the tables of each half: how the policies do, what they cost, and answerable by kind of question."""
    parts = []
    for half in dict.fromkeys(row.half for row in rows):
        of_half = [row for row in rows if row.half == half]
        first = of_half[0]
        parts.append(f"{half}: {first.questions} questions over {first.conversations} conversations")
        parts += [_table(_answers(of_half)), _table(_costs(of_half)), _table(_kinds(of_half))]
    return "\n\n".join(parts) + "\n"


def _row(half: str, policy: str, *, results: Sequence[Result]) -> Row:
    scores = [score for result in results for score in result.scores]
    kinds = dict.fromkeys(score.kind for score in scores)
    of_kind = {kind: [score.answerable for score in scores if score.kind == kind] for kind in kinds}
    current = [float(score.current) for score in scores if score.current is not None]
    checked = [result.checked for result in results if result.checked is not None]
    named = sum(one.lines - one.unknown for one in checked)
    costs = [result.cost for result in results if result.cost is not None]
    gaps = sorted(gap for one in costs for gap in one.gaps)
    requests = sum(one.requests for one in costs)
    return Row(
        half=half,
        policy=policy,
        conversations=len(results),
        questions=len(scores),
        answerable=interval([[score.answerable for score in result.scores] for result in results]),
        kinds={kind: sum(values) / len(values) for kind, values in of_kind.items()},
        current=_share(sum(current), len(current)),
        stale=sum(bool(score.stale) for score in scores),
        lines=sum(one.lines for one in checked),
        resolved=_share(sum(one.resolved for one in checked), named),
        supported=_share(sum(one.supported for one in checked), named),
        unnamed=sum(one.unknown for one in checked),
        usurped=sum(one.usurped for one in checked),
        prompt=_share(sum(one.prompt for one in costs), requests),
        processed=_share(sum(one.processed for one in costs), requests),
        amplification=_share(sum(one.processed for one in costs), sum(one.added for one in costs)),
        amplification_large=_large(costs),
        shared=_share(sum(one.shared for one in costs), requests),
        gap_least=gaps[0] if gaps else None,
        gap_median=gaps[len(gaps) // 2] if gaps else None,
        failed=sum(one.failed for one in costs),
    )


def _large(costs: Sequence[Cost]) -> float | None:
    return _share(sum(one.large[0] for one in costs), sum(one.large[1] for one in costs))


def _share(part: float, whole: float) -> float | None:
    return part / whole if whole else None


def _answers(rows: Sequence[Row]) -> list[list[str]]:
    head = ["policy", "answerable", "95%", "current", "stale", "lines", "resolved", "supported", "no source", "usurped"]
    return [
        head,
        *(
            [
                row.policy,
                _percent(row.answerable[0]),
                f"{100 * row.answerable[1]:.0f}–{100 * row.answerable[2]:.0f}",
                _percent(row.current),
                str(row.stale),
                str(row.lines),
                _percent(row.resolved),
                _percent(row.supported),
                str(row.unnamed),
                str(row.usurped),
            ]
            for row in rows
        ),
    ]


def _costs(rows: Sequence[Row]) -> list[list[str]]:
    head = ["policy", "prompt", "processed", "amplified", "large turns", "prefix", "gap least", "gap median", "failed"]
    return [
        head,
        *(
            [
                row.policy,
                _number(row.prompt, 0),
                _number(row.processed, 0),
                _number(row.amplification, 2),
                _number(row.amplification_large, 2),
                _percent(row.shared),
                _number(row.gap_least, 0),
                _number(row.gap_median, 0),
                str(row.failed),
            ]
            for row in rows
            if row.prompt is not None
        ),
    ]


def _kinds(rows: Sequence[Row]) -> list[list[str]]:
    """Return answerable by kind, a policy a column."""
    kinds = dict.fromkeys(kind for row in rows for kind in row.kinds)
    head = ["answerable by kind", *(row.policy for row in rows)]
    return [head, *([kind, *(_percent(row.kinds.get(kind)) for row in rows)] for kind in sorted(kinds))]


def _percent(share: float | None) -> str:
    return "-" if share is None else f"{100 * share:.1f}%"


def _number(value: float | None, digits: int) -> str:
    return "-" if value is None else f"{value:,.{digits}f}"


def _table(rows: list[list[str]]) -> str:
    """Return rows as a Markdown table whose columns stand under each other."""
    widths = [max(len(row[at]) for row in rows) for at in range(len(rows[0]))]
    lines = [f"| {' | '.join(cell.ljust(width) for cell, width in zip(row, widths, strict=True))} |" for row in rows]
    rule = f"|{'|'.join('-' * (width + 2) for width in widths)}|"
    return "\n".join([lines[0], rule, *lines[1:]])
