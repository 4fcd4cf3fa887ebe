"""A model that answers from a file, for tests and demonstrations; it takes only what a strict provider takes.

The file is a JSON list of replies, a JSON object of settings with `replies`, or JSON lines of replies. Settings:

    {"window": 4096, "tools": true, "counts": true, "guided": true, "loop": false, "replies": […]}

`window` in tokens (left out: unknown) makes a longer request overflow; `counts` tells sizes as ceil(characters / 4);
`loop` begins again when the replies are used up. A reply:

    {"text": "hello" or ["hel", "lo"], "reasoning": "…", "calls": [{"name": "read_file", "arguments": {…} or "…"}],
     "usage": {"prompt": 10, "completion": 2, "total": 12, "cached": 0} or null, "finish": "stop",
     "when": "regex", "repeat": false, "hang": false,
     "error": {"type": "overflow", "message": "…", "limit": 4096, "count": 5000, "output": 100, "wait": 1}}

Each request takes the first unused reply whose `when` is found in the last prompt's text (left out: any); `repeat`
keeps it. Everything may be left out; `error` and `hang` (waiting until cancelled) come after text and calls. Error
types: no_model, unreachable, authentication, rate_limited, overloaded, overflow, bad_request, cut, timeout. A request
with wrong roles, orphans or empty messages, or no reply left, is a `BadRequestError`.
"""

import asyncio
import json
import math
import re
from collections.abc import AsyncGenerator, Iterator, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, ValidationError

from wisp_core.errors import (
    AuthenticationError,
    BadRequestError,
    ContextOverflowError,
    CutStreamError,
    ModelError,
    ModelTimeoutError,
    NoModelError,
    OverloadedError,
    RateLimitedError,
    Sizes,
    UnreachableError,
)
from wisp_core.records import Usage
from wisp_core.requests import (
    CallRequested,
    Capabilities,
    Finished,
    Message,
    ModelEvent,
    ModelRequest,
    ReasoningDelta,
    Role,
    TextDelta,
    ToolSchema,
    UsageReported,
    Window,
)
from wisp_core.text import sound, split_lines

Schema = TypeVar("Schema", bound=BaseModel)

_ERRORS: dict[str, type[ModelError]] = {
    "no_model": NoModelError,
    "unreachable": UnreachableError,
    "authentication": AuthenticationError,
    "overloaded": OverloadedError,
    "bad_request": BadRequestError,
    "cut": CutStreamError,
    "timeout": ModelTimeoutError,
}


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class _Call(_Part):
    name: str
    arguments: dict[str, Any] | str = "{}"


class _Usage(_Part):
    prompt: int | None = None
    completion: int | None = None
    total: int | None = None
    cached: int | None = None


class _Error(_Part):
    type: Literal[
        "no_model",
        "unreachable",
        "authentication",
        "rate_limited",
        "overloaded",
        "overflow",
        "bad_request",
        "cut",
        "timeout",
    ]
    message: str = "the script says so"
    limit: int | None = None
    count: int | None = None
    output: int | None = None
    wait: float | None = None


_Texts = Annotated[list[str], BeforeValidator(lambda value: [value] if isinstance(value, str) else value)]


class _Reply(_Part):
    text: _Texts = []
    reasoning: _Texts = []
    calls: list[_Call] = []
    usage: _Usage | None = None
    finish: str = ""
    when: str = ""
    repeat: bool = False
    hang: bool = False
    error: _Error | None = None


class _Script(_Part):
    window: int | None = None
    tools: bool = True
    counts: bool = True
    guided: bool = True
    loop: bool = False
    replies: list[_Reply]


def open_script(name: str, file: str) -> "ScriptedBackend":
    """Return the backend that answers from a file.

    Raises:
        NoModelError: the file cannot be read or is no script.
    """
    path = Path(file).expanduser()
    try:
        return ScriptedBackend(name, _Script.model_validate(_parse(path.read_text("utf-8"))))
    except OSError as error:
        raise NoModelError(f"the script {path} cannot be read ({error.strerror})") from error
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"])
        raise NoModelError(f"the script {path} is wrong at `{where}`: {first['msg']}") from error
    except ValueError as error:
        raise NoModelError(f"the script {path} is no JSON ({error})") from error


def _parse(text: str) -> Any:
    try:
        value = json.loads(text)
    except json.JSONDecodeError:
        value = [json.loads(line) for line in split_lines(text) if line.strip()]
    if isinstance(value, dict) and "replies" not in value:
        value = [value]
    return value if isinstance(value, dict) else {"replies": value}


class ScriptedBackend:
    """A `ModelBackend` that answers from a script; `requests` are those it has been sent."""

    def __init__(self, name: str, script: _Script) -> None:
        self.name = name
        self.endpoint = name
        self.capabilities = Capabilities(script.tools, script.counts, script.guided)
        self.requests: list[ModelRequest] = []
        self._script = script
        self._used: set[int] = set()

    async def window(self) -> Window | None:
        """Return the script's window."""
        return None if self._script.window is None else Window(self._script.window, "config")

    async def warm(self) -> None:
        """Do nothing: there is nothing to wait for."""

    async def close(self) -> None:
        """Do nothing: there is nothing to close."""

    async def count(self, messages: Sequence[Message], tools: Sequence[ToolSchema]) -> int | None:
        """Return ceil(characters / 4) of the prompt where the script counts."""
        return _size(messages, tools) if self._script.counts else None

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        """Yield the next reply's parts.

        Raises:
            ModelError: as scripted, or a `BadRequestError` that tells what is wrong with the request.
        """
        self.requests.append(request)
        wrong = find_wrong(request)
        if wrong:
            raise BadRequestError(f"{self.endpoint} refused the request: {wrong}", endpoint=self.endpoint)
        size, window = _size(request.messages, request.tools), self._script.window
        if window is not None and size > window:
            said = _Error(type="overflow", message="the request is larger than the window", limit=window, count=size)
            raise self._error(said)
        reply = self._next(request)
        for event in _parts(reply):
            yield event
            await asyncio.sleep(0)
        if reply.hang:
            await asyncio.Event().wait()
        if reply.error:
            raise self._error(reply.error)
        yield UsageReported(_usage(reply, size))
        yield Finished(reply.finish or ("tool_calls" if reply.calls else "stop"))

    async def guided(self, request: ModelRequest, schema: type[Schema]) -> Schema:
        """Return the next reply's text read as `schema`.

        Raises:
            ModelError: as scripted, or the text is none.
        """
        text = "".join([event.text async for event in self.stream(request) if isinstance(event, TextDelta)])
        try:
            return schema.model_validate_json(text)
        except ValidationError as error:
            raise BadRequestError(f"{self.endpoint}: the reply is no {schema.__name__}") from error

    def _next(self, request: ModelRequest) -> _Reply:
        prompts = [message.text for message in request.messages if message.role is Role.USER]
        for _ in range(2):
            for at, reply in enumerate(self._script.replies):
                if at not in self._used and re.search(reply.when, prompts[-1] if prompts else ""):
                    if not reply.repeat:
                        self._used.add(at)
                    return reply
            if not self._script.loop:
                break
            self._used.clear()
        raise BadRequestError(f"{self.endpoint} has no reply left for this prompt", endpoint=self.endpoint)

    def _error(self, said: _Error) -> ModelError:
        message = f"{self.endpoint}: {said.message}"
        if said.type == "overflow":
            sizes = Sizes(said.limit, said.count, said.output)
            return ContextOverflowError(message, sizes=sizes, endpoint=self.endpoint)
        if said.type == "rate_limited":
            return RateLimitedError(message, wait=said.wait, endpoint=self.endpoint)
        return _ERRORS[said.type](message, endpoint=self.endpoint)


def find_wrong(request: ModelRequest) -> str:
    """Return what a strict provider would refuse in the request, "" where there is nothing."""
    waiting: list[str] = []
    before: Role | None = None
    for at, message in enumerate(request.messages):
        if message.role is not Role.TOOL and waiting:
            return f"message {at} comes before the result of call {waiting[0]}"
        wrong = _wrong_message(message, before, at=at)
        if wrong:
            return wrong
        if message.role is Role.TOOL:
            if message.call_id not in waiting:
                return f"message {at} is a result of no call ({message.call_id})"
            waiting.remove(message.call_id)
        waiting += [call.id for call in message.calls]
        before = message.role
    if waiting:
        return f"call {waiting[0]} has no result"
    return "" if before in (Role.USER, Role.TOOL) else "the last message is neither the person's nor a result"


def _wrong_message(message: Message, before: Role | None, *, at: int) -> str:
    allowed: dict[Role, tuple[Role | None, ...]] = {
        Role.SYSTEM: (None,),
        Role.USER: (None, Role.SYSTEM, Role.ASSISTANT),
        Role.ASSISTANT: (Role.USER, Role.TOOL),
        Role.TOOL: (Role.ASSISTANT, Role.TOOL),
    }
    if before not in allowed[message.role]:
        return f"message {at} of {message.role} comes after {before or 'nothing'}"
    if message.role is not Role.TOOL and not message.text.strip() and not message.calls:
        return f"message {at} of {message.role} is empty"
    if message.calls and message.role is not Role.ASSISTANT:
        return f"message {at} of {message.role} makes calls"
    return next(
        (
            f"call {call.id} of message {at}: arguments are no JSON object"
            for call in message.calls
            if not _is_object(call.arguments)
        ),
        "",
    )


def _is_object(text: str) -> bool:
    try:
        return isinstance(json.loads(text), dict)
    except (ValueError, RecursionError):
        return False


def _parts(reply: _Reply) -> Iterator[ModelEvent]:
    yield from (ReasoningDelta(sound(part)) for part in reply.reasoning if part)
    yield from (TextDelta(sound(part)) for part in reply.text if part)
    for call in reply.calls:
        arguments = call.arguments if isinstance(call.arguments, str) else json.dumps(call.arguments)
        yield CallRequested(call.name, sound(arguments))


def _usage(reply: _Reply, size: int) -> Usage:
    if "usage" in reply.model_fields_set:
        return Usage(**reply.usage.model_dump()) if reply.usage else Usage()
    answer = math.ceil(sum(len(part) for part in [*reply.text, *reply.reasoning]) / 4)
    return Usage(size, answer, size + answer, 0)


def _size(messages: Sequence[Message], tools: Sequence[ToolSchema]) -> int:
    texts = [message.text for message in messages]
    texts += [call.name + call.arguments for message in messages for call in message.calls]
    texts += [json.dumps([tool.name, tool.description, tool.parameters]) for tool in tools]
    return math.ceil(sum(len(text) for text in texts) / 4)
