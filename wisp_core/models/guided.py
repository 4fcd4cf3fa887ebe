"""Reads an answer that was asked for in the form of a schema."""

from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import TypeVar

from pydantic import BaseModel, ValidationError

from wisp_core.errors import BadRequestError, CutStreamError
from wisp_core.models.failures import quote
from wisp_core.requests import Finished, ModelEvent, TextDelta

Schema = TypeVar("Schema", bound=BaseModel)


async def read_guided(answer: AsyncGenerator[ModelEvent, None], schema: type[Schema], *, endpoint: str) -> Schema:
    """Return the one object of the form of `schema` that an answer holds, whatever words stand around it.

    Raises:
        CutStreamError: the output limit ended the answer before the object was whole.
        BadRequestError: the answer holds none.
    """
    text, reason = "", ""
    async with aclosing(answer) as events:
        async for event in events:
            if isinstance(event, TextDelta):
                text += event.text
            elif isinstance(event, Finished):
                reason = event.reason
    start, end = text.find("{"), text.rfind("}")
    try:
        return schema.model_validate_json(text[start : end + 1] if 0 <= start < end else text)
    except ValidationError as error:
        if reason == "length":
            cut = f"{endpoint} reached its output limit before its answer was whole"
            raise CutStreamError(cut, endpoint=endpoint) from error
        raise BadRequestError(f"{endpoint} gave no {schema.__name__}: {quote(text)}", endpoint=endpoint) from error
