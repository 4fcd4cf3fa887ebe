"""Turns the wordings of a bank into text: fills in words, marks key words, makes the typos that persons make."""

import re
from random import Random

from wisp_core.evals.bank import Bank

_SLOT = re.compile(r"\{(\w+)\}")
_KEY = re.compile(r"\[([^\]]+)\]")
_WORD = re.compile(r"[^\W\d_]{5,}")
TYPO_SHARE = 0.12
"""The share of what is typed that has a typo in it."""
FIGURE_LEAST, FIGURE_MOST = 3, 970


class Voice:
    """Speaks with the words of one bank, as its `chance` has it: the same chance says the same."""

    def __init__(self, bank: Bank, chance: Random) -> None:
        self.bank = bank
        self.chance = chance

    def fill(self, wording: str, **given: str) -> str:
        """Return a wording with its words filled in; a name that is given stands for that, and not for a list."""
        return _SLOT.sub(lambda slot: self._word(slot[1], given), wording)

    def pick(self, wordings: list[str], **given: str) -> str:
        """Return one of the wordings, filled in."""
        return self.fill(self.chance.choice(wordings), **given)

    def say(self, wordings: list[str], value: str = "") -> tuple[str, list[str]]:
        """Return one of a topic's wordings about a value, without its brackets, and the key words that they held."""
        said = self.chance.choice(wordings).replace("{v}", value)
        return _KEY.sub(r"\1", said), list(dict.fromkeys(_KEY.findall(said)))

    def mistype(self, text: str, keep: list[str] | None = None) -> str:
        """Return text in which, now and then, two letters of a word have changed places; never in the words to keep."""
        if self.chance.random() >= TYPO_SHARE:
            return text
        kept = " ".join(keep or []).casefold()
        words = [word for word in _WORD.finditer(text) if word[0].casefold() not in kept]
        if not words:
            return text
        word = self.chance.choice(words)
        at = word.start() + self.chance.randrange(1, len(word[0]) - 2)
        return text[:at] + text[at + 1] + text[at] + text[at + 2 :]

    def _word(self, name: str, given: dict[str, str]) -> str:
        if name in given:
            return given[name]
        match name:
            case "num":
                return str(self.chance.randint(FIGURE_LEAST, FIGURE_MOST))
            case "d":
                return str(self.chance.randint(1, 9))
            case "time":
                return f"{self.chance.randrange(24):02}:{self.chance.randrange(60):02}:{self.chance.randrange(60):02}"
            case "hex":
                return f"{self.chance.getrandbits(32):08x}"
            case "id" | "id2":
                return self._identifier()
            case "Id":
                return self._identifier().title().replace("_", "")
        return self.chance.choice(self.bank.words[name])

    def _identifier(self) -> str:
        parts = [self.chance.choice(self.bank.words[name]) for name in ("module", "noun")]
        return "_".join(parts).replace(" ", "_")


def sentence(text: str) -> str:
    """Return text with a capital at its start and an end mark behind it."""
    return text[:1].upper() + text[1:] + ("" if text.endswith((".", "?", "!")) else ".")
