"""The time that ages are counted from."""

from datetime import UTC, datetime


def utc_now() -> datetime:
    """Return the time."""
    return datetime.now(UTC)
