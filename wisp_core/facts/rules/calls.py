"""A call of one of wisp's own tools as its rule sees it, and how a path is named. Pure."""

import posixpath
from dataclasses import dataclass

from wisp_core.facts.rules.found import flat
from wisp_core.records import JsonObject

PATH_CHARACTERS = 400


@dataclass(frozen=True, slots=True)
class Called:
    """One call that went well: what was given, the `text` that came of it, the turn, the working directory."""

    arguments: JsonObject
    text: str
    turn: int
    cwd: str

    @property
    def lines(self) -> list[str]:
        """The lines of the text."""
        return self.text.split("\n")

    def path(self) -> str:
        """Return the path that the call named, absolute where it does not start at a home; empty for none."""
        given = self.arguments.get("path")
        if not isinstance(given, str) or not given or len(given) > PATH_CHARACTERS:
            return ""
        whole = given if given.startswith("~") else posixpath.join(self.cwd, given)
        return flat(posixpath.normpath(whole), 2 * PATH_CHARACTERS)
