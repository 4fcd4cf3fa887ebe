"""What `edit_file` and `/undo` ask of the output store: a place for what files held before they were edited."""

from pathlib import Path
from typing import Protocol

from wisp_core.requests import EarlierFile


class Previous(Protocol):
    """The edits of a session that can be undone, the newest first to go; every method may block."""

    def keep(self, earlier: EarlierFile) -> None:
        """Keep what a file held.

        Raises:
            OSError: it cannot be kept.
        """

    def newest(self, path: Path | None) -> EarlierFile | None:
        """Return the latest edit of a file, by its real place, or of any; None where there is none."""

    def drop(self, call: str) -> None:
        """Forget one edit; none is no error."""
