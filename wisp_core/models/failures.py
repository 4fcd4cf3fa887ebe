"""Turns what a server answers instead of a reply into a typed error of one sentence. Pure.

The texts of a server are hostile: they are shown bounded, on one line, without control characters.
"""

import email.utils
import html
import json
import re
import time
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from wisp_core.errors import (
    AuthenticationError,
    BadRequestError,
    ContextOverflowError,
    CutStreamError,
    ModelError,
    NoModelError,
    OverloadedError,
    RateLimitedError,
    Sizes,
)
from wisp_core.models.wire import write_text
from wisp_core.resources import read
from wisp_core.text import displayable, one_line, sound

SHOWN_CHARACTERS = 200
DETAIL_CHARACTERS = 4000
_ROUTED = re.compile(r"no endpoints found that (?:support|can handle)", re.IGNORECASE)
"""How a router says, as if the model were not there, that none of its servers takes a part of the request."""
_OF_THE_KEY = re.compile(r"\bkey\b|credential|token|authenticat", re.IGNORECASE)
"""How a refusal says that it means the key itself, and not what the key is used for."""
LONGEST_WAIT = 24 * 3600.0
"""A server's wait beyond this many seconds is not believed."""

_NUMBER = r"[\d,]{1,15}"


@dataclass(frozen=True, slots=True)
class Report:
    """What a server said: `status` of HTTP or inside the report, codes in lower case, the message, and all fields."""

    status: int
    codes: tuple[str, ...]
    message: str
    fields: Mapping[str, Any]
    text: str


def read_report(status: int, body: str) -> Report:
    """Return what the body of an error says, whatever its shape."""
    try:
        value = json.loads(body)
    except (ValueError, RecursionError):
        value = body
    return report_of(status, value, text=body)


def report_of(status: int, value: Any, *, text: str = "") -> Report:
    """Return what a JSON value says: `{"error": {…}}`, `{"error": "…"}`, `{"message": …}`, a list of one, or a text."""
    text = text or (value if isinstance(value, str) else write_text(value))
    if isinstance(value, list) and value:
        value = value[0]
    outer = value if isinstance(value, dict) else {}
    inner = _unwrap(outer.get("error", outer.get("detail", value)))
    fields: dict[str, Any] = inner if isinstance(inner, dict) else outer
    messages = (fields.get("message"), fields.get("msg"), inner, outer.get("message"), text)
    message = next((m for m in messages if isinstance(m, str) and m.strip()), "")
    codes = tuple(str(f).lower() for f in (fields.get("code"), fields.get("type"), outer.get("type")) if f)
    stated = next((int(code) for code in codes if re.fullmatch(r"[45]\d\d", code)), status)
    return Report(stated if status < 400 else status, codes, message, fields, text)


def _unwrap(inner: Any) -> Any:
    """Return what a report says that a server passes on as text: Ollama puts llama.cpp's JSON into a string."""
    if not isinstance(inner, str) or not inner.lstrip().startswith("{"):
        return inner
    try:
        value = json.loads(inner)
    except (ValueError, RecursionError):
        return inner
    return value.get("error", value) if isinstance(value, dict) else inner


def failure(endpoint: str, report: Report, *, headers: Mapping[str, str] | None = None) -> ModelError:
    """Return the typed error for a report; `headers` with names in lower case."""
    said = quote(_title(report.message)).rstrip(".")
    detail = sound(f"{report.status}: {report.text}"[:DETAIL_CHARACTERS])
    about = {"endpoint": endpoint, "detail": detail}
    overflow = find_overflow(report)
    if overflow is not None:
        size = f" ({overflow.describe()})" if overflow.describe() else ""
        return ContextOverflowError(
            f"{endpoint}: the request is larger than the model's window{size}",
            "shorten it or choose a model with a larger window",
            sizes=Sizes(overflow.limit, overflow.count, overflow.output),
            endpoint=endpoint,
            detail=detail,
        )
    status, words = report.status, " ".join(report.codes)
    if status == 403 and not _OF_THE_KEY.search(report.message[:DETAIL_CHARACTERS]):
        return AuthenticationError(f"{endpoint} does not allow it: {said}", "see what the key may be used for", **about)
    if status in (401, 403) or "authentication" in words or "invalid_api_key" in words:
        return AuthenticationError(f"{endpoint} refused the key: {said}", "set a valid key for it", **about)
    wait = find_wait(headers or {}, report.message)
    when = f"try again in {_duration(wait)}" if wait else "try again later"
    if "insufficient_quota" in words:
        # No wait mends it.
        return AuthenticationError(f"{endpoint} has no quota left for the key: {said}", "see its plan", **about)
    if status == 429 or "rate_limit" in words:
        return RateLimitedError(f"{endpoint} takes no more requests for now: {said}", when, wait=wait, **about)
    routed = _ROUTED.search(report.message[:DETAIL_CHARACTERS])
    if (status == 404 and not routed) or "model_not_found" in words:
        return NoModelError(f"{endpoint} does not have it: {said}", "check the model's name and the url", **about)
    if status in (408, 409, 425) or status >= 500 or "overloaded" in words:
        return OverloadedError(f"{endpoint} cannot answer now ({status}): {said}", when, wait=wait, **about)
    if 300 <= status < 400:
        return BadRequestError(f"{endpoint} sends elsewhere ({status})", "correct its url in config.json", **about)
    if status >= 400 or "invalid" in words:
        return BadRequestError(f"{endpoint} refused the request ({status}): {said}", **about)
    return CutStreamError(
        f"{endpoint} broke its answer off: {said}", "send the prompt again", endpoint=endpoint, detail=detail
    )


def withheld(endpoint: str, why: str, *, said: str = "", detail: str = "") -> BadRequestError:
    """Return the error for an answer that the provider keeps back; `why` is its word for that."""
    return BadRequestError(
        f"{endpoint} withholds the answer to this prompt ({quote(why)}){f': {quote(said)}' if said else ''}",
        "put the prompt differently or choose another model",
        endpoint=endpoint,
        detail=detail,
    )


def _title(message: str) -> str:
    """Return what a web page calls itself, any other message as it is."""
    start = message.lstrip()[: 10 * SHOWN_CHARACTERS]
    if not start.startswith("<"):
        return message
    title = re.search(r"<title[^<>]{0,100}>([^<>]{1,200})</title", start, re.IGNORECASE)
    return html.unescape(title.group(1)) if title else "a web page"


def quote(text: str) -> str:
    """Return a server's text as it may be shown."""
    return one_line(displayable(text[: 10 * SHOWN_CHARACTERS]), SHOWN_CHARACTERS) or "it gave no reason"


@dataclass(frozen=True, slots=True)
class Overflow:
    """What an overflow states, in tokens: the window, the input, and the output asked for."""

    limit: int | None = None
    count: int | None = None
    output: int | None = None

    def describe(self) -> str:
        """Return the figures that are known as words."""
        asked = f"{self.count} tokens" if self.count is not None else ""
        if asked and self.output is not None:
            asked += f" and {self.output} of output"
        of = f"the window is {self.limit}" if self.limit is not None else ""
        return ", ".join(part for part in (asked, of) if part)


def find_overflow(report: Report) -> Overflow | None:
    """Return what the report states when it tells of an overflow: structured fields first, then its text."""
    if report.status in (401, 403, 404, 429):
        return None
    table = _overflow_table()
    fields = report.fields
    limit, count = _tokens(fields.get("n_ctx")), _tokens(fields.get("n_prompt_tokens"))
    named = any(code in table.codes for code in report.codes)
    message = report.message[:DETAIL_CHARACTERS]
    if not named and table.exclusions.search(message):
        return None
    match = next((m for pattern in table.patterns if (m := pattern.search(message))), None)
    if not (named or match or report.status in table.statuses or message.strip().lower() in table.codes):
        return None
    stated = match.groupdict() if match else {}
    return Overflow(
        limit or _tokens(stated.get("limit")), count or _tokens(stated.get("count")), _tokens(stated.get("output"))
    )


def find_wait(headers: Mapping[str, str], message: str) -> float | None:
    """Return the seconds that a server asks to wait: `retry-after` as seconds or a date, else stated in its message."""
    given = headers.get("retry-after", "").strip()
    milliseconds = headers.get("retry-after-ms", "").strip()
    if _is_number(milliseconds):
        return _bounded(float(milliseconds) / 1000)
    if _is_number(given):
        return _bounded(float(given))
    if given:
        try:
            return _bounded(email.utils.parsedate_to_datetime(given).timestamp() - time.time())
        except (ValueError, OverflowError, TypeError):
            pass  # no date either: as if it were not given
    match = re.search(
        r"(?:try again|retry) (?:in|after) (\d{1,6}(?:\.\d{1,6})?) ?(ms|s|m)", message[:DETAIL_CHARACTERS]
    )
    return _bounded(float(match.group(1)) * {"ms": 0.001, "s": 1, "m": 60}[match.group(2)]) if match else None


@dataclass(frozen=True, slots=True)
class _OverflowTable:
    codes: frozenset[str]
    statuses: frozenset[int]
    exclusions: re.Pattern[str]
    patterns: tuple[re.Pattern[str], ...]


@cache
def _overflow_table() -> _OverflowTable:
    table = json.loads(read("overflow.json"))
    groups = {name: f"(?P<{name}>{_NUMBER})" for name in ("limit", "count", "output")}
    patterns = []
    for pattern in table["patterns"]:
        for name, group in groups.items():
            pattern = pattern.replace(f"{{{name}}}", group)
        patterns.append(re.compile(pattern, re.IGNORECASE | re.DOTALL))
    exclusions = re.compile("|".join(table["not"]), re.IGNORECASE)
    return _OverflowTable(frozenset(table["codes"]), frozenset(table["statuses"]), exclusions, tuple(patterns))


def _tokens(value: Any) -> int | None:
    if isinstance(value, str):
        digits = value.replace(",", "")
        value = int(digits) if digits.isascii() and digits.isdigit() else None
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else None


def _is_number(text: str) -> bool:
    return bool(re.fullmatch(r"\d{1,9}(?:\.\d{1,9})?", text))


def _bounded(seconds: float) -> float | None:
    return min(seconds, LONGEST_WAIT) if seconds >= 0 else 0.0


def _duration(seconds: float) -> str:
    """Return a wait in the unit in which a person thinks of it."""
    if seconds < 120:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.0f} h"
