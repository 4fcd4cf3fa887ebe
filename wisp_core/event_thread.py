"""The events of sessions, threads, turns, tools and permissions."""

from wisp_core.event_shape import CallData, EventData, SegmentData, UsageData
from wisp_core.records import JsonObject


class SessionStart(EventData):
    """Written when a wisp process opens its home: versions, working directory, model, what was carried or swept."""

    name = "session.start"
    versions: dict[str, str]
    cwd: str
    model: str = ""
    face: str = ""
    carriedFrom: list[str] = []
    outputSweep: JsonObject | None = None


class SessionEnd(EventData):
    """Written when a wisp process leaves its home in order."""

    name = "session.end"


class ThreadStart(EventData):
    """Written before a thread's first prompt, with the instruction stack that it starts over.

    One that begins with what another thread held has that as `carried`, the rows of a saved record, and names the
    sessions whose events they refer to; `resumed` is the transcript that it was.
    """

    name = "thread.start"
    cwd: str
    model: str
    mode: str
    instructions: list[SegmentData]
    carried: list[JsonObject] = []
    carriedFrom: list[str] = []
    resumed: str = ""


class ThreadRenamed(EventData):
    """Written when the person gives a thread a title."""

    name = "thread.renamed"
    title: str


class ThreadForked(EventData):
    """Written, ending its group, when a thread begins as a copy of the thread `source` up to the end of `turn`."""

    name = "thread.forked"
    source: str
    turn: int


class ThreadDeleted(EventData):
    """Written when the person deletes a thread from the store; the audit keeps it."""

    name = "thread.deleted"


class Prompt(EventData):
    """Written, and on disk, before anything else is done for what the person sent."""

    name = "prompt"
    text: str


class Response(EventData):
    """Written when a request's answer is complete, or was cut with something in it."""

    name = "response"
    request: str
    step: int
    text: str
    reasoning: str = ""
    calls: list[CallData] = []
    finish: str
    usage: UsageData | None = None
    model: str
    seconds: float = 0.0


class ToolCalled(EventData):
    """Written, and on disk, before a tool runs; `arguments` are those it runs with."""

    name = "tool.call"
    call: str
    tool: str
    arguments: JsonObject


class ToolReturned(EventData):
    """Written, and on disk, before the model is sent a tool's result; `text` is the result, bounded and marked.

    Of a `cancelled` tool it is what had come.
    """

    name = "tool.result"
    call: str
    tool: str
    text: str
    ok: bool
    exitStatus: int | None = None
    bytes: int = 0
    lines: int = 0
    seconds: float = 0.0
    kept: bool = False
    cancelled: bool = False
    repeat: str | None = None


class CommandRun(EventData):
    """Written when the person's own `!command` has ended, or was `cancelled`."""

    name = "command"
    call: str = ""
    command: str
    output: str
    exitStatus: int | None = None
    bytes: int = 0
    lines: int = 0
    kept: bool = False
    cancelled: bool = False


class TurnEnd(EventData):
    """Written when a turn ends: outcome (`done`, `interrupted`, `failed`, `abandoned`), the turn's usage, its facts."""

    name = "turn.end"
    outcome: str
    error: str = ""
    usage: UsageData | None = None
    facts: list[str] = []


class RequestComposed(EventData):
    """Written before a request is sent: its plan (A4a); `segments` only where the instructions' version is new.

    `bytes` is what messages and schemas say, `tokens` their measured size, `recalled` the entries of recollected
    passages with why each was chosen.
    """

    name = "request.composed"
    step: int
    entries: list[tuple[int, str]]
    earlier: str | None = None
    now: str | None = None
    instructions: int
    segments: list[SegmentData] | None = None
    settings: JsonObject
    sha256: str
    model: str = ""
    window: int | None = None
    bytes: int = 0
    tokens: int = 0
    recalled: list[tuple[int, str]] = []


class RequestRetried(EventData):
    """Written when a request is sent again: by the person (`/retry`), after an overflow, or after a passing failure."""

    name = "request.retried"
    reason: str
    attempt: int = 1
    wait: float = 0.0
    error: str = ""


class ApprovalRequested(EventData):
    """Written when the person is asked whether a call may run; `preview` is what would change, as it is shown."""

    name = "approval.requested"
    call: str
    tool: str
    arguments: JsonObject
    cwd: str
    why: str
    preview: str = ""


class ApprovalDecided(EventData):
    """Written when a call was permitted or refused: who, what, how long it took in seconds, and a reason."""

    name = "approval.decided"
    call: str
    decision: str
    by: str
    reason: str = ""
    seconds: float = 0.0


class PermissionGranted(EventData):
    """Written when the person allows a rule, for this conversation (`thread`) or for all (`always`, in the config)."""

    name = "permission.granted"
    rule: str
    scope: str = "thread"


class QuestionAsked(EventData):
    """Written when the model asks the person something."""

    name = "question.asked"
    call: str
    question: str
    choices: list[str] = []


class QuestionAnswered(EventData):
    """Written when the person answered."""

    name = "question.answered"
    call: str
    answer: str


class TrustChanged(EventData):
    """Written when the person trusts a folder or no longer does."""

    name = "trust.changed"
    path: str
    trusted: bool


class ModelChanged(EventData):
    """Written when a thread goes on with another model."""

    name = "model.changed"
    model: str
    window: int | None = None


class ModeChanged(EventData):
    """Written when the person changes the mode."""

    name = "mode.changed"
    mode: str


class ErrorHappened(EventData):
    """Written when something failed: what was shown, and the details that were not."""

    name = "error"
    kind: str
    message: str
    endpoint: str = ""
    detail: str = ""
