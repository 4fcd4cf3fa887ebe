"""What a request is looked up by: its content words, without stop words, and how a word is known again. Pure."""

import re
from collections.abc import Collection, Iterator

WORDS_FEW = 5
"""A request of fewer content words is looked up together with the previous prompt."""
WORDS_MOST = 32
"""Content words of a query; of a longer request the first and the last are taken."""
TEXT_MOST = 4096
"""Characters of a request that are read from each of its ends."""

_WORD = re.compile(r"[^\W_]+(?:[._/-][^\W_]+)*")
_INNER = re.compile(r"[^\W_]+")
_CJK = re.compile("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]+")
_GRAM = 3  # characters of a script without spaces that are looked up together
_ENDINGS = ("'s", "’s", "ing", "ies", "ed", "es", "s")
_STEM_LEAST = 3

# Words that say nothing of what is asked; of chat too (please, tell, remember).
_STOP = """
a about above after again against all also am an and any anyone anything are as at back be because been before being
below between both but by came can cannot come could did do does doing done down during each either else ever every
few for from further get gets getting give given go goes going gone got had has have having he her here hers herself
him himself his how i if in into is it its itself just know last let like look looks made make makes many may maybe
me might more most much must my myself need needs neither next no nor not now of off ok okay on once one only or
other our ours ourselves out over own please put quite rather really remember remind said same say says see shall
she should show since so some someone something still such take tell than thank thanks that the their theirs them
themselves then there these they thing things this those through to together too under until up upon us use used
using very want wants was way we well went were what whatever when where whether which while who whom whose why will
with within without would yes yet you your yours yourself don didn doesn isn aren wasn weren won wouldn couldn
shouldn hasn haven hadn ain ll ve re hello hi hey earlier previously mentioned told talked discussed question answer
exactly anymore continue proceed explain describe write
der das den dem ein eine einen einem einer und oder aber ist sind waren ich du er sie es wir ihr
mich dich mir dir uns euch wer wie wo wann warum welche welcher welches von zu zum zur mit für auf aus bei nicht
auch noch nur le la les un une de et ou est sont était je tu il elle nous vous ils elles que qui quoi quel quelle
quels quelles où quand comment pourquoi pas ne ce cette ces mon ma mes ton ta tes sa ses dans avec pour el los las
una unos unas y yo tú él ella nosotros ellos qué quién cuál cuáles dónde cuándo cómo por para con del al se su sus
mi mis lo en
"""
STOP_WORDS = frozenset(_STOP.split())


def query_words(request: str, previous: str = "") -> tuple[str, ...]:
    """Return the distinct content words of a request, with those of the previous prompt where they are too few."""
    words = _distinct(request)
    if len(words) < WORDS_FEW:
        words = list(dict.fromkeys([*words, *_distinct(previous)]))
    if len(words) > WORDS_MOST:
        words = [*words[: WORDS_MOST // 2], *words[-WORDS_MOST // 2 :]]
    return tuple(words)


def stem(word: str) -> str:
    """Return the part of a folded word by which its forms are known: without a plural's or a tense's ending."""
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= _STEM_LEAST and not word.endswith("ss"):
            word = word[: -len(ending)] + ("y" if ending == "ies" else "")
            break
    if len(word) > _STEM_LEAST and word[-1] == word[-2] and word[-1] not in "aeiouls":
        return word[:-1]  # planned: plann: plan
    return word.removesuffix("e") if len(word) > _STEM_LEAST else word


def stems_of(text: str) -> set[str]:
    """Return the stems of all words of `text`, each looked at once however often it stands there."""
    folded = text.casefold()
    words = set(_WORD.findall(folded)) | set(_INNER.findall(folded))
    return {stem(word) for whole in words for word, _, _ in words_of(whole)}


def stems_held(text: str, stems: Collection[str]) -> frozenset[str]:
    """Return those of `stems` that `stems_of` would give of `text`; of a long text it reads little more than those."""
    folded = text.casefold()
    if _CJK.search(text):
        return frozenset(stems_of(text).intersection(stems))
    held = {known for known in stems if known.isalnum() and _stands(folded, known)}
    compounds = {known for known in stems if not known.isalnum() and known.removesuffix("y") in folded}
    return frozenset(held | (stems_of(text) & compounds) if compounds else held)


def _stands(folded: str, known: str) -> bool:
    # `cities` is known by `city`: what a word's forms begin with is its stem without that.
    root = known.removesuffix("y")
    at = folded.find(root)
    while at >= 0:
        word = _INNER.match(folded, at)
        if word and not (at and folded[at - 1].isalnum()) and stem(word.group()) == known:
            return True
        at = folded.find(root, at + 1)
    return False


def words_of(text: str) -> Iterator[tuple[str, int, int]]:
    """Yield the folded words of `text` with their places in characters, a compound's parts after the compound."""
    for match in _WORD.finditer(text):
        whole = match.group()
        if len(whole) > _GRAM and _CJK.search(whole):
            for at in range(match.start(), match.end() - _GRAM + 1):
                yield text[at : at + _GRAM].casefold(), at, at + _GRAM
            continue
        yield whole.casefold(), match.start(), match.end()
        if not whole.isalnum():
            for inner in _INNER.finditer(text, match.start(), match.end()):
                yield inner.group().casefold(), inner.start(), inner.end()


def _distinct(text: str) -> list[str]:
    if len(text) > 2 * TEXT_MOST:
        text = f"{text[:TEXT_MOST]}\n{text[-TEXT_MOST:]}"
    found: dict[str, str] = {}
    for match in _WORD.finditer(text):
        for word in _content(match.group()):
            if word not in STOP_WORDS and len(word) > 1:
                found.setdefault(stem(word), word)
    return list(found.values())


def _content(word: str) -> list[str]:
    """Return what stands for a word in a query: a compound's parts, or itself where they say less, as in 1.2."""
    words = [found for found, _, _ in words_of(word)]
    parts = [part for part in words[1:] if len(part) > 1]
    return words if _CJK.search(word) else parts if len(parts) > 1 else words[:1]
