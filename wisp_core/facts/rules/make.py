"""What a make command was asked to make. Pure."""

from collections.abc import Sequence

# Options that do not make anything, or say nothing of it.
_IDLE = {"n", "q", "p", "v", "h", "t", "i", "k"}
_IDLE_LONG = (
    "--just-print",
    "--dry-run",
    "--question",
    "--help",
    "--version",
    "--touch",
    "--ignore-errors",
    "--keep-going",
)
_TAKING = {"C", "f", "I", "W", "o"}


def make_targets(words: Sequence[str]) -> list[str] | None:
    """Return the targets of a make command, empty for the first; None for another command or one that makes nothing."""
    if words[0] not in ("make", "gmake"):
        return None
    targets: list[str] = []
    rest = list(words[1:])
    while rest:
        word = rest.pop(0)
        if word in _IDLE_LONG:
            return None
        if word.startswith("-") and not word.startswith("--"):
            if word[1:2] in _TAKING:
                rest = rest[1:] if len(word) == 2 else rest
            elif word[1:2] in ("j", "l"):
                rest = rest[1:] if len(word) == 2 and rest and rest[0].isdigit() else rest
            elif _IDLE & set(word[1:]):
                return None
        elif not word.startswith("-") and "=" not in word:
            targets.append(word)
    return targets
