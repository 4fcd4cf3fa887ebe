"""An assertion: what a source says of an identity, before the ledger has judged it. Pure."""

from dataclasses import dataclass
from enum import StrEnum


class Source(StrEnum):
    """Who asserts: person and caller stand above tool and the person's command, the model below all (F5)."""

    PERSON = "person"
    CALLER = "caller"
    TOOL = "tool"
    PERSON_COMMAND = "person_command"
    MODEL = "model"


@dataclass(frozen=True, slots=True)
class Assertion:
    """What a source says of {subject, name}; the ledger gives it scope, version and id.

    `method` says how it was found (`stated`, `inferred`, `noted`, `distilled: the person said`, …), `tool` names the
    tool of a tool's. `entries` and `events` are where it came from, `turns` the first and the last turn of that.
    `unsupported` flags a value that its source was never shown (F17). `corrects` are the ids of facts that the person
    takes back with it (F14); of another source it counts for nothing.
    """

    subject: str
    name: str
    value: str
    source: Source
    method: str = ""
    tool: str = ""
    entries: tuple[int, ...] = ()
    events: tuple[str, ...] = ()
    turns: tuple[int, int] | None = None
    unsupported: bool = False
    corrects: tuple[str, ...] = ()
