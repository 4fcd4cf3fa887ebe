"""What a tool asks of the output store: a place that takes an output as it comes and keeps it whole, or not."""

from collections.abc import Sequence
from typing import Protocol

from wisp_core.redaction import Redaction
from wisp_core.requests import KeptOutput


class Spool(Protocol):
    """One output on its way; exactly one of `keep` and `discard` ends it."""

    @property
    def failure(self) -> str:
        """Return why nothing can be kept, empty while it can."""

    def write(self, stream: str, data: bytes) -> None:
        """Take the next bytes of a stream; never raises for a full disk."""

    def keep(self, parts: Sequence[bytes | str]) -> KeptOutput | None:
        """Keep the parts in order, bytes as they are and a stream by its name; None where it cannot be (blocks)."""

    def discard(self) -> None:
        """Forget what came."""


class Spools(Protocol):
    """Where outputs are kept; `redaction` takes the secrets out of them before they are cut, kept or shown."""

    redaction: Redaction

    def open(self, call: str) -> Spool:
        """Return the spool of one call."""
