"""Parts a reply from the reasoning that a model writes between `<think>` tags, split anywhere. Pure.

A reply that only closes a tag (`plan</think>reply`: the chat template opened it in the prompt) cannot be told from an
ordinary one before the tag comes, and what was streamed as reply cannot be unsaid. So the tag is dropped, `unopened` is
set, and the next reply of the model is read with `opened`: as reasoning from its first character.
"""

import re
from typing import TypeAlias

from wisp_core.requests import ReasoningDelta, TextDelta

Part: TypeAlias = TextDelta | ReasoningDelta

_TAG = re.compile(r"<(/?)think(?:ing)?>", re.IGNORECASE)
_TAGS = ("<think>", "</think>", "<thinking>", "</thinking>")
_FENCE = re.compile(r"^ {0,3}(`{3,}|~{3,})")


class ThinkSplitter:
    """Yields the parts of one reply; tags inside a code fence or a code span are text."""

    def __init__(self, opened: bool = False) -> None:
        self.unopened = False
        self._assumed = opened
        self._inside = opened
        self._held = ""
        self._line = ""
        self._fence = ""
        self._said = False
        self._trim = False
        self._assumed_text: list[str] = []

    def feed(self, text: str) -> list[Part]:
        """Return what `text` makes certain; the start of a possible tag is held back."""
        text = self._held + text
        self._held = ""
        parts: list[Part] = []
        while text:
            at = text.find("<")
            if at != 0:
                plain, text = (text, "") if at < 0 else (text[:at], text[at:])
                self._say(plain, parts)
                continue
            match = _TAG.match(text)
            if match:
                self._tag(match.group(), bool(match.group(1)), parts=parts)
                text = text[match.end() :]
            elif any(tag.startswith(text.lower()) for tag in _TAGS):
                self._held = text
                break
            else:
                self._say("<", parts)
                text = text[1:]
        return parts

    def finish(self) -> list[Part]:
        """Return what is left; reasoning assumed in vain is the reply after all, so it is given again as such."""
        parts: list[Part] = []
        if self._held:
            self._say(self._held, parts)
            self._held = ""
        if self._assumed and self._inside:
            parts.append(TextDelta("".join(self._assumed_text)))
        return [part for part in parts if part.text]

    def _tag(self, tag: str, closes: bool, *, parts: list[Part]) -> None:
        if not self._inside and self._in_code():
            self._say(tag, parts)
        elif closes:
            self.unopened = self.unopened or self._assumed or not self._inside
            self._inside = self._assumed = False
            self._trim = not self._said
        else:
            self._inside = True

    def _say(self, text: str, parts: list[Part]) -> None:
        if self._inside:
            if self._assumed:
                self._assumed_text.append(text)
            parts.append(ReasoningDelta(text))
            return
        if self._trim:
            # The blank lines between reasoning and reply belong to neither.
            text = text.lstrip()
            self._trim = not text
        if text:
            self._said = True
            self._track(text)
            parts.append(TextDelta(text))

    def _track(self, text: str) -> None:
        first, *others = text.split("\n")
        self._line += first
        for line in others:
            self._end_line()
            self._line = line

    def _end_line(self) -> None:
        match = _FENCE.match(self._line)
        if not match:
            return
        if not self._fence:
            self._fence = match.group(1)
        elif match.group(1).startswith(self._fence) and not self._line.strip(" " + self._fence[0]):
            self._fence = ""

    def _in_code(self) -> bool:
        return bool(self._fence) or self._line.count("`") % 2 == 1
