"""An answer in the form of a schema: asked for in words where a server knows no other way, and read."""

import json
from collections.abc import AsyncGenerator, Iterator, Sequence
from contextlib import aclosing
from dataclasses import replace
from typing import TypeVar

from pydantic import BaseModel, ValidationError

from wisp_core.errors import BadRequestError, CutStreamError
from wisp_core.models.failures import quote
from wisp_core.requests import CallRequested, Finished, Message, ModelEvent, Role, TextDelta

Schema = TypeVar("Schema", bound=BaseModel)


class FormlessError(BadRequestError):
    """An answer that is whole and holds no object of the form that was asked for."""


def ask_for(messages: Sequence[Message], schema: type[BaseModel]) -> tuple[Message, ...]:
    """Return the messages with the schema asked for in words, at the end of the last one of the user."""
    form = json.dumps(schema.model_json_schema())
    words = f"Answer with one JSON object and nothing else. Its JSON schema: {form}"
    return tuple(_append(messages, words))


def _append(messages: Sequence[Message], words: str) -> Iterator[Message]:
    last = max((at for at, message in enumerate(messages) if message.role is Role.USER), default=-1)
    for at, message in enumerate(messages):
        yield replace(message, text=f"{message.text}\n\n{words}") if at == last else message
    if last < 0:
        yield Message(Role.USER, words)


async def read_guided(answer: AsyncGenerator[ModelEvent, None], schema: type[Schema], *, endpoint: str) -> Schema:
    """Return the one object of the form of `schema` that an answer holds, whatever words stand around it.

    It may be what its first call was given.

    Raises:
        CutStreamError: the output limit ended the answer before the object was whole.
        FormlessError: the answer holds none.
    """
    said, given, reason = "", "", ""
    async with aclosing(answer) as events:
        async for event in events:
            if isinstance(event, TextDelta):
                said += event.text
            elif isinstance(event, CallRequested):
                given = given or event.arguments
            elif isinstance(event, Finished):
                reason = event.reason
    text = given or said
    start, end = text.find("{"), text.rfind("}")
    try:
        return schema.model_validate_json(text[start : end + 1] if 0 <= start < end else text)
    except ValidationError as error:
        if reason == "length" and (start >= 0 or not text):
            cut = f"{endpoint} reached its output limit before its answer was whole"
            raise CutStreamError(cut, endpoint=endpoint) from error
        raise FormlessError(f"{endpoint} gave no {schema.__name__}: {quote(text)}", endpoint=endpoint) from error
