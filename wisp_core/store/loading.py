"""Reads JSON from outside so that whatever is in it can be stored and sent. Pure."""

import json
import math
from typing import Any

from wisp_core.text import sound

_BIGGEST = 2**63


def load_json(data: bytes) -> Any:
    """Return the JSON value of `data` with every text sound and every number one that the store can hold.

    Raises:
        ValueError: it is no such JSON.
    """
    try:
        value = json.loads(data.decode(), parse_int=_whole, parse_float=_real, parse_constant=_constant)
        # Only an escape can bring in what is not sound.
        return _sound(value) if b"\\u" in data else value
    except RecursionError as error:
        raise ValueError("nested too deeply") from error


def _whole(digits: str) -> int:
    number = int(digits)
    if not -_BIGGEST <= number < _BIGGEST:
        raise ValueError("a number too large")
    return number


def _real(digits: str) -> float:
    number = float(digits)
    if not math.isfinite(number):
        raise ValueError("a number too large")
    return number


def _constant(word: str) -> Any:
    raise ValueError(f"{word} is no JSON")


def _sound(value: Any) -> Any:
    match value:
        case str():
            return sound(value)
        case list():
            return [_sound(one) for one in value]
        case dict():
            return {sound(key): _sound(one) for key, one in value.items()}
    return value
