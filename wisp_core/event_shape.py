"""The base of the events' data and the shapes that several events share."""

from typing import ClassVar

from pydantic import BaseModel, ConfigDict


class EventData(BaseModel):
    """What an event says; `name` is the word in the log."""

    # Built on first use: a start builds the few models it writes, not all of them.
    model_config = ConfigDict(frozen=True, extra="ignore", defer_build=True)
    name: ClassVar[str]


class SegmentData(BaseModel):
    """One segment of the instruction stack."""

    model_config = ConfigDict(frozen=True)
    name: str
    text: str


class CallData(BaseModel):
    """One tool call of a response; `arguments` is a JSON object's text, `given` what the model wrote instead of one."""

    model_config = ConfigDict(frozen=True)
    call: str
    tool: str
    arguments: str
    given: str | None = None


class UsageData(BaseModel):
    """Tokens as the provider reported them."""

    model_config = ConfigDict(frozen=True)
    prompt: int | None = None
    completion: int | None = None
    total: int | None = None
    cached: int | None = None
