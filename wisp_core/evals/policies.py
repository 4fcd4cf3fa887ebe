"""The policies that stand side by side: wisp whole and with parts off, and what others do with a full window."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from wisp_core.errors import UsageError
from wisp_core.evals.cost import Cost, cost
from wisp_core.evals.provenance import Checked, check
from wisp_core.evals.run import Run, Sent, run_scenario
from wisp_core.evals.scenario import Scenario
from wisp_core.evals.score import Score, score
from wisp_core.evals.selections import cut_to_half, drop_oldest, first_turn, keep_last, select
from wisp_core.records import JsonObject
from wisp_core.settings import Context

_BARE: JsonObject = {"facts": {"enabled": False}, "context": {"recall": {"enabled": False}}}
_PLAIN: JsonObject = {"cuts": False, "references": False, "policy": "fail-fast", "recall": {"enabled": False}}


@dataclass(frozen=True, slots=True)
class Policy:
    """One row: a run with these `settings`, or what `made` makes of the run of another policy, `of`.

    `windowless` is a run in a window that nobody knows, where nothing is dropped.
    """

    about: str
    settings: JsonObject = field(default_factory=dict)
    windowless: bool = False
    of: str = ""


POLICIES: Mapping[str, Policy] = {
    "full": Policy(
        "the whole conversation, every output whole: the upper bound",
        {"facts": {"enabled": False}, "context": _PLAIN},
        windowless=True,
    ),
    "drop-oldest": Policy("the oldest turns are left out of each request until it fits", of="full"),
    "cut-to-half": Policy("when it no longer fits the oldest turns are dropped until half is left", of="full"),
    "last-4": Policy("the last four turns", of="full"),
    "keep-turns": Policy("wisp without facts, statements and recollection", _BARE),
    "facts": Policy(
        "keep-turns and extracted facts", {"facts": {"stated": False}, "context": {"recall": {"enabled": False}}}
    ),
    "statements": Policy(
        "keep-turns and statements", {"facts": {"turn_facts": 0}, "context": {"recall": {"enabled": False}}}
    ),
    "recollection": Policy("keep-turns and recollection", {"facts": {"enabled": False}}),
    "no-recollection": Policy("wisp without recollection", {"context": {"recall": {"enabled": False}}}),
    "no-statements": Policy("wisp without statements", {"facts": {"stated": False}}),
    "no-references": Policy("wisp with every output whole", {"context": {"references": False}}),
    "no-cuts": Policy("wisp with every reply whole", {"context": {"cuts": False}}),
    "wisp": Policy("wisp whole"),
    "recent": Policy("the person's newest sentences in the room of wisp's blocks", of="wisp"),
    "random": Policy("sentences of the person by chance in the room of wisp's blocks", of="wisp"),
    "oracle": Policy("in the room of wisp's blocks what a selection that knows all questions takes", of="wisp"),
}
USUAL = ("full", "drop-oldest", "keep-turns", "statements", "recollection", "wisp")


@dataclass(frozen=True, slots=True)
class Result:
    """What one policy did on one conversation; without `cost` and `checked` where it only selects other lines."""

    policy: str
    name: str
    half: str
    scores: Sequence[Score]
    cost: Cost | None
    checked: Checked | None
    seconds: float


def named_policies(names: Sequence[str]) -> tuple[str, ...]:
    """Return the policies with these names in the order of the tables.

    Raises:
        UsageError: there is no such policy.
    """
    for name in names:
        if name not in POLICIES:
            raise UsageError(f"there is no policy `{name}`", f"they are {', '.join(POLICIES)}")
    return tuple(name for name in POLICIES if name in names)


class Bench:
    """Runs the policies on one conversation, each real run once."""

    def __init__(self, scenario: Scenario, *, window: int, given: JsonObject) -> None:
        self.scenario = scenario
        self.window = window
        self._given = given
        self._runs: dict[str, Run] = {}

    async def measure(self, name: str) -> Result:
        """Return what a policy does."""
        policy = POLICIES[name]
        run = await self._run(policy.of or name)
        if policy.of == "wisp":
            scores = score(run, select(run, name))
            return Result(name, self.scenario.name, self.scenario.half, scores, None, None, run.seconds)
        sent, condensed = run.sent, run.condensed
        if policy.of:
            sent = tuple(self._made(name, sent))
            condensed = _changes(sent)
        answering = {request.turn: request for request in sent if request.turn not in run.failed}
        return Result(
            policy=name,
            name=self.scenario.name,
            half=self.scenario.half,
            scores=score(run, answering),
            cost=cost(run, sent, condensed=condensed),
            checked=check(run, sent),
            seconds=run.seconds,
        )

    def _made(self, name: str, sent: Sequence[Sent]) -> list[Sent]:
        room = int(Context().budget * self.window)
        match name:
            case "drop-oldest":
                return drop_oldest(sent, room=room)
            case "cut-to-half":
                return cut_to_half(sent, room=room, window=self.window)
            case _:
                return keep_last(sent)

    async def _run(self, name: str) -> Run:
        if name not in self._runs:
            policy = POLICIES[name]
            window = None if policy.windowless else self.window
            settings = policy.settings if policy.windowless else overlaid(self._given, policy.settings)
            self._runs[name] = await run_scenario(self.scenario, window=window, given=settings)
        return self._runs[name]


def overlaid(under: JsonObject, over: JsonObject) -> JsonObject:
    """Return settings with others laid over them, section by section."""
    laid = dict(under)
    for key, value in over.items():
        known = laid.get(key)
        laid[key] = overlaid(known, value) if isinstance(known, dict) and isinstance(value, dict) else value
    return laid


def _changes(sent: Sequence[Sent]) -> tuple[int, ...]:
    """Return the turns at which the oldest turn of the requests changed."""
    first, turns = 0, []
    for request in sent:
        oldest = first_turn(request)
        if oldest != first and first:
            turns.append(request.turn)
        first = oldest
    return tuple(dict.fromkeys(turns))
