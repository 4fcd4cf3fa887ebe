"""How large a tool's result may be: one budget a conversation, kept up to date with the window."""

from wisp_core.settings import Outputs

BYTES_PER_TOKEN = 4


class Budget:
    """The size in bytes that bounds every tool's result (O10), shared by the tools of a conversation."""

    def __init__(self, limits: Outputs) -> None:
        self._limits = limits
        self._bytes = limits.least_bytes

    @property
    def bytes(self) -> int:
        """The budget in bytes of UTF-8."""
        return self._bytes

    def set_window(self, tokens: int | None) -> None:
        """Follow the model's window: a share of it at four bytes a token, within bounds; None is not known."""
        limits = self._limits
        if tokens is None:
            self._bytes = limits.least_bytes
            return
        least = limits.least_bytes_small if tokens < limits.small_window else limits.least_bytes
        share = int(tokens * BYTES_PER_TOKEN * limits.window_share)
        self._bytes = min(max(share, least), limits.most_bytes)
