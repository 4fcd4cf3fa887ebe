"""The long pastes of a draft: each stands as a short label in the input and is put back whole when it is sent. Pure."""

import re

from wisp_core.text import count_lines, displayable

SHORT_LINES = 10  # lines: a paste of more is collapsed
SHORT_CHARACTERS = 1_000  # characters: so is a paste of more


class Pastes:
    """The texts behind the labels of one draft."""

    def __init__(self) -> None:
        self._texts: dict[str, str] = {}

    def collapses(self, text: str) -> bool:
        """Return whether `text` cannot stand in the input: it is long, or a terminal would act on what is in it."""
        return count_lines(text) > SHORT_LINES or len(text) > SHORT_CHARACTERS or displayable(text) != text

    def label(self, text: str) -> str:
        """Keep `text` and return the label that stands for it, such as `[pasted 2,340 lines]`."""
        lines = count_lines(text)
        size = f"{lines:,} lines" if lines > 1 else f"{len(text):,} characters"
        label, number = f"[pasted {size}]", 1
        while self._texts.get(label, text) != text:
            number += 1
            label = f"[pasted {size} #{number}]"
        self._texts[label] = text
        return label

    def expand(self, text: str) -> str:
        """Return `text` with every label as what it stands for; nothing inside a paste is taken for a label."""
        return self._pattern().sub(lambda match: self._texts[match.group()], text) if self._texts else text

    def spans(self, line: str) -> list[tuple[int, int]]:
        """Return where labels stand in one line, as (start, end) in characters."""
        return [match.span() for match in self._pattern().finditer(line)] if self._texts else []

    def forget(self) -> None:
        """Drop all texts: the draft was sent or cleared."""
        self._texts.clear()

    def _pattern(self) -> re.Pattern[str]:
        return re.compile("|".join(re.escape(label) for label in sorted(self._texts, key=len, reverse=True)))
