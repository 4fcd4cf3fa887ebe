"""What goes to a model and what comes back, and what goes to a tool and comes back, in no provider's own shape."""

import asyncio
from dataclasses import dataclass
from enum import StrEnum
from typing import TypeAlias

from wisp_core.records import JsonObject, Rendering, Usage

CHARACTERS_A_TOKEN = 4
"""How many characters the deterministic approximation takes for a token (C1)."""


class Role(StrEnum):
    """Who speaks in a message."""

    SYSTEM = "system"
    USER = "user"
    ASSISTANT = "assistant"
    TOOL = "tool"


@dataclass(frozen=True, slots=True)
class WireCall:
    """A tool call inside an assistant message; `arguments` is a JSON object's text."""

    id: str
    name: str
    arguments: str


@dataclass(frozen=True, slots=True)
class Message:
    """One message; `calls` only of the assistant, `call_id` and `name` only of a tool's result."""

    role: Role
    text: str = ""
    calls: tuple[WireCall, ...] = ()
    call_id: str = ""
    name: str = ""


@dataclass(frozen=True, slots=True)
class ToolSchema:
    """A tool as the model is told of it; `parameters` is a JSON schema of an object."""

    name: str
    description: str
    parameters: JsonObject


@dataclass(frozen=True, slots=True)
class ModelRequest:
    """One request; `max_output` in tokens; the first user message begins with `stable` characters of earlier block."""

    messages: tuple[Message, ...]
    tools: tuple[ToolSchema, ...] = ()
    max_output: int | None = None  # None and an empty effort leave it to the provider
    temperature: float | None = None
    stable: int = 0
    effort: str = ""  # low, medium or high


@dataclass(frozen=True, slots=True)
class Window:
    """A model's context length in tokens and where the figure comes from (`config`, `server`, `catalogue`, `error`)."""

    tokens: int
    source: str


@dataclass(frozen=True, slots=True)
class Capabilities:
    """What a model can do; `counts`: count tokens without a call of it; `loads`: be loaded by its server in silence."""

    tools: bool = True
    counts: bool = False
    guided: bool = False
    loads: bool = False


@dataclass(frozen=True, slots=True)
class TextDelta:
    """A part of the reply."""

    text: str


@dataclass(frozen=True, slots=True)
class ReasoningDelta:
    """A part of the reasoning."""

    text: str


@dataclass(frozen=True, slots=True)
class CallRequested:
    """A whole tool call, its fragments joined; `arguments` is as the model gave it and may be no JSON."""

    name: str
    arguments: str


@dataclass(frozen=True, slots=True)
class PromptProgress:
    """How much of the prompt the server has read, in tokens; `loading` while the model itself is loaded."""

    done: int
    total: int
    loading: bool = False


@dataclass(frozen=True, slots=True)
class UsageReported:
    """The provider's own count."""

    usage: Usage


@dataclass(frozen=True, slots=True)
class Finished:
    """The end of a reply: `stop`, `length`, `tool_calls` or another word of the provider's."""

    reason: str


ModelEvent: TypeAlias = TextDelta | ReasoningDelta | CallRequested | PromptProgress | UsageReported | Finished


@dataclass(frozen=True, slots=True)
class Item:
    """One part of a composition: an entry (`entry`) or a block (`entry` None), with the text that goes out."""

    id: str
    entry: int | None
    kind: str
    origin: str
    turn: int
    rendering: Rendering
    text: str

    @property
    def bytes(self) -> int:
        """The size of the text in bytes of UTF-8."""
        return len(self.text.encode())


@dataclass(frozen=True, slots=True)
class Composition:
    """What one request carries: the items in order, the messages they make, and the hash of their canonical form."""

    items: tuple[Item, ...]
    messages: tuple[Message, ...]
    sha256: str
    instructions: int = 1
    earlier: str | None = None
    now: str | None = None


@dataclass(frozen=True, slots=True)
class Recalled:
    """An earlier passage that the now block carries: its entry, BM25 score, and why it was chosen."""

    entry: int
    score: float
    why: str


@dataclass(frozen=True, slots=True)
class Blocks:
    """The two prompt-side records of a request: facts from earlier, and about now with what was recollected.

    `query` are the words that were looked up, empty where nothing was.
    """

    earlier: str | None = None
    now: str | None = None
    recalled: tuple[Recalled, ...] = ()
    query: tuple[str, ...] = ()


NO_BLOCKS = Blocks()


class ToolKind(StrEnum):
    """What a tool does to the world, which decides whether it is asked about."""

    READS = "reads"
    WRITES = "writes"
    COMMAND = "command"
    SHOWS = "shows"
    ASKS = "asks"


@dataclass(frozen=True, slots=True)
class KeptOutput:
    """An output kept whole in the store: `cut` tells that over 16 MiB its middle was left out, stated inside.

    Of a cut one, `cut_after` is the last line before the cut and `cut_until` the first after it, both counted in the
    whole output; in what is stored the line after `cut_after` states the cut and `cut_until` follows it.
    """

    call: str
    bytes: int
    lines: int
    sha256: str
    encoding: str = "utf-8"
    cut: bool = False
    cut_after: int = 0
    cut_until: int = 0


@dataclass(frozen=True, slots=True)
class ToolResult:
    """What a tool gives: `text` is bounded and marked, `bytes` and `lines` are of the whole."""

    text: str
    ok: bool = True
    exit_status: int | None = None
    bytes: int = 0
    lines: int = 0
    kept: KeptOutput | None = None


CANCELLED = "[cancelled by the person]"
"""What stands where a tool was cancelled, so that no call is without a result."""


class ToolCancelled(asyncio.CancelledError):
    """A tool was cancelled; `result` is what had come of it, which is kept."""

    def __init__(self, result: ToolResult) -> None:
        super().__init__()
        self.result = result


@dataclass(frozen=True, slots=True)
class EarlierFile:
    """What a file held before the edit `call`: `path` is its real place, `before` None where there was no file.

    `after` is the SHA-256 of what was written.
    """

    call: str
    path: str
    before: bytes | None
    after: str


@dataclass(frozen=True, slots=True)
class Approval:
    """A question, may this call run? `arguments` in full, `why` it asks, the `rule` that always allows.

    `preview` is what it will do where the arguments do not say it, such as the diff of an edit.
    """

    call: str
    tool: str
    kind: ToolKind
    arguments: JsonObject
    cwd: str
    why: str
    rule: str = ""
    preview: str = ""


class Verdict(StrEnum):
    """The person's answer to an approval."""

    ONCE = "once"
    THREAD = "thread"
    ALWAYS = "always"
    NO = "no"


@dataclass(frozen=True, slots=True)
class Question:
    """A question of the model's to the person, of the call `call`, with what may be chosen, if anything."""

    call: str
    text: str
    choices: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Answer:
    """What was answered: to an approval a verdict and a reason for the model, to a question `text`, empty for none.

    `by` is `person`, `rule`, or `none` where nobody could be asked.
    """

    verdict: Verdict
    reason: str = ""
    by: str = "person"
    text: str = ""


@dataclass(frozen=True, slots=True)
class Estimate:
    """`ceil(characters / 4)` of each part of a request, in tokens (C1); window figures are None where it is unknown."""

    system: int
    messages: int
    results: int
    schemas: int
    window: int | None = None
    reserve: int | None = None

    @property
    def total(self) -> int:
        """The sum of the parts."""
        return self.system + self.messages + self.results + self.schemas

    @property
    def percent(self) -> float | None:
        """The share of the window in percent."""
        return None if not self.window else round(100 * self.total / self.window, 1)

    @property
    def remaining(self) -> int | None:
        """What is left under window and reserve, in tokens; negative when crossed."""
        return None if self.window is None else self.window - (self.reserve or 0) - self.total


@dataclass(frozen=True, slots=True)
class Measurement:
    """A request's size in tokens: the model's own count where it was `counted`, else an estimate (C4)."""

    tokens: int
    counted: bool = False


@dataclass(frozen=True, slots=True)
class Share:
    """A part of the window in tokens, for the bar.

    `part` is `instructions`, `tools`, `earlier`, `turns`, `now`, `request`, `headroom` or `free`; `label` names it more
    closely where it is one of several, as a segment of the instructions.
    """

    part: str
    label: str
    tokens: int


@dataclass(frozen=True, slots=True)
class TurnChanges:
    """What one turn changed, as counts, and how full its last request was: `tokens` of `window`.

    `tokens` is the provider's count where it `reported` one, else what was measured; None where nothing was sent.
    """

    turn: int
    outcome: str
    added: int = 0
    cut: int = 0
    referenced: int = 0
    dropped: int = 0
    summarised: int = 0
    facts: int = 0
    requests: int = 0
    tokens: int | None = None
    window: int | None = None
    reported: bool = False


@dataclass(frozen=True, slots=True)
class PastRequest:
    """The request of an earlier turn, composed again, and what its answer added.

    `step` is the turn's request that was answered last, `sha256` what was recorded of it; `same` tells that composing
    it again gave the same. `recalled` are the entries of recollected passages, each with why it was chosen. `size` is
    what the provider counted of it, else what was measured then, None where neither is known; `shares` are the `window`
    by part.
    """

    turn: int
    step: int
    composition: Composition
    answer: tuple[Item, ...]
    sha256: str
    same: bool
    settings: JsonObject
    recalled: tuple[tuple[int, str], ...] = ()
    size: Measurement | None = None
    window: int | None = None
    shares: tuple[Share, ...] = ()


@dataclass(frozen=True, slots=True)
class FoundPassage:
    """An entry that a search found: `excerpt` is one line around the match, with the match in U+E000 and U+E001."""

    thread: str
    title: str
    entry: int
    turn: int
    kind: str
    time: str
    excerpt: str
