"""One request of a turn: composed, estimated, recorded, streamed, tried again where nothing was shown yet."""

import asyncio
import random
import time
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from typing import assert_never

from wisp_core.composer.estimate import estimate, output_limit
from wisp_core.condensing.silent_cut import seems_cut, tell_cut
from wisp_core.errors import ContextOverflowError, ModelError, PassingError, Sizes
from wisp_core.events import (
    ContextEstimated,
    ErrorHappened,
    RequestComposed,
    RequestRetried,
    Response,
    SegmentData,
    UsageData,
)
from wisp_core.records import Usage, new_call_id
from wisp_core.requests import (
    Blocks,
    CallRequested,
    Estimate,
    Finished,
    ModelEvent,
    ModelRequest,
    PromptProgress,
    ReasoningDelta,
    TextDelta,
    UsageReported,
    Window,
)
from wisp_core.turn.arguments import as_call
from wisp_core.turn.measuring import Measured, measure_request
from wisp_core.turn.participants import Participants
from wisp_core.turn.tool_calls import CUT_BY


@dataclass(slots=True)
class Arriving:
    """What has come so far of the answer to one sent request, by step and `request.composed` event."""

    step: int
    composed: str
    began: float = field(default_factory=time.monotonic)
    text: list[str] = field(default_factory=list)
    reasoning: list[str] = field(default_factory=list)
    calls: list[CallRequested] = field(default_factory=list)
    usage: Usage | None = None
    finish: str = "stop"

    @property
    def shown(self) -> bool:
        """Whether the person has seen anything of it."""
        return bool(self.text or self.reasoning)


async def request_step(parts: Participants, step: int, *, blocks: Blocks, with_tools: bool) -> Response:
    """Send the turn's next request and return its recorded response.

    Raises:
        ModelError: it could not be answered; what had been shown of it is recorded.
    """
    measured = await measure_request(parts, blocks, with_tools=with_tools)
    guess = estimate(
        measured.composition,
        measured.schemas,
        window=measured.window,
        settings=parts.settings.context,
        turn=parts.turn,
    )
    await parts.write(_estimated(guess, measured.window))
    limit = _room(parts, measured)
    composed = await parts.write(_composed(parts, measured, step=step, blocks=blocks))
    composition = measured.composition
    stable = len(composition.earlier or "")
    effort = parts.settings.effort
    request = ModelRequest(composition.messages, measured.schemas, max_output=limit, stable=stable, effort=effort)
    reported = parts.backend.name in parts.record.reports
    response = await _send(parts, request, step=step, composed=composed)
    if reported:
        await _watch_prompt(parts, measured, response=response)
    return response


async def _watch_prompt(parts: Participants, measured: Measured, *, response: Response) -> None:
    """Tell of a prompt that the server seems to have cut; before its first report nothing can be compared (C27)."""
    sent, window = measured.measurement.tokens, measured.window
    read = response.usage.prompt if response.usage else None
    if read is None or not seems_cut(sent, read, window=window.tokens if window else None):
        return
    text = tell_cut(sent, read)
    parts.tell("note", kind="cut", text=text)
    await parts.write(ErrorHappened(kind="prompt cut", message=text, endpoint=parts.backend.endpoint))


def _room(parts: Participants, measured: Measured) -> int | None:
    """Return the reply's limit in tokens; nothing leaves over a known window unsaid.

    An exact count that leaves no room is an overflow and is not sent; an estimate is only told, since the server's
    own count is the truth.
    """
    prompt, window = measured.measurement.tokens, measured.window
    settings = parts.settings.output
    limit = output_limit(window, prompt, settings=settings)
    if window is None or limit is None or limit >= min(settings.least_tokens, settings.max_tokens or window.tokens):
        return limit
    if measured.measurement.counted:
        raise ContextOverflowError(
            "the request does not fit the model's context window: it needs "
            f"{prompt + settings.least_tokens:,} of {window.tokens:,} tokens",
            "shorten the request or start a new conversation with /new",
            sizes=Sizes(window.tokens, prompt),
            endpoint=parts.backend.endpoint,
        )
    text = f"this request is about {prompt:,} tokens and the window holds {window.tokens:,}; the server may refuse it"
    parts.tell("note", kind="overflow", text=text)
    return settings.least_tokens


async def _send(parts: Participants, request: ModelRequest, *, step: int, composed: str) -> Response:
    attempt = 0
    while True:
        attempt += 1
        arriving = Arriving(step, composed)
        try:
            await _receive(parts, request, into=arriving)
        except asyncio.CancelledError:
            await _keep(parts, arriving, finish="interrupted")
            raise
        except ModelError as failure:
            if isinstance(failure, ContextOverflowError):
                # The backend has learnt from it.
                parts.learn(await parts.backend.window())
            lower = _lower(parts, request, failure=failure)
            if lower is not None and not arriving.shown:
                request = lower
                await parts.write(RequestRetried(reason="output limit", attempt=attempt, error=failure.message))
            elif not arriving.shown and attempt <= parts.settings.retries.most and _passes(parts, failure):
                await _wait(parts, failure, attempt=attempt)
            else:
                await _keep(parts, arriving, finish="failed")
                raise
        else:
            return await _record(parts, arriving, finish=arriving.finish)


def _lower(parts: Participants, request: ModelRequest, *, failure: ModelError) -> ModelRequest | None:
    """Return the request with a smaller reply, where input and output together were too much and the input was not."""
    if not isinstance(failure, ContextOverflowError) or failure.output is None:
        return None
    if failure.limit is None or failure.count is None:
        return None
    window = Window(failure.limit, "error")
    room = output_limit(window, failure.count, settings=parts.settings.output)
    asked = request.max_output
    if room is None or room < parts.settings.output.least_tokens or (asked is not None and room >= asked):
        return None
    return replace(request, max_output=room)


async def _receive(parts: Participants, request: ModelRequest, *, into: Arriving) -> None:
    silence = asyncio.get_running_loop().call_later(parts.settings.timeouts.silent, _tell_silence, parts)
    try:
        async with aclosing(parts.backend.stream(request)) as events:
            async for event in events:
                silence.cancel()
                _take(parts, event, into=into)
    finally:
        silence.cancel()


def _tell_silence(parts: Participants) -> None:
    """Tell why nothing comes, where it may be that the server loads the model: it does not say so itself."""
    if parts.backend.capabilities.loads:
        waited = parts.settings.timeouts.silent
        text = f"nothing came for {waited:g} s; the model may still be loading"
        parts.tell("note", kind="loading", text=text, waited=waited)


def _take(parts: Participants, event: ModelEvent, *, into: Arriving) -> None:
    match event:
        case TextDelta(text):
            into.text.append(text)
            parts.tell("delta", kind="reply", text=text)
        case ReasoningDelta(text):
            into.reasoning.append(text)
            parts.tell("delta", kind="reasoning", text=text)
        case CallRequested():
            into.calls.append(event)
        case PromptProgress(done, total, loading):
            kind, text = ("loading", "loading the model") if loading else ("prompt", "reading the prompt")
            parts.tell("note", kind=kind, text=text, done=done, total=total)
        case UsageReported(usage):
            into.usage = usage
        case Finished(reason):
            into.finish = reason
        case _:
            assert_never(event)


async def _keep(parts: Participants, arriving: Arriving, *, finish: str) -> None:
    """Record what was shown of an answer that did not end; half-built calls are never kept."""
    arriving.calls.clear()
    if arriving.shown:
        await _record(parts, arriving, finish=finish)


async def _record(parts: Participants, arriving: Arriving, *, finish: str) -> Response:
    response = Response(
        request=arriving.composed,
        step=arriving.step,
        text="".join(arriving.text),
        reasoning="".join(arriving.reasoning),
        calls=[as_call(call, new_call_id(), cut=finish in CUT_BY) for call in arriving.calls],
        finish=finish,
        usage=_reported(arriving.usage),
        model=parts.backend.name,
        seconds=round(time.monotonic() - arriving.began, 3),
    )
    await parts.write(response)
    if finish == arriving.finish and not response.text.strip() and not response.calls:
        parts.tell("note", kind="info", text="the model's answer is empty")
    return response


def _passes(parts: Participants, failure: ModelError) -> bool:
    """Tell whether the failure may be over soon enough to be waited for."""
    asked = failure.wait if isinstance(failure, PassingError) else None
    return failure.retryable and (asked or 0) <= parts.settings.retries.longest_asked


async def _wait(parts: Participants, failure: ModelError, *, attempt: int) -> None:
    """Wait as long as the server asks, else a growing, jittered while; Esc ends it."""
    settings = parts.settings.retries
    wait = min(settings.longest_wait, settings.first_wait * 2 ** (attempt - 1))
    wait *= random.uniform(1 - settings.jitter_share, 1 + settings.jitter_share)
    if isinstance(failure, PassingError) and failure.wait is not None:
        wait = failure.wait
    wait = round(wait, 2)
    text = f"{failure.message}; trying again in {wait:g} s (attempt {attempt} of {settings.most})"
    retried = RequestRetried(reason="passing failure", attempt=attempt, wait=wait, error=failure.message)
    await parts.write(retried)
    parts.tell("note", kind="retry", text=text, seconds=wait)
    await asyncio.sleep(wait)


def _reported(usage: Usage | None) -> UsageData | None:
    """Return the provider's report; one of zero tokens is none."""
    if usage is None or not usage.prompt:
        return None
    return UsageData(prompt=usage.prompt, completion=usage.completion, total=usage.total, cached=usage.cached)


def _estimated(guess: Estimate, window: Window | None) -> ContextEstimated:
    return ContextEstimated(
        system=guess.system,
        messages=guess.messages,
        results=guess.results,
        schemas=guess.schemas,
        total=guess.total,
        window=guess.window,
        windowSource=window.source if window else None,
        reserve=guess.reserve,
        percent=guess.percent,
        remaining=guess.remaining,
        crossed=None if guess.remaining is None else guess.remaining < 0,
    )


def _composed(parts: Participants, measured: Measured, *, step: int, blocks: Blocks) -> RequestComposed:
    composition, renewed = measured.composition, measured.renewed
    segments = None if renewed is None else [SegmentData(name=s.name, text=s.text) for s in renewed.segments]
    return RequestComposed(
        step=step,
        entries=[(item.entry, item.rendering.value) for item in composition.items if item.entry is not None],
        earlier=composition.earlier,
        now=composition.now,
        instructions=composition.instructions,
        segments=segments,
        settings=parts.settings.context.model_dump(),
        sha256=composition.sha256,
        model=parts.backend.name,
        window=measured.window.tokens if measured.window else None,
        bytes=measured.size,
        tokens=measured.measurement.tokens,
        recalled=[(recalled.entry, recalled.why) for recalled in blocks.recalled],
    )
