"""Drafts as values, and what Up and Down go through: the unsent draft first, earlier prompts behind it. Pure."""

from dataclasses import dataclass

MARKS = "/!@"  # what gives a typed prompt a meaning by its first character


@dataclass(frozen=True, slots=True)
class Draft:
    """What stands in the input, pastes expanded; `literal` tells that its first character means nothing but itself."""

    text: str = ""
    literal: bool = False

    def written(self) -> str:
        r"""Return it as one string that `read` turns back: a literal `/x` is written `\/x`."""
        return "\\" + self.text if self.literal and self.text[:1] in MARKS else self.text

    @classmethod
    def read(cls, written: str) -> "Draft":
        r"""Return the draft that `written` stands for; a person may type `\/x` too."""
        if len(written) > 1 and written[0] == "\\" and written[1] in MARKS:
            return cls(written[1:], literal=True)
        return cls(written)


class Recall:
    """Earlier prompts, newest first, and where the person is among them; position 0 is the unsent draft."""

    def __init__(self) -> None:
        self.past: list[str] = []
        self._at = 0
        self._unsent = Draft()

    def fill(self, past: list[str]) -> None:
        """Put `past` (newest first) behind what was sent since the start."""
        self.past += [text for text in past if text not in self.past]

    def add(self, draft: Draft) -> None:
        """Remember what was sent, or cleared away, and go back to an empty draft."""
        written = draft.written()
        if written.strip():
            self.past = [written, *(text for text in self.past if text != written)]
        self._at, self._unsent = 0, Draft()

    def earlier(self, current: Draft) -> Draft | None:
        """Return the prompt before the one shown, None at the oldest; `current` is kept when it is the unsent one."""
        if self._at >= len(self.past):
            return None
        if self._at == 0:
            self._unsent = current
        self._at += 1
        return Draft.read(self.past[self._at - 1])

    def later(self) -> Draft | None:
        """Return the prompt after the one shown, the unsent draft last, None when that is shown already."""
        if self._at == 0:
            return None
        self._at -= 1
        return Draft.read(self.past[self._at - 1]) if self._at else self._unsent
