"""Short ways to ask a backend, for the tests of this folder."""

from contextlib import aclosing

from wisp_core.models.catalogue import open_backend
from wisp_core.requests import (
    CallRequested,
    Finished,
    Message,
    ModelRequest,
    ReasoningDelta,
    Role,
    TextDelta,
    ToolSchema,
    UsageReported,
)
from wisp_core.settings import Endpoint, Settings, Timeouts

DATE = ToolSchema("current_date", "Current date, time, time zone and week.", {"type": "object", "properties": {}})
READ = ToolSchema("read_file", "Reads a file.", {"type": "object", "properties": {"path": {"type": "string"}}})


def prompt(text="hello", **fields):
    """Return a request of one prompt."""
    return ModelRequest((Message(Role.SYSTEM, "Be brief."), Message(Role.USER, text)), **fields)


def connect(provider, model="local/fake", *, url="", environ=None, timeouts=None, **endpoint):
    """Return the backend of a fake provider."""
    settings = Settings(
        endpoints={"fake": Endpoint(url=url or provider.url, **endpoint)}, timeouts=timeouts or Timeouts(connect=2.0)
    )
    return open_backend(model, settings, environ=environ or {})


async def ask(backend, request=None):
    """Return all events of an answer."""
    async with aclosing(backend.stream(request or prompt())) as events:
        return [event async for event in events]


def text(events):
    """Return the reply."""
    return "".join(event.text for event in events if isinstance(event, TextDelta))


def reasoning(events):
    """Return the reasoning."""
    return "".join(event.text for event in events if isinstance(event, ReasoningDelta))


def calls(events):
    """Return the calls as (name, arguments)."""
    return [(event.name, event.arguments) for event in events if isinstance(event, CallRequested)]


def usage(events):
    """Return the usage, None where none was reported."""
    return next((event.usage for event in events if isinstance(event, UsageReported)), None)


def finish(events):
    """Return how the answer ended; it is the last event and the only one of its kind."""
    ends = [event.reason for event in events if isinstance(event, Finished)]
    assert len(ends) == 1
    assert isinstance(events[-1], Finished)
    return ends[0]
