"""Notices that a server dropped the front of a prompt without a word (C27). Pure."""

CUT_SHARE = 0.15
"""How much of what was sent may be missing in the server's count: an estimate is not exact."""
HALF_SHARE = 0.05
"""How near to half of the window a count is suspicious, and how much must be missing then.

Servers that make room drop half of the window, so a count there is no accident.
"""


def seems_cut(sent: int, read: int | None, *, window: int | None = None) -> bool:
    """Tell whether a prompt of about `sent` tokens, of which the server `read` so many, was cut; None is no count."""
    if not read or sent <= 0:
        return False
    half = (window or 0) / 2
    near_half = half > 0 and abs(read - half) <= half * HALF_SHARE
    return read < sent * (1 - (HALF_SHARE if near_half else CUT_SHARE))


def tell_cut(sent: int, read: int) -> str:
    """Return how a cut is told."""
    return f"the server seems to have cut the prompt (sent about {sent:,}, read {read:,})"
