"""How large a request is in tokens, from bytes and what its provider last reported; shares of the window. Pure."""

from fractions import Fraction
from math import ceil

from wisp_core.records import Report
from wisp_core.requests import Measurement
from wisp_core.settings import Context

BYTES_A_TOKEN = 4
"""What shares and caps take for a token, so that they do not move with what is learnt (C4)."""


def measure(size: int, report: Report | None, *, settings: Context) -> Measurement:
    """Return the estimate of a request of `size` bytes, in tokens rounded up (C4).

    It is anchored on the thread's latest report of the model: that figure plus the change in bytes times the rate
    learnt from it. What new references, cuts and drops save is part of the change, since the composition measured has
    them already. Without a report it is the bytes times the rate that stands for one.
    """
    least = Fraction(str(settings.token_rate))
    if report is None or report.bytes <= 0:
        return Measurement(ceil(size * least))
    rate = min(max(Fraction(report.prompt, report.bytes), least), Fraction(str(settings.token_rate_most)))
    return Measurement(max(0, ceil(report.prompt + (size - report.bytes) * rate)))


def share_tokens(share: float, window: int) -> int:
    """Return a share of a window in tokens, rounded down: 0.05 of 8,192 is 409."""
    return int(Fraction(str(share)) * window)


def share_bytes(share: float, window: int) -> int:
    """Return a share of a window in bytes, its tokens rounded down first: 0.05 of 8,192 is 1,636."""
    return share_tokens(share, window) * BYTES_A_TOKEN
