"""The events of the context engine: what was estimated, condensed, cut, referenced, kept and learnt."""

from wisp_core.event_shape import EventData
from wisp_core.records import JsonObject


class ContextEstimated(EventData):
    """Written before each request: `ceil(characters / 4)` of each part, and how that stands to the window (C1)."""

    name = "context.estimated"
    system: int
    messages: int
    results: int
    schemas: int
    total: int
    window: int | None = None
    windowSource: str | None = None
    reserve: int | None = None
    percent: float | None = None
    remaining: int | None = None
    crossed: bool | None = None


class ContextCondensation(EventData):
    """Written, ending its group, when earlier entries were dropped to bring the composition to its goal."""

    name = "context.condensation"
    reason: str
    goal: int
    before: int
    after: int
    dropped: list[int]
    steps: list[str] = []
    headroom: int = 0
    calls: int = 0
    seconds: float = 0.0
    floor: bool = False
    savedBefore: str | None = None
    savedAfter: str | None = None


class ContextCompactionUndone(EventData):
    """Written, ending its group, when `/compact undo` brings back what the compaction `undone` dropped."""

    name = "context.compaction.undone"
    undone: str


class ContextShortened(EventData):
    """Written when one of the running turn's own results was shortened to make room."""

    name = "context.shortened"
    entry: int
    bytes: int
    text: str


class ContextCut(EventData):
    """Written when a stretch of a reply that retypes an output is cut from what the model carries.

    `start` and `end` are bytes of the reply's UTF-8 text, `bytes` and `tokens` (at four bytes) what the stretch took
    there, `coverage` its share of the reply, from 0 to 1. `marker` is sent in its place.
    """

    name = "context.cut"
    reply: int
    output: int
    tool: str
    start: int
    end: int
    marker: str
    bytes: int
    tokens: int
    coverage: float = 1.0


class ContextReference(EventData):
    """Written when an output goes as `text` from this turn on."""

    name = "context.reference"
    entry: int
    tool: str
    result: str
    text: str
    bytes: int
    tokens: int


class ContextDistillation(EventData):
    """Written when turns that leave were read for facts."""

    name = "context.distillation"
    turns: list[int]
    facts: list[str] = []
    error: str = ""


class ContextSummary(EventData):
    """Written when the running summary got a version, or failed to (`error`)."""

    name = "context.summary"
    version: int
    text: str
    turns: int
    highest: int
    model: str = ""
    error: str = ""


class ContextMemory(EventData):
    """Written when the memory tool was used."""

    name = "context.memory"
    action: str
    detail: JsonObject = {}


class ContextRecollection(EventData):
    """Written when earlier passages were looked up for a request."""

    name = "context.recollection"
    query: str
    entries: list[int]
    scores: list[float] = []
    why: list[str] = []


class ContextAssessment(EventData):
    """Written when a request was assessed."""

    name = "context.assessment"
    method: str
    detail: JsonObject = {}


class OutputKept(EventData):
    """Written when an output larger than the budget is kept whole in the output store."""

    name = "output.kept"
    call: str
    tool: str
    bytes: int
    lines: int
    sha256: str
    encoding: str = "utf-8"
    cut: bool = False


class FactRecorded(EventData):
    """Written when a fact gets a version; `entries`, `events` and `turns` (first and last) say where it came from."""

    name = "fact.recorded"
    fact: str
    scope: str
    subject: str
    key: str
    value: str
    source: str
    version: int
    method: str = ""
    tool: str = ""
    entries: list[int] = []
    events: list[str] = []
    turns: tuple[int, int] | None = None
    unsupported: bool = False


class FactProposed(FactRecorded):
    """Written when a fact, new or known, waits for the person to keep it as permanent; `by` is who asks."""

    name = "fact.proposed"
    by: str = ""


class FactChanged(EventData):
    """The shape that the events about one known fact share; never written itself.

    `by` is the source that made the change, `into` the fact that now stands in its place.
    """

    name = ""
    fact: str
    by: str = "person"
    into: str = ""
    reason: str = ""


class FactKept(FactChanged):
    """Written when the person keeps a proposed fact: `into` is the permanent one."""

    name = "fact.kept"


class FactDropped(FactChanged):
    """Written when the person drops a proposal: the fact stays in its thread."""

    name = "fact.dropped"


class FactSuperseded(FactChanged):
    """Written when a fact gives way to a newer version, or to another source's fact that says the same."""

    name = "fact.superseded"


class FactDeleted(FactChanged):
    """Written when the person deletes a fact."""

    name = "fact.deleted"


class FactScopeChanged(FactChanged):
    """Written when a fact is moved to `scope`: `into` is the fact there, the old copy stays as history."""

    name = "fact.scope.changed"
    scope: str


class FactConflictRaised(FactChanged):
    """Written when current facts of different sources disagree: `fact` is the winner, `other` says otherwise."""

    name = "fact.conflict.raised"
    other: str


class FactConflictResolved(FactChanged):
    """Written when a conflict is over: `fact` is what stands, or stood last."""

    name = "fact.conflict.resolved"
